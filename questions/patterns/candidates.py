"""Candidates: readings of a document, and what is read of places that are side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from questions.patterns.starts.start import Kind, Start

Reason = Literal["labeled", "listed", "answered", "asking", "titled", "continued", "promised", "bare", "keyed"]

REASONS: tuple[Reason, ...] = get_args(Reason)
"""From the strongest to the weakest; for the last one, the keys are needed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is read of the starts that are side by side."""

    read: tuple[Start, ...] = ()
    left: tuple[Start, ...] = ()
    """Starts among them that are not read as questions, to be named."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reading of the document: starts of one kind and depth, for one reason."""

    kind: Kind
    depth: int
    reason: Reason
    read: tuple[Start, ...]
    left: tuple[Start, ...]

    @property
    def lines(self) -> frozenset[int]:
        """First line of each start."""
        return frozenset(start.first for start in self.read)

    @property
    def coverage(self) -> int:
        """Number of lines it covers."""
        return sum(start.end - start.first + 1 for start in self.read)

    @property
    def rank(self) -> tuple[bool, int]:
        """Sort key: an answer belongs to the nearest place above it, so items come before headings; then coverage."""
        inner = self.kind == "item" and self.reason == "answered"
        return (not inner, -self.coverage)

    def explain(self) -> str:
        """Returns the reading in words, such as `12 items with `N.`: answered by a label`."""
        numbered = sum(bool(start.number) for start in self.read) * 2 > len(self.read)
        what = _FORMS[self.kind] if len(self.read) != 1 else _FORMS[self.kind].removesuffix("s")
        form = {"heading": f" `{'#' * self.depth}`" if self.depth else "", "item": f" at depth {self.depth + 1}"}
        text = f"{len(self.read)} {what}{form.get(self.kind, '')}"
        if numbered:
            text += " with numbers"
        return f"{text}: {_WHY[self.reason]}" + (f"; {len(self.left)} not read" if self.left else "")


_FORMS: dict[Kind, str] = {
    "label": "question labels",
    "heading": "headings",
    "item": "list items",
    "line": "lines of their own",
    "fold": "folds",
    "paragraph": "paragraphs",
}
_WHY: dict[Reason, str] = {
    "labeled": "a word such as `Question` stands before them",
    "listed": "the table of contents lists them",
    "answered": "a label, a fold or marked options answer them",
    "asking": "most of them ask",
    "titled": "the paragraphs below them ask",
    "continued": "they have the form of the others",
    "promised": "the title announces questions",
    "bare": "the document is made of them",
    "keyed": "a list of keys has the same numbers",
}
