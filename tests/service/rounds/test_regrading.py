"""After a corrected key, closed rounds are regraded once from the log, and the channel gets one line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Option
from service.banks.imports import import_bank
from service.client import ServiceClient
from service.rounds.rounds import close_round
from service.store.cards import CardRow
from service.store.tables import Ledger, Member, Outbox, VerdictRow
from service.wire import AnswerInput, Notice, QuestionCorrected, QuestionPost, RevealPost
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, value
from tests.service.lock_waits import until_locked_out
from tests.service.scenes import reading


@pytest.fixture
async def answered(daily: DailyChannel, clock: Clock) -> DailyChannel:
    """An open round with the key (2, 3), which Ada answered; Bob answered (3, 2)."""
    await daily.bank(value())
    await daily.schedule()
    clock.advance(hours=1)
    question = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(question.ref, AnswerInput(text="(2, 3)"), "Ada")
    await daily.answer(question.ref, AnswerInput(text="(3, 2)"), "Bob")
    return daily


@pytest.fixture
async def closed(answered: DailyChannel) -> DailyChannel:
    """That round, closed."""
    await answered.client.close_now(answered.who("Boss", admin=True), "close", DAILY)
    await answered.deliver()
    return answered


async def board(client: ServiceClient, daily: DailyChannel) -> list[tuple[str, int, int, float]]:
    found = await client.board(daily.who("Ada"), DAILY, "all")
    return [(row.name, row.points, row.answered, row.accuracy) for row in found.rows]


async def test_late_answers_and_old_messages_practice_the_corrected_question(
    closed: DailyChannel, client: ServiceClient
) -> None:
    (post,) = [QuestionPost.from_stored(row.body) for row in await closed.rows(Outbox) if row.kind == "question"]
    late = await closed.answer(post.ref, AnswerInput(text="(2, 3)"), "Cy")
    assert (late.status, late.verdict and late.verdict.verdict) == ("late", "accepted")
    await closed.bank(replace(value(), answer="(3, 2)"))
    for name, ref in (("Dan", post.ref), ("Eve", late.ref)):
        result = await closed.answer(ref, AnswerInput(text="(3, 2)"), name)
        assert result.verdict is not None and result.verdict.verdict == "accepted"
        assert result.key is not None and result.key.answer == "(3, 2)"


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


async def test_options_that_are_moved_or_added_change_no_points(
    daily: DailyChannel, clock: Clock, client: ServiceClient
) -> None:
    """Their ids come from their places in the document, and the answers are stored by id."""
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    question = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(question.ref, "a", "Ada")
    await daily.answer(question.ref, "b", "Bob")
    await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
    before = await board(client, daily)
    view, clone, rest = choice().options
    for number, options in enumerate(([clone, rest, view], [Option("", "`x + 1`", False, "new"), clone, view, rest])):
        named = tuple(replace(one, id="abcd"[at]) for at, one in enumerate(options))
        await daily.bank(replace(choice(), options=named))
        assert await board(client, daily) == before, number
    moved = tuple(replace(one, id="abc"[at], right=one is clone) for at, one in enumerate((rest, clone, view)))
    await daily.bank(replace(choice(), options=moved))
    assert [(name, right) for name, _, _, right in await board(client, daily)] == [("Bob", 1.0)]


async def test_reverting_a_correction_restores_the_points(closed: DailyChannel, client: ServiceClient) -> None:
    before = await board(client, closed)
    await closed.bank(replace(value(), answer="(3, 2)"))
    await closed.bank(replace(value(), answer="(2, 3)"))
    assert await board(client, closed) == before


async def test_a_round_is_graded_by_the_key_that_was_corrected_while_it_was_open(
    answered: DailyChannel, clock: Clock, client: ServiceClient
) -> None:
    """The reveal has the right key, so there is nothing to correct afterwards."""
    await answered.bank(replace(value(), answer="(3, 2)"))
    clock.advance(hours=8)
    bodies = await answered.ticked()
    (reveal,) = [body for body in bodies if isinstance(body, RevealPost)]
    assert (reveal.key.answer, reveal.right, reveal.wrong_texts) == ("(3, 2)", 1, (("(2, 3)", 1),))
    assert not [body for body in bodies if isinstance(body, Notice) and isinstance(body.fact, QuestionCorrected)]
    assert [(name, right) for name, _, _, right in await board(client, answered)] == [("Bob", 1.0)]
    assert len(await answered.rows(VerdictRow)) == 2
    (card,) = await answered.rows(CardRow)
    assert card.member_id == next(row.id for row in await answered.rows(Member) if row.name == "Ada")


@pytest.mark.parametrize("first", ["close", "import"])
async def test_a_correction_during_the_close_is_not_lost(
    answered: DailyChannel, client: ServiceClient, first: str
) -> None:
    corrected = reading(replace(value(), answer="(3, 2)"), name="home")

    async def close(session: AsyncSession) -> None:
        assert await close_round(session, 1, answered.now)

    async def correct(session: AsyncSession) -> None:
        await import_bank(session, corrected, None, answered.now, True)

    async def in_transaction(work: Callable[[AsyncSession], Awaitable[None]]) -> None:
        async with answered.service.sessions.begin() as session:
            await work(session)

    before, after = (close, correct) if first == "close" else (correct, close)
    async with answered.service.sessions.begin() as session:
        await before(session)
        waits = asyncio.create_task(in_transaction(after))
        await until_locked_out(session, waits)
    await waits
    assert [(name, right) for name, _, _, right in await board(client, answered)] == [("Bob", 1.0)]


async def test_what_a_correction_is_judging_again_is_erased_of_a_member_who_forgets(closed: DailyChannel) -> None:
    async with closed.service.sessions.begin() as session:
        await import_bank(session, reading(replace(value(), answer="(3, 2)"), name="home"), None, closed.now, True)
        forgetting = asyncio.create_task(closed.client.privacy(closed.who("Bob"), "forget", "forget"))
        await until_locked_out(session, forgetting)
    await forgetting
    verdicts = await closed.rows(VerdictRow)
    assert len(verdicts) == 4
    assert "(3, 2)" not in str([row.detail for row in verdicts])
