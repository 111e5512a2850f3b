"""How sure a member is of an answer: asked where an admin wants it, worth points, and private."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import text

from questions.model import Question
from service.wire import AnswerInput, Confidence, QuestionPost
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, post_code_question, value

NINE = MONDAY + timedelta(hours=1)
ASKING = SPEC.model_copy(update={"confidence": True, "speed_bonus": True, "memory_days": 0})


def picked(option: str, confidence: Confidence | None) -> AnswerInput:
    return AnswerInput(options=(option,), confidence=confidence)


async def opened(daily: DailyChannel, clock: Clock, question: Question, *, asks: bool = True) -> str:
    """Posts a question; returns its ref."""
    await daily.bank(question)
    await daily.schedule(ASKING if asks else ASKING.model_copy(update={"confidence": False}))
    clock.now = NINE
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


async def closed(daily: DailyChannel, clock: Clock) -> None:
    clock.advance(hours=8)
    await daily.ticked()


async def points(daily: DailyChannel, ref: str, name: str) -> tuple[int, int, int]:
    """Returns a member's points for the round in all, those for speed, and those for how sure they were."""
    found = (await daily.client.result(daily.who(name), ref)).points
    assert found is not None
    return found.total, found.bonus, found.confidence


async def test_confidence_pays_if_right_and_costs_if_wrong(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    clock.advance(minutes=30)  # too late for a bonus
    said: tuple[Confidence | None, ...] = (None, "guess", "think", "sure")
    for option in "ab":
        for confidence in said:
            receipt = await daily.answer(ref, picked(option, confidence), f"{option} {confidence}")
            assert receipt.asks_confidence and receipt.given == picked(option, confidence)
    await closed(daily, clock)
    right = [await points(daily, ref, f"a {confidence}") for confidence in said]
    wrong = [await points(daily, ref, f"b {confidence}") for confidence in said]
    assert right == [(10, 0, 0), (10, 0, 0), (11, 0, 1), (12, 0, 2)]
    assert wrong == [(0, 0, 0), (0, 0, 0), (-2, 0, -2), (-6, 0, -6)]
    names = [row.name for row in (await daily.client.board(daily.who("Eve"), DAILY)).rows]
    assert names[0] == "a sure" and "b sure" not in names, "nobody without points is ranked"


async def test_the_points_of_a_fast_and_sure_answer_are_told_apart(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await daily.answer(ref, picked("a", "sure"))
    await closed(daily, clock)
    assert await points(daily, ref, "Ada") == (14, 2, 2)


async def test_saying_it_later_costs_no_time(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await daily.answer(ref, "a", "Ada")
    await daily.answer(ref, "a", "Bob")
    clock.advance(hours=1)
    await daily.answer(ref, picked("a", "think"), "Ada")
    await daily.answer(ref, picked("c", "think"), "Bob")
    await daily.answer(ref, picked("a", "think"), "Bob")
    await closed(daily, clock)
    assert await points(daily, ref, "Ada") == (13, 2, 1)
    assert await points(daily, ref, "Bob") == (11, 0, 1), "another answer in between takes its time"


async def test_another_answer_forgets_what_was_said_of_the_first(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await daily.answer(ref, picked("a", "sure"))
    clock.advance(hours=1)
    assert (await daily.answer(ref, "b")).given == picked("b", None)
    form = await daily.client.ask(daily.who(), DAILY, ref)
    assert form.asks_confidence and form.given == picked("b", None)
    await closed(daily, clock)
    assert await points(daily, ref, "Ada") == (0, 0, 0)


async def test_nothing_is_kept_where_it_is_not_asked(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice(), asks=False)
    receipt = await daily.answer(ref, picked("b", "sure"))
    assert not receipt.asks_confidence and receipt.given.confidence is None
    assert not (await daily.client.ask(daily.who(), DAILY, ref)).asks_confidence
    await closed(daily, clock)
    assert await points(daily, ref, "Ada") == (0, 0, 0)
    late = await daily.answer(ref, picked("a", "sure"))
    assert late.given.confidence is None and not late.asks_confidence, "practice asks nothing"


async def test_code_is_not_asked_about(daily: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(daily, clock)
    async with daily.service.sessions.begin() as session:
        await session.execute(text("update schedule set spec = spec || '{\"confidence\": true}'"))
    receipt = await daily.answer(ref, AnswerInput(code="def f(x): return x", confidence="sure"))
    assert not receipt.asks_confidence and receipt.given.confidence is None


async def test_a_correction_moves_these_points_too(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    clock.advance(minutes=30)
    await daily.answer(ref, picked("b", "sure"), "Ada")
    await daily.answer(ref, picked("a", "think"), "Bob")
    await closed(daily, clock)
    fixed = [type(one)(one.id, one.text, one.id == "b", one.reason) for one in choice().options]
    await daily.bank(replace(choice(), options=tuple(fixed), answer="`x.clone()`"))
    ada, bob = [(await daily.client.result(daily.who(name), ref)).points for name in ("Ada", "Bob")]
    assert ada is not None and bob is not None
    assert (ada.total, ada.confidence, ada.corrected) == (12, -6, 18)
    assert (bob.total, bob.confidence, bob.corrected) == (-2, 1, -13)


async def test_a_member_sees_how_often_they_were_right(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, value())
    await daily.answer(ref, AnswerInput(text="(2, 3)", confidence="sure"), "Ada")
    await daily.answer(ref, AnswerInput(text="(1, 1)", confidence="think"), "Bob")
    assert (await daily.client.me(daily.who("Ada"))).calibration == (), "nothing of an open round"
    await closed(daily, clock)
    clock.now = NINE + timedelta(days=1)
    second = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(second, AnswerInput(text="(9, 9)", confidence="sure"), "Ada")
    await closed(daily, clock)
    (ada,), (bob,) = [(await daily.client.me(daily.who(name))).calibration for name in ("Ada", "Bob")]
    assert (ada.said, ada.answers, ada.right) == ("sure", 2, 0.5) and (bob.said, bob.answers, bob.right) == (
        "think",
        1,
        0,
    )
    assert 0 < ada.low < 0.5 < ada.high < 1 and bob.low == 0 < bob.high < 1


async def test_forgetting_deletes_it(daily: DailyChannel, clock: Clock) -> None:
    ref = await opened(daily, clock, choice())
    await daily.answer(ref, picked("a", "sure"))
    await daily.client.privacy(daily.who(), "forget", "forget")
    async with daily.service.sessions() as session:
        assert await session.scalar(text("select count(*) from answer where given ? 'confidence'")) == 0
