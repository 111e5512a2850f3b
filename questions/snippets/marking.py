"""Where the findings on a snippet stand, and how grave they are. Shared by all that judge one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from questions.diagnostics import Finding, Severity, Span
from questions.snippets.collecting import Snippet
from questions.snippets.planning import Attempt, Ran
from questions.snippets.statements import Claim, comments_of

if TYPE_CHECKING:
    from questions.source import Source

LENT = "what it takes stands in another section, so what goes wrong is only warned of"
UNSET = re.compile(r"\b(?:new_)?empty(?:_like|_strided)?\(|\bTensor\(\d")
"""Memory as it was found: no two runs need agree on it."""


class Marking:
    """Makes the findings of one snippet."""

    def __init__(self, source: Source, snippets: Sequence[Snippet], at: int, attempt: Attempt, ran: Ran) -> None:
        self.source = source
        self.snippets = snippets
        self.snippet = snippets[at]
        self.attempt = attempt
        self.ran = ran

    @property
    def lent(self) -> bool:
        """Whether it ran behind a program of another section, which it may not have been written for."""
        return bool(self.attempt.earlier) and not self.attempt.near

    def span(self, line: int, wanted: str = "") -> Span:
        """A line of the program in the document, or where `wanted` stands on it."""
        number = self.snippet.line_of(line)
        if wanted:
            return self.source.span_of(number, number, wanted)
        # The program is meant, not the remark behind it.
        beside = next((one for one in comments_of(self.snippet.program) if one.line == line and not one.alone), None)
        code = self.snippet.program.split("\n")[line - 1][: beside.column if beside else None].strip()
        return self.source.span_of(number, number, code) if code else self.source.span(number)

    def claim_span(self, claim: Claim) -> Span:
        """Where a claim stands."""
        number = self.snippet.line_of(claim.line)
        indent = self._indent(claim.line)
        first = claim.said.text.split("\n")[0]
        start = indent + claim.column + 1
        if self.source.line(number)[start - 1 : start - 1 + len(first)] != first:
            return self.span(claim.line, first)
        return Span(number, start, number, start + len(first))

    def _indent(self, line: int) -> int:
        """How much further right a line stands in the document than in the program."""
        text = self.snippet.text.split("\n")[line - 1]
        return max(
            self.source.line(self.snippet.line_of(line)).find(text.strip()) - (len(text) - len(text.lstrip())), 0
        )

    def drift(self, span: Span, message: str, label: str, cure: str, *, form: bool = False) -> Finding:
        """A claim that is not so; only a warning where it differs in form, or may not be the snippet's fault."""
        severity: Severity = "warning" if form or self.lent else "error"
        note = "the number is right, what is printed looks different" if form else ""
        return Finding("P102", severity, message, span, label=label, note=note, help=cure)


def not_repeatable(span: Span, message: str, note: str) -> Finding:
    """A claim about what is drawn."""
    return Finding(
        "P108", "note", message, span, note=note, help="seed it, such as `torch.manual_seed(0)`, or claim no number"
    )


def short(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= 60 else text[:59] + "…"
