"""Benchmark: rows and bytes that a day of a team costs in PostgreSQL, by table, with indexes and TOAST.

Plays the days of one workspace through the service: a question a day, answers of every member, points, boards and
results. docs/scaling.md multiplies these numbers.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import process_time

import psycopg

from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.store.session import libpq_url
from service.wire import AnswerInput, QuestionPost, ScheduleSpec, Where, Who
from tests.bench.rounds import database
from tests.conftest import TOKEN, Clock
from tests.faults.backend import EVERY_DAY, many_questions

WHERE = Where(channel="daily", name="#daily")
SIZES = """
    select relname, pg_total_relation_size(relid), pg_relation_size(relid), pg_indexes_size(relid)
    from pg_stat_user_tables where schemaname = 'public' order by relname
"""


def who(member: int) -> Who:
    return Who(platform="slack", workspace="bench", member=f"m{member}", name=f"Member {member}", admin=member == 0)


async def play(url: str, members: int, days: int, seconds: Callable[[], float] = process_time) -> dict[str, float]:
    """Plays these days, in which every member answers. Returns what each step took, milliseconds: by default CPU time
    of the service and its caller, which are one process here, without PostgreSQL's own."""
    clock, spent = Clock(datetime(2026, 3, 2, 8, tzinfo=UTC)), defaultdict[str, float](float)

    @contextmanager
    def timed(step: str, times: int = days) -> Iterator[None]:
        began = seconds()
        yield
        spent[step] += 1000 * (seconds() - began) / times

    service = build(Settings(database_url=url, service_token=TOKEN), clock)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        await client.join(who(0), WHERE)
        await client.bank_import(who(0), "import", "many.md", many_questions(40), True)
        spec = ScheduleSpec(weekdays=EVERY_DAY, memory_days=0, open_minutes=480)
        await client.schedule_add(who(0), "add", WHERE, spec)
        for day in range(days):
            clock.now = datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(days=day)
            with timed("make a round"):
                await service.tick()
            with timed("deliver its messages"):
                (ref,) = [body.ref for body in await deliver(client) if isinstance(body, QuestionPost)]
            for member in range(members):
                form = (await client.today(who(member), WHERE)).forms[0]
                given = AnswerInput(options=(form.question.options[member % 2].id,))
                with timed("an answer", days * members):
                    await client.answer(who(member), WHERE, f"{day} {member}", ref, given, clock())
            clock.advance(hours=9)
            with timed("close a round"):
                await service.tick()
            with timed("deliver its messages"):
                await deliver(client)
            await service.jobs.run_pending()
    return spent


async def deliver(client: ServiceClient) -> list[object]:
    """Delivers all that waits; returns it."""
    bodies: list[object] = []
    while found := await client.outbox_claim("slack", 20):
        for delivery in found:
            await client.outbox_sent(delivery.id, f"m{delivery.id}")
            bodies.append(delivery.body)
    return bodies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=20)
    parser.add_argument("--days", type=int, default=60)
    options = parser.parse_args()
    with database() as url:
        spent = asyncio.run(play(url, options.members, options.days))
        with psycopg.connect(libpq_url(url), autocommit=True) as connection:
            connection.execute("vacuum (full, analyze)")
            version = connection.execute("show server_version").fetchone()
            print(f"PostgreSQL {version and version[0]}, {options.members} members, {options.days} days")
            print("CPU:", ", ".join(f"{step} {ms:.1f} ms" for step, ms in spent.items()), end="\n\n")
            print("| Table | Rows a day | Bytes a row | of them indexes | KB a day |\n|---|---|---|---|---|")
            whole = 0.0
            for table, total, _, indexes in connection.execute(SIZES).fetchall():
                found = connection.execute(f'select count(*) from "{table}"'.encode()).fetchone()
                rows = found[0] if found else 0
                if rows < options.days:
                    continue
                whole += total / options.days
                daily = f"{rows / options.days:.1f} | {total / rows:,.0f} | {indexes / rows:,.0f}"
                print(f"| {table} | {daily} | {total / options.days / 1000:.1f} |")
            print(f"| together | | | | {whole / 1000:.1f} |")


if __name__ == "__main__":
    main()
