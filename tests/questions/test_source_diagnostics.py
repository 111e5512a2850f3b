"""A finding as data."""

from __future__ import annotations

from questions import Finding, Span
from questions.source import SEVERITIES, Severity, worst


def finding(severity: Severity) -> Finding:
    return Finding("Q999", severity, "something", Span(1, 1, 1, 2))


def test_the_worst_severity() -> None:
    assert SEVERITIES == ("error", "warning", "note")
    assert worst((finding("note"), finding("error"), finding("warning"))) == "error"
    assert worst((finding("note"), finding("warning"))) == "warning"
    assert worst(()) is None


def test_spans_are_ordered_by_position() -> None:
    assert sorted([Span(2, 1, 2, 2), Span(1, 9, 3, 1), Span(1, 2, 1, 3)])[0] == Span(1, 2, 1, 3)
