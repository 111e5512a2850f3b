"""Statistics of measured programs: medians with their error, ranks that the error allows, and percentiles. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

LEAST_COVERAGE = 0.95
"""Least probability that an interval contains the true median, where there are enough runs for it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median, and an interval that contains the true one with the probability `coverage(runs)`."""

    median: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """Returns the median with an interval between two of the values, which assumes nothing about how they spread."""
    ordered = sorted(values)
    skipped = _skipped(len(ordered))
    return Estimate(median(ordered), ordered[skipped], ordered[-1 - skipped])


def coverage(runs: int) -> float:
    """Returns the probability that an interval of this many runs contains the true median."""
    return _coverage(runs, _skipped(runs))


def rank(estimates: Sequence[Estimate]) -> list[int]:
    """Returns the rank of each: one more than how many are certainly less. Where intervals overlap, nobody is."""
    return [1 + sum(other.high < one.low for other in estimates) for one in estimates]


def percentiles(estimates: Sequence[Estimate]) -> list[int]:
    """Returns, for each, of how many percent of the others it is certainly less."""
    others = max(1, len(estimates) - 1)
    return [100 * sum(other.low > one.high for other in estimates) // others for one in estimates]


def _skipped(runs: int) -> int:
    """Returns how many values at either end lie outside the interval."""
    skipped = 0
    while 2 * (skipped + 1) < runs and _coverage(runs, skipped + 1) >= LEAST_COVERAGE:
        skipped += 1
    return skipped


def _coverage(runs: int, skipped: int) -> float:
    # The true median lies outside if so few of the runs, each with a chance of a half, are on one side of it.
    return 1 - 2 * sum(comb(runs, below) for below in range(skipped + 1)) / 2.0**runs
