"""Importing: all of a document or nothing, versions only where what is asked has changed, nothing lost on the way."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from questions.model import from_data
from questions.reader import read_bank
from questions.source import Finding, Span
from service.banks.imports import import_bank, import_path, import_shipped
from service.store import banks, candidates, imports
from service.store.session import Sessions
from service.store.tables import BankImport, BankRow, QuestionVersion
from service.store.tables import QuestionRow as QuestionRow
from service.wire import ImportView
from tests.external import SEEDS, needs_seeds
from tests.service.scenes import Stage, question, reading

DIALECTS = Path(__file__).parents[2] / "questions" / "heldout"
DOCUMENT = """# Views

### 1. Does `x.t()` copy?

**Answer:** No, it returns a view.

### 2. What does `clone` do?

**Answer:** It copies.
"""


def numbers(view: ImportView) -> tuple[int, int, int, int]:
    return view.added, view.changed, view.unchanged, view.retired


async def count(
    stage: Stage, table: type[BankRow] | type[QuestionRow] | type[QuestionVersion] | type[BankImport]
) -> int:
    return int(await stage.session.scalar(select(func.count()).select_from(table)) or 0)


async def test_a_bank_is_kept_as_it_was_read(stage: Stage) -> None:
    read = read_bank(DOCUMENT, name="views.md")
    view = await import_bank(stage.session, read, None, stage.now, True)
    assert (view.applied, view.name, numbers(view), view.errors) == (True, "views", (2, 0, 0, 0), 0)
    kept = (await stage.session.scalars(select(QuestionVersion).order_by(QuestionVersion.id))).all()
    assert tuple(from_data(version.body) for version in kept) == read.bank.questions
    assert [(version.version, version.answered, version.created_at) for version in kept] == [(1, True, stage.now)] * 2


async def test_a_preview_says_the_same_and_writes_nothing(stage: Stage) -> None:
    preview = await import_bank(stage.session, reading(question("a"), question("b")), None, stage.now, False)
    assert not preview.applied
    assert [await count(stage, table) for table in (BankRow, QuestionRow, QuestionVersion, BankImport)] == [0, 0, 0, 0]
    done = await stage.bank(question("a"), question("b"))
    assert done == preview.model_copy(update={"applied": True, "number": 1})


async def test_a_preview_has_the_largest_passages_in_no_question(stage: Stage) -> None:
    more = "More.\n"
    said = "".join(f"## Part {n}\n\nText.\n{more * n}\n### Q{n}. What is {n}?\n\nIt.\n\n" for n in range(4))
    view = await import_bank(stage.session, read_bank(said, name="parts.md"), None, stage.now, False)
    assert [(one.title, one.last - one.first) for one in view.unused] == [("Part 2", 4), ("Part 3", 5)]
    assert view.more_unused == 2


async def test_an_error_keeps_all_of_it_out(stage: Stage) -> None:
    fault = Finding("Q202", "error", "no option is marked as correct", Span(3, 1, 3, 9), help="mark it with `[x]`")
    broken = dataclasses.replace(reading(question("a")), findings=(fault,))
    view = await import_bank(stage.session, broken, None, stage.now, True)
    assert (view.applied, view.errors) == (False, 1)
    assert "error[Q202]: no option is marked as correct" in view.findings
    assert "mark it with `[x]`" in view.findings
    assert await count(stage, BankRow) == 0


async def test_what_changed_becomes_a_new_version_and_the_old_one_stays(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"))
    view = await stage.bank(question("a", prompt="Put better?"), question("b"))
    assert numbers(view) == (0, 1, 1, 0)
    versions = await stage.session.scalars(
        select(QuestionVersion).where(QuestionVersion.body["id"].astext == "a").order_by(QuestionVersion.version)
    )
    assert [version.body["prompt"] for version in versions] == ["What of a?", "Put better?"]
    assert (await stage.version("a")).version == 2


async def test_the_same_document_again_changes_nothing_but_is_on_record(stage: Stage) -> None:
    await stage.bank(question("a"))
    stage.now += timedelta(days=1)
    view = await stage.bank(question("a"))
    assert numbers(view) == (0, 0, 1, 0)
    bank = await imports.find_bank(stage.session, None, "home")
    assert bank is not None
    record = await imports.list_imports(stage.session, bank.id)
    assert [(row.at, row.summary["added"], row.summary["unchanged"]) for row in record] == [
        (stage.now - timedelta(days=1), 1, 0),
        (stage.now, 0, 1),
    ]


async def test_what_the_document_no_longer_holds_is_retired_and_comes_back_with_it(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"), question("b"))
    assert numbers(await stage.bank(question("b"))) == (0, 0, 1, 1)
    assert numbers(await stage.bank(question("b"))) == (0, 0, 1, 0)
    assert len(await candidates.list_candidates(stage.session, workspace_id=ada.workspace_id, schedule_id=None)) == 1
    assert numbers(await stage.bank(question("a"), question("b"))) == (0, 0, 2, 0)
    assert len(await candidates.list_candidates(stage.session, workspace_id=ada.workspace_id, schedule_id=None)) == 2


async def test_what_a_workspace_retired_stays_so_when_its_document_is_imported_again(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"))
    await banks.retire(stage.session, ada.workspace_id, (await stage.version("a")).question_id, stage.now)
    await stage.bank(question("a", prompt="Put better?"))
    assert await candidates.list_candidates(stage.session, workspace_id=ada.workspace_id, schedule_id=None) == []


async def test_unanswered_questions_are_kept_and_counted(stage: Stage) -> None:
    view = await stage.bank(question("a"), question("b", answer=None, options=()))
    assert (view.added, view.unanswered) == (2, 1)
    assert not (await stage.version("b")).answered
    (listed,) = await banks.list_banks(stage.session, (await stage.caller()).workspace_id)
    assert (listed.questions, listed.unanswered, listed.retired) == (1, 1, 0)


async def test_banks_of_one_name_live_side_by_side_in_two_workspaces(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    for workspace_id in (None, home.workspace_id, away.workspace_id):
        assert (await stage.bank(question("a"), workspace_id=workspace_id)).added == 1
    assert await count(stage, BankRow) == 3


ESCAPED = r'[{"question": "What is\u0000 it?", "answer": "A view."}]'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no questions recognized"),
        ("Just a text.\n", "no questions recognized"),
        (ESCAPED, "error[Q010]: a text of the question contains U+0000"),
        ('---\nlicense: "M\\0T"\n---\n' + DOCUMENT, "the title or front matter: it holds a NUL character"),
    ],
    ids=["empty", "no question", "NUL in a question", "NUL in the license"],
)
async def test_invalid_questions_are_reported_and_not_imported(stage: Stage, text: str, said: str) -> None:
    name = "views.json" if text.startswith("[") else "views.md"
    view = await import_bank(stage.session, read_bank(text, name=name), None, stage.now, True)
    assert not view.applied
    assert view.errors >= 1
    assert said in view.findings
    assert await count(stage, BankRow) == 0


async def test_a_backslash_and_a_zero_are_not_a_nul_character(stage: Stage) -> None:
    view = await stage.bank(question("a", prompt=r"What is '\u0000' and '\\u0000'?"))
    assert view.applied


@pytest.mark.slow
async def test_the_shipped_bank_is_imported_whole(stage: Stage) -> None:
    view = await import_shipped(stage.session, stage.now)
    assert view.applied
    assert view.added >= 25
    assert view.unanswered == 0


async def test_each_document_of_a_directory_is_a_bank_and_a_broken_one_stays_out(
    sessions: Sessions, tmp_path: Path, stage: Stage
) -> None:
    (tmp_path / "good.md").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "study.md").write_text("Only words.\n", encoding="utf-8")
    views = await import_path(sessions, tmp_path, stage.now)
    assert [(view.name, view.applied, view.added) for view in views] == [("good", True, 2), ("study", False, 0)]
    assert await count(stage, QuestionRow) == 2


async def test_a_directory_without_documents_is_refused_with_the_cure(
    sessions: Sessions, tmp_path: Path, stage: Stage
) -> None:
    with pytest.raises(ValueError, match="pass a file, or a folder with documents"):
        await import_path(sessions, tmp_path, stage.now)


async def test_documents_of_every_dialect_are_imported_with_every_question(sessions: Sessions, stage: Stage) -> None:
    views = await import_path(sessions, DIALECTS, stage.now)
    assert {view.name: (view.added, view.unanswered) for view in views if view.applied} == {
        "bold_lines": (4, 0),
        "bold_numbers": (6, 2),
        "boxed_quiz": (5, 1),
        "folded_exercises": (6, 1),
        "folded_keys": (3, 0),
        "item_headings": (4, 0),
        "one_liners": (9, 1),
        "tables": (4, 1),
    }
    ada = await stage.caller()
    assert len(await candidates.list_candidates(stage.session, workspace_id=ada.workspace_id, schedule_id=None)) == 35


@needs_seeds
async def test_the_five_documents_are_imported_with_every_question(
    sessions: Sessions, tmp_path: Path, stage: Stage
) -> None:
    for file in SEEDS.glob("*.txt"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    views = await import_path(sessions, tmp_path, stage.now)
    assert [view.findings for view in views if not view.applied] == []
    assert sum(view.added for view in views) == 123
    assert sum(view.unanswered for view in views) == 9
    ada = await stage.caller()
    assert len(await candidates.list_candidates(stage.session, workspace_id=ada.workspace_id, schedule_id=None)) == 114
