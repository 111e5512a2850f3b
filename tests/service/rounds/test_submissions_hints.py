"""Hints: what they say, what they cost, and that they cost it once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from questions.model import Question
from service.rounds.rounds import close_due
from service.rounds.submissions import view_hint
from service.store.answers import HintTaken
from service.store.members import resolve_caller
from service.wire import AnswerInput, HintView, NoHint, PrivacyView, QuestionGone, QuestionPost
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, prose, value
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

NINE = MONDAY + timedelta(hours=1)
FAST = SPEC.model_copy(update={"speed_bonus": True, "memory_days": 0})
HINTED = {"hint": "Count the *axes*."}


async def opened(daily: DailyChannel, clock: Clock, question: Question) -> str:
    """Posts a question; returns its ref."""
    await daily.bank(question)
    await daily.schedule(FAST)
    clock.now = NINE
    post = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    assert post.question.hint == (question.id != "shape" or bool(question.hint))
    return post.ref


async def hint(daily: DailyChannel, ref: str, name: str = "Ada", *, take: bool = True) -> HintView:
    return await daily.client.hint(daily.who(name), DAILY, ref, take)


async def closed(daily: DailyChannel, clock: Clock) -> None:
    clock.advance(hours=8)
    await daily.ticked()


async def points(daily: DailyChannel, ref: str, name: str) -> tuple[int, int, int]:
    """Returns a member's points for the round in all, those for speed, and what the hint took."""
    found = (await daily.client.result(daily.who(name), ref)).points
    assert found is not None
    return found.total, found.bonus, found.hint


async def test_the_offer_says_the_price_and_nothing_else(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, value(**HINTED))
    offer = await hint(daily, ref, take=False)
    assert (offer.cost, offer.taken, offer.text, offer.wrong) == (3, False, "", None)
    assert not await daily.rows(HintTaken), "looking at the price takes nothing"
    assert (await hint(daily, ref)).text == "Count the *axes*."
    assert (await hint(daily, ref, take=False)).text == "Count the *axes*.", "a hint that was taken is shown again"


async def test_a_hint_costs_once_and_only_what_the_answer_earns(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    for name, option in (("Ada", "a"), ("Bob", "b"), ("Cy", "a")):
        if name != "Cy":
            await hint(daily, ref, name)
            await hint(daily, ref, name)
        await daily.answer(ref, option, name)
    await closed(daily, clock)
    assert await points(daily, ref, "Ada") == (9, 2, -3)
    assert await points(daily, ref, "Bob") == (0, 0, 0)
    assert await points(daily, ref, "Cy") == (12, 2, 0)
    assert (await daily.client.rules(daily.who())).hint_cost == 3


async def test_a_choice_without_an_authors_hint_names_a_wrong_option(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    wrong = set()
    for number in range(12):
        found = await hint(daily, ref, f"member {number}")
        assert found.wrong is not None and found.wrong == (await hint(daily, ref, f"member {number}")).wrong
        wrong.add(found.wrong.id)
    assert wrong == {"b", "c"}, "members hear of different ones, never of the right one"


async def test_a_correction_keeps_the_price(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await hint(daily, ref, "Bob")
    await daily.answer(ref, "b", "Bob")
    await closed(daily, clock)
    fixed = [type(one)(one.id, one.text, one.id == "b", one.reason) for one in choice().options]
    await daily.bank(replace(choice(), options=tuple(fixed), answer="`x.clone()`"))
    found = (await daily.client.result(daily.who("Bob"), ref)).points
    assert found is not None and found.total == 9, "twelve with the bonus, less three"


async def test_an_open_answer_pays_with_what_taking_part_earns(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, prose(**HINTED))
    await hint(daily, ref)
    await daily.answer(ref, AnswerInput(text="They share storage."))
    await closed(daily, clock)
    found = (await daily.client.result(daily.who(), ref)).points
    assert found is not None and (found.total, found.taking_part, found.hint) == (2, 5, -3)


async def test_a_question_may_have_no_hint(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, value())
    with refused(NoHint(closed=False)):
        await hint(daily, ref)


async def test_a_closed_round_has_no_hint(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    clock.advance(hours=8)
    with refused(NoHint(closed=True)):
        await hint(daily, ref)  # also while the close is late
    await daily.ticked()
    with refused(NoHint(closed=True)):
        await hint(daily, ref)


async def test_a_close_waits_for_a_hint_that_is_being_shown_and_counts_it(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await daily.answer(ref, "a")
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, daily.who(), DAILY, NINE)
        await view_hint(session, caller, ref, True, NINE)
        clock.advance(hours=8)
        closing = asyncio.create_task(close_due(daily.service.sessions, clock.now))
        await until_locked_out(session, closing)
    assert await closing == 1
    assert await points(daily, ref, "Ada") == (9, 2, -3)


async def test_practice_costs_nothing(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule(FAST)
    ask = await daily.client.practice(daily.who(), DAILY)
    assert ask is not None and ask.question.hint
    found = await hint(daily, ask.ref, take=False)
    assert found.taken and found.cost == 0 and found.wrong is not None
    assert not await daily.rows(HintTaken)


async def test_a_hint_is_forgotten_with_the_member(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await hint(daily, ref)
    view = await daily.client.privacy(daily.who(), "forget", "forget")
    assert isinstance(view, PrivacyView) and not await daily.rows(HintTaken)


async def test_another_team_gets_no_hint(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    stranger = daily.who("Mallory", workspace="elsewhere")
    with refused(QuestionGone(practice=False)):
        await daily.client.hint(stranger, DAILY, ref, True)
