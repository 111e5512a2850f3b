"""Questions as members see them, answers, verdicts, practice. A question never includes its key before the reveal."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Final, Literal, get_args

from pydantic import Field

from questions.model import Kind, Level
from sandbox.causes import Cause, GpuNote
from sandbox.differences import Difference
from service.wire.base import Code, Model, Ref, Short, Verdict


class OptionView(Model):
    """An option of a choice question. Answers are stored by `id`, independent of the order shown."""

    id: str
    text: str


VariantRole = Literal["example", "own"]
"""What a variant is in a round in which every member has one of their own: the example that the channel sees, or the
member's own."""


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
    license: str = ""
    generated: bool = False
    """Whether it was generated from the document's sentences."""
    hint: bool = False
    """Whether a member may take a hint."""
    variant: VariantRole | None = None
    """None where everyone has the same question."""


class HintView(Model):
    """The hint to a question, or what it costs."""

    ref: Ref
    cost: int
    """Points that it costs an answer that earns as many; 0 in practice."""
    taken: bool
    """Whether the member took it; if not, this is only the offer."""
    text: str = ""
    """The author's hint, Markdown; empty without one."""
    wrong: OptionView | None = None
    """A wrong option of a choice, in place of an author's hint."""
    kind: Kind
    several: bool = False
    """For `choice`: whether more than one option is right."""
    answered: bool = False
    """Whether the member has answered the round."""


Confidence = Literal["guess", "think", "sure"]
"""How sure a member is of an answer, from the least."""
CONFIDENCES: Final[tuple[Confidence, ...]] = get_args(Confidence)
CONFIDENCE_KINDS: Final[frozenset[Kind]] = frozenset({"choice", "value", "output"})
"""Kinds whose answers a member can be sure of: code can be tried first, and prose is marked by people."""
MANY_DUE: Final = 99
"""Due cards of practice are counted up to here: counting more would take longer than choosing one."""


class AnswerInput(Model):
    """A member's answer."""

    options: Annotated[tuple[Short, ...], Field(max_length=100)] | None = None
    text: Annotated[str, Field(max_length=4000)] | None = None
    code: Code | None = None
    confidence: Confidence | None = None
    """Kept only where the round's schedule asks for it."""
    practicing: Short | None = None
    """What the member practices, as the bot writes it. Kept for code in practice: it comes back with the verdict."""
    cleared: bool = False
    """Whether the text or code was deleted after the time for which it is kept. Ignored in what bots send."""


class ExampleView(Model):
    """A visible case of a code question."""

    call: str
    result: str
    """Right result, as short Python-like text."""


class CaseView(Model):
    """One judged test case. A hidden one has no input and no detail."""

    number: int
    verdict: Verdict
    visible: bool
    shown: str = ""
    """The call with its inputs, for a visible case."""
    expected: str = ""
    """The right result, for a visible case that failed."""
    got: str = ""
    """The answer's result, for a visible case that failed; empty if there is none, or it is too large."""
    difference: Annotated[Difference, Field(discriminator="kind")] | None = None
    """How the result differs from the right one; None if there is no result."""
    on_gpu: bool = False


class VerdictView(Model):
    """The verdict on a code answer, or on any practice answer."""

    verdict: Verdict
    credit: float | None
    """Share that is right, 0 to 1. For an open answer the share that people confirmed; None without one."""
    cases: tuple[CaseView, ...] = ()
    message: str = ""
    """Text that shows the failure, such as the traceback of the program."""
    note: GpuNote = ""
    on_gpu: bool = False
    """Whether it failed on the GPU, after the CPU had accepted it."""
    cause: Annotated[Cause, Field(discriminator="kind")] | None = None
    """Why the program ended early, unless a mistake in it did it."""
    judged: str = ""
    """Code that was judged, without what chat clients inserted."""
    stdout: str = ""
    wall_ms: float = 0.0
    isolation: Literal["full", "weaker"] = "full"


