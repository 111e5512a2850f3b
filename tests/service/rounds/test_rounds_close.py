"""Closing a round: points posted once, streaks, the reveal, and cards for absent members."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from service.config import Settings
from service.rounds import rounds
from service.rounds.grading import grade_answer
from service.store import answers
from service.store import rounds as store_rounds
from service.store.cards import CardRow
from service.store.members import resolve_caller
from service.store.session import make_engine, make_sessions
from service.store.tables import AnswerRow, Ledger, Member, Outbox, Round, VerdictRow
from service.wire import AdminsOnly, AnswerInput, NoOpenRound, QuestionPost, RevealPost
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, value
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

NINE = MONDAY + timedelta(hours=1)


async def opened(daily: DailyChannel, clock: Clock, *questions: object) -> QuestionPost:
    """Posts the day's question at nine and delivers it."""
    clock.now = max(clock.now, NINE)
    return next(body for body in await daily.ticked() if isinstance(body, QuestionPost))


async def revealed(daily: DailyChannel, clock: Clock) -> RevealPost:
    """Closes the round and returns its reveal."""
    clock.advance(hours=8)
    return next(body for body in await daily.ticked() if isinstance(body, RevealPost))


@pytest.fixture
async def asked(daily: DailyChannel, clock: Clock) -> QuestionPost:
    """A choice question open in the channel."""
    await daily.bank(choice("one"), choice("two"), choice("three"))
    await daily.schedule()
    return await opened(daily, clock)


async def test_points_are_posted_once_by_concurrent_closes(
    daily: DailyChannel, clock: Clock, asked: QuestionPost, settings: Settings
) -> None:
    await daily.answer(asked.ref, "a")
    clock.advance(hours=8)
    engine = make_engine(settings.database_url)
    sessions = make_sessions(engine)
    closed = await asyncio.gather(*(rounds.close_due(sessions, clock.now) for _ in range(6)))
    await engine.dispose()
    assert sum(closed) == 1
    assert [(row.key, row.points) for row in await daily.rows(Ledger)] == [("round:1:member:2", 10)]
    assert len([row for row in await daily.rows(Outbox) if row.kind == "reveal"]) == 1
    assert len(await daily.rows(VerdictRow)) == 1


async def test_a_crash_within_the_close_leaves_the_round_open(
    daily: DailyChannel, clock: Clock, asked: QuestionPost
) -> None:
    await daily.answer(asked.ref, "a")
    clock.advance(hours=8)
    async with daily.service.sessions() as session:
        assert await rounds.close_round(session, 1, clock.now)
        await session.rollback()
    (round_,) = await daily.rows(Round)
    assert round_.closed_at is None
    assert await daily.rows(Ledger) == []
    assert await rounds.close_due(daily.service.sessions, clock.now) == 1


