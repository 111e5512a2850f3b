"""Suggested questions: what is kept, who is told, what reaches the bank, and whom the reveal names."""

from __future__ import annotations

import asyncio

import pytest

from service.banks import editing, suggestions
from service.banks.documents import DOCUMENTS
from service.banks.suggestions import MAX_DAILY, MAX_WAITING
from service.errors import Refused
from service.store.members import lock_caller, resolve_caller
from service.store.review_tables import SuggestionRow
from service.store.tables import AnswerRow, BankImport, Outbox
from service.wire import (
    PACKED,
    AnswerInput,
    NotFound,
    Notice,
    PostUpdate,
    QuestionSuggested,
    RevealPost,
    SuggestionDecided,
    SuggestionRefused,
    TextNeeded,
    Where,
    Who,
    digest_of,
)
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, TEAM, TwoChats

STRIPES = """# zebras

## stripes · choice · mid

What does a zebra have?

- [x] Stripes
- [ ] Spots — those are a leopard's

### Why

Stripes confuse flies.
"""
SPOTS = STRIPES.replace("zebra", "leopard").replace("Stripes", "Rosettes")
WHY = """## flies · open · mid

Why does a zebra have stripes?

### Answer

They confuse flies.

### Key points

- **flies** are confused

### Unproved

No program asks a fly.
"""
UNANSWERED = "## stripes · choice · mid\n\nWhat does a zebra have?\n\n- [ ] Stripes\n- [ ] Spots\n"


@pytest.fixture
def boss(daily: DailyChannel) -> Who:
    return daily.who("Boss", admin=True)


async def told(daily: DailyChannel) -> list[tuple[str, str | None, object]]:
    """Delivers what is pending; returns the channel, the member and the fact of each notice."""
    found = await daily.deliver()
    return [(each.channel, each.member, each.body.fact) for each in found if isinstance(each.body, Notice)]


async def test_a_suggestion_is_submitted_once_and_moderators_are_told_without_its_text(
    daily: DailyChannel, boss: Who
) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    for _ in range(2):
        receipt = await daily.client.suggest(daily.who(), "e1", STRIPES)
    assert (receipt.id, receipt.problem) == (1, "")
    assert await told(daily) == [("", "boss", QuestionSuggested(suggestion=1))]
    (view,) = await daily.client.suggestions(boss)
    assert (view.by, view.state, view.text) == ("Ada", "waiting", STRIPES)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Zebras are nice.", "no question"),
        (UNANSWERED, "errors"),
        (STRIPES + SPOTS.replace("## stripes", "## spots"), "several questions"),
        ("### Q1. What does a zebra have?\n", "no answer"),
        (PACKED + "UEsDBA==", "no question"),
        ("> " * 300 + "zebra", "unreadable"),
    ],
    ids=["prose", "error", "several", "unanswered", "a file", "too deep"],
)
async def test_what_cannot_be_submitted_is_kept_with_what_to_fix(
    daily: DailyChannel, boss: Who, text: str, problem: str
) -> None:
    ada = daily.who()
    receipt = await daily.client.suggest(ada, "e1", text)
    assert (receipt.id, receipt.problem) == (0, problem), receipt.findings
    assert await daily.client.suggestion_draft(ada) == text
    assert await daily.client.suggestion_draft(daily.who("Bo")) == ""
    assert await daily.client.suggestions(boss) == ()
    await daily.client.suggest(ada, "e2", STRIPES)
    assert await daily.client.suggestion_draft(ada) == ""
    assert [row.state for row in await daily.rows(SuggestionRow)] == ["waiting"]


async def test_findings_name_the_place_the_cause_and_the_fix(daily: DailyChannel) -> None:
    receipt = await daily.client.suggest(daily.who(), "e1", UNANSWERED)
    assert "suggestion.md:" in receipt.findings and "error[" in receipt.findings and "= help:" in receipt.findings
    assert "answered" not in receipt.findings.splitlines()[-1], "a count is no finding"


async def test_what_is_left_out_of_the_question_is_named(daily: DailyChannel) -> None:
    receipt = await daily.client.suggest(daily.who(), "e1", f"{STRIPES}\n# License\n\nMIT.\n")
    assert receipt.findings.splitlines()[-1].startswith("in no question: "), receipt


async def test_an_empty_suggestion_is_refused(daily: DailyChannel) -> None:
    with refused(TextNeeded(what="suggestion")):
        await daily.client.suggest(daily.who(), "e1", " \n")


