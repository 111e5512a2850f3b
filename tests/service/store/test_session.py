"""The pool of connections: ended ones are replaced, those just used are not tested, those of a burst are kept."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from service.store import session
from service.store.session import (
    DIRECT_PATIENCE,
    MOST_CONNECTIONS,
    DirectPool,
    PostgresFailed,
    close_engine,
    driver_connection,
    libpq_url,
    make_direct_pool,
    make_engine,
    make_sessions,
    start_postgres,
)

PID = text("select pg_backend_pid()")


async def used(engine: AsyncEngine) -> int:
    """Uses a connection of the pool in a transaction. Returns its server process."""
    async with engine.begin() as connection:
        return int((await connection.execute(PID)).scalar_one())


async def test_a_connection_that_the_server_ended_is_replaced(database_url: str) -> None:
    engine = make_engine(database_url)
    first = await used(engine)
    with psycopg.connect(libpq_url(database_url), autocommit=True) as rows:
        # It waits until the process has ended, which closes the connection.
        assert rows.execute("select pg_terminate_backend(%s, 60000)", (first,)).fetchone() == (True,)
    assert await used(engine) != first
    await engine.dispose()


@pytest.mark.parametrize(("trusted_s", "last"), [(3600.0, "COMMIT"), (0.0, "ROLLBACK")])
async def test_only_a_connection_that_was_idle_is_tested_by_a_query(
    database_url: str, monkeypatch: pytest.MonkeyPatch, trusted_s: float, last: str
) -> None:
    monkeypatch.setattr(session, "TRUSTED_SECONDS", trusted_s)
    engine = make_engine(database_url)
    pid = await used(engine)
    async with engine.connect():  # it is taken from the pool, and sends nothing of its own
        with psycopg.connect(libpq_url(database_url), autocommit=True) as rows:
            found = rows.execute("select query from pg_stat_activity where pid = %s", (pid,)).fetchone()
    assert found == (last,)
    await engine.dispose()


async def test_a_burst_after_another_opens_no_connection(database_url: str) -> None:
    engine = make_engine(database_url)

    async def burst() -> set[int]:
        together = asyncio.Barrier(MOST_CONNECTIONS)

        async def use() -> int:
            async with engine.connect() as connection:
                await together.wait()
                return int((await connection.execute(PID)).scalar_one())

        return set(await asyncio.gather(*(use() for _ in range(MOST_CONNECTIONS))))

    first = await burst()
    assert len(first) == MOST_CONNECTIONS
    assert await burst() == first
    assert len({await used(engine) for _ in range(3)}) == 1, "the one used last has its plans at hand"
    await engine.dispose()


async def test_a_connection_in_use_when_all_are_closed_is_closed_when_it_is_given_back(database_url: str) -> None:
    engine = make_engine(database_url)
    sessions = make_sessions(engine)
    async with sessions() as in_use:
        driver = await driver_connection(in_use)
        await close_engine(engine)
        assert not driver.closed and (await in_use.execute(text("select 1"))).scalar_one() == 1
    assert driver.closed
    async with sessions() as late:
        driver = await driver_connection(late)
    assert driver.closed, "nobody closes the engine again"


async def test_a_direct_connection_that_the_server_ended_is_replaced(database_url: str) -> None:
    async with make_direct_pool(database_url) as pool:
        first = await pid_of(pool)
        assert await pid_of(pool) == first
        with psycopg.connect(libpq_url(database_url), autocommit=True) as rows:
            assert rows.execute("select pg_terminate_backend(%s, 60000)", (first,)).fetchone() == (True,)
        assert await pid_of(pool) != first


async def test_a_direct_connection_ends_statements_that_take_too_long_and_keeps_no_transaction(
    database_url: str,
) -> None:
    async with make_direct_pool(database_url) as pool, pool.connection() as connection:
        found = await (await connection.execute("show statement_timeout")).fetchone()
        assert found == ("5min",)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


async def pid_of(pool: DirectPool) -> int:
    """Uses a connection of the pool. Returns its server process."""
    async with pool.connection() as connection:
        await connection.execute("select 1")
        return connection.info.backend_pid


async def test_a_direct_pool_connects_as_soon_as_its_server_is_back(database_url: str, tmp_path: Path) -> None:
    """And until then it fails in time for the caller to try another way."""
    socket = Path(str(make_url(database_url).query["host"])) / ".s.PGSQL.5432"
    elsewhere = make_url(database_url).update_query_dict({"host": str(tmp_path)})
    async with make_direct_pool(elsewhere.render_as_string(hide_password=False)) as pool:
        with pytest.raises(psycopg.OperationalError):
            await pid_of(pool)
        (tmp_path / socket.name).symlink_to(socket)
        async with asyncio.timeout(DIRECT_PATIENCE.total_seconds()):
            await pid_of(pool)


def test_an_embedded_server_that_is_still_starting_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when another process starts it, or when it recovers from a kill for longer than a start may take."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-pg-") as folder:
        Path(folder).chmod(0o711)
        server = start_postgres(Path(folder) / "data")
        status = server.directory / "postmaster.pid"
        ready = status.read_text()
        starting = ready.replace("ready   ", "starting")
        waits: list[float] = []

        def wait(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 3:
                status.write_text(ready)

        monkeypatch.setattr(session, "sleep", wait)
        try:
            status.write_text(starting)
            assert (start_postgres(server.directory), len(waits)) == (server, 3)
            status.write_text(starting)
            monkeypatch.setattr(session, "START_PATIENCE_S", 0.0)
            with pytest.raises(PostgresFailed, match="does not get ready: see"):
                start_postgres(server.directory)
        finally:
            status.write_text(ready)
            server.stop()
