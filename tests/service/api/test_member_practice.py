"""Practice through the client: asked, answered, rated, asked again."""

from __future__ import annotations

import pytest

from service.client import ServiceRefused
from service.wire import AnswerInput
from tests.conftest import Clock
from tests.service.roads import DAILY, Road, choice, prose


async def test_a_question_is_practiced_until_nothing_is_left_and_comes_again(road: Road, clock: Clock) -> None:
    await road.bank(choice("views"), choice("grad", topic="autograd"))
    ada = road.who("Ada")
    seen = []
    while (form := await road.client.practice(ada, DAILY)) is not None:
        receipt = await road.answer(form.ref, "b" if form.question.id == "views" else "a")
        assert receipt.status == "judged"
        assert receipt.key is not None
        seen.append(form.question.id)
    assert sorted(seen) == ["grad", "views"]
    clock.advance(days=30)
    again = await road.client.practice(ada, DAILY)
    assert again is not None
    assert again.due == 1
    assert (await road.client.me(ada)).cards_due == 2


async def test_a_missed_daily_becomes_a_card(road: Road, clock: Clock) -> None:
    await road.bank(*(choice(f"q{number}") for number in range(2)))
    await road.schedule()
    clock.advance(hours=1)
    refs = [body.ref for body in await road.ticked() if body.kind == "question"]
    await road.answer(refs[0], "a")
    clock.advance(hours=8)
    await road.ticked()
    clock.advance(hours=16)
    asked = [body.question.id for body in await road.ticked() if body.kind == "question"]
    assert await road.client.practice(road.who("Ada"), DAILY) is None
    clock.advance(hours=8)
    await road.ticked()
    form = await road.client.practice(road.who("Ada"), DAILY)
    assert form is not None
    assert [form.question.id] == asked


async def test_prose_is_rated_by_its_author_in_place_of_us(road: Road) -> None:
    await road.bank(prose())
    form = await road.client.practice(road.who("Ada"), DAILY)
    assert form is not None
    receipt = await road.answer(form.ref, AnswerInput(text="no idea"))
    assert receipt.rate
    assert receipt.next_due is not None
    due = await road.client.rate(road.who("Ada"), "e1", receipt.ref, "easy")
    assert due > receipt.next_due
    assert await road.client.rate(road.who("Ada"), "e1", receipt.ref, "again") == due


async def test_a_topic_nobody_knows_is_refused_with_the_closest(road: Road) -> None:
    await road.bank(choice())
    with pytest.raises(ServiceRefused, match="Did you mean tensors"):
        await road.client.practice(road.who("Ada"), DAILY, "tensor")
    assert await road.client.practice(road.who("Ada"), DAILY, "tensors", "senior") is None
