"""A member's own result of a round: their answer, points with reasons, streak and rank, and who may see it when."""

from __future__ import annotations

from dataclasses import replace
from datetime import time, timedelta

import pytest

from service.store.tables import Outbox
from service.wire import (
    AnswerInput,
    QuestionGone,
    QuestionPost,
    RankChange,
    ResultNotReady,
    RoundResult,
    StillOpen,
    Where,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, post_code_question
from tests.service.refusals import refused

NINE = MONDAY + timedelta(hours=1)


async def ask(daily: DailyChannel) -> str:
    """Posts the day's question; returns its ref."""
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


@pytest.fixture
async def ref(daily: DailyChannel, clock: Clock) -> str:
    """A choice question open in the channel, which repeats every day."""
    await daily.bank(choice())
    await daily.schedule(SPEC.model_copy(update={"memory_days": 0, "speed_bonus": True}))
    clock.now = NINE
    return await ask(daily)


async def close(daily: DailyChannel, clock: Clock) -> None:
    clock.advance(hours=8)
    await daily.ticked()


async def test_nobody_has_a_result_before_the_close(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "b")
    for name in ("Ada", "Eve"):
        with refused(ResultNotReady(closes_at=NINE + timedelta(hours=8), zone="UTC")):
            await daily.client.result(daily.who(name), ref)
    await close(daily, clock)
    assert (await daily.client.result(daily.who(), ref)).given == AnswerInput(options=("b",))


async def test_a_result_is_only_ever_the_callers_own(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "b", "Ada")
    await daily.answer(ref, "a", "Bob")
    await close(daily, clock)
    ada, bob, eve = [await daily.client.result(daily.who(name), ref) for name in ("Ada", "Bob", "Eve")]
    assert [result.given and result.given.options for result in (ada, bob, eve)] == [("b",), ("a",), None]
    assert [result.verdict and result.verdict.credit for result in (ada, bob, eve)] == [0, 1, None]
    assert (eve.points, eve.streak, eve.rank.after) == (None, 0, None)
    assert "bob" not in ada.model_dump_json().lower() and "ada" not in eve.model_dump_json().lower()


async def test_an_old_result_waits_while_its_question_is_asked_in_another_channel(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice())
    await daily.schedule(SPEC)
    clock.now = NINE
    first = await ask(daily)
    await daily.answer(first, "b")
    await close(daily, clock)
    assert (await daily.client.result(daily.who(), first)).key.answer
    other = Where(channel="other", name="#other")
    await daily.schedule(SPEC.model_copy(update={"at": time(18)}), where=other)
    clock.now = NINE.replace(hour=18)
    again = await ask(daily)
    assert again != first
    for name in ("Ada", "Eve"):
        with refused(StillOpen()):
            await daily.client.result(daily.who(name), first)
    await close(daily, clock)
    assert (await daily.client.result(daily.who(), first)).given == AnswerInput(options=("b",))


async def test_points_have_reasons(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "a", "Quick")
    await daily.answer(ref, "b", "Wrong")
    clock.advance(hours=1)
    await daily.answer(ref, "a", "Slow")
    await close(daily, clock)
    quick, slow, wrong = [
        (await daily.client.result(daily.who(name), ref)).points for name in ("Quick", "Slow", "Wrong")
    ]
    assert quick is not None and slow is not None and wrong is not None
    assert (quick.total, quick.full, quick.bonus, quick.share_right) == (12, 10, 2, None)
    assert (slow.total, slow.bonus) == (10, 0)
    assert (wrong.total, wrong.full, wrong.bonus) == (0, 10, 0)
    clock.now = NINE + timedelta(days=1)
    again = await ask(daily)
    clock.advance(hours=1)
    await daily.answer(again, "a", "Slow")
    await close(daily, clock)
    harder = (await daily.client.result(daily.who("Slow"), again)).points
    assert harder is not None and harder.share_right == pytest.approx(2 / 3) and harder.full == harder.total


async def test_a_correction_changes_the_result(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "b")
    await close(daily, clock)
    options = choice().options
    fixed = [type(option)(option.id, option.text, option.id == "b", option.reason) for option in options]
    await daily.bank(replace(choice(), options=tuple(fixed), answer="`x.clone()`"))
    result = await daily.client.result(daily.who(), ref)
    assert result.verdict is not None and result.verdict.credit == 1
    assert result.points is not None and (result.points.total, result.points.corrected) == (12, 12)
    assert [option.id for option in result.key.options if option.right] == ["b"]


async def test_streak_rank_and_week_follow_the_rounds(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "a", "Bob")
    await daily.answer(ref, "b", "Ada")
    await close(daily, clock)
    clock.now = NINE + timedelta(days=1)
    second = await ask(daily)
    await daily.answer(second, "a", "Ada")
    await close(daily, clock)
    first_result = await daily.client.result(daily.who("Ada"), ref)
    result = await daily.client.result(daily.who("Ada"), second)
    assert (first_result.number, first_result.week_right, first_result.week_asked) == (1, 0, 1)
    assert (result.number, result.week_right, result.week_asked, result.streak) == (2, 1, 2, 2)
    assert result.rank == RankChange(before=None, after=1, total=2), "no rank without points"
    assert (await daily.client.result(daily.who("Bob"), second)).rank == RankChange(), "no points for that round"
    assert first_result.rank == RankChange(before=None, after=None, total=1), "as right after that round"


async def test_code_without_a_verdict_has_no_points_yet(daily: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(daily, clock)
    await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"))
    await close(daily, clock)
    result = await daily.client.result(daily.who(), ref)
    assert (result.given is not None, result.verdict, result.points) == (True, None, None)


async def test_results_are_enqueued_for_the_web_once_and_privately(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "a", "Ada")
    await daily.client.join(daily.who("Eve"), DAILY)
    clock.advance(hours=8)
    await daily.service.tick()
    await daily.service.tick()
    sent = [each for each in await daily.deliver() if isinstance(each.body, RoundResult)]
    assert [each.member for each in sent] == ["ada"]
    rows = [row for row in await daily.rows(Outbox) if row.kind == "result"]
    assert len(rows) == 1 and rows[0].member_id is not None


async def test_other_questions_have_no_result(daily: DailyChannel, clock: Clock, ref: str) -> None:
    with refused(QuestionGone(practice=True)):
        await daily.client.result(daily.who(), "p1")
    with refused(QuestionGone(practice=False)):
        await daily.client.result(daily.who(), "r99")
