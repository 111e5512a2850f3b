"""Calls whose transaction PostgreSQL ends because of another one."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.api.routes import MOST_ATTEMPTS
from service.client import ServiceUnavailable
from service.store.notifications import NotificationSetting
from service.store.session import libpq_url
from tests.service.daily_channel import DailyChannel

EVENT = "e1"


async def wait_for_waiter(url: str) -> None:
    """Returns when a transaction waits for another one."""
    waiting = (
        "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database())"
    )
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while (await (await connection.execute(waiting)).fetchone()) != (True,):
            pass


async def lose_deadlocks(daily: DailyChannel, url: str, times: int) -> None:
    """Makes a call that loses so many deadlocks in a row, to a transaction that takes its two locks in the other order
    and is slower to give up."""
    url = libpq_url(url)
    async with await psycopg.AsyncConnection.connect(url) as rival:
        await rival.execute("set deadlock_timeout = '1min'")
        await rival.execute("select from notification_setting for update")
        call = asyncio.create_task(daily.client.notify(daily.who("Ada"), EVENT, "reminders", True))
        for _ in range(times):
            await wait_for_waiter(url)
            await rival.execute("savepoint before")
            # The call waits for this transaction, which waits for the call: it ends when the call has failed.
            row = "insert into inbox (chat_id, event_id, at, call, reply) select id, %s, now(), '', '{}' from chat"
            await rival.execute(row, [EVENT])
            await rival.execute("rollback to before")
        await rival.rollback()
        await call


async def test_a_call_that_loses_a_deadlock_is_made_again(daily: DailyChannel, database_url: str) -> None:
    await daily.client.notify(daily.who("Ada"), "first", "results", True)
    await lose_deadlocks(daily, database_url, 1)
    (setting,) = await daily.rows(NotificationSetting)
    assert (setting.results, setting.reminders) == (True, True)


async def test_a_call_that_loses_again_and_again_fails_and_changes_nothing(
    daily: DailyChannel, database_url: str
) -> None:
    await daily.client.notify(daily.who("Ada"), "first", "results", True)
    with pytest.raises(ServiceUnavailable):
        await lose_deadlocks(daily, database_url, MOST_ATTEMPTS)
    (setting,) = await daily.rows(NotificationSetting)
    assert (setting.results, setting.reminders) == (True, False)
