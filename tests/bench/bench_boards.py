"""Benchmark: looks at boards of ten thousand members and of a million, compared with a look-up by primary key.

`--members 1000000 --rounds 50` fills 50 million ledger rows first, which takes long. Points are then posted as a close
does it, with every board open.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from time import perf_counter
from typing import get_args

import psycopg
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from service.rounds import board_keys, leaderboard
from service.store.members import Caller
from service.store.session import Sessions, libpq_url, make_engine, make_sessions
from service.store.tables import Member, Schedule
from service.wire import Contest, Period
from tests.bench.rounds import database

NOW = datetime(2026, 3, 18, 20, tzinfo=UTC)
"""A Wednesday evening."""
TOPICS = ("", "tensors", "tensors/views")
FILL = """
insert into workspace (name, created_at) values ('bench', now());
insert into chat (workspace_id, platform, external_id, created_at) values (1, 'web', 'bench', now());
insert into channel (workspace_id, chat_id, external_id, name) values (1, 1, 'daily', 'daily');
insert into bank (name, title) values ('bench', 'Bench');
insert into question (bank_id, key, current) select 1, 'q' || n, 1 from generate_series(1, {rounds}) n;
insert into question_version (question_id, version, kind, topic, answered, digest, body, created_at)
select n, 1, 'choice', (array['tensors/views', 'tensors', 'autograd'])[1 + (n + 2) %% 3], true, '', '{{}}', now()
from generate_series(1, {rounds}) n;
insert into schedule (workspace_id, channel_id, spec, since) values (1, 1, '{{"zone": "UTC"}}', now());
insert into round (schedule_id, day, version_id, opens_at, closes_at, closed_at)
select 1, '{today}'::date - n, n, at, at + '8 h', at + '8 h'
from generate_series(1, {rounds}) n, lateral (select '{today} 09:00+00'::timestamptz - n * interval '1 day' as at) t;
insert into member (workspace_id, name, joined_at)
select 1, 'Member ' || n, now() from generate_series(1, {members}) n;
"""
DROP_INDEXES = """
alter table ledger drop constraint uq_ledger_key, drop constraint pk_ledger, drop constraint fk_ledger_round_id_round,
    drop constraint fk_ledger_member_id_member;
drop index ix_ledger_board; drop index ix_ledger_member; drop index ix_ledger_round;
"""
FILL_LEDGER = """
insert into ledger (key, workspace_id, member_id, round_id, points, credit, seconds, reason, at)
select r.id || ':' || m.id, 1, m.id, r.id,
    case when hash < 0.7 then 10 + (hash * 8)::int else 0 end, case when hash < 0.7 then 1 else hash - 0.7 end,
    round((hash * 28000)::numeric, 3), 'round', r.opens_at
from round r, member m, lateral (select abs(hashint8(r.id * 1000003 + m.id)::float) / 2147483648 as hash) h;
"""
CREATE_INDEXES = """
alter table ledger add constraint pk_ledger primary key (id), add constraint uq_ledger_key unique (key);
create index ix_ledger_board on ledger (workspace_id, at);
create index ix_ledger_member on ledger (member_id, at);
create index ix_ledger_round on ledger (round_id, member_id);
"""
POST = """
insert into ledger (key, workspace_id, member_id, round_id, points, credit, seconds, reason, at)
select 'now:' || {round} || ':' || m.id, 1, m.id, {round}, 10, 1, m.id %% 28000, 'round', '{today} 09:00+00'
from member m order by hashint8(m.id) limit {answers}
"""


@dataclass(frozen=True)
class Look:
    """One kind of board."""

    channel_id: int | None
    period: Period
    topic: str
    contest: Contest


def looks() -> list[Look]:
    """Returns every kind of board that there is."""
    return [
        Look(channel_id, period, topic, contest)
        for channel_id in (None, 1)
        for period in get_args(Period)
        for topic in TOPICS
        for contest in get_args(Contest)
        if contest == "points"
        or period in board_keys.COMPARABLE_PERIODS
        or (contest == "rookies" and period == "season")
    ]


def fill(url: str, members: int, rounds: int) -> None:
    """Fills members, rounds and their points without opening a board."""
    values = {"members": members, "rounds": rounds, "today": NOW.date().isoformat()}
    with psycopg.connect(libpq_url(url), autocommit=True) as rows:
        rows.execute("set session_replication_role = replica")
        rows.execute("set maintenance_work_mem = '512MB'")
        for script in (FILL.format(**values).replace("%%", "%"), DROP_INDEXES, FILL_LEDGER, CREATE_INDEXES):
            rows.execute(script.encode())
        rows.execute("insert into season (workspace_id, name, starts_at) values (1, 'Spring', '2026-03-01')")
        rows.execute("vacuum analyze")


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Returns how many milliseconds it takes."""
    start = perf_counter()
    await work()
    return (perf_counter() - start) * 1000


def told(name: str, times: Sequence[float]) -> tuple[float, float]:
    """Prints and returns the median and the 99th percentile."""
    cuts = quantiles(times, n=100)
    print(f"  {name}: p50 {cuts[49]:.2f} ms, p99 {cuts[98]:.2f} ms, of {len(times)}", flush=True)
    return cuts[49], cuts[98]


