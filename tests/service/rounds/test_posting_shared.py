"""Workers share the making of rounds: each is made once, a killed worker loses none, and one waits for no other."""

from __future__ import annotations

import asyncio
import sys
from datetime import time, timedelta

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError

from service.client import ServiceRefused
from service.rounds import choosing, posting
from service.rounds import rounds as closing
from service.store import locks
from service.store.competition_tables import SprintQuestion
from service.store.rounds import claim_due_schedules
from service.store.tables import Outbox, Round, Schedule
from service.wire import ExtraRound, QuestionPost, RevealPost, ScheduleSpec, Where
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice, value
from tests.service.statements import counted

MANY = """
    with made as (
        insert into workspace (name, created_at) select 'team ' || n, now() from generate_series(1, :teams) n
        returning id
    ), chats as (
        insert into chat (workspace_id, platform, external_id, created_at)
        select id, 'web', 'chat ' || id, now() from made returning id, workspace_id
    ), channels as (
        insert into channel (workspace_id, chat_id, external_id, name)
        select workspace_id, id, 'channel ' || id, 'daily' from chats returning id, workspace_id
    )
    insert into schedule (workspace_id, channel_id, spec, since)
    select workspace_id, id, cast(:spec as jsonb), :since from channels
"""
WORKER = """
import asyncio, sys
from datetime import datetime
from service.rounds import posting
from service.store.session import make_engine, make_sessions

async def work() -> None:
    sessions = make_sessions(make_engine(sys.argv[1]))
    posting.BATCH_SIZE = 10
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await posting.post_due(sessions, datetime.fromisoformat(sys.argv[2]))

asyncio.run(work())
"""


async def many(daily: DailyChannel, teams: int) -> None:
    """Adds teams with a schedule each, which is due at nine."""
    async with daily.service.sessions.begin() as session:
        values = {"teams": teams, "spec": SPEC.model_dump_json(), "since": daily.now.replace(hour=8)}
        await session.execute(text(MANY), values)


async def made(daily: DailyChannel) -> list[int]:
    """Returns the schedule of each round, after checking that it has one message."""
    rounds = await daily.rows(Round)
    posts = [row for row in await daily.rows(Outbox) if row.kind == "question"]
    assert sorted(row.round_id or 0 for row in posts) == sorted(round_.id for round_ in rounds)
    return sorted(round_.schedule_id for round_ in rounds)


