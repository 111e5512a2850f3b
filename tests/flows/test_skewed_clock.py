"""A node whose clock is hours wrong: its worker and its service go by the database's clock."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta

import psycopg
import pytest

from service.client import ServiceClient
from service.rounds.delivery import LEASE
from service.store.session import libpq_url
from service.wire import AnswerInput, ScheduleSpec, Where, Who
from tests.clocked import SkewedClock
from tests.faults.backend import many_questions
from tests.flows.test_processes import EVERY_DAY, ROOT, TOKEN, Part, Parts, environment, parts, row
from tests.forked import Forked

__all__ = ["parts"]
pytestmark = pytest.mark.slow

ANN = Who(platform="web", workspace="local", member="ann", name="Ann", admin=True)
DUE = [Where(channel=f"due{number}", name=f"due{number}") for number in range(6)]
MORE = [Where(channel=f"more{number}", name=f"more{number}") for number in range(6)]
LATER = Where(channel="later", name="later")


def noon_zone() -> str:
    """Returns a zone in which it is between 12 and 13 o'clock, so that hours around now are of the same day."""
    east = 12 - datetime.now(UTC).hour
    # These names count westwards.
    return f"Etc/GMT{-east:+d}"


class Node:
    """The processes of one machine."""

    def __init__(self, parts: Parts, settings: dict[str, str], clock: SkewedClock | None = None) -> None:
        self._parts = parts
        self._settings = settings
        self._clock = clock

    def start(self, *words: str, **settings: str) -> Part:
        if self._clock is None:
            return self._parts.start(*words, **self._settings, **settings)
        environ = environment(PYTHONUNBUFFERED="1", **self._settings, **settings, **self._clock.settings)
        process = Forked(
            [sys.executable, "-m", "tests.clocked", *words],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._parts.started.append(Part(process))
        return self._parts.started[-1]

    @contextlib.asynccontextmanager
    async def service(self) -> AsyncIterator[ServiceClient]:
        part = self.start("serve", DAILYGRAD_PORT="0")
        address = await asyncio.to_thread(part.wait_for, r"listens on ([0-9.:]+)")
        async with ServiceClient.over_http(f"http://{address[1]}", TOKEN) as client:
            yield client


def change(url: str, statement: str) -> None:
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute(statement.encode())


def found(url: str, query: str) -> tuple[object, ...]:
    """Returns the row that a query finds."""
    with psycopg.connect(libpq_url(url)) as connection:
        one = connection.execute(query.encode()).fetchone()
    assert one is not None
    return tuple(one)


def round_of(url: str, where: Where) -> int:
    """Waits for the channel's round."""
    query = f"""
        select round.id from round join schedule on schedule.id = schedule_id
        join channel on channel.id = schedule.channel_id where external_id = '{where.channel}'
    """
    return row(url, query)


async def schedule(client: ServiceClient, where: Where, at: time) -> None:
    spec = ScheduleSpec(at=at, zone=noon_zone(), weekdays=EVERY_DAY, open_minutes=600, catch_up_minutes=540)
    await client.schedule_add(ANN, f"add {where.channel}", where, spec)


MORNING = "update schedule set since = now() - interval '6 hours'"
"""Makes the slots of this day due that are past."""


@pytest.mark.parametrize("hours", [3, -3], ids=["ahead", "behind"])
async def test_a_node_with_a_wrong_clock_does_everything_on_time(parts: Parts, database_url: str, hours: int) -> None:
    settings = {"DATABASE_URL": database_url, "DAILYGRAD_SERVICE_TOKEN": TOKEN}
    wrong = Node(parts, settings, SkewedClock(parts.folder / "skew", timedelta(hours=hours)))
    right = Node(parts, settings)
    async with wrong.service() as client:
        await client.join(ANN, LATER)
        assert (await client.bank_import(ANN, "import", "many.md", many_questions(60), True)).applied
        await schedule(client, LATER, time(14, 30))
        for where in DUE:
            await schedule(client, where, time(11))
        change(database_url, MORNING)
        worker = wrong.start("work")
        refs = [f"r{await asyncio.to_thread(round_of, database_url, where)}" for where in DUE]
        assert "this machine's clock is wrong" in worker.said
        only_due(database_url, len(DUE))

        await leases_follow_the_database(client, database_url)
        await rounds_close_in_time(database_url, refs)
        parts.kill(worker)
        await deadlines_hold(client, database_url, refs)

        for where in MORE:
            await schedule(client, where, time(11))
        change(database_url, MORNING)
        wrong.start("work")
        right.start("work")
        for where in MORE:
            await asyncio.to_thread(round_of, database_url, where)
        only_due(database_url, len(DUE + MORE))
    parts.stop()


def only_due(url: str, rounds: int) -> None:
    """Checks that each due slot has one round and one post, and no other slot has one."""
    made = "select count(*), count(distinct (schedule_id, day)), count(*) filter (where opens_at > now()) from round"
    assert found(url, made) == (rounds, rounds, 0)
    posts = "select count(*), count(distinct round_id) from outbox where kind = 'question'"
    assert found(url, posts) == (rounds, rounds)


def end(url: str, number: str) -> None:
    """Has the round's time be over for a minute."""
    times = "opens_at = now() - interval '2 hours', closes_at = now() - interval '1 minute'"
    change(url, f"update round set {times} where id = {number}")


async def leases_follow_the_database(client: ServiceClient, url: str) -> None:
    """Checks that a message is leased from now on, so that no other dispatcher takes it early, nor waits for hours."""
    (before,) = found(url, "select clock_timestamp()")
    assert await client.outbox_claim("web", 100)
    (after,) = found(url, "select clock_timestamp()")
    leases = "select min(claimed_until), max(claimed_until) from outbox where claimed_until is not null"
    first, last = found(url, leases)
    assert isinstance(before, datetime) and isinstance(after, datetime)
    assert isinstance(first, datetime) and isinstance(last, datetime)
    near = timedelta(minutes=1)
    assert before + LEASE - near <= first <= last <= after + LEASE + near


async def rounds_close_in_time(url: str, refs: list[str]) -> None:
    """Checks that the worker closes what is over, and nothing else."""
    over, soon = refs[0][1:], refs[1][1:]
    change(url, f"update round set closes_at = now() + interval '1 hour' where id = {soon}")
    end(url, over)
    await asyncio.to_thread(row, url, f"select id from round where closed_at is not null and id = {over}")
    closed = "select min(id), max(id), bool_and(closed_at between now() - interval '1 hour' and now()) from round"
    assert found(url, f"{closed} where closed_at is not null") == (int(over), int(over), True)


async def deadlines_hold(client: ServiceClient, url: str, refs: list[str]) -> None:
    """Checks that an answer before the deadline counts and one after it does not, though nobody closed the round."""
    over, soon = refs[2][1:], refs[1]
    end(url, over)
    for ref, status in ((soon, "recorded"), (f"r{over}", "late")):
        form = await client.ask(ANN, DUE[0], ref)
        given = AnswerInput(options=(form.question.options[0].id,))
        receipt = await client.answer(ANN, DUE[0], f"answer {ref}", ref, given, client.clock())
        assert receipt.status == status
    said = "select bool_and(at between now() - interval '1 hour' and now() + interval '1 minute') from answer"
    assert found(url, said) == (True,)
