"""The clockwork: one leader at a time, taken over when it is gone, and a tick that fails stops nothing."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.engine import make_url

from service.leader import Leader, Tick, run_ticks
from service.store.monitoring import LEADER_LOCK
from service.store.session import libpq_url
from tests.conftest import MakeDatabase


def end_the_leader(database_url: str) -> None:
    """Closes the connection that holds the lock, as a crash or a network failure does."""
    name = conninfo_to_dict(libpq_url(database_url))["dbname"]
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_locks join pg_database on oid = database "
            "where locktype = 'advisory' and datname = %s and (classid::bigint << 32) + objid::bigint = %s",
            (name, LEADER_LOCK),
        )


@dataclass
class Network:
    """A network path to the database that can be partitioned: connections stay open, but carry nothing."""

    url: str
    split: bool = False

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            if not self.split:
                writer.write(data)
        writer.close()


@contextlib.asynccontextmanager
async def network(database_url: str) -> AsyncIterator[Network]:
    """Yields a network path that can be partitioned."""
    told = conninfo_to_dict(libpq_url(database_url))
    host, port = str(told.get("host") or "localhost"), int(told.get("port") or 5432)
    with tempfile.TemporaryDirectory(prefix="dg-") as folder:
        url = make_url(database_url).set(host=None, port=None).update_query_dict({"host": folder})
        daily = Network(url.render_as_string(hide_password=False))

        ends: list[asyncio.StreamWriter] = []
        talks: list[asyncio.Task[None]] = []

        def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            ends.append(writer)
            talks.append(asyncio.ensure_future(lead(reader, writer)))

        async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there = (
                await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
                if host.startswith("/")
                else await asyncio.open_connection(host, port)
            )
            ends.append(there[1])
            await asyncio.gather(daily.carry(reader, there[1]), daily.carry(there[0], writer))

        async with await asyncio.start_unix_server(serve, Path(folder) / ".s.PGSQL.5432"):
            yield daily
            for end in ends:
                end.close()
            await asyncio.gather(*talks, return_exceptions=True)


async def test_one_leads_and_another_takes_over(database_url: str) -> None:
    first, second = Leader(database_url), Leader(database_url)
    assert [await first.acquire(), await second.acquire()] == [True, False]
    assert [await first.acquire(), await second.acquire()] == [True, False]
    await first.release()
    assert [await second.acquire(), await first.acquire()] == [True, False]
    await first.release()
    await second.release()


async def test_a_lost_connection_gives_up_the_lead(database_url: str) -> None:
    first, second = Leader(database_url), Leader(database_url)
    assert await first.acquire()
    end_the_leader(database_url)
    assert not await first.acquire()
    assert await second.acquire()
    assert not await first.acquire()
    await first.release()
    await second.release()


async def test_an_unreachable_database_does_not_stop_it() -> None:
    leader = Leader("postgresql://127.0.0.1:1/nothing")
    assert not await leader.acquire()


async def test_only_the_leader_ticks_and_goes_on_after_a_failure(database_url: str) -> None:
    ticks: asyncio.Queue[str] = asyncio.Queue()

    async def failing() -> None:
        ticks.put_nowait("first")
        raise RuntimeError("a bad second")

    async def never() -> None:
        ticks.put_nowait("second")

    first, second = Leader(database_url), Leader(database_url)
    assert await first.acquire()
    async with run_ticks(first, failing), run_ticks(second, never), asyncio.timeout(60):
        assert [await ticks.get() for _ in range(2)] == ["first", "first"]
    assert ticks.empty()


async def test_every_process_takes_its_share_also_after_a_failure(database_url: str) -> None:
    ticks: dict[str, asyncio.Queue[None]] = {"first": asyncio.Queue(), "second": asyncio.Queue()}

    async def lead() -> None:
        return None

    async def first() -> None:
        ticks["first"].put_nowait(None)
        raise RuntimeError("a bad second")

    async def second() -> None:
        ticks["second"].put_nowait(None)

    one, two = Leader(database_url), Leader(database_url)
    async with run_ticks(one, lead, first), run_ticks(two, lead, second), asyncio.timeout(60):
        for _ in range(2):
            await ticks["first"].get()
            await ticks["second"].get()


async def test_another_databases_leader_is_ignored(database_url: str, new_database: MakeDatabase) -> None:
    here, there = Leader(database_url), Leader(new_database())
    assert [await here.acquire(), await there.acquire()] == [True, True]
    await here.release()
    await there.release()


async def left_during_a_tick(leader: Leader, tick: Tick, begun: asyncio.Event) -> asyncio.Task[None]:
    """Leaves the block of ticks while one is running. Returns the task that leaves it, which waits for the tick."""

    async def run() -> None:
        async with run_ticks(leader, tick):
            await begun.wait()

    running = asyncio.create_task(run())
    await begun.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    return running


async def test_a_tick_in_hand_is_finished_before_the_end(database_url: str) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()
    finished: list[bool] = []

    async def tick() -> None:
        begun.set()
        await may_end.wait()
        finished.append(True)

    running = await left_during_a_tick(Leader(database_url), tick, begun)
    may_end.set()
    await running
    assert finished == [True]


async def test_a_leader_behind_a_split_network_is_followed_and_knows_it(database_url: str) -> None:
    """Neither side is notified of the partition: the server closes the connection after its timeout."""
    async with network(database_url) as daily:
        first, second = Leader(daily.url, lease_seconds=1), Leader(database_url, lease_seconds=600)
        assert await first.acquire()
        assert not await second.acquire()
        daily.split = True
        async with asyncio.timeout(60):
            followed = False
            while not followed:
                followed = await second.acquire()
        assert not await first.acquire()
        assert await second.acquire()
        await first.release()
        await second.release()


async def test_a_canceled_end_leaves_no_connection_open(database_url: str) -> None:
    """A tick may hang for longer than the stop is waited for."""
    begun = asyncio.Event()
    leader, other = Leader(database_url), Leader(database_url)

    async def hanging() -> None:
        begun.set()
        await asyncio.Event().wait()

    running = await left_during_a_tick(leader, hanging, begun)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await other.acquire()
    await other.release()


async def test_a_leader_sends_heartbeats_during_a_long_tick(database_url: str) -> None:
    """Its connection, silent for as long as the tick, would be ended by the server otherwise."""
    last_heard = (
        "select max(query_start) from pg_stat_activity join pg_locks using (pid) "
        "where locktype = 'advisory' and datname = current_database()"
    )
    heard: asyncio.Queue[bool] = asyncio.Queue()

    async def tick() -> None:
        async with await psycopg.AsyncConnection.connect(libpq_url(database_url), autocommit=True) as rows:
            (before,) = await (await rows.execute(last_heard)).fetchone() or (None,)
            async with asyncio.timeout(60):
                while await (await rows.execute(last_heard)).fetchone() == (before,):
                    await rows.execute("select pg_sleep(0.05)")
        heard.put_nowait(True)

    async with run_ticks(Leader(database_url), tick), asyncio.timeout(90):
        assert await heard.get()