async def test_who_forgets_while_answers_are_graded_leaves_no_text(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(value())
    await daily.schedule()
    asked = await opened(daily, clock)
    await daily.answer(asked.ref, AnswerInput(text="(7, 7)"))
    clock.advance(hours=8)
    async with daily.service.sessions.begin() as session:
        # What a close has done after its first page of many.
        locked = await store_rounds.lock_open(session, 1)
        assert locked is not None
        locked[0].closed_at = clock.now
        (entry,) = await answers.list_entries(session, 1)
        verdict = grade_answer(value(), AnswerInput(text="(7, 7)"))
        await answers.save_verdicts(session, [(entry.answer, verdict)], clock.now)
        await session.flush()
        forgetting = asyncio.create_task(daily.client.privacy(daily.who(), "forget", "forget"))
        await until_locked_out(session, forgetting)
    await forgetting
    assert [row.detail for row in await daily.rows(VerdictRow)] == [{}]


async def test_answers_and_the_close_at_the_same_moment_agree(
    daily: DailyChannel, clock: Clock, asked: QuestionPost
) -> None:
    """Answers reported as `recorded` get points, those reported as `late` do not."""
    at = clock.advance(hours=7, minutes=59)
    names = [f"Member {n}" for n in range(10)]
    for name in names:
        await daily.client.join(daily.who(name), DAILY)
    clock.advance(minutes=1)
    receipts, _ = await asyncio.gather(
        asyncio.gather(*(daily.answer(asked.ref, "a", name, at=at) for name in names)),
        rounds.close_due(daily.service.sessions, clock.now),
    )
    counted = {name for name, receipt in zip(names, receipts, strict=True) if receipt.status == "recorded"}
    assert {receipt.status for receipt in receipts} <= {"recorded", "late"}
    members = {member.id: member.name for member in await daily.rows(Member)}
    assert {members[row.member_id] for row in await daily.rows(Ledger)} == counted
    in_round = {members[row.member_id] for row in await daily.rows(AnswerRow) if row.round_id is not None}
    assert in_round == counted


async def test_a_ledger_row_belongs_to_the_day_the_round_opened(
    daily: DailyChannel, clock: Clock, asked: QuestionPost
) -> None:
    clock.advance(minutes=2)
    await daily.answer(asked.ref, "a")
    clock.advance(days=1)
    await daily.service.tick()
    (row,) = await daily.rows(Ledger)
    assert (row.at, row.seconds, row.credit, row.reason) == (NINE, 120.0, 1.0, "round")


async def test_time_runs_from_when_the_post_arrived(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    clock.advance(minutes=5)
    post = next(each.body for each in await daily.deliver() if isinstance(each.body, QuestionPost))
    clock.advance(seconds=30)
    await daily.answer(post.ref, "a")
    await revealed(daily, clock)
    (row,) = await daily.rows(Ledger)
    assert row.seconds == 30.0


async def test_fast_answers_get_a_speed_bonus_if_the_schedule_has_one(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule(SPEC.model_copy(update={"speed_bonus": True}))
    post = await opened(daily, clock)
    await daily.answer(post.ref, "a", "Quick")
    clock.advance(hours=1)
    await daily.answer(post.ref, "a", "Slow")
    reveal = await revealed(daily, clock)
    assert [(person.name, person.points) for person in reveal.points] == [("Quick", 12), ("Slow", 10)]


async def test_the_commonest_wrong_texts_are_shown(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(value())
    await daily.schedule()
    post = await opened(daily, clock)
    for number, text in enumerate(["(3, 2)", "(3, 2)", "(2, 3)", "6", "(6,)", "[2, 3]"]):
        await daily.answer(post.ref, AnswerInput(text=text), f"Member {number}")
    reveal = await revealed(daily, clock)
    assert reveal.wrong_texts == (("(3, 2)", 2), ("(6,)", 1), ("6", 1))
    assert (reveal.answers, reveal.key.answer) == (6, "(2, 3)")


async def test_a_round_without_answers_is_revealed(daily: DailyChannel, clock: Clock, asked: QuestionPost) -> None:
    reveal = await revealed(daily, clock)
    assert (reveal.answers, reveal.right, reveal.mean_credit, reveal.first, reveal.points) == (0, 0, 0.0, None, ())


async def test_hidden_members_are_counted_and_not_named(daily: DailyChannel, clock: Clock, asked: QuestionPost) -> None:
    await daily.answer(asked.ref, "a", "Shy")
    await daily.answer(asked.ref, "b", "Bob")
    await daily.client.privacy(daily.who("Shy"), "hide", "hide")
    reveal = await revealed(daily, clock)
    assert (reveal.answers, reveal.right, reveal.first) == (2, 1, None)
    assert [person.name for person in reveal.points] == ["Bob"]


async def test_an_absent_member_gets_the_question_as_a_practice_card(
    daily: DailyChannel, clock: Clock, asked: QuestionPost
) -> None:
    await daily.answer(asked.ref, "a", "Ada")
    await daily.answer(asked.ref, "a", "Bob")
    await daily.client.join(daily.who("Never answered"), DAILY)
    clock.advance(days=1)
    second = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(second.ref, "a", "Ada")
    await revealed(daily, clock)
    members = {member.id: member.name for member in await daily.rows(Member)}
    assert [members[card.member_id] for card in await daily.rows(CardRow)] == ["Bob"]


async def test_a_question_answered_wrong_comes_back_the_next_day(
    daily: DailyChannel, clock: Clock, asked: QuestionPost
) -> None:
    await daily.answer(asked.ref, "a", "Ada")
    await daily.answer(asked.ref, "b", "Bob")
    await revealed(daily, clock)
    members = {member.id: member.name for member in await daily.rows(Member)}
    (card,) = await daily.rows(CardRow)
    assert (members[card.member_id], card.due - clock.now) == ("Bob", timedelta(days=1))


async def test_streaks_grow_and_are_shown_in_the_reveal(daily: DailyChannel, clock: Clock, asked: QuestionPost) -> None:
    await daily.answer(asked.ref, "a")
    clock.advance(days=1)
    second = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(second.ref, "b")
    reveal = await revealed(daily, clock)
    assert [(person.name, person.streak) for person in reveal.points] == [("Ada", 2)]


async def test_an_admin_closes_the_channels_round_at_once(
    daily: DailyChannel, clock: Clock, asked: QuestionPost
) -> None:
    await daily.answer(asked.ref, "a")
    boss = daily.who("Boss", admin=True)
    view = await daily.client.close_now(boss, "close", DAILY)
    assert (view.closed, view.answers) == (True, 1)
    assert await daily.client.close_now(boss, "close", DAILY) == view
    with refused(NoOpenRound()):
        await daily.client.close_now(boss, "again", DAILY)
    assert sorted(body.kind for body in await daily.ticked()) == ["outcome", "result", "reveal", "update"]


async def test_others_may_not_close(daily: DailyChannel, asked: QuestionPost) -> None:
    with refused(AdminsOnly()):
        await daily.client.close_now(daily.who("Ada"), "close", DAILY)


async def test_difficulty_is_measured_before_the_round(daily: DailyChannel, clock: Clock) -> None:
    """A question that everybody fails is worth more the next time, not this time."""
    await daily.bank(choice())
    await daily.schedule(SPEC.model_copy(update={"memory_days": 0}))
    first = await opened(daily, clock)
    await daily.answer(first.ref, "b", "Bob")
    await daily.answer(first.ref, "a", "Ada")
    clock.advance(days=1)
    second = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(second.ref, "a", "Ada")
    await revealed(daily, clock)
    ada = (await known_id(daily, "Ada"),)
    assert [row.points for row in await daily.rows(Ledger) if row.member_id in ada] == [10, 11]


async def known_id(daily: DailyChannel, name: str) -> int:
    async with daily.service.sessions.begin() as session:
        return (await resolve_caller(session, daily.who(name), None, daily.now)).member_id
