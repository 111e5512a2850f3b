"""Rounds that an admin closes: by two at once, and before the chat has accepted the question."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from service.rounds.delivery import withdraw_questions
from service.rounds.rounds import close_round
from service.store.outbox import list_question_posts
from service.store.tables import Ledger, Outbox, Round
from service.wire import NoOpenRound, Where
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

NINE = MONDAY + timedelta(hours=1)
OTHER = Where(channel="other", name="#other")


@pytest.fixture
async def ticked(daily: DailyChannel, clock: Clock) -> DailyChannel:
    """A channel whose question has a round, and waits for the chat."""
    await daily.bank(*(choice(f"q{number}") for number in range(5)))
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    return daily


async def _refuse(daily: DailyChannel) -> None:
    """Has the chat refuse everything that is claimed now."""
    for delivery in await daily.claim():
        await daily.client.outbox_failed(delivery.id, delivery.attempt, "not_in_channel", outcome="waits")


async def test_of_two_admins_who_close_at_once_both_see_it_closed(ticked: DailyChannel, clock: Clock) -> None:
    await ticked.deliver()
    await ticked.answer("r1", "a")
    clock.advance(minutes=1)
    first = clock.now
    async with ticked.service.sessions.begin() as session:
        assert await close_round(session, 1, first)
        clock.advance(minutes=1)
        closing = asyncio.create_task(ticked.client.close_now(ticked.who("Boss", admin=True), "close", DAILY))
        await until_locked_out(session, closing)
    view = await closing
    assert (view.id, view.closed, view.answers) == (1, True, 1)
    assert [row.closed_at for row in await ticked.rows(Round)] == [first]
    assert len(await ticked.rows(Ledger)) == 1


async def test_a_question_that_waits_for_its_channel_is_withdrawn(ticked: DailyChannel, clock: Clock) -> None:
    await _refuse(ticked)
    boss = ticked.who("Boss", admin=True)
    view = await ticked.client.close_now(boss, "close", DAILY)
    assert (view.withdrawn, view.closed) == (True, False)
    (round_,) = await ticked.rows(Round)
    assert (round_.skipped, round_.closed_at) == ("not posted", None)
    clock.advance(minutes=10)
    await ticked.service.tick()
    assert not [each.body for each in await ticked.deliver() if each.body.kind != "notice"]
    with refused(NoOpenRound()):
        await ticked.client.close_now(boss, "again", DAILY)
    await ticked.client.post_now(boss, "after all", 1)
    assert [each.body.kind for each in await ticked.deliver()] == ["question"]


async def test_two_admins_who_withdraw_a_question_at_once_are_told_the_same(ticked: DailyChannel) -> None:
    await _refuse(ticked)
    async with ticked.service.sessions.begin() as session:
        await withdraw_questions(session, 1, round_id=1)
        closing = asyncio.create_task(ticked.client.close_now(ticked.who("Boss", admin=True), "close", DAILY))
        await until_locked_out(session, closing)
    view = await closing
    assert (view.withdrawn, view.closed) == (True, False)


async def test_a_question_that_was_answered_is_closed_though_it_waits(ticked: DailyChannel) -> None:
    await _refuse(ticked)
    await ticked.answer("r1", "a")
    view = await ticked.client.close_now(ticked.who("Boss", admin=True), "close", DAILY)
    assert (view.withdrawn, view.closed, view.answers) == (False, True, 1)
    assert "question" not in [each.body.kind for each in await ticked.deliver()]


async def test_a_question_that_is_being_posted_is_closed(ticked: DailyChannel) -> None:
    (post,) = [each for each in await ticked.claim() if each.body.kind == "question"]
    view = await ticked.client.close_now(ticked.who("Boss", admin=True), "close", DAILY)
    assert (view.withdrawn, view.closed) == (False, True)
    await ticked.client.outbox_sent(post.id, "m1")
    assert "reveal" in [each.body.kind for each in await ticked.deliver()]


async def test_a_channel_that_waits_gets_no_question_after_the_close(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(5)))
    number, boss = await daily.schedule(SPEC), daily.who("Boss", admin=True)
    await daily.client.schedule_share(boss, "share", OTHER, number)
    clock.now = NINE
    await daily.service.tick()
    for delivery in await daily.claim():
        if delivery.channel == "other":
            await daily.client.outbox_failed(delivery.id, delivery.attempt, "not_in_channel", outcome="waits")
        else:
            await daily.client.outbox_sent(delivery.id, "m1")
    assert (await daily.client.close_now(boss, "close", DAILY)).closed
    async with daily.service.sessions() as session:
        assert [post.state for post in await list_question_posts(session, 1)] == ["sent", "skipped"]
    clock.advance(minutes=10)
    assert "question" not in [each.body.kind for each in await daily.deliver()]
    assert {row.channel_id for row in await daily.rows(Outbox) if row.kind == "reveal"}