class AskForm(Model):
    """A question asked to one member, with options in that member's own order."""

    ref: Ref
    question: QuestionView
    given: AnswerInput | None = None
    """Member's earlier answer, if any: in a round, or code in practice that has not passed yet."""
    examples: tuple[ExampleView, ...] = ()
    """Visible cases of a code question; none if the sandbox does not say them in time."""
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    """Closing time of the round; None in practice."""
    due: int = 0
    """Number of further cards due, in practice. `MANY_DUE` means that many or more."""
    asks_confidence: bool = False
    """Whether the member may say how sure they are."""
    zone: str = "UTC"
    """IANA time zone in which instants are shown."""


class OptionKey(Model):
    """An option with its answer key."""

    id: str
    text: str
    right: bool
    reason: str = ""
    chosen_by: int = 0


class AnswerKey(Model):
    """The right answer and why it is right."""

    question: QuestionView
    answer: str
    why: str = ""
    proof: str = ""
    options: tuple[OptionKey, ...] = ()
    key_points: tuple[str, ...] = ()
    quoted: bool = False
    """Whether the key points are the document's own sentences, which neither a proof nor an author vouches for."""
    links: tuple[str, ...] = ()
    place: str = ""
    """Document and line of the question."""


class PointsView(Model):
    """The points of one answer in a round, and where they come from."""

    total: int
    full: int
    """Points of a right answer in this round, without a bonus."""
    share_right: float | None = None
    """Measured share of right answers to the question before this round, which `full` depends on."""
    bonus: int = 0
    """Part of `total` that the speed earned."""
    confidence: int = 0
    """Part of `total` for how sure the member was; negative for a wrong answer that they did not call a guess."""
    own: bool = False
    """Whether the member suggested the question, which then earns them nothing."""
    hint: int = 0
    """Part of `total` that a hint cost, never positive."""
    corrected: int = 0
    """Part of `total` that a correction of the question added or took."""
    taking_part: int = 0
    """Part of `total` that every answer to an open question earns."""
    confirmed: int = 0
    """Part of `total` that peers or moderators added to an open answer, or took."""


class RankChange(Model):
    """A member's rank on the channel's board of the week before and after the points of a round were posted.

    None: not ranked, or no points posted for the member.
    """

    before: int | None = None
    after: int | None = None
    total: int = 0
    """Number of ranked members after the round."""


class RoundResult(Model):
    """One member's own result of a closed round, shown to nobody else."""

    kind: Literal["result"] = "result"
    ref: Ref
    day: date
    key: AnswerKey
    """The key; its question has the options in the member's own order."""
    given: AnswerInput | None = None
    """The answer that counted; None if the member did not answer."""
    verdict: VerdictView | None = None
    """None if the answer is not judged yet, or could not be judged."""
    points: PointsView | None = None
    """None without points posted."""
    streak: int = 0
    rank: RankChange = RankChange()
    number: int = 1
    """Number of the round among those that the schedule posted."""
    week_right: int = 0
    """Rounds of this week that the member answered fully right, up to this one. Without open questions."""
    week_asked: int = 1
    """Rounds of this week, up to this one. Without open questions, which no program calls right or wrong."""
    extra: bool = False
    """Whether an admin asked for the round, beside the day's; it counts for no streak."""
    measured: bool = False
    """Whether the answer takes part in the round's speed board."""
    liked: bool | None = None
    """Whether the member found the question good; None if they did not say."""
    zone: str = "UTC"


class Explanation(Model):
    """The key of a past question, and the member's own latest answer to it, if any."""

    key: AnswerKey
    given: AnswerInput | None = None
    verdict: VerdictView | None = None


class SessionProgress(Model):
    """Practice answers given one after another."""

    number: int
    """Number of the latest answer, from 1."""
    of: int
    """Answers of a whole session."""
    right: int
    """How many of the session's answers were fully right."""
    missed: tuple[str, ...] = ()
    """Topics of its other answers, without repetition."""


class AnswerResult(Model):
    """The result of submitting an answer.

    `recorded` and `changed`: stored, can be changed until `closes_at`. `judging`: stored, the verdict follows as a
    private message. `judged`: practice, with `verdict` and `key`. `late`: the round was closed, so it counts as
    practice.
    """

    status: Literal["recorded", "changed", "judging", "judged", "late"]
    ref: Ref
    given: AnswerInput
    closes_at: datetime | None = None
    verdict: VerdictView | None = None
    key: AnswerKey | None = None
    next_due: datetime | None = None
    zone: str = "UTC"
    """IANA time zone in which instants are shown."""
    before: int = 0
    """Number of answers that are judged before this one."""
    wait_s: float = 0.0
    """Estimated waiting time, seconds; 0 if unknown."""
    asks_confidence: bool = False
    """Whether the member may say how sure they are."""
    progress: SessionProgress | None = None
    """Where the answer is in a session of practice; None outside practice, and for code."""


