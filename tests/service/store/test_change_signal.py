"""Waiting for new messages: one connection per process, none when nobody waits, and no message missed."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from service.store import session as store_session
from service.store.change_signal import OUTBOX, WEB, ChangeSignal
from service.store.session import libpq_url, make_engine

LISTENING = f"select pid from pg_stat_activity where datname = current_database() and query = 'listen \"{WEB}\"'"


def listeners(database_url: str) -> list[int]:
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        return [pid for (pid,) in connection.execute(LISTENING).fetchall()]


def run(database_url: str, statement: str) -> None:
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute(statement)


async def test_all_who_wait_share_one_connection_which_the_last_closes(database_url: str) -> None:
    signal = ChangeSignal(database_url)
    async with asyncio.timeout(60):
        async with signal.listening():
            async with signal.listening(), signal.listening():
                await signal.next_change(OUTBOX).wait()  # it listens from now on
                assert len(listeners(database_url)) == 1
                waiting = [asyncio.create_task(signal.next_change(OUTBOX).wait()) for _ in range(3)]
                await asyncio.to_thread(run, database_url, f"notify {OUTBOX}")
                await asyncio.gather(*waiting)
            assert len(listeners(database_url)) == 1
        # The server notices in its own time that a connection is closed.
        while listeners(database_url):  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_message_added_between_looking_and_waiting_is_not_missed(database_url: str) -> None:
    signal = ChangeSignal(database_url)
    async with asyncio.timeout(60), signal.listening():
        await signal.next_change(OUTBOX).wait()
        added = signal.next_change(OUTBOX)
        await asyncio.to_thread(run, database_url, f"notify {OUTBOX}")
        await added.wait()


async def test_it_listens_again_when_its_connection_was_lost(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.change_signal.RETRY_SECONDS", 0.01)
    signal = ChangeSignal(database_url)
    async with asyncio.timeout(60), signal.listening():
        await signal.next_change(OUTBOX).wait()
        again = signal.next_change(OUTBOX)
        (first,) = listeners(database_url)
        await asyncio.to_thread(run, database_url, f"select pg_terminate_backend({first})")
        await again.wait()
        (second,) = listeners(database_url)
        assert first != second


async def test_its_connection_is_closed_by_an_end_that_is_canceled_again_and_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The web server cancels the request of a page that went away in every turn of the loop until the request ends."""
    execute = psycopg.AsyncConnection.execute
    opened: list[psycopg.AsyncConnection] = []
    asked = asyncio.Event()

    async def observed(self: psycopg.AsyncConnection, *values: Any, **options: Any) -> Any:
        opened.append(self)
        asked.set()
        return await execute(self, *values, **options)

    monkeypatch.setattr(psycopg.AsyncConnection, "execute", observed)
    signal = ChangeSignal(database_url)

    async def page() -> None:
        async with signal.listening():
            await asyncio.Event().wait()

    viewed = asyncio.create_task(page())
    async with asyncio.timeout(60):
        await asked.wait()
        while not viewed.done():
            viewed.cancel()
            await asyncio.sleep(0)
        (connection,) = set(opened)
        while not connection.closed:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_the_server_ends_statements_and_pauses_that_take_too_long(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(database_url)
    async with engine.connect() as connection:
        for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
            assert (await connection.exec_driver_sql(f"show {name}")).scalar() == "5min"
        await connection.rollback()
        assert (await connection.exec_driver_sql("show statement_timeout")).scalar() == "5min", "a rollback keeps it"
    await engine.dispose()
    monkeypatch.setattr(store_session, "STATEMENT_TIMEOUT", store_session.STATEMENT_TIMEOUT / 6000)
    engine = make_engine(database_url)
    with pytest.raises(Exception, match="canceling statement due to statement timeout"):
        async with engine.connect() as connection:
            await connection.exec_driver_sql("select pg_sleep(20)")
    await engine.dispose()
