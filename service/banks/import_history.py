"""The import history of a bank, and undoing its latest import: by a new import, so that nothing is ever deleted."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.banks.import_preview import shorten_prompt
from service.banks.imports import MAX_LISTED, regrade_changed
from service.domain.import_plan import sha256
from service.errors import Refused
from service.store import imports, tables
from service.store.imports import BATCH, CurrentQuestion, Step
from service.store.statements import batches
from service.wire import BankLog, ImportChange, ImportEntry, ImportView, NotFound, UndoRefused

MAX_LOGGED = 100
"""Most imports in a log: every edit of a question is one."""


async def import_log(session: AsyncSession, workspace_id: int | None, name: str) -> BankLog:
    """Returns the newest imports into the workspace's own bank of that name, or else into the shared one."""
    bank = await _find_bank(session, workspace_id, name)
    entries = map(_entry, await imports.list_newest_imports(session, bank.id, MAX_LOGGED))
    return BankLog(name=bank.name, shared=bank.workspace_id is None, imports=tuple(entries))


@dataclass(frozen=True, slots=True)
class _ChangingImport:
    """An import that changed something."""

    row: tables.BankImport
    number: int
    """Number within its bank, from 1."""
    steps: Sequence[Step]


async def undo_import(
    session: AsyncSession, workspace_id: int | None, name: str, now: datetime, number: int | None = None
) -> ImportView:
    """Undoes the latest import that changed anything in the workspace's bank, or with None in the shared bank.

    Retires what the import added, restores what it retired, and gives what it changed a new version with the old text.
    Rounds keep the versions they asked; closed ones are graded again as after any change. An undo is an import too, so
    undoing it redoes the import. Refused if there is nothing to undo, and if the latest such import is not that of the
    `number`, or without one, not any more the one it was when this was called: two admins who undo at once mean the
    same import.
    """
    bank = await _find_bank(session, workspace_id, name)
    if bank.workspace_id != workspace_id:
        raise Refused(UndoRefused(bank=bank.name, why="shared"))
    meant = number or (await _find_latest(session, bank)).number
    await imports.lock_imports(session)
    await session.refresh(bank)
    latest = await _find_latest(session, bank)
    if latest.number != meant:
        raise Refused(UndoRefused(bank=bank.name, why="not latest"))
    steps = latest.steps
    held = await imports.load_current(session, [step.question_id for step in steps])
    back = [step for step in steps if step.version_before not in (None, step.version_after)]
    fixed = await imports.copy_versions(
        session, [(step.question_id, step.version_before or 0, step.version_after + 1) for step in back], now
    )
    done = [_invert(step) for step in steps]
    await _apply(session, done, held, now)
    before = latest.row.summary.get("before")
    record = tables.BankImport(
        bank_id=bank.id,
        at=now,
        digest=sha256("\n".join(f"{step.question_id} {step.version_after} {step.retired_after}" for step in done)),
        summary={**_counts(done), "unanswered": 0, "before": _before(bank)},
        undoes=latest.row.id,
    )
    if before:
        bank.title, bank.license, bank.recipe = before["title"], before["license"], before["recipe"]
    await imports.add_import(session, record, done)
    await regrade_changed(session, fixed, now)
    return _view(bank.name, await imports.count_imports(session, bank.id), done, held)


def _before(bank: tables.BankRow) -> dict[str, str]:
    return {"title": bank.title, "license": bank.license, "recipe": bank.recipe}


async def _find_bank(session: AsyncSession, workspace_id: int | None, name: str) -> tables.BankRow:
    wanted = name.strip()
    bank = await imports.find_bank(session, workspace_id, wanted) or await imports.find_bank(session, None, wanted)
    if bank is None:
        similar = _similar_names(wanted, await imports.list_bank_names(session, workspace_id))
        raise Refused(NotFound(what="bank", name=wanted, similar=similar))
    return bank


def _similar_names(wanted: str, known: list[str]) -> tuple[str, ...]:
    """Returns the names that may have been meant. The name of a document is that of its bank with an ending."""
    stem = wanted.lower().rpartition(".")[0]
    same = [name for name in known if name.lower() in (wanted.lower(), stem)]
    return tuple(same or difflib.get_close_matches(wanted, known, 3, 0.6))


async def _find_latest(session: AsyncSession, bank: tables.BankRow) -> _ChangingImport:
    rows = await imports.list_imports(session, bank.id)
    for number, row in reversed(list(enumerate(rows, 1))):
        steps = await imports.list_steps(session, row.id)
        if steps:
            return _ChangingImport(row, number, steps)
        if any(row.summary.get(what) for what in ("added", "changed", "retired")):
            raise Refused(UndoRefused(bank=bank.name, why="no record"))
    raise Refused(UndoRefused(bank=bank.name, why="no change"))


def _invert(step: Step) -> Step:
    """Returns the step that undoes a step. An added question keeps its version and is retired."""
    changed = step.version_before not in (None, step.version_after)
    return Step(
        step.question_id,
        step.version_after,
        step.version_after + changed,
        retired_before=step.retired_after,
        retired_after=step.retired_before,
    )


async def _apply(session: AsyncSession, done: Sequence[Step], held: dict[int, CurrentQuestion], now: datetime) -> None:
    for batch in batches(done, BATCH):
        rows = [
            {
                "id": step.question_id,
                "current": step.version_after,
                "retired_at": (held[step.question_id].retired_at or now) if step.retired_after else None,
            }
            for step in batch
        ]
        await imports.update_questions(session, rows)


def _counts(done: Sequence[Step]) -> dict[str, int]:
    return {
        "added": 0,
        "changed": sum(step.version_before != step.version_after for step in done),
        "unchanged": 0,
        "moved": 0,
        "returned": sum(step.retired_before and not step.retired_after for step in done),
        "retired": sum(step.retired_after and not step.retired_before for step in done),
    }


def _view(name: str, number: int, done: Sequence[Step], held: dict[int, CurrentQuestion]) -> ImportView:
    changes = [
        ImportChange(
            id=held[step.question_id].key,
            what="retired" if step.retired_after else "returned" if step.retired_before else "changed",
            prompt=shorten_prompt(held[step.question_id].prompt),
        )
        for step in done
    ]
    return ImportView(
        applied=True,
        name=name,
        number=number,
        **_counts(done),
        unanswered=0,
        findings="",
        errors=0,
        changes=tuple(changes[:MAX_LISTED]),
    )


def _entry(logged: imports.LoggedImport) -> ImportEntry:
    row = logged.row
    counts = {name: int(row.summary.get(name, 0)) for name in ("added", "changed", "unchanged", "retired")}
    return ImportEntry(
        number=logged.number,
        at=row.at,
        document=row.document,
        **counts,
        returned=int(row.summary.get("returned", 0)),
        digest=row.digest[:12],
        undoes=logged.undoes,
    )