@pytest.mark.slow
async def test_a_worker_killed_halfway_loses_no_round_and_none_is_made_twice(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    await many(daily, 300)
    clock.advance(hours=1)
    url = daily.service.settings.database_url
    workers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WORKER, url, clock.now.isoformat()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout is not None and worker.stdin is not None
        assert await worker.stdout.readline() == b"ready\n"
        worker.stdin.write(b"\n")
    killed, other = workers
    async with asyncio.timeout(60):
        while not await daily.rows(Round):
            pass
    killed.kill()
    assert await other.wait() == 0
    await killed.wait()
    # What the killed one had begun is free as soon as the server notices; the next tick makes it.
    async with asyncio.timeout(60):
        while len(await made(daily)) < 300:
            await posting.post_due(daily.service.sessions, clock.now)
    assert await made(daily) == list(range(1, 301))


async def test_what_one_worker_has_begun_delays_no_other_and_is_made_after_its_end(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice(), value())
    await many(daily, 3 * posting.BATCH_SIZE)
    clock.advance(hours=1)
    async with daily.service.sessions() as session:
        await posting.post_batch(session, clock.now)
        await posting.post_due(daily.service.sessions, clock.now)
        assert await made(daily) == list(range(posting.BATCH_SIZE + 1, 3 * posting.BATCH_SIZE + 1))
        await session.rollback()
    await posting.post_due(daily.service.sessions, clock.now)
    assert await made(daily) == list(range(1, 3 * posting.BATCH_SIZE + 1))


async def test_the_batch_of_a_frozen_worker_is_made_by_another(
    daily: DailyChannel, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await daily.bank(choice(), value())
    await many(daily, 3)
    clock.advance(hours=1)
    monkeypatch.setattr(posting, "LONGEST_PAUSE", timedelta(seconds=1))
    async with daily.service.sessions() as frozen:
        await posting.post_batch(frozen, clock.now)
        async with asyncio.timeout(100):
            while not await daily.rows(Round):
                await posting.post_due(daily.service.sessions, clock.now)
                await asyncio.sleep(0.1)
        with pytest.raises(DBAPIError, match="idle-in-transaction"):
            await frozen.execute(text("select 1"))
        await frozen.invalidate()
    assert await made(daily) == [1, 2, 3]


async def test_a_schedule_that_is_being_edited_delays_no_other(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    await many(daily, 3)
    clock.advance(hours=1)
    async with daily.service.sessions() as session:
        await session.execute(update(Schedule).where(Schedule.id == 2).values(since=Schedule.since))
        async with asyncio.timeout(60):
            await posting.post_due(daily.service.sessions, clock.now)
        assert await made(daily) == [1, 3]
        await session.rollback()
    await posting.post_due(daily.service.sessions, clock.now)
    assert await made(daily) == [1, 2, 3]


async def test_the_statements_do_not_grow_with_the_schedules_that_are_due(daily: DailyChannel, clock: Clock) -> None:
    """Their bank runs low, which is said on the first day."""
    await daily.bank(choice(), value(), choice("third"))
    clock.advance(hours=1)
    taken = []
    for teams in (2, 38):
        await many(daily, teams)
        await posting.post_due(daily.service.sessions, clock.now)
        clock.advance(hours=9)
        await closing.close_due(daily.service.sessions, clock.now)
        clock.advance(hours=15)
        async with daily.service.sessions.begin() as session:
            with counted() as sent:
                await posting.post_batch(session, clock.now)
        taken.append(len(sent))
    assert [round_.skipped for round_ in await daily.rows(Round) if round_.day.day == 4] == [None] * 40
    assert taken[0] == taken[1] <= 30


async def test_two_workers_never_choose_in_one_workspace_at_once(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    await daily.schedule()
    clock.advance(hours=1)
    async with daily.service.sessions.begin() as session:
        assert await choosing.lock_choosing(session, {1}) == {1}
        await posting.post_due(daily.service.sessions, clock.now)
        assert await daily.rows(Round) == []
    await posting.post_due(daily.service.sessions, clock.now)
    assert len(await daily.rows(Round)) == 1


ASIDE = Where(channel="aside", name="#aside")
EVENING = SPEC.model_copy(update={"at": time(20)})
BY_ADMINS = {
    "post now": lambda client, boss: client.post_now(boss, "now", 2),
    "ask": lambda client, boss: client.ask_extra(boss, "ask", ASIDE, ExtraRound()),
    "sprint": lambda client, boss: client.sprint_start(boss, "sprint", ASIDE, 1, 20),
}


@pytest.mark.parametrize("name", BY_ADMINS)
async def test_an_admin_is_not_given_the_question_that_a_worker_is_just_posting(
    daily: DailyChannel, clock: Clock, name: str
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    await daily.schedule(EVENING, where=ASIDE)
    await daily.ticked()
    clock.advance(hours=1)
    waiting = text(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    async with daily.service.sessions.begin() as session, daily.service.sessions() as looking:
        await posting.post_batch(session, clock.now)
        asking = asyncio.create_task(BY_ADMINS[name](daily.client, daily.who("Boss", admin=True)))
        while not asking.done() and not await looking.scalar(waiting):
            await looking.rollback()
    with pytest.raises(ServiceRefused):
        await asking
    assert len([row for row in await daily.rows(Round) if row.version_id]) == 1
    assert await daily.rows(SprintQuestion) == []


async def test_a_question_is_not_posted_while_another_worker_closes_the_last_one(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice(), value())
    await daily.schedule(ScheduleSpec(at=SPEC.at, open_minutes=24 * 60))
    clock.advance(hours=1)
    await daily.ticked()
    clock.advance(days=1)
    async with daily.service.sessions.begin() as session:
        assert await locks.try_lock(session, locks.CLOSING, [1]) == {1}
        await daily.service.tick()
        assert len(await daily.rows(Round)) == 1
        assert await closing.close_round(session, 1, clock.now)
    bodies = await daily.ticked()
    assert [type(body) for body in bodies if isinstance(body, RevealPost | QuestionPost)] == [RevealPost, QuestionPost]


async def test_a_round_is_closed_by_one_of_many_workers(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    await daily.ticked()
    clock.advance(hours=8)
    closed = await asyncio.gather(*(closing.close_due(daily.service.sessions, clock.now) for _ in range(6)))
    assert sorted(closed) == [0, 0, 0, 0, 0, 1]


async def test_the_next_look_is_planned_and_changes_bring_it_forward(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    schedule, boss = await daily.schedule(), daily.who("Boss", admin=True)

    async def planned() -> object:
        await daily.service.tick()
        (row,) = await daily.rows(Schedule)
        return row.next_at

    assert await planned() == MONDAY + timedelta(hours=1)
    clock.advance(hours=1)
    assert await planned() == MONDAY + timedelta(days=1, hours=1)
    await daily.client.schedule_pause(boss, "e1", schedule, True)
    assert await planned() is None
    await daily.client.schedule_pause(boss, "e2", schedule, False)
    assert await planned() == MONDAY + timedelta(days=1, hours=1)
    await daily.client.schedule_remove(boss, "e3", schedule)
    assert await planned() is None


async def test_a_schedule_without_a_slot_for_days_is_looked_at_daily(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule(ScheduleSpec(at=SPEC.at, weekdays=(6,)))
    await daily.service.tick()
    (row,) = await daily.rows(Schedule)
    assert row.next_at == MONDAY + posting.LONGEST_PLAN


async def test_due_schedules_are_found_by_their_index(daily: DailyChannel, clock: Clock) -> None:
    await many(daily, 3000)
    query = select(Schedule).where(Schedule.next_at <= MONDAY).order_by(Schedule.next_at, Schedule.id).limit(50)
    async with daily.service.sessions.begin() as session:
        assert len(await claim_due_schedules(session, MONDAY, None, 50)) == 50
        await session.execute(text("update schedule set next_at = next_at + interval '1 day' where id > 50"))
        await session.execute(text("analyze schedule"))
        compiled = query.compile(compile_kwargs={"literal_binds": True}, dialect=session.get_bind().dialect)
        plan = [row[0] for row in await session.execute(text(f"explain {compiled}".replace(":", r"\:")))]
    assert any("ix_schedule_next" in line for line in plan), plan


async def test_other_channels_of_a_schedule_count_where_its_own_chat_is_left(daily: DailyChannel, clock: Clock) -> None:
    """It makes no rounds while the bot is nowhere, and catches up as soon as it is back."""
    await daily.bank(choice(), value())
    await daily.schedule(where=Where(channel="daily"))
    clock.advance(hours=1)
    async with daily.service.sessions.begin() as session:
        await session.execute(text("update chat set left_at = now()"))
    assert await daily.ticked() == []
    assert [row.next_at for row in await daily.rows(Schedule)] == [None]
    clock.advance(minutes=10)
    async with daily.service.sessions.begin() as session:
        await session.execute(text("update chat set left_at = null"))
    question, *_ = await daily.ticked()
    assert isinstance(question, QuestionPost) and question.late_minutes == 10
