"""Extra rounds: once per event, beside the day's question, and without an effect on streaks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from service.banks.imports import import_bank
from service.store.members import resolve_caller
from service.store.tables import Outbox, QuestionRow, Round
from service.wire import (
    ChannelUnscheduled,
    ExtraRound,
    NotAskable,
    NotFound,
    NothingFits,
    OutcomePost,
    QuestionPost,
    RoundResult,
    Where,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, code, value
from tests.service.refusals import refused
from tests.service.scenes import reading

ANYTHING = ExtraRound()
NINE = MONDAY + timedelta(hours=1)


@pytest.fixture
async def asked(daily: DailyChannel, clock: Clock) -> DailyChannel:
    """A channel with three questions, whose first was posted at nine."""
    await daily.bank(choice("one"), choice("two"), value("three"))
    await daily.schedule()
    clock.now = NINE
    await daily.ticked()
    return daily


async def test_a_repeated_event_posts_once(asked: DailyChannel) -> None:
    boss = asked.who("Boss", admin=True)
    view = await asked.client.ask_extra(boss, "e1", DAILY, ANYTHING)
    assert await asked.client.ask_extra(boss, "e1", DAILY, ANYTHING) == view
    (post,) = [body for body in await asked.ticked() if isinstance(body, QuestionPost)]
    assert (post.extra, post.question.id, post.ref) == (True, view.question.id, f"r{view.id}")
    assert [(row.day, row.number) for row in await asked.rows(Round)] == [(view.day, 0), (view.day, 1)]


async def test_the_database_refuses_a_second_round_of_a_number(asked: DailyChannel) -> None:
    view = await asked.client.ask_extra(asked.who("Boss", admin=True), "e1", DAILY, ANYTHING)
    with pytest.raises(IntegrityError, match="uq_round_schedule_id_day_number"):
        async with asked.service.sessions.begin() as session:
            await session.execute(update(Round).where(Round.id == view.id).values(number=0))


async def test_the_day_keeps_its_own_question(daily: DailyChannel, clock: Clock) -> None:
    """An extra round before nine does not take the slot, and neither question repeats the other."""
    await daily.bank(choice("one"), choice("two"))
    await daily.schedule()
    early = await daily.client.ask_extra(daily.who("Boss", admin=True), "e1", DAILY, ANYTHING)
    assert (await daily.client.today(daily.who(), DAILY)).next_at == NINE
    assert [body.kind for body in await daily.ticked()].count("question") == 1
    clock.now = NINE
    (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
    assert (post.extra, post.question.id != early.question.id) == (False, True)


async def test_an_extra_round_asks_the_wanted_question_and_closes_at_the_wanted_time(
    asked: DailyChannel, clock: Clock
) -> None:
    wanted = ExtraRound(topics=("tensors",), kinds=("value",), levels=("mid",), open_minutes=30)
    view = await asked.client.ask_extra(asked.who("Boss", admin=True), "e1", DAILY, wanted)
    assert (view.question.kind, view.closes_at) == ("value", NINE + timedelta(minutes=30))
    await asked.ticked()
    clock.advance(minutes=30)
    (outcome,) = [body for body in await asked.ticked() if isinstance(body, OutcomePost)]
    assert (outcome.ref, outcome.extra, outcome.next_at) == (
        f"r{view.id}",
        True,
        datetime(2026, 3, 3, 9, tzinfo=UTC),
    )


async def test_an_extra_round_repeats_nothing_that_the_schedule_remembers(asked: DailyChannel) -> None:
    boss = asked.who("Boss", admin=True)
    views = [await asked.client.ask_extra(boss, f"e{number}", DAILY, ANYTHING) for number in range(2)]
    assert len({view.question.id for view in views}) == 2
    with refused(NothingFits(needs_gpu=False)):
        await asked.client.ask_extra(boss, "e2", DAILY, ANYTHING)
    assert len(await asked.rows(Round)) == 3


async def test_refusals_change_nothing(asked: DailyChannel) -> None:
    boss = asked.who("Boss", admin=True)
    with refused(ChannelUnscheduled()):
        await asked.client.ask_extra(boss, "e1", Where(channel="elsewhere"), ANYTHING)
    with refused(NotFound(what="topic", name="cooking")):
        await asked.client.ask_extra(boss, "e2", DAILY, ExtraRound(topics=("cooking",)))
    assert len(await asked.rows(Round)) == 1


async def test_an_extra_round_earns_points_and_neither_extends_nor_breaks_a_streak(
    asked: DailyChannel, clock: Clock
) -> None:
    """Ada answers both rounds of the day, Bob only the day's; both have a streak of one."""
    boss = asked.who("Boss", admin=True)
    for name in ("Ada", "Bob"):
        await asked.answer("r1", "a", name)
    extra = await asked.client.ask_extra(boss, "e1", DAILY, ExtraRound(kinds=("choice",)))
    await asked.answer(f"r{extra.id}", "a", "Ada")
    await asked.ticked()
    clock.advance(hours=9)
    results = [body for body in await asked.ticked() if isinstance(body, RoundResult)]
    assert sorted((one.ref, one.extra, one.streak, one.number) for one in results) == [
        ("r1", False, 1, 1),
        ("r1", False, 1, 1),
        (f"r{extra.id}", True, 1, 2),
    ]
    ada, bob = await asked.client.me(asked.who("Ada")), await asked.client.me(asked.who("Bob"))
    assert (ada.streak, bob.streak, ada.points > bob.points) == (1, 1, True)


