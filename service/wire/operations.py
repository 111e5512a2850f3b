"""The operations page: slots, queues, sandboxes, errors and troubles."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from service.wire.base import Model, Platform

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
