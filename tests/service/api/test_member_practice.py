"""Practice through the client: asked, answered, rated, asked again."""

from __future__ import annotations

from service.wire import NotFound
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.refusals import refused


async def test_a_question_is_practiced_until_nothing_is_left_and_comes_again(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"), choice("grad", topic="autograd"))
    ada = daily.who("Ada")
    seen = []
    while (form := await daily.client.practice(ada, DAILY)) is not None:
        receipt = await daily.answer(form.ref, "b" if form.question.id == "views" else "a")
        assert receipt.status == "judged"
        assert receipt.key is not None
        seen.append(form.question.id)
    assert sorted(seen) == ["grad", "views"]
    clock.advance(days=30)
    again = await daily.client.practice(ada, DAILY)
    assert again is not None
    assert again.due == 1
    assert (await daily.client.me(ada)).cards_due == 2


async def test_a_missed_daily_becomes_a_card(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"q{number}") for number in range(2)))
    await daily.schedule()
    clock.advance(hours=1)
    refs = [body.ref for body in await daily.ticked() if body.kind == "question"]
    await daily.answer(refs[0], "a")
    clock.advance(hours=8)
    await daily.ticked()
    clock.advance(hours=16)
    asked = [body.question.id for body in await daily.ticked() if body.kind == "question"]
    assert await daily.client.practice(daily.who("Ada"), DAILY) is None
    clock.advance(hours=8)
    await daily.ticked()
    form = await daily.client.practice(daily.who("Ada"), DAILY)
    assert form is not None
    assert [form.question.id] == asked


async def test_a_topic_nobody_knows_is_refused_with_the_closest(daily: DailyChannel) -> None:
    await daily.bank(choice())
    with refused(NotFound(what="topic", name="tensor", similar=("tensors", "tensors/memory"))):
        await daily.client.practice(daily.who("Ada"), DAILY, "tensor")
    assert await daily.client.practice(daily.who("Ada"), DAILY, "tensors", "senior") is None
