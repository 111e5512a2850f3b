"""Reports of mistakes: who is told of them, who is not, and what their authors hear."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from service.banks import moderation
from service.banks.moderation import MAX_PER_DAY
from service.store.members import resolve_caller
from service.store.review_tables import ReportRow
from service.store.tables import Outbox
from service.wire import (
    DailyLimitReached,
    Delivery,
    NotFound,
    Notice,
    QuestionReported,
    ReportSettled,
    TextNeeded,
    Where,
    Who,
)
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused
from tests.service.scenes import NOON, Stage, question
from tests.service.two_chats import GUILD, TEAM, TwoChats


@pytest.fixture
def boss(daily: DailyChannel) -> Who:
    return daily.who("Boss", admin=True)


@pytest.fixture
def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    return TwoChats(daily, clock)


MODERATORS = Where(channel="mods", name="#mods")


async def notices(daily: DailyChannel) -> list[tuple[str, str | None, object]]:
    """Delivers what is pending; returns the channel, the member and the fact of each notice."""
    return [_addressed(each) for each in await daily.deliver() if isinstance(each.body, Notice)]


def _addressed(each: Delivery) -> tuple[str, str | None, object]:
    assert isinstance(each.body, Notice)
    return each.channel, each.member, each.body.fact


async def test_a_long_list_has_the_newest_of_those_that_wait_and_of_the_others(
    daily: DailyChannel, boss: Who, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moderation, "MOST_REPORTS", 2)
    await daily.bank(choice())
    for number in range(1, 7):
        await daily.client.report(daily.who("Ada"), f"e{number}", "views", f"mistake {number}")
        if number <= 3:
            await daily.client.report_settle(boss, f"s{number}", number, "fixed", "")
    listed = await daily.client.reports(boss)
    assert [(each.id, each.state) for each in listed] == [(6, "open"), (5, "open"), (3, "fixed"), (2, "fixed")]


async def test_a_report_is_told_once_to_the_admin_who_made_the_schedule(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    for _ in range(2):
        made = await daily.client.report(daily.who("Ada"), "e1", "views", "b is right too")
    ((channel, member, fact),) = await notices(daily)
    assert (channel, member) == ("", "boss")
    assert isinstance(fact, QuestionReported) and fact.question is not None
    assert (fact.report, fact.text, fact.question.id) == (made.id, "b is right too", "views")
    assert "A view is another look." not in str(fact), "the key comes when a moderator asks for it"
    assert await notices(daily) == []


async def test_an_admin_chooses_where_reports_are_shown(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await daily.client.review_here(boss, "here", MODERATORS)
    await daily.client.report(daily.who("Ada"), "e1", "views", "first")
    second = daily.who("Second", admin=True)
    await daily.client.review_me(second, "me")
    await daily.client.report(daily.who("Ada"), "e2", "views", "second")
    told = [(channel, member, getattr(fact, "text", "")) for channel, member, fact in await notices(daily)]
    assert told == [("mods", None, "first"), ("", "second", "second")]
    assert [entry.action for entry in await daily.client.audit(boss)] == ["review me", "review here", "schedule add"]
    await daily.client.privacy(second, "gone", "forget")
    await daily.client.report(daily.who("Ada"), "e3", "views", "third")
    assert [each[:2] for each in await notices(daily)] == [("", "boss")]


async def test_where_everybody_reads_along_a_report_is_announced_without_its_text(daily: DailyChannel) -> None:
    await daily.bank(choice())
    await daily.schedule()
    await daily.client.report(daily.who("Ada"), "e1", "views", "b is right too")
    ((channel, member, fact),) = await notices(daily)
    assert (channel, member, fact) == ("daily", None, QuestionReported(report=1, question=None))


async def test_a_refused_notice_goes_to_the_next_moderator_and_in_the_end_to_all_without_its_text(
    daily: DailyChannel, boss: Who
) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await daily.client.review_here(boss, "here", MODERATORS)
    await daily.client.report(daily.who("Ada"), "e1", "views", "b is right too")
    tried = []
    while found := await daily.claim():
        for each in found:
            tried.append(_addressed(each))
            await daily.client.outbox_failed(each.id, each.attempt, "no", outcome="refused")
    assert [(channel, member) for channel, member, _ in tried] == [("mods", None), ("", "boss"), ("daily", None)]
    texts = [fact.text for _, _, fact in tried if isinstance(fact, QuestionReported)]
    assert texts == ["b is right too", "b is right too", ""]
    await daily.client.privacy(daily.who("Ada"), "gone", "forget")
    assert "b is right too" not in str([row.body for row in await daily.rows(Outbox)])


async def test_a_moderator_sees_the_key_beside_a_report_and_settles_it(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    ada = daily.who("Ada")
    made = await daily.client.report(ada, "e1", "views", "b is right too")
    assert await daily.client.reports(boss) == (made,)
    shown = await daily.client.report_view(boss, made.id)
    assert (shown.report, shown.own, shown.corrected) == (made, False, False)
    assert [option.id for option in shown.key.options if option.right] == ["a"] and shown.key.why
    with refused(TextNeeded(what="reason of a dismissal")):
        await daily.client.report_settle(boss, "e2", made.id, "dismissed", " ")
    for event in ("e3", "e3", "e4"):
        settled = await daily.client.report_settle(boss, event, made.id, "dismissed", "`clone` copies.")
        assert (settled.id, settled.state) == (made.id, "dismissed")
    told = [each for each in await notices(daily) if each[1] == "ada"]
    outcome = ReportSettled(question="views", state="dismissed", reason="`clone` copies.")
    assert told == [("", "ada", outcome)], "however often it is settled like that, its author hears it once"
    with refused(NotFound(what="report", name="99")):
        await daily.client.report_settle(boss, "e5", 99, "fixed", "")


async def test_a_correction_after_the_report_is_shown(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    made = await daily.client.report(daily.who("Ada"), "e1", "views", "the reason is wrong")
    await daily.bank(replace(choice(), why="It shares storage."))
    shown = await daily.client.report_view(boss, made.id)
    assert shown.corrected and shown.key.why == "A view is another look.", "the version that was reported"


async def test_nobody_can_flood_the_moderators(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    for number in range(MAX_PER_DAY):
        await daily.client.report(daily.who("Ada"), f"e{number}", "views", "wrong")
    with refused(DailyLimitReached(what="report", most=MAX_PER_DAY)):
        await daily.client.report(daily.who("Ada"), "more", "views", "wrong")
    await daily.client.report(daily.who("Bo"), "his", "views", "wrong")
    clock.now += timedelta(days=1)
    await daily.client.report(daily.who("Ada"), "tomorrow", "views", "wrong")
    assert len(await daily.rows(ReportRow)) == MAX_PER_DAY + 2


async def test_reports_made_at_once_are_as_few_as_those_made_one_by_one(daily: DailyChannel) -> None:
    await daily.bank(choice())
    for number in range(MAX_PER_DAY - 1):
        await daily.client.report(daily.who("Ada"), f"e{number}", "views", "wrong")
    async with daily.service.sessions.begin() as session:
        ada = await resolve_caller(session, daily.who("Ada"), None, daily.now)
        await moderation.report(session, ada, "views", "wrong", daily.now)
        other = asyncio.create_task(daily.client.report(daily.who("Ada"), "other", "views", "wrong"))
        await until_locked_out(session, other)
    with refused(DailyLimitReached(what="report", most=MAX_PER_DAY)):
        await other


async def test_what_a_forgotten_member_reported_is_erased_everywhere(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    ada = daily.who("Ada")
    made = await daily.client.report(ada, "e1", "views", "a TELLTALE")
    await daily.client.report_settle(boss, "e2", made.id, "fixed", "an ANSWER")
    exported = (await daily.client.privacy(ada, "look", "export")).export
    assert "a TELLTALE" in exported and "an ANSWER" in exported
    await daily.client.privacy(ada, "gone", "forget")
    assert "TELLTALE" not in str([row.body for row in await daily.rows(Outbox)])
    assert [(row.text, row.state) for row in await daily.rows(ReportRow)] == [("", "fixed")]
    assert (await daily.client.report_view(boss, made.id)).report.text == ""
    assert await notices(daily) == [], "the notice was not sent yet, and is not sent now"
    await daily.client.privacy(boss, "boss gone", "forget")
    assert "ANSWER" not in str([row.body for row in await daily.rows(Outbox)])
    assert [row.reason for row in await daily.rows(ReportRow)] == [""]


async def test_linked_chats_keep_where_moderators_are_told(chats: TwoChats) -> None:
    daily = chats.daily
    await daily.bank(choice())
    await daily.client.join(chats.who("Ada", "slack"), TEAM)
    await daily.client.join(chats.who("Ada", "discord"), GUILD)
    await daily.client.review_here(chats.boss("slack"), "here", TEAM)
    await chats.join_chats()
    await daily.client.report(chats.who("Ada", "discord"), "e1", "views", "wrong")
    assert [(each.platform, each.channel) for each in await chats.deliver("discord", "slack")] == [("slack", "C1")]
    await daily.client.review_me(chats.boss("slack"), "me")
    await chats.link("Boss")
    await daily.client.report(chats.who("Ada", "discord"), "e2", "views", "wrong")
    assert [each.member for each in await chats.deliver("discord", "slack")] == ["slack-boss"]


async def test_a_member_of_linked_chats_hears_back_where_the_bot_still_is(chats: TwoChats) -> None:
    daily = chats.daily
    await daily.bank(choice())
    await daily.client.join(chats.who("Ada", "discord"), GUILD)
    await daily.client.join(chats.who("Ada", "slack"), TEAM)
    await chats.join_chats()
    await chats.link("Ada")
    made = await daily.client.report(chats.who("Ada", "slack"), "e1", "views", "wrong")
    await chats.deliver("discord", "slack")
    await daily.client.chat_presence("discord", "guild", False)
    await daily.client.report_settle(chats.boss("slack"), "e2", made.id, "dismissed", "It is right.")
    assert [each.member for each in await chats.deliver("discord", "slack")] == ["slack-ada"]


class TestReports:
    """The moderators' queue."""

    async def test_a_report_lands_in_the_queue_with_its_author(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        view = await moderation.report(stage.session, ada, "Views", "  t() does not copy. ", stage.now)
        assert (view.by, view.text, view.at, view.state) == ("Ada", "t() does not copy.", NOON, "open")
        (queued,) = await moderation.list_reports(stage.session, ada)
        assert queued == view.model_copy(update={"question": "views"})

    async def test_open_ones_come_first_and_the_newest_of_them(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        made = [await moderation.report(stage.session, ada, "views", text, stage.now) for text in "abc"]
        await moderation.settle(stage.session, ada, made[2].id, "dismissed", "It does.", stage.now)
        queue = await moderation.list_reports(stage.session, ada)
        assert [(view.text, view.state) for view in queue] == [("b", "open"), ("a", "open"), ("c", "dismissed")]
        assert (await moderation.settle(stage.session, ada, made[2].id, "fixed", "", stage.now)).state == "fixed"

    async def test_empty_reports_and_unknown_questions_are_rejected(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views"))
        with refused(TextNeeded(what="report")):
            await moderation.report(stage.session, ada, "views", " \n", stage.now)
        with refused(NotFound(what="question", name="nope")):
            await moderation.report(stage.session, ada, "nope", "wrong", stage.now)
        with refused(NotFound(what="report", name="7")):
            await moderation.settle(stage.session, ada, 7, "fixed", "", stage.now)

    async def test_another_workspace_sees_nothing_of_it(self, stage: Stage) -> None:
        ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
        await stage.bank(question("ours"), workspace_id=ada.workspace_id)
        view = await moderation.report(stage.session, ada, "ours", "wrong", stage.now)
        assert await moderation.list_reports(stage.session, eve) == ()
        with refused(NotFound(what="report", name=str(view.id))):
            await moderation.settle(stage.session, eve, view.id, "fixed", "", stage.now)
        with refused(NotFound(what="question", name="ours")):
            await moderation.report(stage.session, eve, "ours", "wrong", stage.now)