async def test_an_extra_round_that_is_refused_leaves_the_days_round_alone(asked: DailyChannel, clock: Clock) -> None:
    """A chat that refuses it: it waits, and when it is given up nothing but this round is skipped."""
    view = await asked.client.ask_extra(asked.who("Boss", admin=True), "e1", DAILY, ExtraRound(open_minutes=20))
    (delivery,) = [one for one in await asked.claim() if one.body.kind == "question"]
    await asked.client.outbox_failed(delivery.id, delivery.attempt, "not in the channel", outcome="waits")
    clock.advance(minutes=20)
    await asked.ticked()
    rounds = await asked.rows(Round)
    assert [(one.id == view.id, one.skipped) for one in rounds] == [(False, None), (True, "not posted")]
    assert "skipped" in [row.state for row in await asked.rows(Outbox) if row.round_id == view.id]


async def test_a_question_that_is_named_is_asked_even_if_the_schedule_asked_it_lately(asked: DailyChannel) -> None:
    boss = asked.who("Boss", admin=True)
    await asked.client.close_now(boss, "close", DAILY)
    for event, id_ in (("e1", "three"), ("e2", "THREE"), ("e3", "one"), ("e4", "two")):
        view = await asked.client.ask_extra(boss, event, DAILY, ExtraRound(question=id_))
        (post,) = [body for body in await asked.ticked() if isinstance(body, QuestionPost)]
        assert (view.question.id, post.question.id, post.extra) == (id_.lower(), id_.lower(), True)
        await asked.client.close_now(boss, f"close {event}", DAILY)


async def test_a_question_of_the_teams_own_goes_before_a_shared_one_with_its_id(asked: DailyChannel) -> None:
    boss = asked.who("Boss", admin=True)
    async with asked.service.sessions.begin() as session:
        caller = await resolve_caller(session, boss, DAILY, asked.now)
        own = reading(value("one", prompt="What is ours?"), name="own")
        await import_bank(session, own, caller.workspace_id, asked.now, True)
    view = await asked.client.ask_extra(boss, "e1", DAILY, ExtraRound(question="one"))
    assert view.question.prompt == "What is ours?"


async def test_a_question_that_cannot_be_asked_is_refused_with_the_reason(asked: DailyChannel) -> None:
    boss = asked.who("Boss", admin=True)
    stay = [choice("one"), choice("two"), value("three"), value("kept"), value("waits")]
    await asked.bank(*stay, value("gone"))
    await asked.bank(*stay)
    cuda = code("cuda")
    assert cuda.task is not None
    bare = replace(value("bare"), answer=None)
    family = replace(value("drawn"), answer=None, draw="def draw(rng):\n    return {}\n")
    await asked.bank(replace(cuda, task=replace(cuda.task, device="cuda")), bare, family, name="more")
    await asked.client.bank_retire(boss, "retire", "kept", True)
    async with asked.service.sessions.begin() as session:
        await session.execute(update(QuestionRow).where(QuestionRow.key == "waits").values(held=True))
    await asked.client.close_now(boss, "close", DAILY)
    await asked.client.ask_extra(boss, "now", DAILY, ExtraRound(question="one"))
    reasons = [
        NotAskable(question="one", why="asked now"),
        NotAskable(question="kept", why="retired"),
        NotAskable(question="gone", why="gone"),
        NotAskable(question="waits", why="held"),
        NotAskable(question="bare", why="no answer"),
        NotAskable(question="drawn", why="no variants"),
        NotAskable(question="cuda", why="needs gpu"),
    ]
    for refusal in reasons:
        id_ = refusal.question
        with refused(refusal):
            await asked.client.ask_extra(boss, f"e {id_}", DAILY, ExtraRound(question=id_))
    with refused(NotFound(what="question", name="poems")):
        await asked.client.ask_extra(boss, "e", DAILY, ExtraRound(question="poems"))
    assert len(await asked.rows(Round)) == 2
