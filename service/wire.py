"""What the bot and the service say to one another: frozen models, no behaviour. The bot imports this and `client`.

Instants are aware UTC. An *ask* is a question put to one member: `r<round>` in a round, `p<version>` in practice.
Every call that changes something carries the platform's own event id; the same id twice is answered once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, SecretStr
from pydantic_core import ErrorDetails

Platform = Literal["web", "console", "discord", "slack"]
Kind = Literal["choice", "value", "output", "code", "open"]
Level = Literal["mid", "senior", "principal"]
Verdict = Literal[
    "accepted",
    "wrong",
    "runtime error",
    "time limit",
    "memory limit",
    "output limit",
    "invalid",
    "system error",
]
Period = Literal["day", "week", "month", "season", "all"]
Contest = Literal["points", "rookies", "improved"]
"""Whose board: everybody's, of those who began within its period, or of those who get more right than in the last."""
Rating = Literal["again", "hard", "good", "easy"]

Ref = Annotated[str, Field(pattern=r"^[rp][0-9]{1,18}$")]
EventId = Annotated[str, Field(min_length=1, max_length=200)]
Short = Annotated[str, Field(max_length=200)]
Code = Annotated[str, Field(max_length=100_000)]
Secret = Annotated[SecretStr, Field(max_length=10_000), PlainSerializer(SecretStr.get_secret_value, when_used="json")]
"""Plain on the wire, between a bot and its service; hidden wherever it is printed or logged."""


class Model(BaseModel):
    """The base of all: frozen, and a field nobody knows is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# Who speaks, and where


class Who(Model):
    """A member as the platform knows them. `admin` is the platform's own word for it, asked at every event."""

    platform: Platform
    workspace: Short
    member: Short
    name: Annotated[str, Field(min_length=1, max_length=80)]
    admin: bool = False


class Where(Model):
    """A channel as the platform knows it."""

    channel: Short
    name: Short = ""


# Questions as members see them: never with the key


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
    """How a code answer, or any practised answer, was judged."""

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


# Boards and members


class BoardRow(Model):
    rank: int
    name: str
    points: int
    answered: int
    accuracy: float
    """Mean credit over the answered rounds, 0 to 1."""
    streak: int
    me: bool = False
    gain: float | None = None
    """Of those who improved: how much greater their accuracy is than in the period before."""


class Board(Model):
    """A board over one period. Hidden members are left out, their ranks closed up."""

    title: str
    period: Period
    scope: Literal["channel", "workspace"]
    topic: str = ""
    contest: Contest = "points"
    since: datetime | None = None
    until: datetime | None = None
    rows: tuple[BoardRow, ...] = ()
    total: int = 0
    """Members on the board, of whom `rows` may be the top."""
    mine: BoardRow | None = None


class Me(Model):
    name: str
    hidden: bool
    points: int
    season_points: int
    rank: int | None
    answered: int
    accuracy: float
    streak: int
    best_streak: int
    freezes: int
    cards: int
    cards_due: int
    topics: tuple[tuple[str, int, float], ...] = ()
    """Topic, answers, mean credit; weakest first."""
    weeks: tuple[tuple[date, int, int, float], ...] = ()
    """Of the last weeks the Monday, points, answers and mean credit, the oldest first."""


class TopicCount(Model):
    topic: str
    questions: int


class Rules(Model):
    """The numbers `/quiz rules` prints: the very ones used."""

    base: dict[str, int]
    speed_bonus: bool
    speed_share: float
    speed_window_s: float
    freeze_cap: int
    freeze_every: int
    catch_up_minutes: int


class PrivacyView(Model):
    """What is kept about a member."""

    name: str
    hidden: bool
    answers: int
    ledger_rows: int
    cards: int
    export: str = ""
    """For `export`: JSON; for `csv`: that."""
    format: Literal["json", "csv"] = "json"
    forgotten: bool = False


# Administration


class ScheduleSpec(Model):
    """A schedule as an admin states it. Local time, IANA zone, weekdays 0 = Monday."""

    at: time = time(9, 0)
    weekdays: Annotated[tuple[Annotated[int, Field(ge=0, le=6)], ...], Field(max_length=7)] = (0, 1, 2, 3, 4)
    zone: Short = "UTC"
    open_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)] = 8 * 60
    levels: Annotated[tuple[Level, ...], Field(max_length=20)] = ()
    topics: Annotated[tuple[Short, ...], Field(max_length=200)] = ()
    kinds: Annotated[tuple[Kind, ...], Field(max_length=20)] = ()
    country: Short = ""
    """A calendar of public holidays to keep, such as DE or US-CA."""
    speed_bonus: bool = False
    memory_days: Annotated[int, Field(ge=0, le=3650)] = 365
    catch_up_minutes: Annotated[int, Field(ge=0, le=24 * 60)] = 120


