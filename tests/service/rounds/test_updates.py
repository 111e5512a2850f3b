"""Edits of the question's message: the number of answers while it is open, and the result once it is closed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from service.store import rounds
from service.store.tables import Outbox, Trouble
from service.wire import Delivery, PostUpdate, QuestionPost, QuestionRef
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DailyChannel, choice

NINE = MONDAY + timedelta(hours=1)


@pytest.fixture
async def ref(daily: DailyChannel, clock: Clock) -> str:
    """A choice question open in the channel."""
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


async def updates(daily: DailyChannel) -> list[Delivery]:
    """Delivers what is due; returns the edits."""
    return [delivery for delivery in await daily.deliver() if isinstance(delivery.body, PostUpdate)]


def shown(delivery: Delivery) -> tuple[int, int | None]:
    assert isinstance(delivery.body, PostUpdate)
    return delivery.body.answers, delivery.body.right


async def test_answers_within_an_interval_are_shown_by_one_edit(daily: DailyChannel, clock: Clock, ref: str) -> None:
    for number in range(5):
        await daily.answer(ref, "ab"[number % 2], f"Member {number}")
    await daily.answer(ref, "c", "Member 1")
    assert await updates(daily) == []
    clock.advance(seconds=10)
    (edit,) = await updates(daily)
    question = next(row for row in await daily.rows(Outbox) if row.kind == "question")
    assert edit.edits is not None and (edit.edits.ref, edit.edits.key) == (question.message_ref, question.key)
    assert shown(edit) == (5, None)
    clock.advance(minutes=1)
    assert await updates(daily) == []


async def test_a_backlog_of_edits_is_one_edit(daily: DailyChannel, clock: Clock, ref: str) -> None:
    for number in range(4):
        await daily.answer(ref, "a", f"Member {number}")
        clock.advance(minutes=1)
    (edit,) = await updates(daily)
    assert shown(edit) == (4, None)
    assert [row.key for row in await daily.rows(Outbox) if row.kind == "update"] == [edit.key]


async def test_the_close_shows_the_result_after_everything_else(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "a", "Ada")
    await daily.answer(ref, "b", "Bob")
    clock.advance(hours=8)
    await daily.service.tick()
    (edit,) = await updates(daily)
    assert shown(edit) == (2, 1)


async def test_an_edit_in_flight_at_the_close_does_not_undo_it(daily: DailyChannel, clock: Clock, ref: str) -> None:
    clock.now = NINE + timedelta(hours=8) - timedelta(seconds=20)
    await daily.answer(ref, "a")
    clock.advance(seconds=10)
    (held,) = [each for each in await daily.claim() if each.body.kind == "update"]
    clock.advance(seconds=10)
    await daily.service.tick()
    assert await updates(daily) == [], "edits of one message are made in order"
    clock.advance(seconds=30)
    first, *more = await updates(daily)
    assert (first.id, first.uncertain, shown(first)) == (held.id, True, (1, 1)), "it shows the present state"
    assert [shown(edit) for edit in more] == []


async def test_a_claim_of_an_edit_waits_for_no_close(daily: DailyChannel, clock: Clock, ref: str) -> None:
    """The close deletes edits: two that waited for each other would be a deadlock, of which one fails."""
    await daily.answer(ref, "a")
    clock.advance(seconds=10)
    async with daily.service.sessions.begin() as closing:
        assert await rounds.lock_open(closing, QuestionRef.parse(ref).id) is not None
        async with asyncio.timeout(60):
            (edit,) = await updates(daily)
    assert shown(edit) == (1, None)


async def test_an_edit_that_fails_delays_no_message_and_is_no_trouble(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    await daily.answer(ref, "a")
    clock.advance(seconds=10)
    (edit,) = [each for each in await daily.claim() if each.body.kind == "update"]
    await daily.client.outbox_failed(edit.id, edit.attempt, "503", outcome="uncertain")
    clock.now = NINE + timedelta(hours=8)
    await daily.service.tick()
    kinds = [each.body.kind for each in await daily.deliver()]
    assert kinds.count("reveal") == kinds.count("outcome") == 1
    clock.advance(days=1, hours=-8)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(ref, "a")
    clock.advance(seconds=10)
    (edit,) = [each for each in await daily.claim() if each.body.kind == "update"]
    await daily.client.outbox_failed(edit.id, edit.attempt, "the message was deleted", outcome="refused")
    assert await daily.deliver() == [] and await daily.rows(Trouble) == []


async def test_a_question_that_is_not_posted_yet_is_edited_later(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    (question,) = [each for each in await daily.claim() if each.body.kind == "question"]
    assert isinstance(question.body, QuestionPost)
    await daily.answer(question.body.ref, "a")
    clock.advance(seconds=20)
    assert await updates(daily) == []
    await daily.client.outbox_sent(question.id, "m1")
    clock.advance(seconds=10)
    (edit,) = await updates(daily)
    assert edit.edits is not None and edit.edits.ref == "m1" and shown(edit) == (1, None)
