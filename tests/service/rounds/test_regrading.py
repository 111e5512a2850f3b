"""After a corrected key, closed rounds are regraded once from the log, and the channel gets one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.client import ServiceClient
from service.store.tables import Ledger, Outbox, VerdictRow
from service.wire import AnswerInput, Notice, QuestionCorrected, QuestionPost
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, value


@pytest.fixture
async def closed(daily: DailyChannel, clock: Clock) -> DailyChannel:
    """A closed round with the key (2, 3), which Ada answered; Bob answered (3, 2)."""
    await daily.bank(value())
    await daily.schedule()
    clock.advance(hours=1)
    question = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(question.ref, AnswerInput(text="(2, 3)"), "Ada")
    await daily.answer(question.ref, AnswerInput(text="(3, 2)"), "Bob")
    await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
    await daily.deliver()
    return daily


async def board(client: ServiceClient, daily: DailyChannel) -> list[tuple[str, int, int, float]]:
    found = await client.board(daily.who("Ada"), DAILY, "all")
    return [(row.name, row.points, row.answered, row.accuracy) for row in found.rows]


async def test_a_corrected_key_moves_points_once_and_keeps_the_log(closed: DailyChannel, client: ServiceClient) -> None:
    assert [(name, answered, right) for name, _, answered, right in await board(client, closed)] == [("Ada", 1, 1.0)]
    worth = (await board(client, closed))[0][1]
    before = await closed.rows(VerdictRow)
    for _ in range(2):
        await closed.bank(replace(value(), answer="(3, 2)"))
        assert await board(client, closed) == [("Bob", worth, 1, 1.0)]
    rows = await closed.rows(Ledger)
    assert [(row.reason, row.points) for row in rows] == [
        ("round", worth),
        ("round", 0),
        ("regrade", -worth),
        ("regrade", worth),
    ]
    kept = await closed.rows(VerdictRow)
    assert [row.id for row in before] == [row.id for row in kept][:2]
    assert len(kept) == 4
    told = [body.fact for delivery in await closed.deliver() if isinstance(body := delivery.body, Notice)]
    (corrected,) = [fact for fact in told if isinstance(fact, QuestionCorrected)]
    assert (corrected.gained, corrected.lost, corrected.code) == ((worth,), (worth,), False)


async def test_a_question_asked_twice_is_corrected_in_both_rounds(
    closed: DailyChannel, clock: Clock, client: ServiceClient
) -> None:
    clock.advance(hours=24)
    question = next(body for body in await closed.ticked() if isinstance(body, QuestionPost))
    await closed.answer(question.ref, AnswerInput(text="(2, 3)"), "Ada")
    await closed.client.close_now(closed.who("Boss", admin=True), "close again", DAILY)
    await closed.bank(replace(value(), answer="(3, 2)"))
    ada = {row.member_id for row in await closed.rows(Ledger) if row.reason == "round" and row.points}
    assert len(ada) == 1
    regraded = [row.round_id for row in await closed.rows(Ledger) if row.reason == "regrade" and row.member_id in ada]
    assert regraded == [1, 2]
    assert (await closed.client.me(closed.who("Ada"))).points == 0


async def test_a_correction_without_point_changes_is_not_announced(closed: DailyChannel, client: ServiceClient) -> None:
    before = await board(client, closed)
    await closed.bank(value(why="Rows first.", level="principal"))
    assert await board(client, closed) == before
    assert [row for row in await closed.rows(Ledger) if row.reason == "regrade"] == []
    assert [row for row in await closed.rows(Outbox) if row.key.startswith("regraded:")] == []


async def test_reverting_a_correction_restores_the_points(closed: DailyChannel, client: ServiceClient) -> None:
    before = await board(client, closed)
    await closed.bank(replace(value(), answer="(3, 2)"))
    await closed.bank(replace(value(), answer="(2, 3)"))
    assert await board(client, closed) == before
