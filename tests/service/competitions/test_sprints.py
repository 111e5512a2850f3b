"""Sprints: from the announcement to the podium, what counts, and what is refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import date, time, timedelta
from itertools import pairwise
from typing import Any

import pytest

from service.competitions.sprints import MOST_PLANNED, advance_all
from service.rounds.choosing import lock_choosing
from service.store.audits import Audit
from service.store.cards import CardRow
from service.store.competition_tables import Sprint, SprintAnswer, SprintQuestion
from service.store.tables import Ledger, Outbox
from service.wire import (
    AdminsOnly,
    AnswerInput,
    ChannelNeeded,
    InvalidInput,
    LiveSprint,
    NotFound,
    PlannedSprint,
    QuestionGone,
    SprintAnnouncement,
    SprintPodium,
    SprintPulse,
    SprintQuestionPost,
    SprintRefused,
    SprintReveal,
    Sprints,
    SprintView,
    StillOpen,
    Where,
    WinnerPost,
    WrongKindOfAnswer,
)
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import SprintScene, one_of, several
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, code, prose, value
from tests.service.refusals import refused


@pytest.fixture
def scene(daily: DailyChannel, clock: Clock) -> SprintScene:
    return SprintScene(daily, clock)


async def test_from_the_announcement_to_the_podium(scene: SprintScene) -> None:
    await scene.bank()
    # Real time passes as well, some seconds on a busy machine.
    view = await scene.starts(questions=2, seconds=60)
    assert (view.total, view.seconds, view.asked) == (2, 60, 0)
    assert one_of(await scene.ticks(), SprintAnnouncement).total == 2
    await scene.ticks()
    assert await scene.ticks() == [], "the first question waits for its time"

    first = await scene.asks()
    assert (first.number, first.total, first.left_s, first.answers) == (1, 2, None, 0)
    await scene.answers(first, "b", "Bob")
    await scene.passes(4)
    await scene.answers(first, "a", "Ada")
    (edit,) = await scene.ticks()
    post = next(row for row in await scene.daily.rows(Outbox) if row.key.endswith(":1:post"))
    assert edit.edits is not None and (edit.edits.ref, edit.edits.key) == (post.message_ref, post.key)
    assert isinstance(edit.body, SprintQuestionPost) and edit.body.answers == 2
    assert edit.body.left_s is not None and 30 <= edit.body.left_s <= 56

    reveal = await scene.reveals()
    assert (reveal.answers, reveal.right, reveal.number) == (2, 1, 1)
    assert {option.id: option.chosen_by for option in reveal.key.options} == {"a": 1, "b": 1, "c": 0}
    assert reveal.fastest is not None and reveal.fastest.name == "Ada" and 4000 <= reveal.fastest.ms < 30_000
    (standing,) = reveal.standings
    assert (standing.rank, standing.name, standing.right) == (1, "Ada", 1) and 75 <= standing.points < 100

    second = await scene.asks()
    assert second.number == 2 and second.question.id != first.question.id
    await scene.answers(second, "a", "Bob")
    reveal = await scene.reveals()
    assert [row.name for row in reveal.standings] == ["Bob", "Ada"]
    podium = await scene.ends()
    assert (podium.asked, podium.total, podium.players) == (2, 2, 2)
    assert [(row.rank, row.name) for row in podium.standings] == [(1, "Bob"), (2, "Ada")]
    await scene.passes(60)
    assert await scene.ticks() == []
    assert await scene.daily.rows(Ledger) == [], "points count in the sprint only"


async def test_the_last_answer_counts_and_the_same_one_again_keeps_its_time(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1, seconds=60)
    post = await scene.asks()
    assert (await scene.answers(post, "a")).status == "recorded"
    await scene.passes(18)
    assert (await scene.answers(post, "a")).status == "changed"
    assert (await scene.answers(post, "b", "Bob")).status == "recorded"
    await scene.passes(2)
    assert (await scene.answers(post, "a", "Bob")).status == "changed"
    reveal = await scene.reveals()
    assert (reveal.answers, reveal.right) == (2, 2)
    ada, bob = await scene.daily.rows(SprintAnswer)
    assert ada.ms is not None and bob.ms is not None and ada.points is not None and bob.points is not None
    assert ada.ms < 18_000 and 20_000 <= bob.ms < 60_000
    assert ada.points > bob.points and bob.points < 90


async def test_a_late_answer_is_refused_by_the_databases_clock(scene: SprintScene, clock: Clock) -> None:
    await scene.bank(2)
    await scene.starts(2)
    post = await scene.asks()
    await scene.answers(post, "b")
    # The clocks of the service and of the platform still say that there is time.
    before = clock.now
    await scene.passes(20)
    clock.now = before
    for name in ("Ada", "Bob"):
        with refused(SprintRefused(why="closed")):
            await scene.answers(post, "a", name)
    with refused(SprintRefused(why="closed")):
        await scene.daily.client.ask(scene.daily.who("Ada"), DAILY, post.ref)
    reveal = one_of(await scene.ticks(), SprintReveal)
    assert (reveal.answers, reveal.right) == (1, 0)
    with refused(SprintRefused(why="closed")):
        await scene.answers(post, "a", "Bob")


async def test_members_see_the_options_in_their_own_order_and_no_question_before_its_time(scene: SprintScene) -> None:
    await scene.bank()
    await scene.starts()
    post = await scene.asks()
    orders = set()
    for number in range(12):
        form = await scene.daily.client.ask(scene.daily.who(f"Member {number}"), DAILY, post.ref)
        orders.add(tuple(option.id for option in form.question.options))
        assert form.given is None
    assert len(orders) > 2
    following = f"s{int(post.ref[1:]) + 1}"
    with refused(QuestionGone(practice=False)):
        await scene.daily.client.ask(scene.daily.who("Ada"), DAILY, following)
    with refused(QuestionGone(practice=False)):
        await scene.daily.answer(following, "a")
    with refused(QuestionGone(practice=False)):
        await scene.daily.client.ask(scene.daily.who("Eve", workspace="other"), DAILY, post.ref)
    with refused(WrongKindOfAnswer(question="choice")):
        await scene.answers(post, AnswerInput(text="This"))


async def test_a_questions_time_begins_when_its_message_has_arrived(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1)
    await scene.ticks()
    await scene.ticks()
    await scene.passes(15)
    await scene.daily.service.tick()
    (held,) = await scene.daily.claim()
    assert isinstance(held.body, SprintQuestionPost)
    await scene.passes(60)
    await scene.daily.service.tick()
    with refused(SprintRefused(why="not begun")):
        await scene.answers(held.body, "a")
    await scene.daily.client.outbox_sent(held.id, "m1")
    # A click proves that the message is there, so its time begins with it and not with the next tick.
    await scene.daily.client.ask(scene.daily.who("Ada"), DAILY, held.body.ref)
    await scene.answers(held.body, "a")
    # Half of its time: real time passes as well, some seconds on a busy machine.
    await scene.passes(10)
    assert [each.body.kind for each in await scene.ticks()] == ["sprint-question"]
    assert (await scene.reveals()).right == 1


async def test_edits_keep_their_pace_and_none_undoes_the_close(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1, seconds=120)
    await scene.asks()
    made = []
    for _ in range(20):
        await scene.passes(1)
        made += await scene.ticks()
    left = [each.body.left_s for each in made if isinstance(each.body, SprintQuestionPost) and each.body.left_s]
    # Real time passes as well, some seconds on a busy machine.
    assert 3 <= len(left) <= 10 and left[0] <= 118
    assert all(before - after >= 4 for before, after in pairwise(left)), left
    # Near the end, so that the claim of the held edit does not expire before the close.
    await scene.passes(left[-1] - 30)
    await scene.ticks()
    await scene.passes(6)
    await scene.daily.service.tick()
    (held,) = await scene.daily.claim()
    assert isinstance(held.body, SprintQuestionPost) and held.body.left_s
    await scene.passes(held.body.left_s)
    (reveal,) = await scene.ticks()
    await scene.daily.client.outbox_sent(held.id, "m")
    (closed,) = await scene.ticks()
    assert isinstance(closed.body, SprintQuestionPost) and closed.body.right == 0 and closed.edits is not None
    assert isinstance(reveal.body, SprintReveal) and reveal.edits is None


async def test_only_choices_and_values_are_asked_and_those_asked_least_first(scene: SprintScene) -> None:
    await scene.daily.bank(code(), prose(), value("v"), choice("c"))
    view = await scene.starts(5)
    assert view.total == 2
    asked = set()
    for _ in range(2):
        post = await scene.asks()
        asked.add(post.question.kind)
        await scene.answers(post, AnswerInput(text="(2, 3)") if post.question.kind == "value" else "a")
        assert (await scene.reveals()).right == 1
    assert asked == {"choice", "value"}
    await scene.ends()
    await scene.daily.bank(choice("new"), name="more")
    await scene.starts(1, event="again")
    assert (await scene.asks()).question.id == "new"


async def test_what_a_round_asks_is_not_asked_and_what_a_sprint_asks_is_secret(
    scene: SprintScene, clock: Clock
) -> None:
    await scene.bank(3)
    await scene.daily.schedule()
    clock.advance(hours=1)
    await scene.daily.ticked()
    (open_now,) = (await scene.daily.client.today(scene.daily.who("Ada"), DAILY)).forms
    assert (await scene.starts(5)).total == 2
    post = await scene.asks()
    assert post.question.id != open_now.question.id
    with refused(StillOpen()):
        await scene.daily.client.explain(scene.daily.who("Ada"), post.question.id)
    assert await scene.daily.client.practice(scene.daily.who("Ada"), DAILY) is None
    await scene.reveals()
    shown = await scene.daily.client.explain(scene.daily.who("Ada"), post.question.id)
    assert shown.key.answer


async def test_the_next_question_of_the_channel_is_left_to_its_schedule(scene: SprintScene) -> None:
    await scene.bank(4)
    schedule = await scene.daily.schedule()
    boss = scene.daily.who("Boss", admin=True)
    coming = (await scene.daily.client.schedule_preview(boss, schedule)).question.id
    await scene.starts(3)
    asked = []
    for _ in range(3):
        asked.append((await scene.asks()).question.id)
        await scene.reveals()
    assert coming not in asked and len(set(asked)) == 3


@pytest.mark.parametrize(("zone", "at"), [("Asia/Tokyo", time(7)), ("America/New_York", time(21))])
async def test_a_question_that_comes_on_another_date_than_utcs_is_left_to_its_schedule(
    scene: SprintScene, zone: str, at: time
) -> None:
    await scene.bank(12)
    every_day = {"zone": zone, "at": at, "weekdays": tuple(range(7))}
    schedule = await scene.daily.schedule(SPEC.model_copy(update=every_day))
    boss = scene.daily.who("Boss", admin=True)
    coming = (await scene.daily.client.schedule_preview(boss, schedule)).question.id
    await scene.starts(10)
    assert coming not in await scene.chosen()


async def test_a_wrong_answer_comes_back_as_practice(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1)
    post = await scene.asks()
    await scene.answers(post, "b", "Ada")
    await scene.answers(post, "a", "Bob")
    await scene.reveals()
    (card,) = await scene.daily.rows(CardRow)
    (wrong,) = [row for row in await scene.daily.rows(SprintAnswer) if row.points == 0]
    assert card.member_id == wrong.member_id


async def test_a_correction_before_the_reveal_decides_and_is_shown(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(questions=1)
    post = await scene.asks()
    await scene.answers(post, "a")
    await scene.answers(post, "b", "Bo")
    options = tuple(replace(option, right=option.id == "b") for option in choice().options)
    await scene.daily.bank(replace(several(1)[0], options=options, answer="`x.clone()`"))
    reveal = await scene.reveals()
    assert [option.id for option in reveal.key.options if option.right] == ["b"]
    assert reveal.right == 1
    assert reveal.fastest is not None and reveal.fastest.name == "Bo"
    explained = await scene.daily.client.explain(scene.daily.who(), "q0")
    assert explained.given == AnswerInput(options=("a",))


async def test_a_question_that_was_corrected_after_the_announcement_is_asked_corrected(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(questions=1)
    await scene.ticks()
    await scene.daily.bank(replace(several(1)[0], prompt="Which of these shares its memory with `x`?"))
    post = await scene.asks()
    assert post.question.prompt == "Which of these shares its memory with `x`?"
    await scene.answers(post, "a")
    assert (await scene.reveals()).right == 1


async def test_an_answer_from_before_a_correction_is_explained(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(questions=1)
    await scene.answers(await scene.asks(), "b")
    await scene.reveals()
    await scene.daily.bank(replace(several(1)[0], why="It says so."))
    explained = await scene.daily.client.explain(scene.daily.who(), "q0")
    assert (explained.key.why, explained.given) == ("It says so.", AnswerInput(options=("b",)))


async def test_starting_and_stopping_are_for_admins_audited_and_refused_where_they_make_no_sense(
    scene: SprintScene,
) -> None:
    client, boss = scene.daily.client, scene.daily.who("Boss", admin=True)
    with refused(SprintRefused(why="no questions")):
        await scene.starts()
    await scene.bank()
    with refused(SprintRefused(why="not running")):
        await scene.stops()
    with refused(NotFound(what="topic", name="nothing")):
        await scene.starts(topic="nothing", event="topic")
    with refused(InvalidInput(field="questions", problem="too large", limit=20)):
        await scene.starts(questions=21, event="many")
    with refused(InvalidInput(field="seconds", problem="too small", limit=10)):
        await scene.starts(seconds=9, event="fast")
    with refused(ChannelNeeded()):
        await client.sprint_start(boss, "nowhere", Where(channel=""), 1, 20)
    with refused(ChannelNeeded()):
        await client.sprint_stop(boss, "nowhere either", Where(channel=""))
    await scene.starts(topic="TOPIC1", event="topic one")
    with refused(SprintRefused(why="running")):
        await scene.starts(event="second")
    assert (await scene.stops()).asked == 0
    await scene.ticks()
    await scene.ticks()
    assert one_of(await scene.ticks(), SprintPodium).asked == 0
    (sprint,) = await scene.daily.rows(Sprint)
    assert (sprint.phase, sprint.topic) == ("ended", "topic1")
    assert [row.action for row in await scene.daily.rows(Audit)] == ["sprint start", "sprint stop"]
    await scene.starts(event="after it")


async def test_a_stopped_sprint_reveals_its_question_and_shows_the_podium(scene: SprintScene) -> None:
    await scene.bank()
    await scene.starts()
    post = await scene.asks()
    await scene.answers(post, "a")
    await scene.stops()
    with refused(SprintRefused(why="closed")):
        await scene.answers(post, "a", "Bob")
    assert one_of(await scene.ticks(), SprintReveal).answers == 1
    podium = one_of(await scene.ticks(), SprintPodium)
    assert (podium.asked, podium.total, podium.players) == (1, 3, 1)
    (_, *coming) = await scene.daily.rows(SprintQuestion)
    assert [row.opened_at for row in coming] == [None, None]


async def test_a_sprint_ends_if_its_message_cannot_be_posted(scene: SprintScene) -> None:
    await scene.bank()
    await scene.starts()
    await scene.daily.service.tick()
    (held,) = await scene.daily.claim()
    await scene.daily.client.outbox_failed(held.id, held.attempt, "no access", outcome="refused")
    assert await scene.ticks() == []
    (sprint,) = await scene.daily.rows(Sprint)
    assert sprint.phase == "ended"


async def test_hidden_members_play_without_being_named(scene: SprintScene) -> None:
    boss, bob = scene.daily.who("Boss", admin=True), scene.daily.who("Bob")
    await scene.daily.client.winner_role_set(boss, "role", DAILY, "sprint", "8")
    await scene.bank(1)
    await scene.starts(1)
    post = await scene.asks()
    for name in ("Ada", "Bob"):
        await scene.answers(post, "a", name)
    await scene.daily.client.privacy(scene.daily.who("Ada"), "hide", "hide")
    reveal = await scene.reveals()
    assert (reveal.right, [row.name for row in reveal.standings]) == (2, ["Bob"])
    assert reveal.fastest is not None and reveal.fastest.name == "Bob"
    podium = await scene.ends()
    assert (podium.players, [row.name for row in podium.standings]) == (2, ["Bob"])
    (row,) = [row for row in await scene.daily.rows(Outbox) if row.kind == "winner"]
    won = WinnerPost.from_stored(row.body)
    assert ([one.name for one in won.top], won.winners) == (["Bob"], (bob.member,))


async def test_a_members_answers_are_exported_and_forgotten(scene: SprintScene) -> None:
    await scene.daily.bank(value("v"), *several(1))
    await scene.starts(2)
    ada = scene.daily.who("Ada")
    for _ in range(2):
        post = await scene.asks()
        given = AnswerInput(text="(2, 3)") if post.question.kind == "value" else "a"
        await scene.answers(post, given)
        await scene.reveals()
    await scene.ends()
    kept = json.loads((await scene.daily.client.privacy(ada, "export", "export")).export)
    assert sorted(row["question"] for row in kept["sprints"]) == ["q0", "v"]
    assert all(row["credit"] == 1 and row["points"] > 50 for row in kept["sprints"])
    assert "sprint answer" in (await scene.daily.client.privacy(ada, "csv", "csv")).export
    await scene.daily.client.privacy(ada, "forget", "forget")
    rows = await scene.daily.rows(SprintAnswer)
    assert sorted(json.dumps(row.given) for row in rows) == ['{"options": ["a"]}', "{}"]
    assert all(row.points for row in rows)
    named = [row.body for row in await scene.daily.rows(Outbox) if row.kind in ("sprint-reveal", "sprint-podium")]
    assert named and "Ada" not in json.dumps(named)


async def test_an_export_says_nothing_of_an_answer_whose_question_a_round_asks(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1)
    await scene.answers(await scene.asks(), "a")
    await scene.reveals()
    await scene.ends()

    async def exported(event: str) -> list[tuple[object, object]]:
        kept = json.loads((await scene.daily.client.privacy(scene.daily.who("Ada"), event, "export")).export)
        return [(row["credit"], row["points"] is not None) for row in kept["sprints"]]

    assert await exported("before") == [(1, True)]
    await scene.daily.schedule()
    scene.clock.advance(hours=1)
    await scene.daily.ticked()
    assert await exported("while it is open") == [(None, False)]
    scene.clock.advance(hours=8)
    await scene.daily.ticked()
    assert await exported("after") == [(1, True)]


async def test_forgetting_in_the_middle_withdraws_the_answer(scene: SprintScene) -> None:
    await scene.bank(1)
    await scene.starts(1)
    post = await scene.asks()
    await scene.answers(post, "a")
    await scene.daily.client.privacy(scene.daily.who("Ada"), "forget", "forget")
    assert (await scene.reveals()).answers == 0


async def plans(scene: SprintScene, at: time, event: str = "plan", **more: Any) -> SprintView:
    """Plans a sprint of two questions in the channel."""
    boss = scene.daily.who("Boss", admin=True)
    plan = PlannedSprint.model_validate({"questions": 2, "seconds": 60, "at": at, **more})
    return await scene.daily.client.sprint_plan(boss, event, scene.where, plan)


async def plans_soon(scene: SprintScene, minutes: int = 30, event: str = "plan") -> SprintView:
    """Plans a sprint for so many minutes from now."""
    instant = scene.clock() + timedelta(minutes=minutes)
    return await plans(scene, instant.time(), event, day=instant.date())


async def test_a_planned_sprint_is_shown_at_once_and_begins_once_at_its_time(scene: SprintScene) -> None:
    await scene.bank()
    view = await plans_soon(scene)
    assert view.starts_at == scene.clock() + timedelta(minutes=30) and view.asked == 0
    shown = one_of(await scene.ticks(), SprintAnnouncement)
    assert (shown.starts_at, shown.total, shown.fate) == (view.starts_at, 2, "")
    assert (await scene.daily.client.sprints(scene.daily.who("Ada"))).planned == (
        view.model_copy(update={"channel": "#daily"}),
    )
    assert await scene.daily.rows(SprintQuestion) == [], "the questions are chosen when it begins"
    await scene.passes(29 * 60)
    assert await scene.ticks() == []
    await scene.passes(60)
    begun = [each.body for each in await scene.ticks() if isinstance(each.body, SprintAnnouncement)]
    assert sorted((body.starts_at is None, body.fate) for body in begun) == [(False, "started"), (True, "")]
    assert (await scene.asks()).number == 1
    assert (
        len(await scene.daily.rows(SprintQuestion)) == 2
        and (await scene.daily.client.sprints(scene.daily.who("Ada"))).planned == ()
    )


async def test_many_leaders_begin_a_planned_sprint_once(scene: SprintScene) -> None:
    await scene.bank()
    await plans_soon(scene)
    await scene.passes(30 * 60)
    await asyncio.gather(*(advance_all(scene.daily.service.sessions, scene.clock()) for _ in range(8)))
    assert len(await scene.daily.rows(SprintQuestion)) == 2
    keys = [row.key for row in await scene.daily.rows(Outbox)]
    assert len([key for key in keys if key.endswith(":0:post")]) == 1


async def test_a_time_without_a_day_is_the_next_such_time(scene: SprintScene) -> None:
    await scene.bank()
    now = scene.clock()
    soon, before = now + timedelta(minutes=1), now - timedelta(minutes=1)
    assert (await plans(scene, soon.time(), "a")).starts_at == soon
    assert (await plans(scene, before.time(), "b")).starts_at == before + timedelta(days=1)
    for day, why in ((before.date(), "past"), (now.date() + timedelta(days=61), "far")):
        with refused(SprintRefused(why=why)):
            await plans(scene, before.time(), f"at {day}", day=day)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
async def test_days_at_the_ends_of_the_calendar_are_past_and_far(scene: SprintScene, zone: str) -> None:
    await scene.bank()
    await scene.daily.schedule(SPEC.model_copy(update={"zone": zone}))
    for day, why in ((date.min, "past"), (date.max, "far")):
        with refused(SprintRefused(why=why)):
            await plans(scene, time(23, 30), why, day=day)


async def test_a_planned_sprint_is_cancelled_and_the_channel_sees_it(scene: SprintScene) -> None:
    await scene.bank()
    view = await plans_soon(scene)
    await scene.ticks()
    boss, client = scene.daily.who("Boss", admin=True), scene.daily.client
    ada = scene.daily.who("Ada")
    with refused(AdminsOnly()):
        await client.sprint_cancel(ada, "no", scene.where)
    assert (await client.sprint_cancel(boss, "c", scene.where)).id == view.id
    assert one_of(await scene.ticks(), SprintAnnouncement).fate == "cancelled"
    with refused(SprintRefused(why="not planned")):
        await client.sprint_cancel(boss, "c2", scene.where, view.id)
    await scene.passes(3600)
    assert await scene.ticks() == [] and await scene.daily.rows(SprintQuestion) == []
    actions = [row.action for row in await scene.daily.rows(Audit)]
    assert actions == ["sprint plan", "sprint cancel"]


async def test_the_next_of_two_planned_sprints_is_cancelled_if_none_is_named(scene: SprintScene) -> None:
    await scene.bank()
    later, sooner = await plans_soon(scene, 60, "later"), await plans_soon(scene, 30, "sooner")
    boss = scene.daily.who("Boss", admin=True)
    assert (await scene.daily.client.sprint_cancel(boss, "c", scene.where)).id == sooner.id
    assert (await scene.daily.client.sprint_cancel(boss, "c2", scene.where)).id == later.id


async def test_a_sprint_that_runs_is_stopped_and_not_cancelled(scene: SprintScene) -> None:
    await scene.bank()
    view = await scene.starts()
    for sprint_id in (0, view.id):
        with refused(SprintRefused(why="not planned")):
            await scene.daily.client.sprint_cancel(
                scene.daily.who("Boss", admin=True), f"c{sprint_id}", scene.where, sprint_id
            )
    assert (await scene.asks()).number == 1


async def test_a_plan_that_nobody_saw_is_cancelled_silently(scene: SprintScene) -> None:
    await scene.bank()
    await plans_soon(scene)
    await scene.daily.client.sprint_cancel(scene.daily.who("Boss", admin=True), "c", scene.where)
    assert await scene.ticks() == []


async def test_a_planned_sprint_begins_when_nothing_else_chooses_questions(scene: SprintScene) -> None:
    await scene.bank()
    await plans_soon(scene)
    await scene.passes(30 * 60)
    (sprint,) = await scene.daily.rows(Sprint)
    async with scene.daily.service.sessions.begin() as session:
        assert await lock_choosing(session, [sprint.workspace_id])
        await advance_all(scene.daily.service.sessions, scene.clock())
        assert await scene.daily.rows(SprintQuestion) == []
    await advance_all(scene.daily.service.sessions, scene.clock())
    assert len(await scene.daily.rows(SprintQuestion)) == 2


@pytest.mark.parametrize(("late", "begins"), [(14 * 60, True), (16 * 60, False)])
async def test_a_planned_sprint_begins_at_most_a_quarter_of_an_hour_late(
    scene: SprintScene, late: int, begins: bool
) -> None:
    await scene.bank()
    await plans_soon(scene)
    await scene.passes(30 * 60 + late)
    await scene.ticks()
    assert bool(await scene.daily.rows(SprintQuestion)) == begins


async def test_a_planned_sprint_waits_for_one_that_runs_and_is_missed_when_late(scene: SprintScene) -> None:
    await scene.bank(4)
    await plans_soon(scene, 10)
    await plans_soon(scene, 40, "later")
    await scene.ticks()
    await scene.starts(1, seconds=60)
    await scene.asks()
    await scene.passes(600)
    await scene.ticks()
    assert [row.phase for row in await scene.daily.rows(Sprint)].count("planned") == 2, "one runs in the channel"
    await scene.passes(10)
    await scene.ticks()
    await scene.ticks()
    assert [row.phase for row in await scene.daily.rows(Sprint)].count("planned") == 1
    await scene.stops()
    await scene.ticks()
    await scene.passes(3600)
    fates = [each.body.fate for each in await scene.ticks() if isinstance(each.body, SprintAnnouncement)]
    assert fates == ["missed"]


async def test_a_planned_sprint_for_which_nothing_fits_any_more_says_so(scene: SprintScene) -> None:
    await scene.bank(1)
    await plans_soon(scene)
    await scene.ticks()
    await scene.daily.client.bank_retire(scene.daily.who("Boss", admin=True), "gone", "q0", True)
    await scene.passes(30 * 60)
    assert one_of(await scene.ticks(), SprintAnnouncement).fate == "no questions"
    with refused(SprintRefused(why="no questions")):
        await plans_soon(scene, 5, "again")


async def test_no_more_than_ten_sprints_are_planned(scene: SprintScene) -> None:
    await scene.bank(1)
    for number in range(MOST_PLANNED):
        await plans_soon(scene, 30 + number, f"plan {number}")
    with refused(SprintRefused(why="many")):
        await plans_soon(scene, 99, "one more")


async def test_the_live_view_follows_a_sprint_and_gives_nothing_away(scene: SprintScene) -> None:
    await scene.bank(2)
    ada, client = scene.daily.who("Ada"), scene.daily.client
    before = await client.sprints(ada)
    assert before == Sprints(step=before.step), "no sprint, none planned"
    await scene.starts(2, seconds=60)

    async def live() -> LiveSprint:
        found = (await client.sprints(ada)).live
        assert found is not None
        return found

    assert (await live()).state == "announced" and (await live()).form is None
    first = await scene.asks()
    view = await live()
    assert (view.state, view.number, view.answers, view.reveal, view.mine) == ("asking", 1, 0, None, None)
    assert view.form is not None and view.form.ref == first.ref and 0 < (view.left_s or 0) <= 60
    await scene.answers(first, "a", "Ada")
    await scene.answers(first, "b", "Bob")
    view = await live()
    assert view.answers == 2 and view.form is not None and view.form.given is not None and view.mine is None
    reveal = await scene.reveals()
    view = await live()
    assert (view.state, view.form, view.reveal) == ("pausing", None, reveal)
    assert view.mine is not None and view.mine.rank == 1 and view.mine.credit == 1 and view.mine.earned > 50
    await scene.asks()
    assert (await live()).reveal == reveal, "the last answer stays until the next one"
    await scene.reveals()
    view = await live()
    assert view.mine is not None and view.mine.credit is None and view.mine.earned == 0
    podium = await scene.ends()
    view = await live()
    assert (view.state, view.podium) == ("over", podium)


async def test_the_pulse_changes_with_every_step_and_answer(scene: SprintScene) -> None:
    await scene.bank(1)
    ada, client = scene.daily.who("Ada"), scene.daily.client
    seen: list[SprintPulse] = []

    async def looks() -> None:
        seen.append(await client.sprint_pulse(ada))
        assert (await client.sprints(ada)).step == seen[-1].step, "the whole view names the same step"

    await looks()
    await plans_soon(scene)
    await looks()
    await client.sprint_cancel(scene.daily.who("Boss", admin=True), "c", scene.where)
    await looks()
    assert seen[2] == seen[0]
    await scene.starts(1, seconds=60)
    await looks()
    first = await scene.asks()
    await looks()
    await scene.answers(first, "a", "Ada")
    await looks()
    assert seen[5].step == seen[4].step, "an answer is no step"
    await scene.reveals()
    await looks()
    assert [one.answers for one in seen] == [0, 0, 0, 0, 0, 1, 1]
    assert len({one.step for one in seen}) == 5
