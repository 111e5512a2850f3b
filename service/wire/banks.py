"""Question banks and imports."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from service.wire.base import Model

Generated = Literal["use", "hold", "none"]
"""What happens to choices generated from prose: asked at once, held until approved, or not generated."""


class BankView(Model):
    name: str
    title: str
    questions: int
    unanswered: int
    retired: int
    waiting: int = 0
    """Generated questions that wait for approval."""


PACKED = "data:application/octet-stream;base64,"
"""What the text of a document begins with if it is a file that is not text; base64 of the file follows."""


class ImportChange(Model):
    """What an import does to one question."""

    id: str
    what: Literal["added", "changed", "moved", "retired", "returned"]
    """`moved`: unchanged, but under another heading, in another document, or with another id."""
    prompt: str
    """Start of its prompt, as plain text."""
    line: int = 0
    """Line in the document; 0 if the document no longer has the question."""
    fields: tuple[str, ...] = ()
    """For `changed`: names of the model's fields that changed."""
    made: str = ""
    """Id that the document gives it now, if it keeps another one."""


class ImportedQuestion(Model):
    """A question as the document was read, in short plain texts."""

    line: int
    kind: str
    prompt: str
    key: str = ""
    """The right options, or the answer; empty if the question has none."""
    license: str = ""


class Twin(Model):
    """Two questions that ask the same or nearly the same."""

    id: str
    line: int
    other: str
    bank: str = ""
    """Bank of the other question; empty if it is in the same document."""
    score: float
    """Similarity, 0 to 1; 1 if identical."""


class ImportView(Model):
    """What an import did, or would do if not `applied`. With an error, nothing is imported."""

    applied: bool
    name: str
    added: int
    changed: int
    unchanged: int
    moved: int = 0
    """Number of the changed and unchanged questions that moved."""
    retired: int = 0
    """Number of questions that the document no longer has."""
    returned: int = 0
    """Number of the changed and unchanged questions that were retired before."""
    unanswered: int
    findings: str
    errors: int
    changes: tuple[ImportChange, ...] = ()
    """First questions that are not unchanged, in the document's order."""
    exact: int = 0
    near: int = 0
    """Number of pairs of a new or changed question and another with a similarity of at least `near_from`."""
    near_from: float = 0.0
    generated: int = 0
    """Number of choices generated from the document's sentences."""
    waiting: int = 0
    """Number of added questions that are not asked until somebody approves them."""
    for_gpu: int = 0
    """Number of questions that are not asked until a sandbox has a GPU."""
    twins: tuple[Twin, ...] = ()
    """First pairs, most similar first."""
    recipe: str = ""
    """The recipe by which the document was read; empty if it was read by its own pattern."""
    recipe_saved: bool = False
    """Whether that recipe was saved with the bank by an earlier import."""
    explanation: tuple[str, ...] = ()
    """How the document was read, one line for each pattern found in it."""
    left_out: tuple[tuple[int, int], ...] = ()
    """First and last lines of the first passages that are in no question."""
    questions: tuple[ImportedQuestion, ...] = ()
    """First questions of the document."""


class ImportEntry(Model):
    """One import into a bank."""

    number: int
    """Number within the bank, from 1."""
    at: datetime
    document: str
    added: int
    changed: int
    unchanged: int
    retired: int
    returned: int
    digest: str
    """First twelve digits of the digest of what it wrote."""
    undoes: int | None = None
    """Number of the import that it undid."""


class BankLog(Model):
    """The imports into a bank, newest first."""

    name: str
    shared: bool
    """Whether the operator imported it for all workspaces."""
    imports: tuple[ImportEntry, ...]


class LowView(Model):
    """The number of questions that a schedule has left before it must repeat one."""

    schedule: int
    channel_name: str
    left: int
