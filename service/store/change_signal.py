"""Wakes calls that wait for changes in the database: one connection per process listens for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

import structlog
from psycopg import AsyncConnection, Error
from psycopg.sql import SQL, Identifier

from service.store.session import libpq_url

OUTBOX: Final = "dailygrad_outbox"
"""Channel on which a trigger announces new messages in the outbox."""
WEB: Final = "dailygrad_web"
"""Channel on which a trigger announces changes in a web chat."""
RETRY_SECONDS = 5.0
"""Wait before connecting again, seconds."""

log = structlog.get_logger(__name__)


async def await_change(change: asyncio.Event, seconds: float) -> None:
    """Waits for a change, at most that long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await change.wait()


class ChangeSignal:
    """Says when something changes. It misses what changes while it connects again: look now and then.

    It connects at the first `next_change`, and stays connected until `aclose`: a bot waits for messages again and
    again, for which a new connection would take both processes several milliseconds each time.
    """

    def __init__(self, database_url: str) -> None:
        self._url = libpq_url(database_url)
        self._changes = {channel: asyncio.Event() for channel in (OUTBOX, WEB)}
        self._listening: asyncio.Task[None] | None = None

    def next_change(self, channel: str) -> asyncio.Event:
        """Returns an event that is set at the next change of that kind. Get it before you look, to miss none."""
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen(), name="database notifications")
        return self._changes[channel]

    async def aclose(self) -> None:
        """Closes the connection."""
        if self._listening is not None:
            task, self._listening = self._listening, None
            task.cancel()
            await asyncio.wait({task})

    def _announce(self, channel: str) -> None:
        changed, self._changes[channel] = self._changes[channel], asyncio.Event()
        changed.set()

    async def _listen(self) -> None:
        while True:
            try:
                connection = await AsyncConnection.connect(self._url, autocommit=True)
                try:
                    for channel in self._changes:
                        await connection.execute(SQL("listen {}").format(Identifier(channel)))
                    # Something may have changed before.
                    for channel in self._changes:
                        self._announce(channel)
                    async for notification in connection.notifies():
                        self._announce(notification.channel)
                finally:
                    # Not by `async with`, which rolls back first: closing never waits, so nothing interrupts it.
                    await connection.close()
            except (Error, OSError) as problem:
                log.info("database notifications lost; changes are found by looking", problem=str(problem).strip())
            await asyncio.sleep(RETRY_SECONDS)
