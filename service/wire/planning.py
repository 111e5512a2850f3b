"""What schedules will post on which days, and what waits for those who run the quiz."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from questions.model import Kind, Level
from service.wire.admin import ScheduleSpec, ScheduleView
from service.wire.banks import LowView
from service.wire.base import Model, SkipReason
from service.wire.doctor import WorkspaceCheck
from service.wire.notices import DigestView

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