def caller(member_id: int, channel_id: int | None) -> Caller:
    return Caller(1, member_id, channel_id, "", False, 1, 1)


async def look_at(session: AsyncSession, look: Look, member_id: int) -> None:
    found = await leaderboard.get_board(
        session,
        caller(member_id, look.channel_id),
        NOW,
        leaderboard.BoardQuery(period=look.period, topic=look.topic, contest=look.contest),
    )
    assert found.rows or look.period != "all", f"nobody on {look}"


async def measure(sessions: Sessions, members: int, each: int) -> tuple[float, float]:
    """Looks at every kind of board from different members' places. Returns the median and the 99th percentile."""
    pick = random.Random(7)
    found: dict[Look, list[float]] = {look: [] for look in looks()}
    keys = []
    async with sessions.begin() as session:
        for _ in range(each):
            for look in found:
                member_id = pick.randint(1, members)
                found[look].append(await timed(lambda: look_at(session, look, member_id)))  # noqa: B023
                query = select(Member.name).where(Member.id == pick.randint(1, members))
                keys.append(await timed(lambda: session.scalar(query)))  # noqa: B023
    for contest in get_args(Contest):
        told(contest, [time for look, times in found.items() if look.contest == contest for time in times])
    told("of a topic", [time for look, times in found.items() if look.topic for time in times])
    slowest = max(found, key=lambda look: sorted(found[look])[each // 2])
    told(f"slowest kind ({slowest.period}, {slowest.topic or 'all topics'}, {slowest.contest})", found[slowest])
    both = told("every board", [time for times in found.values() for time in times])
    key = told("look-up by primary key", keys)
    print(f"  a board takes {both[0] / key[0]:.1f} look-ups by primary key", flush=True)
    return both


async def post(sessions: Sessions, url: str, answers: int) -> None:
    """Posts points of a round of today, as a close does: in one statement, with every board open."""
    async with sessions.begin() as session:
        schedule = (await session.scalars(select(Schedule))).one()
        await board_keys.open_for_posting(session, schedule, NOW)
    with psycopg.connect(libpq_url(url)) as rows:
        opens = (NOW - timedelta(hours=11)).isoformat()
        made = rows.execute(
            "insert into round (schedule_id, day, version_id, opens_at, closes_at, closed_at) "
            f"values (1, '{NOW.date()}', 1, '{opens}', '{NOW.isoformat()}', '{NOW.isoformat()}') returning id".encode()
        ).fetchone()
        assert made is not None
        start = perf_counter()
        script = POST.format(round=made[0], answers=answers, today=NOW.date().isoformat()).replace("%%", "%")
        rows.execute(script.encode())
        rows.commit()
        print(f"  points of {answers:,} answers posted in {perf_counter() - start:.2f} s", flush=True)
        boards = rows.execute("select count(*) from board").fetchone()
        print(f"  {boards and boards[0]} boards open", flush=True)
        rows.commit()
        rows.autocommit = True
        rows.execute("vacuum analyze")


def explain(url: str) -> None:
    """Prints how the database finds a page of the board of the week."""
    with psycopg.connect(libpq_url(url)) as rows:
        found = rows.execute("select id from board where period = 'week' and topic = '' order by id desc").fetchone()
        assert found is not None
        for query in (
            f"select * from board_entry where board_id = {found[0]} and contest = 'points' "
            "order by deficit, ms, member_id limit 10",
            f"select sum(members) from board_block where board_id = {found[0]} and contest = 'points' "
            f"and (deficit, ms, member_id) < (0, 0, 0)",
            f"select view_board({found[0]}, 'points', 777, 10, 2)",
        ):
            print(f"\n{query}")
            for (line,) in rows.execute(f"explain (analyze, buffers, costs off) {query}".encode()):
                print("  " + line)


async def run(url: str, members: int, rounds: int, each: int) -> tuple[float, float]:
    print(f"{members:,} members, {members * rounds:,} ledger rows; load {os.getloadavg()[0]:.1f}", flush=True)
    start = perf_counter()
    fill(url, members, rounds)
    print(f"  filled in {perf_counter() - start:.0f} s", flush=True)
    engine = make_engine(url)
    sessions = make_sessions(engine)
    firsts = []
    for look in looks():
        async with sessions.begin() as session:
            firsts.append(await timed(lambda: look_at(session, look, 1)))  # noqa: B023
    print(f"  first looks, which open the boards: {sum(firsts) / 1000:.1f} s, the longest {max(firsts) / 1000:.1f} s")
    await post(sessions, url, min(10_000, members))
    found = await measure(sessions, members, each)
    explain(url)
    await engine.dispose()
    return found


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=50_000, help="members of the large team")
    parser.add_argument("--rounds", type=int, default=10, help="rounds that each of them answered")
    parser.add_argument("--each", type=int, default=10, help="looks at each kind of board")
    asked = parser.parse_args()
    found = []
    for members in (10_000, asked.members):
        with database() as url:
            found.append(await run(url, members, asked.rounds, asked.each))
    print(f"\n{asked.members:,} members take {found[1][0] / found[0][0]:.2f} x the time of 10,000 at p50, "
          f"{found[1][1] / found[0][1]:.2f} x at p99")  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main())
