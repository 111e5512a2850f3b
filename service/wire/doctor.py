"""What `/quiz-admin doctor` checks in a workspace, as facts. `bot.core.text.doctor` turns them into sentences."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from service.wire.base import Model
from service.wire.notices import SandboxProblem
from service.wire.operations import TroubleView


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
    """A problem that admins were told about and that is not over."""

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
