"""Previews of imports: what happens to each question, and duplicates within the document and in other banks."""

from __future__ import annotations

from dataclasses import replace

from questions.model import Option, Question
from questions.overview import fields_changed
from questions.reader import read_bank
from questions.similarity import NEAR_DUPLICATE
from service.banks.imports import ImportOptions, import_bank
from service.store import candidates
from service.wire import ImportView
from tests.service.scenes import Stage, question, reading

DOCUMENT = """# Views

## Basics

### 1. Does `x.t()` return a view of the tensor, or a copy?

**Answer:** A view.

### 2. What does `clone` do to the memory of a tensor?

**Answer:** It copies it.

## More

### 3. Which memory format do convolutions prefer on a GPU?

**Answer:** Channels last.
"""
CAT = "What is the difference between `torch.cat` and `torch.stack`?"


async def previewed(stage: Stage, text: str, name: str = "views.md", workspace_id: int | None = None) -> ImportView:
    return await import_bank(stage.session, read_bank(text, name=name), workspace_id, stage.now, False)


async def imported(stage: Stage, text: str) -> ImportView:
    view = await import_bank(stage.session, read_bank(text, name="views.md"), None, stage.now, True)
    assert view.applied, view.findings
    return view


def said(view: ImportView) -> list[tuple[str, str, int]]:
    return [(change.what, change.id[:14], change.line) for change in view.changes]


def asking(id_: str, prompt: str) -> Question:
    return question(id_, prompt=prompt, options=(), kind="open", answer="As the manual says.")


async def test_a_preview_says_of_each_question_what_would_happen(stage: Stage) -> None:
    assert said(await previewed(stage, DOCUMENT)) == [
        ("added", "does-x-t-retur", 5),
        ("added", "what-does-clon", 9),
        ("added", "which-memory-f", 15),
    ]
    await imported(stage, DOCUMENT)
    edited = DOCUMENT.replace("A view.", "A view, always.").replace("## More\n\n", "## Formats\n\n")
    edited = edited.replace(
        "### 2. What does `clone` do to the memory of a tensor?\n\n**Answer:** It copies it.\n\n", ""
    )
    view = await previewed(stage, edited)
    assert said(view) == [
        ("changed", "does-x-t-retur", 5),
        ("moved", "which-memory-f", 11),
        ("retired", "what-does-clon", 0),
    ]
    assert view.changes[0].fields == ("answer", "key_points")
    assert (view.added, view.changed, view.unchanged, view.moved, view.retired) == (0, 1, 1, 1, 1)
    await imported(stage, edited)
    view = await imported(stage, DOCUMENT)
    assert [(change.what, change.id[:4]) for change in view.changes] == [
        ("changed", "does"), ("returned", "what"), ("moved", "whic"),
    ]  # fmt: skip
    assert view.returned == 1
    assert (await previewed(stage, DOCUMENT)).changes == ()


async def test_an_edited_prompt_keeps_its_id_its_history_and_its_place(stage: Stage) -> None:
    await imported(stage, DOCUMENT)
    first = await stage.version("does-x-t-return-a-view-of-the-tensor-or-a-copy")
    edited = "\n\n" + DOCUMENT.replace("Does `x.t()` return a view", "Does `x.t()` give a view")
    view = await imported(stage, edited)
    (change,) = view.changes
    assert (change.what, change.id, change.fields) == ("changed", first.body["id"], ("prompt",))
    assert change.made == "does-x-t-give-a-view-of-the-tensor-or-a-copy"
    now = await stage.version(first.body["id"])
    assert (now.question_id, now.version, now.body["id"]) == (first.question_id, 2, first.body["id"])
    assert (await imported(stage, edited)).changes == ()
    back = await imported(stage, DOCUMENT)
    assert [(change.what, change.id, change.made) for change in back.changes] == [("changed", first.body["id"], "")]


