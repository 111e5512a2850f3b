"""The archive: closed rounds as one member met them, the page of a question, and a run of its proof."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from questions.model import Device, Kind
from sandbox.causes import GpuNote
from service.wire.base import Model, Ref, Short, Verdict
from service.wire.item_statistics import ItemStatistics
from service.wire.questions import AnswerInput, QuestionView, RoundResult

OwnResult = Literal["right", "wrong", "missed"]
"""How a member did in a round. `wrong`: not fully right."""


class ArchiveSearch(Model):
    """Which closed rounds are wanted; an empty field means all."""

    text: Short = ""
    """Words that the question, its options, its topic or its id contain."""
    topic: Short = ""
    kind: Kind | None = None
    own: OwnResult | None = None
    page: Annotated[int, Field(ge=1, le=10_000)] = 1


class ArchivedRound(Model):
    """A closed round, and how the member did."""

    ref: Ref
    day: date
    question: QuestionView
    answers: int
    right: int | None = None
    """Members who were fully right; None for an open question."""
    given: AnswerInput | None = None
    """The member's answer that counted, without code; None if they did not answer."""
    verdict: Verdict | None = None
    credit: float | None = None


class Archive(Model):
    """A page of closed rounds, newest first. Leaves out questions that are asked again now."""

    rounds: tuple[ArchivedRound, ...] = ()
    total: int = 0
    page: int = 1
    pages: int = 1
    topics: tuple[str, ...] = ()
    """Topics of all closed rounds."""


class VersionView(Model):
    """A version of a question."""

    version: int
    since: datetime
    asked: bool
    """Whether this round asked it."""


class QuestionPage(Model):
    """A question as a closed round asked it, with what it came to."""

    result: RoundResult
    """The member's own result. The key counts how often each option was chosen."""
    answers: int
    right: int | None = None
    wrong_texts: tuple[tuple[str, int], ...] = ()
    """The most frequent wrong answers to a question without options."""
    statistics: ItemStatistics
    """Over all rounds with the current version. Discrimination, reports and findings are for moderators."""
    versions: tuple[VersionView, ...] = ()
    """Newest first."""
    suggested_by: str = ""
    provable: bool = False
    """Whether there is something to run."""
    device: Device = "cpu"
    """Where answers to a code question are judged."""
    gpu_proof: bool = True
    """Whether a GPU has proved it, if it is for one."""
    zone: str = "UTC"


class ProofFact(Model):
    """What a proof computed about an option or a key point."""

    text: str
    holds: bool | None
    """What it found; None if it says nothing about it."""
    key: bool
    """What the key says."""


class ProofRun(Model):
    """The result of running a question's proof."""

    ran: Literal["proof", "program", "reference"]
    """`program`: the program whose output is asked for; `reference`: the solution of a code question, on its cases."""
    holds: bool
    """Whether what was computed matches the key."""
    computed: str = ""
    """The computed value, or what was printed."""
    facts: tuple[ProofFact, ...] = ()
    passed: int = 0
    cases: int = 0
    """Cases of a code question."""
    problem: str = ""
    """The end of the traceback, if the program failed."""
    note: GpuNote = ""
    """What the lack of a GPU meant."""
    ours: bool = False
    """Whether the sandbox failed, which says nothing about the key."""
    wall_ms: float = 0.0
