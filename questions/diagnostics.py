"""A finding about a document, as data. How it is printed is the business of report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Worst first."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a document in an editor's terms: lines and columns from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    """Inclusive."""
    end_column: int
    """Exclusive: the column after the last character."""

    def covers(self, line: int) -> bool:
        """Whether the stretch touches that line."""
        return self.line <= line <= self.end_line


@dataclass(frozen=True, slots=True)
class Finding:
    """Something an author should know. The message names the cause and `help` the cure."""

    code: str
    """Stable: `Q` or `P` and three digits. Q0xx the document, Q1xx a question's form, Q2xx its content, Q3xx the bank,
    Q6xx a foreign format, P1xx what running it showed. `FINDINGS.md` has a page on each."""
    severity: Severity
    message: str
    """Lower case, no full stop."""
    span: Span
    label: str = ""
    """Said beside the caret."""
    note: str = ""
    help: str = ""
    skipped: bool = False
    """Whether a question (or what looks like one) was left out of the bank because of it."""


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """The gravest severity among `findings`; None where there are none."""
    return min((finding.severity for finding in findings), key=SEVERITIES.index, default=None)
