"""Waiting for new messages: one connection per process, which stays, and no message missed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psycopg
import pytest

from service.app import build
from service.config import Settings
from service.store import session as store_session
from service.store.change_signal import OUTBOX, WEB, ChangeSignal
from service.store.session import libpq_url, make_engine
from tests.conftest import Clock

LISTENING = f"select pid from pg_stat_activity where datname = current_database() and query = 'listen \"{WEB}\"'"


def listeners(database_url: str) -> list[int]:
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        return [pid for (pid,) in connection.execute(LISTENING).fetchall()]


def run(database_url: str, statement: str) -> None:
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
async def signal(database_url: str) -> AsyncIterator[ChangeSignal]:
    """A signal with a minute for the test."""
    async with asyncio.timeout(60), contextlib.aclosing(ChangeSignal(database_url)) as signal:
        yield signal


async def test_all_who_wait_share_one_connection_which_stays_until_the_end(
    signal: ChangeSignal, database_url: str
) -> None:
    """A bot waits again and again: a connection for each time would cost both processes milliseconds."""
    assert not listeners(database_url), "nobody waits yet"
    await signal.next_change(OUTBOX).wait()  # it listens from now on
    (first,) = listeners(database_url)
    for _ in range(3):
        waiting = [asyncio.create_task(signal.next_change(OUTBOX).wait()) for _ in range(3)]
        await asyncio.to_thread(run, database_url, f"notify {OUTBOX}")
        await asyncio.gather(*waiting)
        assert listeners(database_url) == [first]
    await signal.aclose()
    # The server notices in its own time that a connection is closed.
    while listeners(database_url):  # noqa: ASYNC110
        await asyncio.sleep(0)


async def test_a_canceled_wait_leaves_the_connection_to_others(signal: ChangeSignal, database_url: str) -> None:
    """The web server cancels the request of a page that went away."""
    await signal.next_change(WEB).wait()
    before = listeners(database_url)
    gone = asyncio.create_task(signal.next_change(WEB).wait())
    other = asyncio.create_task(signal.next_change(WEB).wait())
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.to_thread(run, database_url, f"notify {WEB}")
    await other
    assert gone.cancelled() and listeners(database_url) == before


async def test_the_connection_ends_with_the_service(settings: Settings, clock: Clock) -> None:
    async with asyncio.timeout(60):
        async with build(settings, clock).running() as service:
            await service.changes.next_change(OUTBOX).wait()
            assert listeners(settings.database_url)
        while listeners(settings.database_url):  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_it_can_be_used_again_after_its_end(signal: ChangeSignal) -> None:
    await signal.next_change(OUTBOX).wait()
    await signal.aclose()
    await signal.next_change(OUTBOX).wait()


async def test_a_message_added_between_looking_and_waiting_is_not_missed(
    signal: ChangeSignal, database_url: str
) -> None:
    await signal.next_change(OUTBOX).wait()
    added = signal.next_change(OUTBOX)
    await asyncio.to_thread(run, database_url, f"notify {OUTBOX}")
    await added.wait()


async def test_it_listens_again_when_its_connection_was_lost(
    signal: ChangeSignal, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.change_signal.RETRY_SECONDS", 0.01)
    await signal.next_change(OUTBOX).wait()
    again = signal.next_change(OUTBOX)
    (first,) = listeners(database_url)
    await asyncio.to_thread(run, database_url, f"select pg_terminate_backend({first})")
    await again.wait()
    (second,) = listeners(database_url)
    assert first != second


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
