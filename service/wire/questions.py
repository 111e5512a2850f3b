"""Questions as members see them, answers and verdicts. A question never carries its key before it may be seen."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from questions.model import Kind, Level
from service.wire.base import Code, Model, Ref, Short, Verdict


class OptionView(Model):
    """An option to choose. Answers are kept by `id`, whatever order it was shown in."""

    id: str
    text: str


class QuestionView(Model):
    """A question without its key. Texts are Markdown; `program` and `starter` are Python."""

    id: str
    version: int
    kind: Kind
    prompt: str
    level: Level | None
    topic: str
    program: str = ""
    options: tuple[OptionView, ...] = ()
    several: bool = False
    """For `choice`: whether more than one option is right."""
    starter: str = ""
    entry: str = ""
    source: str = ""
    licence: str = ""
    generated: bool = False
    """Whether it was made of the document's own sentences, and nobody wrote it as it is asked."""


class AnswerInput(Model):
    """What a member answered."""

    options: Annotated[tuple[Short, ...], Field(max_length=100)] | None = None
    text: Annotated[str, Field(max_length=4000)] | None = None
    code: Code | None = None


class CaseView(Model):
    """One judged case. A hidden one carries no input and no detail."""

    number: int
    verdict: Verdict
    visible: bool
    shown: str = ""
    """The call with its inputs, for a visible case."""
    message: str = ""


class VerdictView(Model):
    """How a code answer, or any practiced answer, was judged."""

    verdict: Verdict
    credit: float
    """The share right, 0 to 1."""
    cases: tuple[CaseView, ...] = ()
    message: str = ""
    """A sentence for the member: cause and cure."""
    note: str = ""
    """A sentence for the member, whatever the verdict: what it was judged without, such as a GPU."""
    judged: str = ""
    """The code that was judged, after what chat clients insert was undone."""
    stdout: str = ""
    provisional: bool = False
    wall_ms: float = 0.0
    isolation: Literal["full", "weaker"] = "full"


class AskForm(Model):
    """A question put to one member, options in that member's own order."""

    ref: Ref
    question: QuestionView
    given: AnswerInput | None = None
    """What they answered before, where they did."""
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    """None in practice."""
    due: int = 0
    """In practice: how many more cards are due."""
    zone: str = "UTC"
    """IANA zone in which the instants are said to people."""


class OptionKey(Model):
    """An option at the reveal."""

    id: str
    text: str
    right: bool
    reason: str = ""
    chosen_by: int = 0


class AnswerKey(Model):
    """What is right and why."""

    question: QuestionView
    answer: str
    why: str = ""
    proof: str = ""
    options: tuple[OptionKey, ...] = ()
    key_points: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    place: str = ""
    """Where it stands: the document and the line."""


class AnswerResult(Model):
    """What became of an answer.

    recorded, changed: kept, and may be changed until `closes_at`; judging: kept, the verdict follows as a private
    message; judged: practice, `verdict` and `key` say how it went; late: the round had closed, it became practice.
    """

    status: Literal["recorded", "changed", "judging", "judged", "late"]
    ref: Ref
    given: AnswerInput
    closes_at: datetime | None = None
    verdict: VerdictView | None = None
    key: AnswerKey | None = None
    rate: bool = False
    """Whether the member is asked to rate themselves (`open` in practice)."""
    next_due: datetime | None = None
    zone: str = "UTC"
    """IANA zone in which the instants are said to people."""
    before: int = 0
    """Answers that are judged before this one; 0 where it is judged at once."""
    wait_s: float = 0.0
    """About how long those take; 0 where nobody can say."""


class TodayView(Model):
    """What a member finds when asking for today's question."""

    forms: tuple[AskForm, ...] = ()
    next_at: datetime | None = None
    zone: str = "UTC"


class RunResult(Model):
    """A free run of a snippet."""

    status: Literal["ok", "error", "time", "memory", "output", "crash", "denied", "internal"]
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    exit_code: int | None = None
    signal: int | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    queue_ms: float = 0.0
    before: int = 0
    """Runs that were before it when it came."""
    peak_mb: float = 0.0
    device: str = "cpu"
    isolation: Literal["full", "weaker"] = "full"
