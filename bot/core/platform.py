"""The port every chat fills: how the courier makes a message, and who answers what people do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from bot.core.cards import Card, Reply
from bot.core.events import Event
from service.wire import Platform as PlatformName


@dataclass(frozen=True, slots=True)
class Target:
    """Where a message goes: a channel, a thread of it, or with `member` privately to one person."""

    workspace: str
    channel: str
    member: str | None = None
    reply_to: str | None = None
    for_admins: bool = False
    """A notice for those who run the quiz: where its place takes no message, another that they see will do."""


class Refused(Exception):
    """The platform will not take this message and says so for good; trying again changes nothing."""


class Later(Exception):
    """The platform is busy. `seconds` says when to try again; nothing was posted."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the chat asks to wait {seconds:g} s")
        self.seconds = seconds


Answer = Callable[[Event], Awaitable[Reply]]
"""What a platform calls for every event; it never raises."""


class Platform(Protocol):
    """One chat. Any exception other than Refused and Later leaves open whether the message arrived."""

    @property
    def name(self) -> PlatformName: ...

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Make a message and return its reference. Raises Refused, Later, or anything else when unsure."""
        ...

    async def find(self, target: Target, key: str) -> str | None:
        """The reference of the message made under `key`, if it did arrive."""
        ...
