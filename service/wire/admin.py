"""Schedules and what they will post, rounds, seasons, the audit log and the overview, as admins see them."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from questions.model import Kind, Level
from service.wire.banks import Generated, LowView
from service.wire.base import Model, Platform, Short, SkipReason
from service.wire.members import BoardRow
from service.wire.notices import DigestView
from service.wire.operations import WorkspaceCheck
from service.wire.questions import QuestionView


class ScheduleSpec(Model):
    """A schedule as an admin defines it: local time, IANA time zone, weekdays from 0 = Monday."""

    at: time = time(9, 0)
    weekdays: Annotated[tuple[Annotated[int, Field(ge=0, le=6)], ...], Field(max_length=7)] = (0, 1, 2, 3, 4)
    every_days: Annotated[int, Field(ge=1, le=365)] = 1
    """Of these days, only every n-th, counted from `first_day`."""
    first_day: date | None = None
    """Day from which `every_days` counts; if missing, the schedule's next slot."""
    month_days: Annotated[tuple[Annotated[int, Field(ge=1, le=31)], ...], Field(max_length=31)] = ()
    """Of these days, only these of the month. The last day of a shorter month stands for those that it lacks."""
    zone: Short = "UTC"
    open_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)] = 8 * 60
    levels: Annotated[tuple[Level, ...], Field(max_length=20)] = ()
    topics: Annotated[tuple[Short, ...], Field(max_length=200)] = ()
    kinds: Annotated[tuple[Kind, ...], Field(max_length=20)] = ()
    country: Short = ""
    """Country whose public holidays are skipped, such as DE or US-CA."""
    speed_bonus: bool = False
    confidence: bool = False
    """Whether members may say how sure they are of an answer, for points."""
    measure: bool = False
    """Whether code that passed is measured after the close, for the speed board."""
    contestant: bool = False
    """Whether the model that the operator names answers too, unranked."""
    variants: bool = False
    """Whether each member gets a variant of their own, where the question is a family."""
    ping: Annotated[str, Field(pattern=r"^([0-9]{1,20}|S[A-Z0-9]{1,30})?$")] = ""
    """Id of the role (Discord) or user group (Slack) that a post notifies; empty for none."""
    memory_days: Annotated[int, Field(ge=0, le=3650)] = 365
    catch_up_minutes: Annotated[int, Field(ge=0, le=24 * 60)] = 120


class ScheduleChanges(ScheduleSpec):
    """Changes to a schedule. Fields that are not set stay as they are, even if another admin changes them meanwhile."""

    @model_serializer(mode="wrap")
    def _write_set_fields(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}

    def apply(self, spec: ScheduleSpec) -> ScheduleSpec:
        """Returns the schedule with these changes."""
        return spec.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


class ExtraRound(Model):
    """What an admin wants of an extra round. What is missing is as in the channel's schedule."""

    question: Annotated[str, Field(max_length=200)] = ""
    """Id of the question to ask, whatever the schedule asked before; empty to have one chosen."""
    topics: Annotated[tuple[Short, ...], Field(max_length=200)] = ()
    levels: Annotated[tuple[Level, ...], Field(max_length=20)] = ()
    kinds: Annotated[tuple[Kind, ...], Field(max_length=20)] = ()
    open_minutes: Annotated[int | None, Field(ge=1, le=7 * 24 * 60)] = None


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
    """Platform of its channel."""
    chat: str = ""
    """External id of its channel's chat, such as a Discord server."""
    shared: tuple[ChannelView, ...] = ()
    """Further channels it posts to, in any chat of the workspace."""
    next: tuple[datetime, ...] = ()
    """Next slots, at most three."""


class RoundView(Model):
    id: int
    day: date
    question: QuestionView
    opens_at: datetime
    closes_at: datetime
    answers: int
    closed: bool
    withdrawn: bool = False
    """Whether it was taken back before anyone could see it."""
    zone: str = "UTC"
    """IANA time zone in which instants are shown."""


class SeasonView(Model):
    id: int
    name: str
    starts_at: datetime
    ends_at: datetime | None
    archive: tuple[BoardRow, ...] = ()
    final: bool = True
    """False for a season that has ended, until the questions that were open then have closed and its board is kept."""


RoleId = Annotated[str, Field(pattern=r"^([0-9]{1,20})?$")]
"""Id of a role on Discord; empty for none."""

WinnerOf = Literal["season", "sprint", "tournament"]
"""Kinds of event whose winners can be given a role."""


class WinnerRoleView(Model):
    """The role that the winners of a kind of event are given on a server."""

    event: WinnerOf = "season"
    role: RoleId = ""
    channel_name: str = ""
    """Channel in which the winner is announced."""


class WorkspaceSettings(Model):
    """The settings of a workspace that no other view has."""

    review_channel: str = ""
    """Channel in which moderators are notified of reports and suggestions."""
    review_member: str = ""
    """Admin who is notified privately instead. Without a channel too, nobody has chosen."""
    generated: Generated
    chats: tuple[Platform, ...]
    """The chats that share the workspace, oldest first."""
    winner_roles: tuple[WinnerRoleView, ...] = ()
    """Of all chats."""


AuditFact = str | bool | tuple[str, ...]
"""What is known of an action: a text or number, whether something is on, or a list."""


class AuditView(Model):
    """An action of an admin."""

    id: int = 0
    at: datetime
    by: str
    action: str
    facts: dict[str, AuditFact]
    """What it was done to, by name. `member` is a member's name, empty if they were forgotten."""


DayState = Literal["none", "planned", "open", "closed", "missed", "paused", "skipped", "holiday"]
"""What a schedule does on a day. `none`: it has no slot; `missed`: nothing was posted, `why` says why."""


class PlannedQuestion(Model):
    """A question in a calendar."""

    id: str
    kind: Kind
    level: Level | None
    topic: str


class ScheduleDay(Model):
    """A local date of a schedule."""

    day: date
    state: DayState
    at: datetime | None = None
    """When it posts or was posted; for a skipped day or a holiday, when it would have."""
    why: SkipReason | None = None
    holiday: str = ""
    """Name of the public holiday, if the schedule keeps them."""
    question: PlannedQuestion | None = None
    """The question that was posted, or that comes if nothing changes until then."""
    answers: int = 0
    extra: int = 0
    """Number of extra rounds of that day."""
    clock_minutes: int = 0
    """By how much the zone's clocks are set forward on that day; negative if they are set back."""
    moved: bool = False
    """Whether clocks jump over the schedule's time on that day, so that it posts right after."""


class ScheduleMonth(Model):
    """A month of a schedule, as it would be with the asked-for changes."""

    first: date
    days: tuple[ScheduleDay, ...]
    spec: ScheduleSpec
    planned_until: date | None = None
    """Last day for which questions are planned; None if they cannot be."""


class OpenRound(Model):
    """A round that is open now."""

    ref: str
    channel: str
    question: PlannedQuestion
    closes_at: datetime
    answers: int
    zone: str


class Overview(Model):
    """What those who run the quiz should know now."""

    failed: tuple[WorkspaceCheck, ...] = ()
    """The doctor's checks that failed."""
    open: tuple[OpenRound, ...] = ()
    schedules: tuple[ScheduleView, ...] = ()
    low: tuple[LowView, ...] = ()
    """How long the questions of each schedule last, lowest first."""
    reports: int = 0
    suggestions: int = 0
    answers: int = 0
    """Open answers without a credit."""
    generated: int = 0
    """Generated questions that wait for approval."""
    members: int = 0
    """Members of the workspace who answered in the last four weeks."""
    digest: DigestView
