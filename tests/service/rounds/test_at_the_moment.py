"""What admins change at the very moment at which a question is due."""

from __future__ import annotations

import asyncio
from datetime import time, timedelta

import pytest

from service.rounds import leaderboard, schedules
from service.rounds.choosing import lock_choosing
from service.rounds.rounds import close_round
from service.store import ledger, locks
from service.store.members import resolve_caller
from service.store.tables import CurrentAnswer, Round, Season
from service.wire import AnswerInput, QuestionPost, ScheduleChanges
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice, post_code_question
from tests.service.lock_waits import until_locked_out

NINE = MONDAY + timedelta(hours=1)


@pytest.fixture
async def scheduled(daily: DailyChannel) -> DailyChannel:
    """A channel whose first question comes at nine."""
    await daily.bank(*(choice(f"q{number}") for number in range(9)))
    await daily.schedule()
    return daily


async def _posted(daily: DailyChannel) -> list[str]:
    return [body.ref for body in await daily.ticked() if isinstance(body, QuestionPost)]


@pytest.mark.parametrize(
    "changes",
    [ScheduleChanges(topics=("tensors",)), ScheduleChanges(weekdays=(0, 1, 2)), ScheduleChanges(open_minutes=60)],
    ids=["topics", "weekdays", "open"],
)
async def test_a_question_that_is_due_is_posted_though_its_schedule_is_changed(
    scheduled: DailyChannel, clock: Clock, changes: ScheduleChanges
) -> None:
    clock.now = NINE + timedelta(seconds=1)
    await scheduled.client.schedule_edit(scheduled.who("Boss", admin=True), "edit", 1, changes)
    assert len(await _posted(scheduled)) == 1


async def test_a_time_that_is_over_for_today_begins_tomorrow(scheduled: DailyChannel, clock: Clock) -> None:
    clock.now = NINE + timedelta(seconds=1)
    boss = scheduled.who("Boss", admin=True)
    await scheduled.client.schedule_edit(boss, "edit", 1, ScheduleChanges(at=time(8, 30)))
    assert await _posted(scheduled) == []
    clock.now = NINE + timedelta(hours=23, minutes=30)
    assert len(await _posted(scheduled)) == 1


async def test_a_question_that_is_due_when_a_season_ends_counts_in_it(scheduled: DailyChannel, clock: Clock) -> None:
    boss = scheduled.who("Boss", admin=True)
    await scheduled.client.season_start(boss, "start", "Spring")
    clock.now = NINE + timedelta(seconds=1)
    # No worker has come to the question of nine yet.
    ended = await scheduled.client.season_end(boss, "end")
    assert not ended.final
    (ref,) = await _posted(scheduled)
    await scheduled.answer(ref, "a")
    clock.advance(hours=9)
    await scheduled.ticked()
    await scheduled.ticked()
    (spring,) = await scheduled.client.season_list(boss)
    assert spring.final
    assert [row.name for row in spring.archive] == ["Ada"]


async def test_a_season_that_ends_beside_a_question_of_later_is_final_at_once(
    scheduled: DailyChannel, clock: Clock
) -> None:
    boss = scheduled.who("Boss", admin=True)
    await scheduled.client.season_start(boss, "start", "Spring")
    clock.advance(minutes=30)
    assert await _posted(scheduled) == []
    assert (await scheduled.client.season_end(boss, "end")).final


async def test_a_schedule_that_is_just_being_changed_posts_by_the_new_settings(
    scheduled: DailyChannel, clock: Clock
) -> None:
    clock.now = NINE
    boss = scheduled.who("Boss", admin=True)
    async with scheduled.service.sessions.begin() as session:
        caller = await resolve_caller(session, boss, None, clock.now)
        await schedules.edit(session, caller, 1, ScheduleChanges(at=time(18)), clock.now)
        assert await _posted(scheduled) == []
    assert await _posted(scheduled) == []
    clock.now = NINE + timedelta(hours=9)
    assert len(await _posted(scheduled)) == 1
    assert len(await scheduled.rows(Round)) == 1


async def test_code_waits_for_a_round_that_is_being_closed(daily: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(daily, clock)
    given = AnswerInput(code="def double(x):\n    return 2 * x\n")
    async with daily.service.sessions.begin() as session:
        assert await close_round(session, 1, clock.now)
        answering = asyncio.create_task(daily.answer(ref, given))
        await until_locked_out(session, answering)
    assert (await answering).status == "late"
    assert await daily.rows(CurrentAnswer) == []


async def test_a_question_waits_until_the_answer_of_the_last_one_is_revealed(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(9)))
    await daily.schedule(SPEC.model_copy(update={"open_minutes": 24 * 60}))
    clock.now = NINE
    assert len(await _posted(daily)) == 1
    clock.now = NINE + timedelta(days=1)
    async with daily.service.sessions.begin() as session:
        assert await locks.try_lock(session, locks.CLOSING, [1]) == {1}
        assert await _posted(daily) == [], "another worker is closing it"
    kinds = [body.kind for body in await daily.ticked()]
    assert kinds.index("reveal") < kinds.index("question")


async def test_the_board_of_a_season_is_kept_by_the_first_of_two_workers(scheduled: DailyChannel, clock: Clock) -> None:
    boss = scheduled.who("Boss", admin=True)
    await scheduled.client.season_start(boss, "start", "Spring")
    clock.now = NINE
    (ref,) = await _posted(scheduled)
    await scheduled.answer(ref, "a")
    clock.advance(minutes=1)
    assert not (await scheduled.client.season_end(boss, "end")).final
    async with scheduled.service.sessions.begin() as session:
        assert await close_round(session, 1, clock.now)
    async with scheduled.service.sessions.begin() as session:
        season = await session.get_one(Season, 1)
        await ledger.lock_seasons(session, season.workspace_id)
        season.archive = []
        await session.flush()
        settling = asyncio.create_task(leaderboard.settle_seasons(scheduled.service.sessions, clock.now))
        await until_locked_out(session, settling)
    await settling
    assert [row.archive for row in await scheduled.rows(Season)] == [[]]


async def test_a_question_that_is_posted_now_waits_until_others_are_chosen(
    scheduled: DailyChannel, clock: Clock
) -> None:
    async with scheduled.service.sessions.begin() as session:
        assert await lock_choosing(session, [1])
        posting = asyncio.create_task(scheduled.client.post_now(scheduled.who("Boss", admin=True), "post", 1))
        await until_locked_out(session, posting)
    assert (await posting).opens_at == clock.now
