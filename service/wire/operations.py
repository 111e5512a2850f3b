"""The operations page: slots, queues, sandboxes, errors and troubles."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from service.wire.base import Model, Platform

SlotState = Literal["posted", "late", "waiting", "overdue", "skipped"]


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
    """`late`: posted more than a minute late; `overdue`: not posted yet; `skipped`: never posted, `said` is why."""
    said: str = ""


class QueueView(Model):
    """A queue and its oldest entry."""

    name: str
    count: int
    oldest_at: datetime | None = None


class SandboxView(Model):
    """The state of the sandbox, or of several as one."""

    up: bool
    ready: int = 0
    running: int = 0
    waiting: int = 0
    wait_s: float = 0.0
    isolation: Literal["full", "weaker"] = "full"
    devices: tuple[str, ...] = ()
    trouble: str = ""


class ErrorView(Model):
    """A recent failure, with its reason if known."""

    at: datetime
    what: str
    where: str = ""
    said: str = ""


class TroubleView(Model):
    """A problem that admins were notified about. `over_at` is set once it is over."""

    what: str
    where: str = ""
    said: str = ""
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
