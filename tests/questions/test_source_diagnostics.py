"""A finding as data."""

from __future__ import annotations

from questions import Span
from questions.source import SEVERITIES


def test_severities_are_ordered_from_worst_to_mildest() -> None:
    assert SEVERITIES == ("error", "warning", "note")


def test_spans_are_ordered_by_position() -> None:
    assert sorted([Span(2, 1, 2, 2), Span(1, 9, 3, 1), Span(1, 2, 1, 3)])[0] == Span(1, 2, 1, 3)
