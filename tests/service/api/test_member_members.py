"""Members' calls about themselves, through the client."""

from __future__ import annotations

import json

from service.store.review_tables import ReportRow
from service.store.tables import AnswerRow, Identity
from service.wire import AnswerInput, EventReused, QuestionPost, StillOpen, TopicCount
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.refusals import refused


async def played(daily: DailyChannel, clock: Clock, *names: str) -> str:
    """Plays and closes a round with correct answers of these members; returns its ref."""
    await daily.bank(choice("views"), choice("grad", topic="autograd"))
    await daily.schedule()
    clock.advance(hours=1)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    for name in names:
        await daily.answer(ref, "a", name)
    clock.advance(hours=8)
    await daily.ticked()
    return ref


async def test_me_and_the_topics(daily: DailyChannel, clock: Clock) -> None:
    await played(daily, clock, "Ada")
    me = await daily.client.me(daily.who("Ada"))
    assert (me.points, me.rank, me.ranked, me.answered, me.accuracy, me.streak) == (10, 1, 1, 1, 1.0, 1)
    assert await daily.client.topics(daily.who("Ada")) == (
        TopicCount(topic="autograd", questions=1),
        TopicCount(topic="tensors/memory", questions=1),
    )


async def test_the_rules_need_no_workspace(daily: DailyChannel) -> None:
    assert (await daily.client.rules(daily.who("Ada"))).base["mid"] == 10
    assert await daily.rows(Identity) == []


async def test_privacy_is_seen_exported_hidden_and_shown(daily: DailyChannel, clock: Clock) -> None:
    await played(daily, clock, "Ada", "Bo")
    ada = daily.who("Ada")
    assert (await daily.client.privacy(ada, "e1")).answers == 1
    assert json.loads((await daily.client.privacy(ada, "e1", "export")).export)["member"]["name"] == "Ada"
    assert (await daily.client.privacy(ada, "e2", "hide")).hidden
    assert [row.name for row in (await daily.client.board(ada, DAILY)).rows] == ["Bo"]
    assert not (await daily.client.privacy(ada, "e3", "show")).hidden
    # The same event again says what it said: nothing is hidden a second time.
    assert (await daily.client.privacy(ada, "e2", "hide")).hidden
    assert len((await daily.client.board(ada, DAILY)).rows) == 2


async def test_a_changed_answer_counts_once_in_privacy(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    clock.advance(hours=1)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    for option in ("b", "a"):
        await daily.answer(ref, option, "Ada")
    assert (await daily.client.privacy(daily.who("Ada"), "e1")).answers == 1


async def test_forgetting_is_done_once_and_its_duplicate_makes_nobody_known_again(
    daily: DailyChannel, clock: Clock
) -> None:
    await played(daily, clock, "Ada", "Bo")
    ada = daily.who("Ada")
    first = await daily.client.privacy(ada, "e1", "forget")
    assert first.forgotten
    assert await daily.client.privacy(ada, "e1", "forget") == first
    assert sorted(row.external_id for row in await daily.rows(Identity)) == ["bo", "boss"]
    assert sorted(row.name for row in await daily.rows(AnswerRow)) == ["", "Bo"]
    assert [row.name for row in (await daily.client.board(daily.who("Bo"), DAILY)).rows] == ["Bo"]


async def test_a_report_is_made_once_for_its_event(daily: DailyChannel) -> None:
    await daily.bank(choice())
    ada = daily.who("Ada")
    for _ in range(2):
        await daily.client.report(ada, "e1", "views", "b is right too")
    assert len(await daily.rows(ReportRow)) == 1
    with refused(EventReused(event_id="e1")):
        await daily.client.report(daily.who("Bo"), "e1", "views", "mine")


async def test_a_key_is_shown_after_the_close_only(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(ref, "a")
    with refused(StillOpen()):
        await daily.client.explain(daily.who("Ada"), "views")
    clock.advance(hours=8)
    await daily.ticked()
    explained = await daily.client.explain(daily.who("Nobody special"), "views")
    key = explained.key
    assert explained.given is None
    hers = await daily.client.explain(daily.who("Ada"), "views")
    assert hers.given == AnswerInput(options=("a",)) and hers.verdict is not None and hers.verdict.credit == 1
    assert {option.id: option.right for option in key.options} == {"a": True, "b": False, "c": False}
