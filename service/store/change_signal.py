"""Wakes calls that wait for changes in the database: one connection per process listens for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
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


class ChangeSignal:
    """Says when something changes. It misses what changes while it connects again: look now and then."""

    def __init__(self, database_url: str) -> None:
        self._url = libpq_url(database_url)
        self._changes = {channel: asyncio.Event() for channel in (OUTBOX, WEB)}
        self._users = 0
        self._listening: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listens until the block exits. Blocks share one connection, which the last of them closes."""
        self._users += 1
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen(), name="database notifications")
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                task, self._listening = self._listening, None
                task.cancel()
                # If this call is canceled too, even again and again, the task closes its connection undisturbed.
                await asyncio.wait({task})

    def next_change(self, channel: str) -> asyncio.Event:
        """Returns an event that is set at the next change of that kind. Get it before you look, to miss none."""
        return self._changes[channel]

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