class ChannelView(Model):
    """A channel of any chat of the workspace."""

    platform: Platform
    channel: str
    name: str


class ScheduleView(Model):
    id: int
    channel: str
    channel_name: str
    spec: ScheduleSpec
    paused: bool
    platform: Platform = "web"
    """The chat of its channel."""
    shared: tuple[ChannelView, ...] = ()
    """The further channels it posts to, of whatever chat."""
    next: tuple[datetime, ...] = ()
    """The next slots, at most three."""


class RoundView(Model):
    id: int
    day: date
    question: QuestionView
    opens_at: datetime
    closes_at: datetime
    answers: int
    closed: bool
    zone: str = "UTC"
    """IANA zone in which the instants are said to people."""


class SeasonView(Model):
    id: int
    name: str
    starts_at: datetime
    ends_at: datetime | None
    archive: tuple[BoardRow, ...] = ()


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


class ReportView(Model):
    id: int
    question: str
    by: str
    text: str
    at: datetime
    state: Literal["open", "dismissed", "fixed"]


class AuditView(Model):
    at: datetime
    by: str
    action: str
    detail: str


class Check(Model):
    """One line of the doctor."""

    name: str
    ok: bool
    said: str
    cure: str = ""


# Several chats of one workspace, and one member in several of them


class LinkCode(Model):
    """A code to type in the other chat: good once, until `expires_at`. It is shown this once and kept nowhere."""

    code: str
    expires_at: datetime


class ChatLinked(Model):
    """What linking a chat did, or would do (`done` false): what it brings along to the shared workspace."""

    done: bool
    platforms: tuple[Platform, ...]
    """The chats of the shared workspace, once linked."""
    schedules: int = 0
    members: int = 0
    points: int = 0
    """Net points in all."""
    banks: int = 0
    seasons: int = 0
    ending: str = ""
    """The season that runs in what is brought along, and ends with its board kept."""


class MemberLinked(Model):
    """What linking two identities to one member did."""

    name: str
    """What they go by on the boards."""
    platforms: tuple[Platform, ...]
    """Every chat they are known in now."""
    points: int = 0
    """Points that were moved to the one member."""
    twice: int = 0
    """Rounds answered under both identities: each counts once, by the better result."""
    cards: int = 0
    hidden: bool = False
    """Whether they are hidden from the boards: so when either was."""


# Where the bot is installed: Slack's workspaces, each with a token of its own


class InstallationKey(Model):
    """Names an installation. `team` is empty for one of a whole enterprise, `enterprise` where there is none."""

    platform: Platform
    team: Short = ""
    enterprise: Short = ""


class Installation(InstallationKey):
    """A bot's right to act in a workspace. Kept encrypted."""

    token: Secret
    refresh: Secret | None = None
    expires_at: datetime | None = None
    """None for a token that does not expire."""
    app: Short = ""
    bot_id: Short = ""
    bot_user: Short = ""
    scopes: Annotated[tuple[Short, ...], Field(max_length=200)] = ()
    installed_by: Short = ""
    name: Short = ""
    """Of the workspace, for people."""


# What waits for the bot: the outbox


class QuestionPost(Model):
    """The day's question, for the channel."""

    kind: Literal["question"] = "question"
    ref: Ref
    question: QuestionView
    day: date
    closes_at: datetime
    late_minutes: int = 0
    zone: str = "UTC"


class PersonView(Model):
    name: str
    points: int
    streak: int = 0


class RevealPost(Model):
    """What the round came to, for the round's thread."""

    kind: Literal["reveal"] = "reveal"
    ref: Ref
    key: AnswerKey
    answers: int
    right: int
    mean_credit: float
    wrong_texts: tuple[tuple[str, int], ...] = ()
    """For `value` and `output`: the commonest wrong answers and how often each was given."""
    first: PersonView | None = None
    points: tuple[PersonView, ...] = ()
    board: tuple[BoardRow, ...] = ()
    next_at: datetime | None = None
    zone: str = "UTC"


