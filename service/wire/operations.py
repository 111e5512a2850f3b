"""The operations page, and what `/quiz-admin doctor` checks in a workspace: facts. `bot/core/text` words them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from service.wire.base import Model, Platform, SkipReason
from service.wire.notices import SandboxProblem

SlotState = Literal["posted", "late", "waiting", "overdue", "skipped"]
TroubleKind = Literal["late", "refused", "sandbox", "revoked", "role"]
"""`refused`: a channel takes no messages; `sandbox`: none judges code; `revoked`: the app was removed from a chat."""


class SlotView(Model):
    """A slot in one of its channels: when it was due, claimed by a bot, and posted."""

    platform: Platform
    workspace: str = ""
    """External id of the chat, if all workspaces are shown."""
    channel: str
    day: date
    zone: str
    due_at: datetime
    taken_at: datetime | None = None
    sent_at: datetime | None = None
    late_s: float
    """Delay of the post, seconds so far if it has not been posted."""
    state: SlotState
    """`late`: posted more than a minute late; `overdue`: not posted yet; `skipped`: never posted."""
    skipped: SkipReason | None = None
    error: str = ""
    """Error of the last attempt to post it, as the bot reported it."""


class QueueView(Model):
    """A queue and its oldest entry."""

    kind: Literal["messages", "answers", "jobs"]
    platform: Platform | None = None
    """Platform of the messages."""
    task: str = ""
    status: str = ""
    """Status of the jobs in the job queue."""
    count: int
    oldest_at: datetime | None = None


class SandboxView(Model):
    """The state of the sandbox, or of several as one."""

    problem: SandboxProblem | None = None
    """Why it judges nothing; None if it answers."""
    ready: int = 0
    running: int = 0
    waiting: int = 0
    wait_s: float = 0.0
    isolation: Literal["full", "weaker"] = "full"
    devices: tuple[str, ...] = ()
    trouble: str = ""
    """What the sandbox, or the connection to it, reports as wrong."""


class ErrorView(Model):
    """A recent failure."""

    at: datetime
    kind: Literal["message", "verdict", "job"]
    """`verdict`: a code answer could not be judged."""
    name: str = ""
    """Kind of the message, or task of the job."""
    attempts: int = 0
    given_up: bool = False
    private: bool = False
    """Whether it concerns a private message. Whose is not told."""
    channel: str = ""
    platform: Platform | None = None
    workspace: str = ""
    """External id of the chat, if all workspaces are shown."""
    error: str = ""
    """Error as the bot reported it."""


class TroubleView(Model):
    """A problem that admins were notified about. `over_at` is set once it is over."""

    kind: TroubleKind
    channel: str = ""
    platform: Platform | None = None
    """Platform that the app was removed from."""
    problem: SandboxProblem | None = None
    error: str = ""
    since: datetime
    over_at: datetime | None = None


class Operations(Model):
    """The operations page."""

    at: datetime
    led: bool
    """Whether a worker is the leader; without one, nothing is posted."""
    slots: tuple[SlotView, ...] = ()
    """Slots of the last days, newest first."""
    queues: tuple[QueueView, ...] = ()
    sandbox: SandboxView | None = None
    """State of the sandbox; None if none is connected."""
    troubles: tuple[TroubleView, ...] = ()
    errors: tuple[ErrorView, ...] = ()
    """Failures of the last day, newest first."""


class _Check(Model):
    ok: bool


class DatabaseCheck(_Check):
    kind: Literal["database"] = "database"
    version: str
    """Version of PostgreSQL."""


class SchemaCheck(_Check):
    """Whether the database has the schema that this version needs."""

    kind: Literal["schema"] = "schema"
    found: str
    needed: str


class ClockCheck(_Check):
    """Whether the service and the database agree on the time."""

    kind: Literal["clock"] = "clock"
    skew_s: float


class SandboxCheck(_Check):
    kind: Literal["sandbox"] = "sandbox"
    problem: SandboxProblem | None = None
    trouble: str = ""
    """What the sandbox, or the connection to it, reports as wrong."""
    ready: int = 0
    isolation: Literal["full", "weaker"] = "full"
    torch: str = ""
    lacks: tuple[str, ...] = ()
    """What the machine lacks for full isolation."""
    gpu: str = ""
    """The GPU, or why there is none."""


class BankCheck(_Check):
    """Whether there is anything to ask."""

    kind: Literal["bank"] = "bank"
    questions: int
    waiting_for_gpu: int


class QuestionsCheck(_Check):
    """How long a schedule's questions last."""

    kind: Literal["questions"] = "questions"
    schedule: int
    channel: str
    left: int
    """Slots until a question is repeated."""


class SlotsCheck(_Check):
    """When a schedule posts next."""

    kind: Literal["slots"] = "slots"
    schedule: int
    channel: str
    paused: bool
    next: tuple[datetime, ...] = ()
    zone: str


class NoScheduleCheck(_Check):
    kind: Literal["no-schedule"] = "no-schedule"


class MessagesCheck(_Check):
    """Whether bots deliver the messages."""

    kind: Literal["messages"] = "messages"
    waiting: int = 0
    age_s: float = 0.0
    """Age of the oldest, seconds."""
    error: str = ""
    """Error of its last attempt, as the bot reported it."""


class TroubleCheck(_Check):
    """A problem that admins were notified of and that is not over."""

    kind: Literal["trouble"] = "trouble"
    trouble: TroubleView


WorkspaceCheck = Annotated[
    DatabaseCheck
    | SchemaCheck
    | ClockCheck
    | SandboxCheck
    | BankCheck
    | QuestionsCheck
    | SlotsCheck
    | NoScheduleCheck
    | MessagesCheck
    | TroubleCheck,
    Field(discriminator="kind"),
]
