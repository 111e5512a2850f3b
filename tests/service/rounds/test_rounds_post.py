"""Posting: every slot once, late slots marked, slots too late skipped, admins warned."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from service.config import Settings
from service.rounds import posting
from service.store.session import make_engine, make_sessions
from service.store.tables import Outbox, Round, Schedule
from service.wire import (
    BankLow,
    NothingFits,
    NothingToAsk,
    Notice,
    QuestionPost,
    ScheduleSpec,
    SlotMissed,
    SlotTaken,
    Where,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, value
from tests.service.refusals import refused


async def test_a_slot_is_posted_once_however_often_it_ticks(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    for _ in range(3):
        await daily.service.tick()
        clock.advance(seconds=1)
    assert [round_.day for round_ in await daily.rows(Round)] == [date(2026, 3, 2)]
    assert [row.key for row in await daily.rows(Outbox) if row.kind == "question"] == ["round:1:question"]


async def test_many_tickers_at_the_same_moment_post_once(daily: DailyChannel, clock: Clock, settings: Settings) -> None:
    await daily.bank(choice(), value())
    for at in range(3):
        await daily.schedule(where=Where(channel=f"channel-{at}"))
    clock.advance(hours=1)
    engine = make_engine(settings.database_url)
    sessions = make_sessions(engine)

    await asyncio.gather(*(posting.post_due(sessions, clock.now) for _ in range(8)))
    await engine.dispose()
    await daily.service.tick()
    assert sorted(round_.schedule_id for round_ in await daily.rows(Round)) == [1, 2, 3]
    assert len([row for row in await daily.rows(Outbox) if row.kind == "question"]) == 2
    # The bank has two questions: the third channel does not get one that is open elsewhere.
    assert [round_.skipped for round_ in await daily.rows(Round) if round_.skipped] == ["no question"]


async def test_a_crash_before_the_commit_leaves_nothing_and_the_next_tick_posts(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    async with daily.service.sessions() as session:
        await posting.post_batch(session, clock.now)
        assert len((await session.scalars(select(Round))).all()) == 1
        await session.rollback()
    assert await daily.rows(Round) == []
    question, *_ = await daily.ticked()
    assert isinstance(question, QuestionPost)


async def test_two_schedules_of_one_workspace_are_not_asked_the_same_at_once(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    await daily.schedule()
    await daily.schedule(where=Where(channel="other"))
    clock.advance(hours=1)
    await daily.service.tick()
    versions = [round_.version_id for round_ in await daily.rows(Round)]
    assert len(set(versions)) == 2


@pytest.mark.parametrize(("minutes", "said"), [(1, 0), (2, 2), (119, 119), (120, 120)])
async def test_a_post_after_an_outage_says_how_late_it_is(
    daily: DailyChannel, clock: Clock, minutes: int, said: int
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1, minutes=minutes)
    question, *_ = await daily.ticked()
    assert isinstance(question, QuestionPost)
    assert question.late_minutes == said
    opened = clock.now if said else MONDAY + timedelta(hours=1)
    # It stays open as long as any other, so nobody loses time to an outage.
    assert question.closes_at == opened + timedelta(minutes=SPEC.open_minutes)


async def test_after_the_catch_up_the_slot_is_skipped_and_admins_get_the_reason(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=3, minutes=1)
    (notice,) = await daily.ticked()
    assert notice == Notice(fact=SlotMissed(day=date(2026, 3, 2), catch_up_minutes=120))
    assert await daily.ticked() == []
    (skipped,) = await daily.rows(Round)
    assert (skipped.day, skipped.version_id, skipped.skipped) == (date(2026, 3, 2), None, "missed")


async def test_after_days_away_only_the_newest_slot_is_posted(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    await daily.schedule()
    clock.advance(days=2, hours=1, minutes=30)
    question, *_ = await daily.ticked()
    assert isinstance(question, QuestionPost)
    assert question.day == date(2026, 3, 4)
    assert [bool(round_.skipped) for round_ in await daily.rows(Round)] == [True, True, False]


async def test_a_paused_schedule_owes_nothing_afterwards(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    schedule = await daily.schedule()
    boss = daily.who("Boss", admin=True)
    await daily.client.schedule_pause(boss, "e1", schedule, True)
    clock.advance(days=1, hours=1)
    assert await daily.ticked() == []
    await daily.client.schedule_pause(boss, "e2", schedule, False)
    assert await daily.ticked() == []
    assert await daily.rows(Round) == []


async def test_admins_are_notified_once_that_no_question_fits(daily: DailyChannel, clock: Clock) -> None:
    await daily.schedule()
    clock.advance(hours=1)
    (notice,) = await daily.ticked()
    assert notice == Notice(fact=NothingToAsk(needs_gpu=False))
    clock.advance(days=1)
    assert await daily.ticked() == []
    assert [round_.skipped for round_ in await daily.rows(Round)] == ["no question"] * 2


async def test_admins_are_notified_once_of_a_low_bank_until_an_import(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("one"), choice("two"), choice("three"))
    await daily.schedule()
    clock.advance(hours=1)
    _, notice = await daily.ticked()
    assert notice == Notice(fact=BankLow(left=2))
    clock.advance(days=1)
    assert [body.kind for body in await daily.ticked()].count("notice") == 0
    await daily.bank(choice("four"), name="more")
    clock.advance(days=1)
    assert [body.kind for body in await daily.ticked()].count("notice") == 1


async def test_a_schedule_that_cannot_be_read_holds_up_no_other(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    broken = await daily.schedule(where=Where(channel="broken"))
    await daily.schedule()
    async with daily.service.sessions.begin() as session:
        row = await session.get_one(Schedule, broken)
        row.spec = {**row.spec, "zone": "Mars/Olympus"}
    clock.advance(hours=1)
    question, *_ = await daily.ticked()
    assert isinstance(question, QuestionPost)
    assert [round_.schedule_id for round_ in await daily.rows(Round)] == [2]


async def test_post_now_takes_the_days_slot(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), value())
    schedule = await daily.schedule()
    boss = daily.who("Boss", admin=True)
    view = await daily.client.post_now(boss, "e1", schedule)
    assert (view.day, view.closed, view.answers) == (date(2026, 3, 2), False, 0)
    assert await daily.client.post_now(boss, "e1", schedule) == view
    with refused(SlotTaken(day=date(2026, 3, 2))):
        await daily.client.post_now(boss, "e2", schedule)
    today = await daily.client.today(boss, DAILY)
    assert today.next_at == datetime(2026, 3, 3, 9, tzinfo=UTC)
    assert [body.kind for body in await daily.ticked()] == ["question", "notice"]
    clock.advance(hours=1)
    assert await daily.ticked() == []


async def test_post_now_with_nothing_to_ask_changes_nothing(daily: DailyChannel) -> None:
    schedule = await daily.schedule()
    with refused(NothingFits(needs_gpu=False)):
        await daily.client.post_now(daily.who("Boss", admin=True), "e1", schedule)
    assert await daily.rows(Round) == []
    assert await daily.rows(Outbox) == []


async def test_local_times_are_kept_over_a_change_of_clocks(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("one"), choice("two"))
    clock.now = MONDAY.replace(month=3, day=27, hour=7)
    await daily.schedule(ScheduleSpec(at=time(9, 0), zone="Europe/Berlin"))
    clock.now = clock.now.replace(hour=8)
    first, *_ = await daily.ticked()
    clock.now = clock.now.replace(day=30, hour=7)
    bodies = await daily.ticked()
    posts = [first, *bodies]
    assert [body.day for body in posts if isinstance(body, QuestionPost)] == [date(2026, 3, 27), date(2026, 3, 30)]
    opened = [round_.opens_at.hour for round_ in await daily.rows(Round)]
    assert opened == [8, 7]


async def test_idle_ticks_write_no_schedules_row(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    seen = set()
    for _ in range(5):
        clock.advance(seconds=20)
        await daily.service.tick()
        seen |= {schedule.since for schedule in await daily.rows(Schedule)}
    assert seen == {MONDAY}


async def test_more_schedules_than_one_batch_are_all_posted_and_a_broken_one_delays_no_other(
    daily: DailyChannel, clock: Clock
) -> None:
    """Broken filters, a broken timing, and a schedule without the holiday calendar field."""
    await daily.bank(choice())
    ids = [await daily.schedule(where=Where(channel=f"channel-{at}")) for at in range(posting.BATCH_SIZE + 4)]
    odd: list[dict[str, Any]] = [{"open_minutes": "x"}, {"zone": "Nowhere/Land"}, {"country": None}]
    async with daily.service.sessions.begin() as session:
        for id_, other in zip(ids, odd, strict=False):
            row = await session.get_one(Schedule, id_)
            row.spec = {name: said for name, said in {**row.spec, **other}.items() if said is not None}
    clock.advance(hours=1)
    await daily.service.tick()
    assert [round_.schedule_id for round_ in await daily.rows(Round)] == ids[2:]
    since = {schedule.id: schedule.since for schedule in await daily.rows(Schedule)}
    assert {id_ for id_ in ids if since[id_] == MONDAY} == set(ids[:2])
    await daily.service.tick()
    assert len(await daily.rows(Round)) == len(ids) - 2


async def test_a_skipped_slot_is_processed_once(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    schedule = await daily.schedule()
    await daily.client.schedule_skip(daily.who("Boss", admin=True), "e1", schedule, MONDAY.date())
    clock.advance(hours=1)
    assert await daily.ticked() == []
    assert [row.since for row in await daily.rows(Schedule)] == [clock.now]
    clock.advance(seconds=20)
    assert await daily.ticked() == []
    assert [row.since for row in await daily.rows(Schedule)] == [clock.now - timedelta(seconds=20)]
