"""Runs the commands of one person one after the other, in the order in which they arrived."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from bot.core.events import Command, Event


class CommandOrder:
    """Lets a command wait for the earlier ones of the same person. Buttons and forms never wait.

    It holds within one process; the service keeps the order of several. Buttons need none: an answer carries the time
    of its click, and the newest counts.
    """

    def __init__(self) -> None:
        # A lock lives as long as a command holds it or waits for it.
        self._locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, event: Event) -> AsyncIterator[None]:
        """Waits for the event's turn and keeps it for the block. Turns are taken in the order of the calls."""
        if not isinstance(event, Command):
            yield
            return
        who = event.who
        lock = self._locks.setdefault((who.platform, who.workspace, who.member), asyncio.Lock())
        async with lock:
            yield
