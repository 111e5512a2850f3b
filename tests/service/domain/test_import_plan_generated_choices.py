"""Choices generated from imported prose: stored with their question, held on request, and marked as generated."""

from __future__ import annotations

import dataclasses
import inspect

from questions.generated_choices import SUFFIX
from questions.reader import Reading, read_bank
from service.bank_cli import bank_import
from service.banks import moderation
from service.banks.editing import put_question
from service.banks.import_history import undo_import
from service.banks.imports import ImportOptions, import_bank
from service.rounds.views import build_question_view
from service.store import banks, candidates, duels, imports
from service.store.questions import get_version
from service.wire import Generated, ImportView, NotFound
from tests.service.refusals import refused
from tests.service.scenes import Stage

PROSE = {
    "What is a hash table?": "A hash table maps each key to a bucket by a number computed from it.",
    "What is a mutex?": "A mutex is a lock that only one thread can hold at any time.",
    "What is a decorator?": "A decorator is a callable that takes another callable and returns a replacement.",
    "What is a coroutine?": "A coroutine can be suspended at an `await` and resumed later by the event loop.",
    "What is a checksum?": "A checksum detects damaged files by summing up every byte twice.",
    "What is a tuple?": "A tuple never changes after it was made, so that dictionaries accept it.",
}


def document(prose: dict[str, str] | None = None) -> Reading:
    asked = "".join(
        f"### {number}. {prompt}\n\n**Answer:** {answer}\n\n"
        for number, (prompt, answer) in enumerate((prose or PROSE).items(), 1)
    )
    return read_bank(f"# Terms\n\n{asked}", name="terms.md")


async def bring(
    stage: Stage, generated: Generated, read: Reading | None = None, workspace_id: int | None = None, apply: bool = True
) -> ImportView:
    return await import_bank(
        stage.session, read or document(), workspace_id, stage.now, apply, ImportOptions(generated)
    )


async def asked_ids(stage: Stage, workspace_id: int) -> set[str]:
    found = await candidates.list_candidates(stage.session, workspace_id=workspace_id, schedule_id=None)
    return {(await get_version(stage.session, int(one.id))).question.id for one in found}


def made_of(ids: set[str]) -> set[str]:
    return {id_ for id_ in ids if id_.endswith(SUFFIX)}


async def test_they_come_along_and_the_preview_says_how_many(stage: Stage) -> None:
    ada = await stage.caller()
    preview = await bring(stage, "use", apply=False)
    assert (preview.generated, preview.waiting, preview.twins) == (preview.added - 6, 0, ())
    assert preview.generated >= 4
    done = await bring(stage, "use")
    assert done == preview.model_copy(update={"applied": True, "number": 1})
    assert len(made_of(await asked_ids(stage, ada.workspace_id))) == preview.generated


async def test_they_can_be_left_out(stage: Stage) -> None:
    ada = await stage.caller()
    assert (await bring(stage, "none")).generated == 0
    assert made_of(await asked_ids(stage, ada.workspace_id)) == set()


async def test_a_bank_written_for_us_has_none(stage: Stage) -> None:
    read = document()
    native = dataclasses.replace(read, bank=dataclasses.replace(read.bank, dialects=("native",)))
    assert (await bring(stage, "use", native)).generated == 0


async def test_held_questions_wait_for_approval(stage: Stage) -> None:
    ada = await stage.caller(admin=True)
    view = await bring(stage, "hold", workspace_id=ada.workspace_id)
    assert view.waiting == view.generated >= 4
    assert made_of(await asked_ids(stage, ada.workspace_id)) == set()
    assert [(bank.questions, bank.waiting) for bank in await banks.list_banks(stage.session, ada.workspace_id)] == [
        (6, view.generated)
    ]
    # Practice and duels ask of what is counted here.
    assert await duels.count_askable(stage.session, ada.workspace_id, "") == 0
    assert await moderation.approve(stage.session, ada.workspace_id, "What-is-a-mutex-which") == 1
    assert await duels.count_askable(stage.session, ada.workspace_id, "") == 1
    assert made_of(await asked_ids(stage, ada.workspace_id)) == {"what-is-a-mutex-which"}
    assert await moderation.approve(stage.session, ada.workspace_id, "all") == view.generated - 1
    assert len(made_of(await asked_ids(stage, ada.workspace_id))) == view.generated
    with refused(NotFound(what="waiting question")):
        await moderation.approve(stage.session, ada.workspace_id, "all")


