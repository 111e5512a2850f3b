"""Days on which clocks or the calendar do something unusual, lived by real processes whose clock is set."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import psycopg
import pytest

from bot.cli import dispatching
from bot.core.dispatcher import Dispatcher
from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import AnswerInput, ScheduleSpec, Where, Who
from tests.bot.conftest import Wall
from tests.clocked import SharedClock
from tests.faults.backend import many_questions
from tests.flows.test_processes import EVERY_DAY, ROOT, TOKEN, Part, Parts, done, environment, parts, row
from tests.forked import Forked

__all__ = ["parts"]
pytestmark = pytest.mark.slow

ZONE = "Europe/Berlin"
MORNING, NIGHT = Where(channel="morning", name="#morning"), Where(channel="night", name="#night")
ANN = Who(platform="web", workspace="local", member="ann", name="Ann", admin=True)
DAYS = [
    # 2:30 does not exist on the second.
    *(date(2026, 3, 28), date(2026, 3, 29), date(2026, 3, 30)),
    # It comes twice on the second.
    *(date(2026, 10, 24), date(2026, 10, 25), date(2026, 10, 26)),
    *(date(2026, 12, 31), date(2027, 1, 1)),
    *(date(2028, 2, 28), date(2028, 2, 29), date(2028, 3, 1)),
]


def local(day: date, at: time) -> datetime:
    return datetime.combine(day, at, ZoneInfo(ZONE))


def start(parts: Parts, clock: SharedClock, *words: str, **settings: str) -> Part:
    """Starts a process with the clock."""
    parts.started.append(
        Part(
            Forked(
                [sys.executable, "-m", "tests.clocked", *words],
                cwd=ROOT,
                env=environment(PYTHONUNBUFFERED="1", **settings, **clock.settings),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    )
    return parts.started[-1]


async def test_unusual_days_have_one_question_each_at_the_right_time(
    parts: Parts, new_database: Callable[[], str]
) -> None:
    url = new_database()
    done("migrate", DATABASE_URL=url)
    clock = SharedClock(parts.folder / "clock", local(DAYS[0] - timedelta(days=1), time(12)))
    settings = {"DATABASE_URL": url, "DAILYGRAD_SERVICE_TOKEN": TOKEN}
    serving = start(parts, clock, "serve", DAILYGRAD_PORT="0", **settings)
    start(parts, clock, "work", **settings)
    address = await asyncio.to_thread(serving.wait_for, r"listens on ([0-9.:]+)")
    wall = Wall()
    async with (
        ServiceClient.over_http(f"http://{address[1]}", TOKEN) as client,
        dispatching(Dispatcher(client, wall)),
    ):
        await client.join(ANN, MORNING)
        assert (await client.bank_import(ANN, "import", "many.md", many_questions(60), True)).applied
        for where, at in ((MORNING, time(9)), (NIGHT, time(2, 30))):
            spec = ScheduleSpec(at=at, zone=ZONE, weekdays=EVERY_DAY, open_minutes=600, catch_up_minutes=540)
            await client.schedule_add(ANN, f"add {where.channel}", where, spec)
        for number, day in enumerate(DAYS, 1):
            clock.set(local(day, time(9, 0, 10)))
            await lives(client, clock, url, day)
            assert wall.questions.count("morning") == wall.questions.count("night") == number
        clock.set(local(DAYS[-1], time(20)))
        closed = f"select 1 from round where closed_at is not null having count(*) = {2 * len(DAYS)}"
        await asyncio.to_thread(row, url, closed)
        me = await client.me(ANN)
    parts.stop()
    # Slots that were skipped between the days break no streak.
    assert me.streak == len(DAYS)
    with psycopg.connect(libpq_url(url)) as connection:
        for where in (MORNING, NIGHT):
            query = """
                select round.day, round.opens_at from round join schedule on schedule.id = round.schedule_id
                join channel on channel.id = schedule.channel_id
                where round.skipped is null and channel.external_id = %s order by round.day
            """
            found = connection.execute(query, [where.channel]).fetchall()
            assert [one[0] for one in found] == DAYS, f"each day has one question in #{where.channel}"
            if where is MORNING:
                assert [one[1] for one in found] == [local(day, time(9)) for day in DAYS]
        keys = connection.execute("select count(*), count(distinct key) from ledger").fetchone()
    assert keys is not None and keys[0] == keys[1]


async def lives(client: ServiceClient, clock: SharedClock, url: str, day: date) -> None:
    """Waits for the day's two questions in the chat, and answers the one of the morning."""
    posted = f"""
        select min(round.id) from outbox join round on round.id = outbox.round_id join channel on
        channel.id = outbox.channel_id where outbox.kind = 'question' and outbox.state = 'sent' and round.day = '{day}'
        having count(*) = 2
    """
    await asyncio.to_thread(row, url, posted)
    (form,) = (await client.today(ANN, MORNING)).forms
    given = AnswerInput(options=(form.question.options[0].id,))
    answered = await client.answer(ANN, MORNING, f"answer {day}", form.ref, given, clock())
    assert answered.status == "recorded"
