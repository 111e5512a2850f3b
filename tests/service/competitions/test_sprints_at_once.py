"""Sprints under load and after crashes: 500 members at once, several leaders, and a leader that dies at any step."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from psycopg import AsyncConnection
from sqlalchemy import select, update

from service.app import build
from service.client import ServiceRefused
from service.competitions import sprints
from service.config import Settings
from service.rounds.choosing import lock_choosing
from service.store.competition_tables import Sprint, SprintAnswer, SprintQuestion
from service.store.members import resolve_caller
from service.store.session import libpq_url
from service.store.tables import Outbox
from service.wire import AnswerInput, PlannedSprint, SprintRefused, SprintReveal, SprintView
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import SprintScene, one_of, pass_time
from tests.service.daily_channel import DAILY, DailyChannel
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

MEMBERS = 500


@pytest.fixture
def scene(daily: DailyChannel, clock: Clock) -> SprintScene:
    return SprintScene(daily, clock)


@pytest.mark.slow
async def test_five_hundred_members_with_duplicated_clicks_count_once_each(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1, seconds=120)
    post = await scene.asks()
    client, now = scene.daily.client, scene.clock.now
    before_bell = MEMBERS - 50

    busy = asyncio.Semaphore(40)

    async def click(number: int, event: str, option: str) -> str:
        who = scene.daily.who(f"Member {number}")
        try:
            async with busy:
                given = AnswerInput(options=(option,))
                return (await client.answer(who, DAILY, event, post.ref, given, now)).status
        except ServiceRefused as refused:
            return refused.refusal.kind

    async def plays(number: int) -> tuple[str, ...]:
        # The same event twice, as a chat repeats it, or the same button pressed again.
        option, event = "ab"[number % 2], f"click {number}"
        again = event if number % 3 else f"again {number}"
        return await asyncio.gather(click(number, event, option), click(number, again, option))

    said = await asyncio.gather(*(plays(number) for number in range(before_bell)))
    assert {each for both in said for each in both} == {"recorded", "changed"}
    # The bell: some come a moment too late, while the leader settles the question.
    await pass_time(scene.daily, 120)
    late = asyncio.gather(*(plays(number) for number in range(before_bell, MEMBERS)))
    made, too_late = await asyncio.gather(scene.ticks(), late)
    assert {each for both in too_late for each in both} == {"sprint-refused"}
    reveal = one_of(made, SprintReveal)
    assert (reveal.answers, reveal.right) == (before_bell, before_bell // 2)
    assert sum(option.chosen_by for option in reveal.key.options) == before_bell
    rows = await scene.daily.rows(SprintAnswer)
    assert len(rows) == before_bell
    assert all((row.points or 0) > 0 if row.given["options"] == ["a"] else row.points == 0 for row in rows)
    await scene.passes(10)
    await scene.ticks()
    edits = [row for row in await scene.daily.rows(Outbox) if row.edits_id is not None]
    assert len(edits) <= 2, "answers cause no edits of their own"


async def test_an_answer_that_waited_for_the_settlement_is_refused(scene: SprintScene, database_url: str) -> None:
    """It came before the bell and found the question open, but the leader settles the question before it is stored."""
    await scene.bank(1)
    await scene.starts(1, seconds=120)
    post = await scene.asks()
    async with scene.daily.service.sessions.begin() as leader:
        (sprint,) = await leader.scalars(select(Sprint).with_for_update())
        click = asyncio.create_task(scene.answers(post, "a"))
        await until_somebody_waits(database_url)
        for table, names in ((Sprint, ("until",)), (SprintQuestion, ("closes_at",))):
            moved = {name: getattr(table, name) - timedelta(seconds=121) for name in names}
            await leader.execute(update(table).values(moved))
        await sprints.advance(leader, sprint.id, scene.clock.now)
    with refused(SprintRefused(why="closed")):
        await click
    assert await scene.daily.rows(SprintAnswer) == []


async def test_the_settlement_waits_for_an_answer_that_is_being_saved(scene: SprintScene, database_url: str) -> None:
    await scene.bank(1)
    await scene.starts(1)
    post = await scene.asks()
    async with scene.daily.service.sessions.begin() as saving:
        caller = await resolve_caller(saving, scene.daily.who("Ada"), DAILY, scene.clock.now)
        await sprints.submit_answer(saving, caller, post.ref, AnswerInput(options=("a",)), scene.clock.now)
        bell = asyncio.create_task(scene.stops())
        await until_somebody_waits(database_url)
        assert not bell.done()
    await bell
    assert one_of(await scene.ticks(), SprintReveal).right == 1


async def test_no_answer_that_is_being_shown_names_a_member_who_is_forgotten_meanwhile(
    scene: SprintScene, database_url: str
) -> None:
    await scene.bank(1)
    await scene.starts(1)
    post = await scene.asks()
    await scene.answers(post, "a")
    await pass_time(scene.daily, 120)
    async with scene.daily.service.sessions.begin() as leader:
        sprint_id = (await leader.scalars(select(Sprint.id))).one()
        await sprints.advance(leader, sprint_id, scene.clock.now)
        ada = scene.daily.who("Ada")
        forgetting = asyncio.create_task(scene.daily.client.privacy(ada, "forget", "forget"))
        waiting = asyncio.create_task(until_somebody_waits(database_url))
        await asyncio.wait({forgetting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
    await forgetting
    (reveal,) = [row.body for row in await scene.daily.rows(Outbox) if row.kind == "sprint-reveal"]
    assert reveal["right"] == 1 and "Ada" not in str(reveal)


async def _plans(scene: SprintScene, event: str, minutes: int = 30) -> SprintView:
    """Plans a sprint for so many minutes from now."""
    at = scene.clock() + timedelta(minutes=minutes)
    plan = PlannedSprint(questions=1, seconds=60, at=at.time(), day=at.date())
    return await scene.daily.client.sprint_plan(scene.daily.who("Boss", admin=True), event, scene.where, plan)


async def test_a_sprint_is_not_started_in_the_moment_in_which_a_planned_one_begins(scene: SprintScene) -> None:
    await scene.bank()
    planned = await _plans(scene, "plan")
    await scene.passes(30 * 60)
    (workspace_id,) = {row.workspace_id for row in await scene.daily.rows(Sprint)}

    async def starts_once() -> None:
        # Without the route, which makes a call again that a deadlock ended.
        async with scene.daily.service.sessions.begin() as session:
            boss = await resolve_caller(session, scene.daily.who("Boss", admin=True), scene.where, scene.clock.now)
            await sprints.start(session, boss, sprints.SprintPlan(3, 20), scene.clock.now)

    async with scene.daily.service.sessions.begin() as leader:
        assert await lock_choosing(leader, [workspace_id])
        starting = asyncio.create_task(starts_once())
        await until_locked_out(leader, starting)
        await sprints.advance(leader, planned.id, scene.clock.now)
    with refused(SprintRefused(why="running")):
        await starting
    assert [(row.id, row.phase) for row in await scene.daily.rows(Sprint)] == [(planned.id, "posting")]


async def test_two_admins_who_plan_at_once_plan_no_more_than_one_of_them_may(scene: SprintScene) -> None:
    await scene.bank(1)
    for number in range(sprints.MOST_PLANNED - 1):
        await _plans(scene, f"plan {number}", 30 + number)
    async with scene.daily.service.sessions.begin() as session:
        boss = await resolve_caller(session, scene.daily.who("Boss", admin=True), scene.where, scene.clock.now)
        at = scene.clock() + timedelta(hours=2)
        plan = PlannedSprint(questions=1, seconds=60, at=at.time(), day=at.date())
        await sprints.plan_later(session, boss, plan, scene.clock.now)
        other = asyncio.create_task(_plans(scene, "other", 99))
        await until_locked_out(session, other)
    with refused(SprintRefused(why="many")):
        await other
    assert len(await scene.daily.rows(Sprint)) == sprints.MOST_PLANNED


async def until_somebody_waits(url: str) -> None:
    """Returns when a transaction waits for another one."""
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    async with await AsyncConnection.connect(libpq_url(url), autocommit=True) as connection:
        while True:
            row = await (await connection.execute(waiting)).fetchone()
            if row is not None and row[0]:
                return


@pytest.mark.slow
async def test_many_leaders_take_each_step_once(scene: SprintScene) -> None:
    await scene.bank(2)
    await scene.starts(2)

    async def crowd() -> None:
        await asyncio.gather(*(sprints.advance_all(scene.daily.service.sessions, scene.clock.now) for _ in range(8)))

    kinds = []
    for _ in range(40):
        await crowd()
        made = await scene.daily.deliver()
        kinds += [each.body.kind for each in made if each.edits is None]
        for each in made:
            if each.body.kind == "sprint-question" and each.edits is None:
                await crowd()
                await scene.answers(each.body, "a")
        await scene.passes(5)
    assert kinds == ["sprint", *["sprint-question", "sprint-reveal"] * 2, "sprint-podium"]
    assert [row.points is not None for row in await scene.daily.rows(SprintAnswer)] == [True, True]


async def test_another_leader_goes_on_wherever_one_dies(scene: SprintScene, settings: Settings, clock: Clock) -> None:
    """Each step is first taken by a leader that dies before it commits, then by another one without any memory."""
    await scene.bank(2)
    view = await scene.starts(2)
    kinds = []
    for _ in range(24):
        async with scene.daily.service.sessions() as dying:
            await sprints.advance(dying, view.id, clock.now)
            await dying.rollback()
        async with build(settings, clock).running() as leader:
            await leader.tick()
        made = await scene.daily.deliver()
        kinds += [each.body.kind for each in made if each.edits is None]
        clock.now += timedelta(seconds=5)
        await pass_time(scene.daily, 5)
    assert kinds == ["sprint", *["sprint-question", "sprint-reveal"] * 2, "sprint-podium"]
    (sprint,) = await scene.daily.rows(Sprint)
    assert sprint.phase == "ended"
