"""A moderator edits one question: the text, what it would move before it is confirmed, and the edit itself."""

from __future__ import annotations

import asyncio

import pytest

from service.banks.editing import put_question
from service.client import ServiceRefused
from service.store import imports as import_rows
from service.store.members import resolve_caller
from service.store.tables import Ledger, Outbox, QuestionVersion
from service.wire import AnswerInput, EditRefused, NotFound, QuestionFilter, QuestionPost, RegradeView, Who, digest_of
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused
from tests.service.scenes import question, reading

DOCUMENT = """# tensors

## shape · value · mid

What shape does it have?

### Answer

`(2, 3)`

## other · choice · senior

Which is a view?

- [x] `x.t()`
- [ ] `x.clone()` — it copies
"""


@pytest.fixture
def boss(daily: DailyChannel) -> Who:
    return daily.who("Boss", admin=True)


@pytest.fixture
async def closed(daily: DailyChannel, clock: Clock, boss: Who) -> DailyChannel:
    """A closed round with the key (2, 3), which Ada answered; Bob and Cay answered (3, 2)."""
    view = await daily.client.bank_import(boss, "import", "ours", DOCUMENT, True)
    assert view.applied, view.findings
    await daily.client.bank_retire(boss, "retire", "other", True)
    await daily.schedule()
    clock.advance(hours=1)
    question = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    for name, text in (("Ada", "(2, 3)"), ("Bob", "(3, 2)"), ("Cay", "(3, 2)")):
        await daily.answer(question.ref, AnswerInput(text=text), name)
    await daily.client.close_now(boss, "close", DAILY)
    await daily.deliver()
    return daily


async def test_the_text_reads_as_the_same_question(closed: DailyChannel, boss: Who) -> None:
    source = await closed.client.question_source(boss, "shape")
    assert source.question == "shape"
    same = await closed.client.question_edit(boss, "same", "shape", source.text, False)
    assert (same.problem, same.fields, same.regrade, same.applied) == ("", (), RegradeView(), False)
    assert same.key is not None and same.key.answer == "(2, 3)"


async def test_a_preview_counts_what_the_edit_then_moves(closed: DailyChannel, boss: Who) -> None:
    text = (await closed.client.question_source(boss, "shape")).text.replace("(2, 3)", "(3, 2)")
    ledger, versions = await closed.rows(Ledger), await closed.rows(QuestionVersion)
    messages = len(await closed.rows(Outbox))
    preview = await closed.client.question_edit(boss, "look", "shape", text, False)
    assert preview.fields == ("answer",)
    worth = max(row.points for row in ledger)
    moves = RegradeView(rounds=1, answers=3, judged=3, better=2, worse=1, gained=2 * worth, lost=worth, members=3)
    assert (preview.applied, preview.regrade) == (False, moves)
    # A preview leaves no trace.
    assert len(await closed.rows(Ledger)) == len(ledger)
    assert len(await closed.rows(QuestionVersion)) == len(versions)
    assert len(await closed.rows(Outbox)) == messages
    done = await closed.client.question_edit(boss, "edit", "shape", text, True)
    assert (done.applied, done.regrade) == (True, moves)
    moved = [row.points for row in await closed.rows(Ledger) if row.reason == "regrade"]
    assert sorted(moved) == [-worth, worth, worth]
    # The rest of the bank stays, and the edit is in the audit once, however often it is sent.
    assert (await closed.client.question_edit(boss, "edit", "shape", text, True)) == done
    (bank,) = await closed.client.bank_list(boss)
    assert (bank.questions, bank.retired) == (1, 1)
    assert [one.action for one in await closed.client.audit(boss)].count("question edit") == 1
    again = await closed.client.question_edit(boss, "again", "shape", text, False)
    assert (again.fields, again.regrade) == ((), RegradeView())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Nothing of a question.", "no question"),
        (DOCUMENT, "several questions"),
        ("# tensors\n\n## shape · choice\n\nWhich?\n\n- [ ] one\n- [ ] two\n", "no answer"),
    ],
)
async def test_a_text_that_is_not_one_question_is_not_saved(
    closed: DailyChannel, boss: Who, text: str, problem: str
) -> None:
    shown = await closed.client.question_edit(boss, "look", "shape", text, False)
    assert (shown.problem == problem or shown.problem == "errors") and shown.key is None
    with refused(EditRefused(question="shape", why="unsound")):
        await closed.client.question_edit(boss, "edit", "shape", text, True)


