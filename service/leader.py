"""The clockwork: APScheduler ticks every second, and of all processes only the leader acts. What a tick does is given.

The truth is in the rows; a missed or doubled tick changes nothing but the moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import UTC
from typing import Any

import psycopg
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from psycopg import AsyncConnection

from service.metrics import LEADS, TICK_DURATION, TICKS_FAILED
from service.store.monitoring import LEADER_LOCK
from service.store.session import libpq_url

log = structlog.get_logger(__name__)

TICK_SECONDS = 1
LEASE_SECONDS = 8.0
"""A leader that is not heard of for so long, frozen or behind a network that is split, is followed by another."""
# Of a server older than the setting the connection ends only when the network says so.
_ENDS_WHEN_SILENT = "select set_config(name, %s, false) from pg_settings where name = 'idle_session_timeout'"


class Leader:
    """Leadership over one database: an advisory lock on a connection of its own, lost with that connection.

    The server ends the connection when it hears nothing for `patience_s`; so long an answer is waited for here too.
    """

    def __init__(self, database_url: str, key: int = LEADER_LOCK, *, patience_s: float = LEASE_SECONDS) -> None:
        self._url = libpq_url(database_url)
        self._key = key
        self._patience_s = patience_s
        self._connection: AsyncConnection | None = None
        self._leads = False

    async def leads(self) -> bool:
        """Whether this process leads now; takes the lead where nobody has it."""
        try:
            return await self._within_patience(self._look())
        except psycopg.Error as error:
            log.warning("leadership lost", error=str(error))
            await self._let_go()
            return False
        finally:
            LEADS.set(self._leads)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Be heard of while the block lasts, however long that is."""
        over = asyncio.Event()
        holding = asyncio.create_task(self._hold(over))
        try:
            yield
        finally:
            over.set()
            await holding

    async def _hold(self, over: asyncio.Event) -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), TICK_SECONDS)
                return
            if not await self.leads():
                return

    async def resign(self) -> None:
        """Let another take over, which can do so once this returns."""
        if self._leads:
            # The server takes its time to notice that a connection was closed.
            with suppress(psycopg.Error):
                await self._within_patience(self._unlock())
        await self._let_go()

    async def _let_go(self) -> None:
        connection, self._connection, self._leads = self._connection, None, False
        LEADS.set(0)
        if connection is not None:
            await connection.close()

    async def _within_patience(self, asking: Coroutine[Any, Any, bool]) -> bool:
        task = asyncio.create_task(asking)
        done, _ = await asyncio.wait({task}, timeout=self._patience_s)
        if done:
            return task.result()
        # Cancelled only now: whoever cancels a query asks the server to, which may be what cannot be reached.
        await self._let_go()
        task.cancel()
        raise psycopg.OperationalError(f"the database said nothing for {self._patience_s:g} s")

    async def _unlock(self) -> bool:
        if self._connection is not None:
            await self._connection.execute("select pg_advisory_unlock(%s)", (self._key,))
        return True

    async def _look(self) -> bool:
        if self._connection is None:
            self._connection = await AsyncConnection.connect(self._url, autocommit=True, connect_timeout=5)
            await self._connection.execute(_ENDS_WHEN_SILENT, (f"{self._patience_s:g}s",))
        if self._leads:
            await self._connection.execute("select 1")
            return True
        row = await (await self._connection.execute("select pg_try_advisory_lock(%s)", (self._key,))).fetchone()
        self._leads = row is not None and bool(row[0])
        return self._leads


@asynccontextmanager
async def run_ticks(leader: Leader, tick: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Call `tick` every second while this process leads, until the block ends."""

    in_hand = asyncio.Lock()

    async def beat() -> None:
        async with in_hand:
            if not await leader.leads():
                return
            try:
                with TICK_DURATION.time():
                    async with leader.held():
                        await tick()
            except Exception as error:  # the next second tries again; a scheduler that stops would lose the day
                TICKS_FAILED.inc()
                log.error("tick failed", exc_info=error)

    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.add_job(beat, "interval", seconds=TICK_SECONDS, max_instances=1, coalesce=True, misfire_grace_time=None)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.pause()
        async with in_hand:  # a tick is finished, not broken off
            scheduler.shutdown(wait=False)
        await leader.resign()
