"""Question banks and imports."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from service.wire.base import Model

Generated = Literal["use", "hold", "none"]
"""What is done with choices made of a document's prose: asked at once, held until approved, or not made."""


class BankView(Model):
    name: str
    title: str
    questions: int
    unanswered: int
    retired: int
    waiting: int = 0
    """Generated ones that nobody has approved."""


class ImportChange(Model):
    """What an import does to one question."""

    id: str
    what: Literal["added", "changed", "moved", "retired", "returned"]
    """moved: it says the same under another heading, in another document, or under an id its prompt makes now."""
    prompt: str
    """Its first words, plain."""
    line: int = 0
    """In the document; 0 for what it no longer holds."""
    fields: tuple[str, ...] = ()
    """For changed: what changed, by the names of the model."""
    made: str = ""
    """The id the document's reader makes of it now, where it keeps another."""


class Twin(Model):
    """Two questions that ask the same, or nearly."""

    id: str
    line: int
    other: str
    bank: str = ""
    """The bank of the other; empty where the same document holds it."""
    score: float
    """How alike they are, 0 to 1; 1 for the very same."""


class ImportView(Model):
    """What an import did, or would do (`applied` false). An error keeps everything out."""

    applied: bool
    name: str
    added: int
    changed: int
    unchanged: int
    moved: int = 0
    """Of the changed and the unchanged."""
    retired: int = 0
    """Questions the document no longer holds."""
    returned: int = 0
    """Of the changed and the unchanged: those it holds again."""
    unanswered: int
    findings: str
    errors: int
    changes: tuple[ImportChange, ...] = ()
    """What is not unchanged, in the document's order; the first so many."""
    exact: int = 0
    near: int = 0
    """Pairs of a new or changed question and another one, like or at least `near_from` alike."""
    near_from: float = 0.0
    generated: int = 0
    """Of all its questions, the choices made of the document's own sentences."""
    waiting: int = 0
    """Of the added ones, those that are not asked before somebody approves them."""
    for_gpu: int = 0
    """Of all its questions, those that are not asked before a sandbox has a GPU."""
    twins: tuple[Twin, ...] = ()
    """The most alike first; the first so many."""


class ImportEntry(Model):
    """One import on a bank's record."""

    number: int
    """Counted within the bank, from 1."""
    at: datetime
    document: str
    added: int
    changed: int
    unchanged: int
    retired: int
    returned: int
    digest: str
    """Of what it wrote, its first twelve digits."""
    undoes: int | None = None
    """The number of the import it took back."""


class BankLog(Model):
    """What was imported into a bank, the newest first."""

    name: str
    shared: bool
    """Whether it is everybody's, imported by the operator."""
    imports: tuple[ImportEntry, ...]


class LowView(Model):
    """How many questions a schedule has left before it must repeat itself."""

    schedule: int
    channel_name: str
    left: int
