"""Wakes calls that wait for new outbox messages: one connection per process listens for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog
from psycopg import AsyncConnection, Error

from service.store.session import libpq_url

CHANNEL = "dailygrad_outbox"
"""Channel on which a trigger announces new messages."""
RETRY_SECONDS = 5.0
"""Wait before connecting again, seconds."""

log = structlog.get_logger(__name__)


class OutboxSignal:
    """Says when messages are added to the outbox. It misses those added while it connects again: look now and then."""

    def __init__(self, database_url: str) -> None:
        self._url = libpq_url(database_url)
        self._added = asyncio.Event()
        self._users = 0
        self._listening: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listens until the block exits. Blocks share one connection, which the last of them closes."""
        self._users += 1
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen(), name="outbox notifications")
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                task, self._listening = self._listening, None
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def next_message(self) -> asyncio.Event:
        """Returns an event that is set when the next message is added. Get it before you look, to miss none."""
        return self._added

    def _announce(self) -> None:
        self._added.set()
        self._added = asyncio.Event()

    async def _listen(self) -> None:
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
                    await connection.execute(f"listen {CHANNEL}")
                    # Messages may have been added before.
                    self._announce()
                    async for _ in connection.notifies():
                        self._announce()
            except (Error, OSError) as problem:
                log.info("outbox notifications lost; messages are found by looking", problem=str(problem).strip())
            await asyncio.sleep(RETRY_SECONDS)