class MarkingView(Model):
    """A member's own answer to an open question beside the model answer, with its marks and their confirmation."""

    ref: Ref
    key: AnswerKey
    text: str
    marks: tuple[bool, ...] | None = None
    """For each key point, whether the member marked it as covered; the model answer is one point if there are none.
    None until the member marks the answer, which they do once."""
    shared: bool = False
    """Whether the member asked others who answered to confirm the marks."""
    credit: float | None = None
    """Confirmed share, 0 to 1; always None in practice."""
    next_due: datetime | None = None
    """When the card comes back, in practice."""
    zone: str = "UTC"
    """IANA time zone in which instants are shown."""


class PeerAnswer(Model):
    """Another member's answer, which its author shared for confirmation. It never names the author."""

    answer: int
    ref: Ref
    key: AnswerKey
    text: str
    marks: tuple[bool, ...]
    left: int
    """Number of further answers to this question that wait for confirmation."""


class OpenAnswerView(Model):
    """An open answer as moderators see it. It does not name the author, so that nobody is favored."""

    answer: int
    key: AnswerKey
    text: str
    day: date
    marks: tuple[bool, ...] | None = None
    shared: bool = False


class AnswerCredit(Model):
    """The credit that a moderator gave an open answer."""

    answer: int
    credit: float


class WaitingAnswers(Model):
    """Open answers without a credit, for moderators."""

    answers: tuple[OpenAnswerView, ...]
    total: int
    """How many wait in all; the first few are listed."""


class TodayView(Model):
    """The open questions for a member who asks for today's."""

    forms: tuple[AskForm, ...] = ()
    next_at: datetime | None = None
    zone: str = "UTC"


class RunResult(Model):
    """The result of running a snippet."""

    status: Literal["ok", "error", "time", "memory", "output", "crash", "denied", "internal"]
    cause: Annotated[Cause, Field(discriminator="kind")] | None = None
    """Why the program ended early, unless a mistake in it did it."""
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    exit_code: int | None = None
    signal: int | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    queue_ms: float = 0.0
    before: int = 0
    """Number of runs ahead of it in the queue when it arrived."""
    peak_mb: float = 0.0
    device: str = "cpu"
    isolation: Literal["full", "weaker"] = "full"


Rating = Literal["again", "hard", "good", "easy"]
"""How well a member knew a card, as FSRS takes it."""


class RatingChoice(Model):
    """A rating that the member may give a card, and when the card would come back."""

    rating: Rating
    due: datetime


class PracticeAttempt(Model):
    """A member's latest practice answer to a question."""

    ref: Ref
    question: QuestionView
    """Its options are in the member's own order."""
    given: AnswerInput
    verdict: VerdictView | None = None
    """None while the answer is being judged, and while the key is secret."""
    key: AnswerKey | None = None
    """None while the key is secret, and for code that has not passed."""
    secret: bool = False
    """Whether the question is asked somewhere now, so that its key has to wait."""
    marks: tuple[bool, ...] | None = None
    """The member's marks of an open answer."""
    next_due: datetime | None = None
    rating: Rating | None = None
    """Rating of the latest review."""
    choices: tuple[RatingChoice, ...] = ()
    """Ratings that the member may choose from; empty if there is nothing to choose."""
    zone: str = "UTC"


class PracticedQuestion(Model):
    """A question practiced in a session."""

    ref: Ref
    question: QuestionView
    judged: bool
    credit: float | None = None
    """Share that was right in the latest answer; None while it is judged or secret, and for an open answer."""
    next_due: datetime | None = None


class PracticeSession(Model):
    """What a member has practiced since a moment."""

    since: datetime
    cards_due: int = 0
    """Cards that are due now."""
    practiced: tuple[PracticedQuestion, ...] = ()
    """Each question once, in the order of the first answers."""
    zone: str = "UTC"