async def test_only_the_operator_approves_questions_of_shared_banks(stage: Stage) -> None:
    ada = await stage.caller(admin=True)
    view = await bring(stage, "hold")
    with refused(NotFound(what="waiting question", name="what-is-a-mutex-which")):
        await moderation.approve(stage.session, ada.workspace_id, "what-is-a-mutex-which")
    assert await moderation.approve(stage.session, None, "all") == view.generated


async def test_a_new_import_keeps_approvals_and_holds_new_questions(stage: Stage) -> None:
    ada = await stage.caller()
    view = await bring(stage, "hold")
    await moderation.approve(stage.session, None, "what-is-a-mutex-which")
    again = await bring(stage, "hold")
    assert (again.added, again.changed, again.retired, again.unchanged) == (0, 0, 0, 6 + view.generated)
    assert (again.generated, again.waiting) == (view.generated, 0)
    assert made_of(await asked_ids(stage, ada.workspace_id)) == {"what-is-a-mutex-which"}


async def test_a_choice_outlives_an_edit_of_its_question(stage: Stage) -> None:
    await bring(stage, "use")
    edited = {prompt.replace("a mutex?", "a mutex, please?"): answer for prompt, answer in PROSE.items()}
    view = await bring(stage, "use", document(edited))
    assert (view.added, view.retired) == (0, 0)
    assert {change.id for change in view.changes} >= {"what-is-a-mutex", "what-is-a-mutex-which"}


async def test_disabling_generated_questions_retires_them_and_undo_restores_them(stage: Stage) -> None:
    ada = await stage.caller()
    view = await bring(stage, "use", workspace_id=ada.workspace_id)
    off = await bring(stage, "none", workspace_id=ada.workspace_id)
    assert (off.retired, off.unchanged) == (view.generated, 6)
    assert made_of(await asked_ids(stage, ada.workspace_id)) == set()
    await undo_import(stage.session, ada.workspace_id, "terms", stage.now)
    assert len(made_of(await asked_ids(stage, ada.workspace_id))) == view.generated


async def test_they_outlive_an_edit_of_one_question_of_their_bank(stage: Stage) -> None:
    boss = await stage.caller("Boss", admin=True)
    view = await bring(stage, "use", workspace_id=boss.workspace_id)
    assert view.generated >= 4
    asked = await asked_ids(stage, boss.workspace_id)
    for id_ in ("what-is-a-tuple", "what-is-a-mutex-which"):
        (found, *_) = await banks.find_questions(stage.session, boss.workspace_id, id_)
        texts = await imports.load_questions(stage.session, [found[0].id])
        changed = dataclasses.replace(texts[found[0].id], id=id_, why="It says so.")
        edit = await put_question(stage.session, boss, "terms", document(), changed, stage.now)
        assert (edit.added, edit.changed, edit.retired) == (0, 1, 0)
    assert await asked_ids(stage, boss.workspace_id) == asked


async def test_an_authors_question_with_that_id_is_kept(stage: Stage) -> None:
    read = document()
    named = dataclasses.replace(read.bank.questions[0], id="what-is-a-mutex-which")
    bank = dataclasses.replace(read.bank, questions=(named, *read.bank.questions[1:]))
    view = await bring(stage, "use", dataclasses.replace(read, bank=bank))
    assert view.applied
    assert (await bring(stage, "use", dataclasses.replace(read, bank=bank))).added == 0


async def test_a_workspace_says_what_its_imports_do(stage: Stage) -> None:
    ada, bob = await stage.caller(), await stage.caller("Bob", workspace="other")
    await moderation.set_generated(stage.session, ada, "hold")
    assert await banks.get_generated_policy(stage.session, ada.workspace_id) == "hold"
    assert await banks.get_generated_policy(stage.session, bob.workspace_id) == "none", "off unless an admin wants them"


def test_an_import_generates_none_unless_it_is_told_to() -> None:
    assert ImportOptions().generated == "none"
    assert inspect.signature(bank_import).parameters["generated"].default == "none"


async def test_members_see_that_nobody_wrote_it(stage: Stage) -> None:
    ada = await stage.caller()
    await bring(stage, "use")
    for id_, made in (("what-is-a-mutex", False), ("what-is-a-mutex-which", True)):
        _, row = (await banks.find_questions(stage.session, ada.workspace_id, id_))[0]
        assert build_question_view(await get_version(stage.session, row.id)).generated is made
