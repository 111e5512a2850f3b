"""Medians with their error, ranks that the error allows, and percentiles."""

from __future__ import annotations

import random

import pytest

from service.domain.measurements import Estimate, coverage, estimate, percentiles, rank


def test_the_interval_lies_between_two_of_the_runs() -> None:
    assert estimate([9, 1, 8, 2, 7, 3, 6, 4, 5]) == Estimate(5, 2, 8)
    assert coverage(9) == pytest.approx(0.961, abs=0.001)
    assert estimate([3.0]) == Estimate(3, 3, 3)
    assert estimate([4, 1, 2]) == Estimate(2, 1, 4)


def test_the_interval_has_the_true_median_as_often_as_stated() -> None:
    """Of times that are far from normal: most are short, and a few are very long."""
    drawn = random.Random(7)
    true_median = 2**0.5
    hits = 0
    for _ in range(4000):
        found = estimate([drawn.paretovariate(2.0) for _ in range(9)])
        hits += found.low <= true_median <= found.high
    assert hits / 4000 == pytest.approx(coverage(9), abs=0.015)


def test_a_place_is_shared_where_the_error_does_not_allow_to_tell() -> None:
    fast, near, slow = Estimate(10, 9, 12), Estimate(11, 10, 13), Estimate(20, 18, 22)
    assert rank([slow, fast, near]) == [3, 1, 1]
    assert percentiles([slow, fast, near]) == [0, 50, 50]
    assert rank([fast]) == [1] and percentiles([fast]) == [0]
    assert rank([]) == []