async def test_a_renamed_document_moves_its_questions_and_changes_none(stage: Stage) -> None:
    await imported(stage, DOCUMENT)
    view = await import_bank(stage.session, read_bank(DOCUMENT, name="new/views.txt"), None, stage.now, True)
    assert (view.moved, view.unchanged, view.changed) == (3, 3, 0)
    assert (await previewed(stage, DOCUMENT, name="/elsewhere/views.txt")).moved == 0


async def test_a_duplicate_question_is_reported_once_with_its_similarity(stage: Stage) -> None:
    view = await stage.bank(
        asking("cat", CAT),
        asking("stack", "Describe the difference between `torch.stack` and `torch.cat`."),
        asking("again", CAT.upper().replace("TORCH.CAT", "torch.cat").replace("TORCH.STACK", "torch.stack")),
        asking("other", "How is a mask applied to attention?"),
    )
    assert (view.exact, view.near, view.near_from) == (1, 2, NEAR_DUPLICATE)
    assert {(twin.id, twin.other, twin.bank, twin.score == 1) for twin in view.twins} == {
        ("again", "cat", "", True),
        ("stack", "cat", "", False),
        ("again", "stack", "", False),
    }
    assert [twin.score for twin in view.twins] == sorted((twin.score for twin in view.twins), reverse=True)


async def test_a_duplicate_of_another_bank_is_reported_if_it_is_new(stage: Stage) -> None:
    await stage.bank(asking("cat", CAT), asking("gone", "Why are gradients clipped by their norm?"), name="core")
    await stage.bank(asking("cat", CAT), name="core")
    mine = (asking("mine", CAT), asking("clip", "Why are gradients clipped by their norm?"))
    view = await stage.bank(*mine)
    assert [(twin.id, twin.other, twin.bank, twin.score) for twin in view.twins] == [("mine", "cat", "core", 1.0)]
    assert (await stage.bank(*mine)).twins == ()
    view = await stage.bank(mine[0], replace(mine[1], prompt=f"{CAT} And why?"))
    assert {twin.id for twin in view.twins} == {"clip"}


async def test_a_workspace_learns_nothing_of_anothers_bank_and_the_operator_of_none(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    await stage.bank(asking("theirs", CAT), name="secret", workspace_id=away.workspace_id)
    for workspace_id in (home.workspace_id, None):
        view = await stage.bank(asking("mine", CAT), name=f"of {workspace_id}", workspace_id=workspace_id)
        assert {twin.bank for twin in view.twins} <= {f"of {home.workspace_id}"}
        assert view.twins == () or workspace_id is None
    assert (await stage.bank(asking("late", CAT), workspace_id=away.workspace_id)).exact == 2


async def test_a_view_lists_the_first_and_counts_all(stage: Stage) -> None:
    many = [asking(f"q{number}", f"What is `{number} + {number}`, and why so?") for number in range(130)]
    view = await import_bank(stage.session, reading(*many), None, stage.now, False)
    assert (view.added, len(view.changes)) == (130, 100)
    whole = await import_bank(stage.session, reading(*many), None, stage.now, False, ImportOptions(limit=None))
    assert len(whole.changes) == 130


async def test_progress_is_reported_to_the_end(stage: Stage) -> None:
    told: list[tuple[str, int, int]] = []
    many = [asking(f"q{number}", f"What is `{number} + {number}`, and why so?") for number in range(1100)]
    await import_bank(
        stage.session, reading(*many), None, stage.now, True, ImportOptions(progress=lambda *step: told.append(step))
    )
    for said in ("comparing", "writing"):
        done = [(at, of) for what, at, of in told if what == said]
        assert done == sorted(done)
        assert len(done) > 1
        assert done[-1] == (1100, 1100)
    ada = await stage.caller()
    assert len(await candidates.list_candidates(stage.session, workspace_id=ada.workspace_id, schedule_id=None)) == 1100


def test_changed_fields_are_named_except_for_the_position() -> None:
    before = question("a")
    after = replace(before, why="So.", options=(Option("a", "This", True),), number="4", section=("Else",))
    assert fields_changed(before, after) == ("why", "options")
    assert fields_changed(before, before) == ()
