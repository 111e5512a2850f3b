"""What an export leaves out as long as others, or the member in a duel, may still answer the question."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from service.wire import AnswerInput, QuestionPost, Who
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice


async def exported(daily: DailyChannel, name: str = "Ada") -> dict[str, Any]:
    made = await daily.client.privacy(daily.who(name), f"export {next(daily.events)}", "export")
    found: dict[str, Any] = json.loads(made.export)
    return found


async def plays(daily: DailyChannel, who: Who, duel: int, option: str) -> None:
    """Answers all questions of a duel with the same option."""
    view = (await daily.client.duel_show(who, duel)).duel
    while ref := view.next_ref:
        await daily.client.duel_ask(who, ref)
        given = AnswerInput(options=(option,))
        view = (await daily.client.duel_answer(who, f"{who.name} {ref}", ref, given, daily.now)).duel


async def test_while_a_round_is_open_it_says_of_no_answer_to_its_question_how_good_it_is(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice())
    ada = daily.who()
    card = await daily.client.practice(ada, DAILY)
    assert card is not None
    await daily.answer(card.ref, "b")
    before = await exported(daily)
    assert [(one["verdict"], one["credit"]) for one in before["answers"]] == [("wrong", 0.0)]
    assert [one["question"] for one in before["cards"]] == ["views"]

    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(ref, "a")
    meanwhile = await exported(daily)
    assert [one["practice"] for one in meanwhile["answers"]] == [True, False]
    assert [(one["verdict"], one["detail"], one["credit"]) for one in meanwhile["answers"]] == [(None, None, None)] * 2
    assert meanwhile["cards"] == []

    clock.advance(hours=9)
    await daily.ticked()
    after = await exported(daily)
    assert [one["verdict"] for one in after["answers"]] == ["wrong", "accepted"]
    assert [one["question"] for one in after["cards"]] == ["views"]


async def test_of_a_running_duel_it_has_no_verdict(daily: DailyChannel) -> None:
    await daily.bank(*(choice(f"views{number}") for number in range(5)))
    ada, bo = daily.who(), daily.who("Bo")
    await daily.client.join(bo, DAILY)
    duel = (await daily.client.duel_challenge(ada, DAILY, "duel", "Bo")).duel
    await daily.client.duel_respond(bo, "accept", duel, True)
    await plays(daily, ada, duel, "a")
    running = await exported(daily)
    assert [(one["given"]["options"], one["verdict"]) for one in running["duels"]] == [(["a"], None)] * 5
    await plays(daily, bo, duel, "b")
    assert [one["verdict"] for one in (await exported(daily))["duels"]] == ["accepted"] * 5
    assert [one["verdict"] for one in (await exported(daily, "Bo"))["duels"]] == ["wrong"] * 5