class VerdictNote(Model):
    """A code answer's verdict, privately to its author."""

    kind: Literal["verdict"] = "verdict"
    ref: Ref
    question: QuestionView
    verdict: VerdictView
    closes_at: datetime | None = None
    key: AnswerKey | None = None
    """In practice only: a round's key waits for its close."""
    next_due: datetime | None = None
    zone: str = "UTC"
    """IANA zone in which the instants are said to people."""
    event_id: str = ""
    """The event that the answer came with, for the log alone."""


class Notice(Model):
    """A sentence or two for admins or for one member. Markdown."""

    kind: Literal["notice"] = "notice"
    title: str
    text: str


Body = Annotated[QuestionPost | RevealPost | VerdictNote | Notice, Field(discriminator="kind")]


class Delivery(Model):
    """One message to make, exactly once.

    `key` is the same at every attempt. With `uncertain`, an earlier attempt may have arrived: look before sending.
    """

    id: int
    key: str
    platform: Platform
    workspace: str
    channel: str
    """External id of the channel; for a private message the channel it belongs to, or empty."""
    member: str | None = None
    """Set for a private message."""
    reply_to: str | None = None
    """Message reference of the round's post, for what belongs in its thread."""
    due_at: datetime
    attempt: int
    uncertain: bool
    body: Body


class PostingChannel(Model):
    """A channel that a schedule posts to, as the platform knows it."""

    workspace: str
    channel: str
    name: str = ""


# Operations

SlotState = Literal["posted", "late", "waiting", "overdue", "skipped"]


class SlotView(Model):
    """A slot in one of its channels: when it was due, in a bot's hand, and confirmed by the chat."""

    platform: Platform
    workspace: str = ""
    """Which chat of that platform, where all are shown."""
    channel: str
    day: date
    zone: str
    due_at: datetime
    taken_at: datetime | None = None
    sent_at: datetime | None = None
    late_s: float
    """By how much it came after its time, or has not come yet."""
    state: SlotState
    """late: it came more than a minute after; overdue: it has not come; skipped: it will not, `said` is why."""
    said: str = ""


class QueueView(Model):
    """What waits."""

    name: str
    count: int
    oldest_at: datetime | None = None


class SandboxView(Model):
    """The sandbox, or several as one."""

    up: bool
    ready: int = 0
    running: int = 0
    waiting: int = 0
    wait_s: float = 0.0
    isolation: Literal["full", "weaker"] = "full"
    devices: tuple[str, ...] = ()
    trouble: str = ""


class ErrorView(Model):
    """Something that failed, with the reason that is known."""

    at: datetime
    what: str
    where: str = ""
    said: str = ""


class TroubleView(Model):
    """A trouble that admins were told of; over where `over_at` says when."""

    what: str
    where: str = ""
    said: str = ""
    since: datetime
    over_at: datetime | None = None


class Operations(Model):
    """How the quiz runs."""

    at: datetime
    led: bool
    """Whether a worker leads, so that anything is posted at all."""
    slots: tuple[SlotView, ...] = ()
    """Of the last days, the newest first."""
    queues: tuple[QueueView, ...] = ()
    sandbox: SandboxView | None = None
    """None where none is connected."""
    troubles: tuple[TroubleView, ...] = ()
    errors: tuple[ErrorView, ...] = ()
    """Of the last day, the newest first."""


class Failure(Model):
    """Why a refused call was refused; `code` is stable, `message` is for people."""

    code: str
    message: str


# The limits of the wire, said to people when a value breaks one. The models of `wire` hold them.


_WORDS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "string_too_long": lambda limit: f"that is too long; at most {limit['max_length']:,} characters fit",
    "string_too_short": lambda limit: "that is empty" if limit["min_length"] == 1 else "that is too short",
    "greater_than_equal": lambda limit: f"that is too little; at least {limit['ge']:,} is needed",
    "less_than_equal": lambda limit: f"that is too much; at most {limit['le']:,} is taken",
}


def limit_words(errors: Sequence[ErrorDetails], skip: int = 0) -> str:
    """`open minutes: that is too little; …`: the first error, its place without `skip` leading parts."""
    first = errors[0]
    place = " ".join(str(part) for part in first["loc"][skip:]).replace("_", " ")
    words = _WORDS.get(first["type"])
    said = words(first["ctx"]) if words else first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
