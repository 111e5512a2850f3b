"""Members' calls about themselves, through the client."""

from __future__ import annotations

import json

import pytest

from service.client import ServiceRefused
from service.store.tables import AnswerRow, Identity, ReportRow
from service.wire import QuestionPost, TopicCount
from tests.conftest import Clock
from tests.service.roads import DAILY, Road, choice


async def played(road: Road, clock: Clock, *names: str) -> str:
    """A round that these members answered rightly, closed; its ref."""
    await road.bank(choice("views"), choice("grad", topic="autograd"))
    await road.schedule()
    clock.advance(hours=1)
    ref = next(body.ref for body in await road.ticked() if isinstance(body, QuestionPost))
    for name in names:
        await road.answer(ref, "a", name)
    clock.advance(hours=8)
    await road.ticked()
    return ref


async def test_me_and_the_topics(road: Road, clock: Clock) -> None:
    await played(road, clock, "Ada")
    me = await road.client.me(road.who("Ada"))
    assert (me.points, me.rank, me.answered, me.accuracy, me.streak) == (10, 1, 1, 1.0, 1)
    assert await road.client.topics(road.who("Ada")) == (
        TopicCount(topic="autograd", questions=1),
        TopicCount(topic="tensors/memory", questions=1),
    )


async def test_the_rules_need_no_workspace(road: Road) -> None:
    assert (await road.client.rules(road.who("Ada"))).base["mid"] == 10
    assert await road.rows(Identity) == []


async def test_privacy_is_seen_exported_hidden_and_shown(road: Road, clock: Clock) -> None:
    await played(road, clock, "Ada", "Bo")
    ada = road.who("Ada")
    assert (await road.client.privacy(ada, "e1")).answers == 1
    assert json.loads((await road.client.privacy(ada, "e1", "export")).export)["member"]["name"] == "Ada"
    assert (await road.client.privacy(ada, "e2", "hide")).hidden
    assert [row.name for row in (await road.client.board(ada, DAILY)).rows] == ["Bo"]
    assert not (await road.client.privacy(ada, "e3", "show")).hidden
    # The same event again says what it said: nothing is hidden a second time.
    assert (await road.client.privacy(ada, "e2", "hide")).hidden
    assert len((await road.client.board(ada, DAILY)).rows) == 2


async def test_forgetting_is_done_once_and_its_duplicate_makes_nobody_known_again(road: Road, clock: Clock) -> None:
    await played(road, clock, "Ada", "Bo")
    ada = road.who("Ada")
    first = await road.client.privacy(ada, "e1", "forget")
    assert first.forgotten
    assert await road.client.privacy(ada, "e1", "forget") == first
    assert sorted(row.external_id for row in await road.rows(Identity)) == ["bo", "boss"]
    assert sorted(row.name for row in await road.rows(AnswerRow)) == ["", "Bo"]
    assert [row.name for row in (await road.client.board(road.who("Bo"), DAILY)).rows] == ["Bo"]


async def test_an_action_nobody_knows_is_refused(road: Road) -> None:
    with pytest.raises(ServiceRefused, match="use see, export, hide, show, forget"):
        await road.client.privacy(road.who("Ada"), "e1", "sell")


async def test_a_report_is_made_once_for_its_event(road: Road) -> None:
    await road.bank(choice())
    ada = road.who("Ada")
    for _ in range(2):
        await road.client.report(ada, "e1", "views", "b is right too")
    assert len(await road.rows(ReportRow)) == 1
    with pytest.raises(ServiceRefused) as refusal:
        await road.client.report(road.who("Bo"), "e1", "views", "mine")
    assert refusal.value.failure.code == "event-reused"


async def test_a_key_is_told_after_the_close_and_not_before(road: Road, clock: Clock) -> None:
    await road.bank(choice())
    await road.schedule()
    clock.advance(hours=1)
    ref = next(body.ref for body in await road.ticked() if isinstance(body, QuestionPost))
    await road.answer(ref, "a")
    with pytest.raises(ServiceRefused) as refusal:
        await road.client.explain(road.who("Ada"), "views")
    assert refusal.value.failure.code == "still-open"
    clock.advance(hours=8)
    await road.ticked()
    key = await road.client.explain(road.who("Nobody special"), "views")
    assert {option.id: option.right for option in key.options} == {"a": True, "b": False, "c": False}
