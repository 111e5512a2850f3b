"""Calls whose transaction PostgreSQL ends because of another one."""

from __future__ import annotations

import asyncio
import math

import psycopg
import pytest

from service.client import ServiceUnavailable
from service.store.notifications import NotificationSetting
from service.store.session import libpq_url
from tests.service.daily_channel import DailyChannel

EVENT = "e1"


async def wait_for_waiter(url: str, call: asyncio.Task[object]) -> None:
    """Returns when a transaction waits for another one, or the call is over."""
    waiting = (
        "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database())"
    )
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while (await (await connection.execute(waiting)).fetchone()) != (True,) and not call.done():
            pass


async def lose_deadlocks(daily: DailyChannel, url: str, turns: float) -> None:
    """Makes a call that loses deadlocks to a transaction that takes its two locks in the other order and is slower to
    give up, until that one has had so many turns or the call is over.

    On a busy machine the call may begin again before the other transaction wakes, and so lose twice in one turn.
    """
    url = libpq_url(url)
    async with await psycopg.AsyncConnection.connect(url) as rival:
        await rival.execute("set deadlock_timeout = '1min'")
        await rival.execute("select from notification_setting for update")
        call = asyncio.create_task(daily.client.notify(daily.who("Ada"), EVENT, "reminders", True))
        while turns > 0 and not call.done():
            turns -= 1
            await wait_for_waiter(url, call)
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
        await lose_deadlocks(daily, database_url, math.inf)
    (setting,) = await daily.rows(NotificationSetting)
    assert (setting.results, setting.reminders) == (True, False)
