"""Feedback on questions: who may give it, that the last one counts once, and what moderators see of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from service.client import ServiceClient
from service.store import reports
from service.store.review_tables import QuestionFeedback
from service.wire import ItemStatistics, NotAnswered, QuestionGone, QuestionPost, ResultNotReady, StillOpen
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice
from tests.service.refusals import refused
from tests.service.scenes import Stage, question

NINE = MONDAY + timedelta(hours=1)
NAMES = ("Ada", "Bob", "Cy", "Dee", "Eve", "Fay")


async def asked(daily: DailyChannel, clock: Clock) -> str:
    """Posts a question that everybody answers; returns its ref."""
    await daily.bank(choice())
    await daily.schedule(SPEC.model_copy(update={"memory_days": 0}))
    clock.now = NINE
    return await answered(daily)


async def answered(daily: DailyChannel) -> str:
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    for name in NAMES:
        await daily.answer(ref, "a", name)
    return ref


async def closed(daily: DailyChannel, clock: Clock) -> None:
    clock.advance(hours=8)
    await daily.ticked()


async def say(daily: DailyChannel, ref: str, name: str, liked: bool) -> bool | None:
    event = f"feedback {next(daily.events)}"
    return (await daily.client.feedback(daily.who(name), event, ref, liked)).liked


async def statistics(client: ServiceClient, daily: DailyChannel) -> ItemStatistics:
    return await client.question_statistics(daily.who("Boss", admin=True), "views")


async def test_the_last_feedback_of_a_member_counts_once(daily: DailyChannel, clock: Clock) -> None:
    ref = await asked(daily, clock)
    await closed(daily, clock)
    assert (await daily.client.result(daily.who(), ref)).liked is None
    assert await say(daily, ref, "Ada", True) is True
    assert await say(daily, ref, "Ada", False) is False
    assert await say(daily, ref, "Bob", True) is True
    assert (await daily.client.result(daily.who(), ref)).liked is False, "the result remembers what was said"
    assert (await daily.client.result(daily.who("Cy"), ref)).liked is None, "and nothing that others said"
    figures = await statistics(daily.client, daily)
    assert (figures.rated, figures.liked, figures.finding) == (2, 1, None)
    page = await daily.client.question_page(daily.who("Boss", admin=True), ref)
    assert (page.statistics.rated, page.statistics.liked) == (2, 1)
    theirs = await daily.client.question_page(daily.who("Bob"), ref)
    assert (theirs.statistics.rated, theirs.statistics.liked) == (0, 0), "the share is for moderators"


async def test_a_repeated_event_changes_nothing(daily: DailyChannel, clock: Clock) -> None:
    ref = await asked(daily, clock)
    await closed(daily, clock)
    await daily.client.feedback(daily.who(), "first", ref, False)
    await daily.client.feedback(daily.who(), "second", ref, True)
    await daily.client.feedback(daily.who(), "first", ref, False)
    assert (await daily.client.result(daily.who(), ref)).liked is True


async def test_only_those_who_answered_a_closed_round_are_asked(daily: DailyChannel, clock: Clock) -> None:
    ref = await asked(daily, clock)
    closes = NINE + timedelta(hours=8)
    with refused(ResultNotReady(closes_at=closes, zone="UTC")):
        await say(daily, ref, "Ada", True)
    await closed(daily, clock)
    with refused(NotAnswered()):
        await say(daily, ref, "Zoe", True)
    with refused(QuestionGone(practice=False)):
        stranger = daily.who("Ada", workspace="elsewhere")
        await daily.client.feedback(stranger, "strange", ref, True)
    assert not await daily.rows(QuestionFeedback)


async def test_a_question_that_is_asked_again_takes_no_feedback(daily: DailyChannel, clock: Clock) -> None:
    first = await asked(daily, clock)
    await closed(daily, clock)
    clock.now = NINE + timedelta(days=1)
    await answered(daily)
    with refused(StillOpen()):
        await say(daily, first, "Ada", True)


async def test_disliked_questions_are_listed_with_the_lowest_share_first(daily: DailyChannel, clock: Clock) -> None:
    ref = await asked(daily, clock)
    await closed(daily, clock)
    boss = daily.who("Boss", admin=True)
    for name in NAMES[:4]:
        await say(daily, ref, name, False)
    assert (await statistics(daily.client, daily)).finding is None, "four members say little"
    await say(daily, ref, NAMES[4], False)
    view = await daily.client.bank_statistics(boss)
    listed = next(one for one in view.lists if one.finding == "disliked")
    assert [(item.question, item.rated, item.liked) for item in listed.items] == [("views", 5, 0)]
    for name in NAMES[:3]:
        await say(daily, ref, name, True)
    assert (await statistics(daily.client, daily)).finding is None


async def test_a_corrected_question_starts_anew(daily: DailyChannel, clock: Clock) -> None:
    ref = await asked(daily, clock)
    await closed(daily, clock)
    await say(daily, ref, "Ada", False)
    await daily.bank(replace(choice(), why="Because of the storage."))
    assert (await daily.client.result(daily.who(), ref)).liked is None, "another version is another question"
    await say(daily, ref, "Ada", True)
    rows = await daily.rows(QuestionFeedback)
    assert [(row.version, row.liked) for row in rows] == [(1, False), (2, True)]
    clock.now = NINE + timedelta(days=1)
    await answered(daily)
    await closed(daily, clock)
    figures = await statistics(daily.client, daily)
    assert (figures.rated, figures.liked) == (1, 1), "what was said of the old version no longer counts"


async def test_the_export_has_it_and_forgetting_deletes_it(daily: DailyChannel, clock: Clock) -> None:
    ref = await asked(daily, clock)
    await closed(daily, clock)
    await say(daily, ref, "Ada", False)
    await say(daily, ref, "Bob", True)
    exported = json.loads((await daily.client.privacy(daily.who(), "export", "export")).export)
    at = (NINE + timedelta(hours=8)).isoformat()
    assert exported["feedback"] == [{"question": "views", "version": 1, "liked": False, "at": at}]
    lines = (await daily.client.privacy(daily.who(), "csv", "csv")).export.splitlines()
    assert [line for line in lines if line.startswith("feedback,")] == [
        f"feedback,{at},views,not a good question,,,,,,,,"
    ]
    await daily.client.privacy(daily.who(), "forget", "forget")
    assert [row.liked for row in await daily.rows(QuestionFeedback)] == [True]
    figures = await statistics(daily.client, daily)
    assert (figures.rated, figures.liked) == (1, 1)


async def test_of_two_accounts_the_later_feedback_stays(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"), question("c"))
    kept, gone = await stage.caller("Ada"), await stage.caller("ada.l")
    for number, (caller, key, liked) in enumerate(
        ((kept, "a", True), (gone, "a", False), (gone, "b", True), (kept, "b", False), (gone, "c", True))
    ):
        version = await stage.version(key)
        at = stage.now + timedelta(minutes=number)
        await reports.save_feedback(stage.session, caller.member_id, version.question_id, 1, liked=liked, now=at)
    await reports.merge_feedback(stage.session, kept.member_id, gone.member_id)
    found = await reports.list_feedback_by_member(stage.session, kept.member_id)
    assert {key: row.liked for row, key in found} == {"a": False, "b": False, "c": True}
    assert not await reports.list_feedback_by_member(stage.session, gone.member_id)