async def test_one_member_cannot_have_too_many_waiting(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    ada = daily.who()
    for number in range(MAX_WAITING):
        assert (await daily.client.suggest(ada, f"e{number}", STRIPES)).id
    assert (await daily.client.suggest(ada, "more", SPOTS)).problem == "too many"
    assert await daily.client.suggestion_draft(ada) == SPOTS
    assert (await daily.client.suggest(daily.who("Bo"), "other", SPOTS)).id
    await daily.client.suggestion_decline(boss, "no", 1, "Seen before.")
    assert (await daily.client.suggest(ada, "again", SPOTS)).id


async def test_an_accepted_question_is_asked_and_the_reveal_names_its_author(
    daily: DailyChannel, boss: Who, clock: Clock
) -> None:
    ada = daily.who()
    await daily.client.suggest(ada, "e1", STRIPES)
    shown = await daily.client.suggestion_view(boss, 1)
    assert shown.key is not None and shown.key.answer == "Stripes" and not shown.problem
    done = await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    assert (done.state, done.question) == ("accepted", "suggestion-1")
    assert [bank.name for bank in await daily.client.bank_list(boss)] == ["suggestions"]
    (entry, *_) = await daily.client.audit(boss)
    assert (entry.action, entry.facts) == ("suggestion accept", {"suggestion": "1"})
    schedule = await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await daily.client.post_now(boss, "now", schedule.id)
    facts = await told(daily)
    assert ("", "ada", SuggestionDecided(suggestion=1, state="accepted", question="suggestion-1")) in facts
    await daily.client.close_now(boss, "close", DAILY)
    reveals = [each.body for each in await daily.deliver() if isinstance(each.body, RevealPost)]
    assert [reveal.suggested_by for reveal in reveals] == ["Ada"]
    await daily.client.privacy(ada, "gone", "forget")
    assert "Ada" not in str([row.body for row in await daily.rows(Outbox)])


@pytest.mark.parametrize("action", ["hide", "forget"])
async def test_nobody_is_named_who_does_not_want_it(daily: DailyChannel, boss: Who, action: str) -> None:
    ada = daily.who()
    await daily.client.suggest(ada, "e1", STRIPES)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    await daily.client.privacy(ada, "p", "hide" if action == "hide" else "forget")
    schedule = await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await daily.client.post_now(boss, "now", schedule.id)
    await daily.deliver()
    await daily.client.close_now(boss, "close", DAILY)
    reveals = [each.body for each in await daily.deliver() if isinstance(each.body, RevealPost)]
    assert [reveal.suggested_by for reveal in reveals] == [""]


async def test_the_bank_keeps_earlier_suggestions(daily: DailyChannel, boss: Who) -> None:
    for number, text in enumerate((STRIPES, SPOTS), 1):
        await daily.client.suggest(daily.who(), f"e{number}", text)
        await daily.client.suggestion_accept(boss, f"yes {number}", number, digest_of(text))
    (bank,) = await daily.client.bank_list(boss)
    assert (bank.questions, bank.retired) == (2, 0)


async def test_two_moderators_accept_it_once(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    second = daily.who("Second", admin=True)
    await daily.client.suggestions(second)
    calls = [daily.client.suggestion_accept(who, f"yes {who.name}", 1, digest_of(STRIPES)) for who in (boss, second)]
    done = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(type(each).__name__ for each in done) == ["DecidedSuggestion", "ServiceRefused"]
    assert len(await daily.rows(BankImport)) == 1
    with refused(SuggestionRefused(suggestion=1, why="decided")):
        await daily.client.suggestion_decline(boss, "no", 1, "Too late.")


async def test_a_text_that_was_edited_while_it_was_checked_is_not_accepted(daily: DailyChannel, boss: Who) -> None:
    """The checks ran on another text than the one that would reach the bank."""
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    checked = await editing.check(STRIPES, DOCUMENTS)
    await daily.client.suggestion_edit(boss, "edit", 1, UNANSWERED)
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, boss, None, daily.now)
        with pytest.raises(Refused) as late:
            await suggestions.accept(session, caller, 1, checked, digest_of(STRIPES), daily.now)
    assert late.value.refusal == SuggestionRefused(suggestion=1, why="changed")
    assert await daily.rows(BankImport) == []


async def test_a_moderator_edits_before_accepting(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    await daily.client.suggestion_edit(boss, "worse", 1, UNANSWERED)
    shown = await daily.client.suggestion_view(boss, 1)
    assert (shown.problem, shown.suggestion.text) == ("errors", UNANSWERED)
    with refused(SuggestionRefused(suggestion=1, why="unsound")):
        await daily.client.suggestion_accept(boss, "no", 1, digest_of(UNANSWERED))
    await daily.client.suggestion_edit(boss, "better", 1, SPOTS)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(SPOTS))
    assert "leopard" in str((await daily.client.suggestion_view(boss, 1)).key)


async def test_a_text_that_the_moderator_has_not_seen_is_not_accepted(daily: DailyChannel, boss: Who) -> None:
    """Another moderator edited it after the card was shown."""
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    shown = await daily.client.suggestion_view(boss, 1)
    await daily.client.suggestion_edit(daily.who("Second", admin=True), "edit", 1, SPOTS)
    with refused(SuggestionRefused(suggestion=1, why="changed")):
        await daily.client.suggestion_accept(boss, "yes", 1, digest_of(shown.suggestion.text))
    assert await daily.rows(BankImport) == []


async def test_a_member_sees_what_became_of_their_suggestions(daily: DailyChannel, boss: Who) -> None:
    for number, text in enumerate((STRIPES, SPOTS, UNANSWERED), 1):
        await daily.client.suggest(daily.who(), f"e{number}", text)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    await daily.client.suggestion_decline(boss, "no", 2, "We have it.")
    views = await daily.client.own_suggestions(daily.who())
    assert [(one.id, one.state, one.question, one.reason) for one in views] == [
        (1, "accepted", "suggestion-1", ""),
        (2, "declined", "", "We have it."),
    ], "a draft is not submitted yet"
    assert await daily.client.own_suggestions(daily.who("Bob")) == ()


async def test_a_day_has_a_limit_even_if_all_are_decided(daily: DailyChannel, boss: Who, clock: Clock) -> None:
    for number in range(1, MAX_DAILY + 1):
        await daily.client.suggest(daily.who(), f"e{number}", STRIPES)
        await daily.client.suggestion_decline(boss, f"no {number}", number, "No.")
    assert (await daily.client.suggest(daily.who(), "more", STRIPES)).problem == "too many today"
    assert await daily.client.suggestion_draft(daily.who()) == STRIPES, "the text is kept"
    assert (await daily.client.suggest(daily.who("Bob"), "bob", STRIPES)).problem == ""
    clock.advance(days=1)
    assert (await daily.client.suggest(daily.who(), "next day", STRIPES)).problem == ""


async def test_a_draft_does_not_count_before_it_is_submitted(daily: DailyChannel, boss: Who, clock: Clock) -> None:
    for number in range(1, MAX_DAILY):
        await daily.client.suggest(daily.who(), f"e{number}", STRIPES)
        await daily.client.suggestion_decline(boss, f"no {number}", number, "No.")
    assert (await daily.client.suggest(daily.who(), "draft", UNANSWERED)).problem != ""
    clock.advance(hours=12)
    assert (await daily.client.suggest(daily.who(), "done", STRIPES)).problem == ""
    latest = (await daily.client.own_suggestions(daily.who()))[-1]
    assert (latest.state, latest.at) == ("waiting", clock.now)


async def test_a_member_suggests_one_after_the_other(daily: DailyChannel) -> None:
    await daily.client.join(daily.who(), DAILY)
    async with daily.service.sessions.begin() as session:
        await lock_caller(session, await resolve_caller(session, daily.who(), DAILY, daily.now))
        suggesting = asyncio.create_task(daily.client.suggest(daily.who(), "e1", STRIPES))
        await until_locked_out(session, suggesting)
    assert (await suggesting).problem == ""


async def test_a_moderator_sees_what_asks_nearly_the_same(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    assert (await daily.client.suggestion_view(boss, 1)).similar == ()
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    await daily.client.suggest(daily.who("Bob"), "e2", STRIPES.replace("Stripes confuse", "They confuse"))
    assert (await daily.client.suggestion_view(boss, 2)).similar == ("suggestion-1",)


async def test_an_author_earns_nothing_for_their_own_question(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    schedule = await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    ref = f"r{(await daily.client.post_now(boss, 'now', schedule.id)).id}"
    await daily.deliver()
    form = await daily.client.ask(daily.who(), DAILY, ref)
    right = next(option.id for option in form.question.options if option.text == "Stripes")
    for name in ("Ada", "Bob"):
        await daily.answer(ref, right, name)
    await daily.client.close_now(boss, "close", DAILY)
    bodies = await daily.ticked()
    reveal = next(body for body in bodies if isinstance(body, RevealPost))
    update = next(body for body in bodies if isinstance(body, PostUpdate))
    assert (reveal.answers, reveal.right) == (update.answers, update.right) == (2, 2)
    assert reveal.first is not None and reveal.first.name == "Bob", "the author knew the answer"
    ada, bob = [(await daily.client.result(daily.who(name), ref)).points for name in ("Ada", "Bob")]
    assert ada is not None and (ada.total, ada.own) == (0, True)
    assert bob is not None and bob.total > 0 and not bob.own
    board = await daily.client.board(boss, DAILY)
    assert [row.name for row in board.rows] == ["Bob"]


async def test_an_author_earns_nothing_by_a_correction(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    schedule = await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    ref = f"r{(await daily.client.post_now(boss, 'now', schedule.id)).id}"
    form = await daily.client.ask(daily.who(), DAILY, ref)
    wrong = next(option.id for option in form.question.options if option.text == "Spots")
    for name in ("Ada", "Bob"):
        await daily.answer(ref, wrong, name)
    await daily.client.close_now(boss, "close", DAILY)
    swapped = STRIPES.replace("[x] Stripes", "[ ] Stripes — no").replace(
        "[ ] Spots — those are a leopard's", "[x] Spots"
    )
    corrected = swapped.replace("## stripes", "## suggestion-1")
    view = await daily.client.question_edit(boss, "edit", "suggestion-1", corrected, True)
    assert view.applied, view
    ada, bob = [(await daily.client.me(daily.who(name))).points for name in ("Ada", "Bob")]
    assert (ada, bob > 0) == (0, True)


async def test_an_author_earns_nothing_by_a_credit(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", WHY)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(WHY))
    schedule = await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    ref = f"r{(await daily.client.post_now(boss, 'now', schedule.id)).id}"
    for name in ("Ada", "Bob"):
        await daily.answer(ref, AnswerInput(text="They confuse flies."), name)
    await daily.client.close_now(boss, "close", DAILY)
    before = (await daily.client.me(daily.who("Bob"))).points
    for answer in await daily.rows(AnswerRow):
        await daily.client.open_answer_credit(boss, f"credit {answer.id}", answer.id, 100)
    ada, bob = [(await daily.client.me(daily.who(name))).points for name in ("Ada", "Bob")]
    assert (ada, bob > before) == (0, True)


async def test_a_declined_author_is_told_why(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    with refused(TextNeeded(what="reason of a decline")):
        await daily.client.suggestion_decline(boss, "empty", 1, " ")
    await daily.client.suggestion_decline(boss, "no", 1, "We have it already.")
    facts = await told(daily)
    assert ("", "ada", SuggestionDecided(suggestion=1, state="declined", reason="We have it already.")) in facts


async def test_a_refused_notice_goes_on_to_the_next_moderators(daily: DailyChannel, boss: Who) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await daily.client.review_here(boss, "here", Where(channel="mods", name="#mods"))
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    tried = []
    while found := await daily.claim():
        for each in found:
            tried.append((each.channel, each.member))
            await daily.client.outbox_failed(each.id, each.attempt, "no", outcome="refused")
    assert tried[:2] == [("mods", None), ("", "boss")] and len(tried) <= 3


async def test_a_forgotten_author_leaves_nothing_written(daily: DailyChannel, boss: Who) -> None:
    ada = daily.who()
    await daily.client.suggest(ada, "e1", STRIPES)
    await daily.client.suggest(ada, "e2", SPOTS)
    await daily.client.suggest(ada, "e3", UNANSWERED)
    await daily.client.suggestion_accept(boss, "yes", 1, digest_of(STRIPES))
    exported = (await daily.client.privacy(ada, "look", "export")).export
    table = (await daily.client.privacy(ada, "look", "csv")).export
    for shown in (exported, table):
        assert "What does a zebra have?" in shown and "leopard" in shown and "draft" in shown
    await daily.client.privacy(ada, "gone", "forget")
    (row,) = await daily.rows(SuggestionRow)
    assert (row.state, row.text) == ("accepted", "")
    (bank,) = await daily.client.bank_list(boss)
    assert bank.questions == 1, "an accepted question stays"
    with refused(NotFound(what="suggestion", name="2")):
        await daily.client.suggestion_view(boss, 2)


async def test_a_moderator_who_forgets_leaves_no_reason(daily: DailyChannel, boss: Who) -> None:
    await daily.client.suggest(daily.who(), "e1", STRIPES)
    await daily.client.suggestion_decline(boss, "no", 1, "We have it already.")
    await daily.client.privacy(boss, "gone", "forget")
    (row,) = await daily.rows(SuggestionRow)
    assert (row.state, row.reason) == ("declined", "")
    assert "We have it already." not in str([each.body for each in await daily.rows(Outbox)])


async def test_linked_accounts_share_suggestions_and_one_draft(daily: DailyChannel, clock: Clock) -> None:
    chats = TwoChats(daily, clock)
    await daily.client.join(chats.boss("discord"), GUILD)
    await daily.client.join(chats.boss("slack"), TEAM)
    for platform in ("discord", "slack"):
        await daily.client.suggest(chats.who("Ada", platform), f"{platform} 1", STRIPES)
        await daily.client.suggest(chats.who("Ada", platform), f"{platform} 2", f"{platform} draft")
    await chats.join_chats()
    await chats.link("Ada")
    rows = await daily.rows(SuggestionRow)
    assert sorted(row.state for row in rows) == ["draft", "waiting", "waiting"]
    assert len({row.member_id for row in rows}) == len({row.workspace_id for row in rows}) == 1
