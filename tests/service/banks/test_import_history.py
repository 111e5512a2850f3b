"""Undoing imports: everything as it was, nothing erased, what was asked stays explicable, and an undo is undone."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select, update

from questions.model import Option
from service.banks import import_history
from service.banks.import_history import import_log, undo_import
from service.banks.imports import import_bank
from service.store import imports
from service.store.tables import AnswerRow, BankImport, ImportStep, Ledger, QuestionVersion
from service.wire import ImportView, NotFound, UndoRefused
from tests.service.refusals import refused
from tests.service.scenes import Stage, question, reading


async def asked(stage: Stage, name: str = "home") -> dict[str, str]:
    """Returns the prompts of the shared bank's current questions, by id."""
    bank = await imports.find_bank(stage.session, None, name)
    assert bank is not None
    live = [old for old in await imports.list_stored(stage.session, bank.id) if not old.retired]
    texts = await imports.load_questions(stage.session, [old.id for old in live])
    return {old.key: texts[old.id].prompt for old in live}


async def undone(stage: Stage, workspace_id: int | None = None) -> ImportView:
    return await undo_import(stage.session, workspace_id, "home", stage.now)


def numbers(view: ImportView) -> tuple[int, int, int, int]:
    return view.added, view.changed, view.retired, view.returned