async def test_a_shared_or_foreign_question_is_not_edited(closed: DailyChannel, boss: Who) -> None:
    await closed.bank(question("views"), name="shared")
    eve = Who(platform="web", workspace="away", member="eve", name="Eve", admin=True)
    with refused(EditRefused(question="views", why="shared")):
        await closed.client.question_source(boss, "views")
    with refused(NotFound(what="question", name="shape")):
        await closed.client.question_source(eve, "shape")
    with refused(NotFound(what="question", name="shape")):
        await closed.client.question_edit(eve, "edit", "shape", DOCUMENT, True)


PLAIN = """# Team quiz

1. What does `torch.zeros(2, 3).t().shape` give?
   - [x] (2, 3)
   - [ ] (3, 2)
"""


async def test_an_imported_question_is_edited_without_adding_what_it_never_had(daily: DailyChannel, boss: Who) -> None:
    """A document need not have reasons; a question that has them keeps to the rule."""
    assert (await daily.client.bank_import(boss, "plain", "plain.md", PLAIN, True)).applied
    assert (await daily.client.bank_import(boss, "import", "ours", DOCUMENT, True)).applied
    ref = (await daily.client.bank_questions(boss, QuestionFilter(text="zeros"))).questions[0].id
    text = (await daily.client.question_source(boss, ref)).text
    swapped = text.replace("- [x] (2, 3)", "- [ ] (2, 3)").replace("- [ ] (3, 2)", "- [x] (3, 2)")
    assert swapped != text
    preview = await daily.client.question_edit(boss, "look", ref, swapped, False)
    assert preview.problem == "" and "Q203" not in preview.findings, preview.findings
    assert (await daily.client.question_edit(boss, "edit", ref, swapped, True)).applied
    bare = (await daily.client.question_source(boss, "other")).text.replace(" — it copies", "")
    assert (await daily.client.question_edit(boss, "bare", "other", bare, False)).problem == "errors"


async def test_an_edit_of_a_text_that_another_moderator_has_changed_is_refused(closed: DailyChannel, boss: Who) -> None:
    source = await closed.client.question_source(boss, "shape")
    seen = digest_of(source.text)
    mine = source.text.replace("What shape does it have?", "Which shape does it have?")
    theirs = source.text.replace("(2, 3)", "(3, 2)")
    async with closed.service.sessions.begin() as session:
        await import_rows.lock_imports(session)
        editing = [
            asyncio.create_task(closed.client.question_edit(boss, f"edit {number}", "shape", text, True, seen))
            for number, text in enumerate((theirs, mine))
        ]
        for task in editing:
            await until_locked_out(session, task)
    done = await asyncio.gather(*editing, return_exceptions=True)
    (told,) = [each for each in done if isinstance(each, ServiceRefused)]
    assert told.refusal == EditRefused(question="shape", why="changed")
    now = await closed.client.question_source(boss, "shape")
    with refused(EditRefused(question="shape", why="changed")):
        await closed.client.question_edit(boss, "look", "shape", mine, False, seen)
    both = now.text.replace("What shape does it have?", "Which shape does it have?").replace("(2, 3)", "(3, 2)")
    assert (await closed.client.question_edit(boss, "both", "shape", both, True, digest_of(now.text))).applied


async def test_an_edit_waits_for_a_question_that_is_being_added_to_its_bank(daily: DailyChannel, boss: Who) -> None:
    await daily.client.bank_import(boss, "import", "ours", DOCUMENT, True)
    source = await daily.client.question_source(boss, "shape")
    text = source.text.replace("What shape does it have?", "Which shape does it have?")
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, boss, None, daily.now)
        added = question("third")
        await put_question(session, caller, "ours", reading(added, name="ours"), added, daily.now)
        edit = asyncio.create_task(daily.client.question_edit(boss, "edit", "shape", text, True))
        await until_locked_out(session, edit)
    assert (await edit).applied
    bank = next(one for one in await daily.client.bank_list(boss) if one.name == "ours")
    assert (bank.questions, bank.retired) == (3, 0)
