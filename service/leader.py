"""Leader election with a Postgres advisory lock, and the one-second ticks: the leader's, and the one that all share.

The database rows decide what is due: a missed or repeated tick only delays work, it never loses or repeats it.
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
"""Interval between ticks and heartbeats."""
LEASE_SECONDS = 8.0
"""Time without a heartbeat after which another process may take over."""
# Servers older than this setting only notice a lost client when the network reports it.
_SET_IDLE_TIMEOUT = "select set_config(name, %s, false) from pg_settings where name = 'idle_session_timeout'"


class Leader:
    """Holds an advisory lock on a dedicated connection.

    Losing the connection loses the lock: the server closes it after `lease_seconds` of silence, and queries here time
    out after the same interval.
    """

    def __init__(self, database_url: str, key: int = LEADER_LOCK, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._url = libpq_url(database_url)
        self._key = key
        self._lease_seconds = lease_seconds
        self._connection: AsyncConnection | None = None
        self._is_leader = False

    async def acquire(self) -> bool:
        """Acquires or confirms leadership. Returns whether this process is the leader."""
        try:
            return await self._with_timeout(self._try_lock())
        except psycopg.Error as error:
            log.warning("leadership lost", error=str(error))
            await self._disconnect()
            return False
        finally:
            LEADS.set(self._is_leader)

    @asynccontextmanager
    async def heartbeat(self) -> AsyncIterator[None]:
        """Sends heartbeats until the block exits."""
        done = asyncio.Event()
        task = asyncio.create_task(self._send_heartbeats(done))
        try:
            yield
        finally:
            done.set()
            await task

    async def _send_heartbeats(self, done: asyncio.Event) -> None:
        while not done.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await done.wait()
                return
            if not await self.acquire():
                return

    async def release(self) -> None:
        """Releases leadership. Another process can acquire it once this returns."""
        if self._is_leader:
            # Unlock explicitly: the server takes a moment to notice a closed connection.
            with suppress(psycopg.Error):
                await self._with_timeout(self._unlock())
        await self._disconnect()

    async def _disconnect(self) -> None:
        connection, self._connection, self._is_leader = self._connection, None, False
        LEADS.set(0)
        if connection is not None:
            await connection.close()

    async def _with_timeout(self, query: Coroutine[Any, Any, bool]) -> bool:
        task = asyncio.create_task(query)
        done: set[asyncio.Task[bool]] = set()
        try:
            done, _ = await asyncio.wait({task}, timeout=self._lease_seconds)
        finally:
            if not done:
                # Cancel after disconnecting: cancelling a query contacts the server, which may be unreachable.
                await self._disconnect()
                task.cancel()
        if done:
            return task.result()
        raise psycopg.OperationalError(f"no response from the database for {self._lease_seconds:g} s")

    async def _unlock(self) -> bool:
        if self._connection is not None:
            await self._connection.execute("select pg_advisory_unlock(%s)", (self._key,))
        return True

    async def _try_lock(self) -> bool:
        if self._connection is None:
            self._connection = await AsyncConnection.connect(self._url, autocommit=True, connect_timeout=5)
            await self._connection.execute(_SET_IDLE_TIMEOUT, (f"{self._lease_seconds:g}s",))
        if self._is_leader:
            await self._connection.execute("select 1")
            return True
        row = await (await self._connection.execute("select pg_try_advisory_lock(%s)", (self._key,))).fetchone()
        self._is_leader = row is not None and bool(row[0])
        return self._is_leader


Tick = Callable[[], Awaitable[None]]


@asynccontextmanager
async def run_ticks(leader: Leader, tick: Tick, shared: Tick | None = None) -> AsyncIterator[None]:
    """Calls `tick` once a second while this process is the leader, until the block exits.

    Calls `shared` once a second in every process: it is work that processes divide between them.
    """
    tick_lock, shared_lock = asyncio.Lock(), asyncio.Lock()

    async def run_tick() -> None:
        async with tick_lock:
            if await leader.acquire():
                async with leader.heartbeat():
                    await _run(tick, "tick failed")

    async def run_shared() -> None:
        async with shared_lock:
            if shared is not None:
                await _run(shared, "shared tick failed")

    scheduler = AsyncIOScheduler(timezone=UTC)
    for job in (run_tick, run_shared):
        scheduler.add_job(
            job, "interval", seconds=TICK_SECONDS, max_instances=1, coalesce=True, misfire_grace_time=None
        )
    scheduler.start()
    try:
        yield
    finally:
        scheduler.pause()
        try:
            async with tick_lock, shared_lock:
                pass  # running ticks have finished
        finally:
            scheduler.shutdown(wait=False)
            await leader.release()


async def _run(tick: Tick, failure: str) -> None:
    try:
        with TICK_DURATION.time():
            await tick()
    except Exception as error:  # retried a second later; stopping the scheduler would lose the day's question
        TICKS_FAILED.inc()
        log.error(failure, exc_info=error)