async def test_an_undo_takes_back_what_the_latest_import_did_and_no_more(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"), question("c"))
    await stage.bank(question("a", prompt="Put better?"), question("b"), question("d"))
    assert await asked(stage) == {"a": "Put better?", "b": "What of b?", "d": "What of d?"}
    view = await undone(stage)
    assert numbers(view) == (0, 1, 1, 1)
    assert {(change.id, change.what) for change in view.changes} == {
        ("a", "changed"),
        ("d", "retired"),
        ("c", "returned"),
    }
    assert await asked(stage) == {"a": "What of a?", "b": "What of b?", "c": "What of c?"}
    assert (await stage.version("a")).version == 3


async def test_an_undo_is_undone_by_an_undo(stage: Stage) -> None:
    await stage.bank(question("a"), question("c"))
    await stage.bank(question("a", prompt="Put better?"), question("d"))
    after = await asked(stage)
    await undone(stage)
    assert numbers(await undone(stage)) == (0, 1, 1, 1)
    assert await asked(stage) == after
    record = await import_log(stage.session, None, "home")
    assert [(entry.number, entry.undoes) for entry in record.imports] == [(4, 3), (3, 2), (2, None), (1, None)]


async def test_an_undo_that_names_an_import_takes_back_no_other(stage: Stage) -> None:
    await stage.bank(question("a"))
    named = await stage.bank(question("a", prompt="Put better?"))
    unchanged = await stage.bank(question("a", prompt="Put better?"))
    assert (named.number, unchanged.number) == (2, 3)
    for number, allowed in ((1, False), (3, False), (2, True), (2, False), (9, False), (4, True)):
        if allowed:
            assert (await undo_import(stage.session, None, "home", stage.now, number)).changed == 1
        else:
            with refused(UndoRefused(bank="home", why="not latest")):
                await undo_import(stage.session, None, "home", stage.now, number)
    assert await asked(stage) == {"a": "Put better?"}


async def test_a_long_log_shows_the_newest_imports_with_their_numbers(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_history, "MAX_LOGGED", 2)
    await stage.bank(question("a"))
    for prompt in ("Better?", "Even better?"):
        await stage.bank(question("a", prompt=prompt))
    await undone(stage)
    await undone(stage)
    await undone(stage)
    record = await import_log(stage.session, None, "home")
    assert [(entry.number, entry.undoes) for entry in record.imports] == [(6, 5), (5, 4)]
    monkeypatch.setattr(import_history, "MAX_LOGGED", 1)
    assert [(entry.number, entry.undoes) for entry in (await import_log(stage.session, None, "home")).imports] == [
        (6, 5)
    ]


async def test_the_first_import_undone_leaves_nothing_to_ask_and_all_its_rows(stage: Stage) -> None:
    await stage.bank(question("a"))
    assert numbers(await undone(stage)) == (0, 0, 1, 0)
    assert await asked(stage) == {}
    assert (await stage.bank(question("a"))).returned == 1
    assert await asked(stage) == {"a": "What of a?"}


async def test_an_import_that_changed_nothing_is_not_what_is_undone(stage: Stage) -> None:
    await stage.bank(question("a"))
    await stage.bank(question("a", prompt="Put better?"))
    await stage.bank(question("a", prompt="Put better?"))
    await undone(stage)
    assert await asked(stage) == {"a": "What of a?"}


async def test_closed_rounds_keep_what_they_asked_and_are_judged_again(stage: Stage) -> None:
    ada = await stage.caller()
    right, wrong = Option("a", "This", True), Option("b", "That", False)
    await stage.bank(question("views", options=(right, wrong)))
    round_ = await stage.round(await stage.schedule(ada), date(2026, 3, 3))
    answer = await stage.answer(ada, round_)
    await stage.points(ada, 10, round_=round_)
    asked_then = round_.version_id
    await stage.bank(question("views", options=(Option("a", "This", False), Option("b", "That", True))))
    lost = await stage.session.scalar(select(func.sum(Ledger.points)))
    assert lost == 0
    await undone(stage)
    assert await stage.session.scalar(select(func.sum(Ledger.points))) == 10
    assert round_.version_id == asked_then == answer.version_id
    assert await stage.session.scalar(select(func.count()).select_from(AnswerRow)) == 1


async def test_the_title_goes_back_too(stage: Stage) -> None:
    for title in ("Plain", "Fancy"):
        read = reading(question("a", prompt=f"{title}?"), title=title)
        await import_bank(stage.session, read, None, stage.now, True)
    bank = await imports.find_bank(stage.session, None, "home")
    assert bank is not None
    for title in ("Plain", "Fancy"):
        await undone(stage)
        assert (bank.title, await asked(stage)) == (title, {"a": f"{title}?"})


async def test_there_must_be_something_to_undo(stage: Stage) -> None:
    with refused(NotFound(what="bank", name="home")):
        await undone(stage)
    await stage.bank(question("a"))
    await stage.session.execute(delete(ImportStep))
    with refused(UndoRefused(bank="home", why="no record")):
        await undone(stage)
    await stage.session.execute(update(BankImport).values(summary={"added": 0}))
    with refused(UndoRefused(bank="home", why="no change")):
        await undone(stage)


async def test_a_workspace_undoes_its_own_bank_and_no_other(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    await stage.bank(question("a"), workspace_id=away.workspace_id)
    with refused(NotFound(what="bank", name="home")):
        await undone(stage, home.workspace_id)
    with refused(NotFound(what="bank", name="home")):
        await import_log(stage.session, home.workspace_id, "home")
    await stage.bank(question("b"))
    with refused(UndoRefused(bank="home", why="shared")):
        await undone(stage, home.workspace_id)
    await stage.bank(question("c"), workspace_id=home.workspace_id)
    await undone(stage, home.workspace_id)
    assert await asked(stage) == {"b": "What of b?"}
    assert (await import_log(stage.session, home.workspace_id, "home")).shared is False
    assert (await import_log(stage.session, away.workspace_id, "home")).imports[0].added == 1


texts = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["One?", "Two?"]), min_size=1)


@settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.generate],
)
@given(history=st.lists(texts, min_size=2, max_size=4))
async def test_undo_after_undo_alternates_between_the_two_latest_states(
    stage: Stage, history: list[dict[str, str]]
) -> None:
    name = f"bank-{next(stage.numbers)}"  # the examples share a database
    states: list[dict[str, str]] = [{}]
    for document in history:
        stage.now += timedelta(minutes=1)
        await stage.bank(*(question(key, prompt=prompt) for key, prompt in document.items()), name=name)
        if document != states[-1]:
            states.append(document)
    versions = select(func.count()).select_from(QuestionVersion)
    before = await stage.session.scalar(versions)
    for expected in (states[-2], states[-1], states[-2]):
        await undo_import(stage.session, None, name, stage.now)
        assert await asked(stage, name) == expected
    assert (await stage.session.scalar(versions) or 0) >= (before or 0)
