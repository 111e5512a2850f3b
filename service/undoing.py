"""The record of a bank's imports, and taking the latest one back: by a new import, so that nothing is ever erased."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.aligning import sha256
from service.errors import NotFound, NotPossible
from service.importing import regrade_all
from service.previewing import MOST_LISTED, in_brief
from service.store import imports, tables
from service.store.imports import Held, Step, batches
from service.wire import BankLog, ImportChange, ImportEntry, ImportView

WHICH = "The list of banks names them all."


async def log(session: AsyncSession, workspace_id: int | None, name: str) -> BankLog:
    """What was imported into the workspace's bank of that name, or into everybody's where it has none."""
    bank = await _bank(session, workspace_id, name)
    rows = await imports.log(session, bank.id)
    numbers = {row.id: number for number, row in enumerate(rows, 1)}
    entries = [_entry(row, numbers) for row in reversed(rows)]
    return BankLog(name=bank.name, shared=bank.workspace_id is None, imports=tuple(entries))


async def undo(session: AsyncSession, workspace_id: int | None, name: str, now: datetime) -> ImportView:
    """Take back the latest import that changed anything in the workspace's bank, or with None in everybody's.

    What it added is retired, what it changed says again what it said before, in a new version, and what it retired
    comes back. Rounds keep the versions they asked; closed ones are judged again as after any change. An undo is an
    import too: undone in turn, it is done again. Refused where there is nothing to take back.
    """
    await imports.hold(session)
    bank = await _bank(session, workspace_id, name)
    if bank.workspace_id != workspace_id:
        raise NotPossible(
            cause=f"Bank {name} is everybody's, not this workspace's own: its operator undoes it, "
            f"with `dailygrad bank undo {name}`."
        )
    latest, steps = await _latest(session, bank)
    held = await imports.held(session, [step.question_id for step in steps])
    back = [step for step in steps if step.version_before not in (None, step.version_after)]
    fixed = await imports.copy_versions(
        session, [(step.question_id, step.version_before or 0, step.version_after + 1) for step in back], now
    )
    done = [_taken_back(step) for step in steps]
    await _set(session, done, held, now)
    view = _view(bank.name, done, held)
    before = latest.summary.get("before")
    record = tables.BankImport(
        bank_id=bank.id,
        at=now,
        digest=sha256("\n".join(f"{step.question_id} {step.version_after} {step.retired_after}" for step in done)),
        summary={**_counts(done), "unanswered": 0, "before": {"title": bank.title, "licence": bank.licence}},
        undoes=latest.id,
    )
    if before:
        bank.title, bank.licence = before["title"], before["licence"]
    await imports.add_import(session, record, done)
    await regrade_all(session, fixed, now)
    return view


async def _bank(session: AsyncSession, workspace_id: int | None, name: str) -> tables.Bank:
    wanted = name.strip()
    bank = await imports.find(session, workspace_id, wanted) or await imports.find(session, None, wanted)
    if bank is None:
        raise NotFound(what=f"bank {wanted!r}", cure=WHICH)
    return bank


async def _latest(session: AsyncSession, bank: tables.Bank) -> tuple[tables.BankImport, list[Step]]:
    for row in reversed(await imports.log(session, bank.id)):
        steps = await imports.steps(session, row.id)
        if steps:
            return row, steps
        if any(row.summary.get(what) for what in ("added", "changed", "retired")):
            raise NotPossible(
                cause=f"The latest import of {bank.name} was made by a version that kept no record of its steps: "
                "import the document as it was before."
            )
    raise NotPossible(cause=f"No import of {bank.name} changed anything, so there is nothing to undo.")


def _taken_back(step: Step) -> Step:
    """What undoing a step does. A question it added stays as it is, retired."""
    changed = step.version_before not in (None, step.version_after)
    return Step(
        step.question_id,
        step.version_after,
        step.version_after + changed,
        retired_before=step.retired_after,
        retired_after=step.retired_before,
    )


async def _set(session: AsyncSession, done: Sequence[Step], held: dict[int, Held], now: datetime) -> None:
    for batch in batches(done):
        rows = [
            {
                "id": step.question_id,
                "current": step.version_after,
                "retired_at": (held[step.question_id].retired_at or now) if step.retired_after else None,
            }
            for step in batch
        ]
        await imports.set_questions(session, rows)


def _counts(done: Sequence[Step]) -> dict[str, int]:
    return {
        "added": 0,
        "changed": sum(step.version_before != step.version_after for step in done),
        "unchanged": 0,
        "moved": 0,
        "returned": sum(step.retired_before and not step.retired_after for step in done),
        "retired": sum(step.retired_after and not step.retired_before for step in done),
    }


def _view(name: str, done: Sequence[Step], held: dict[int, Held]) -> ImportView:
    changes = [
        ImportChange(
            id=held[step.question_id].key,
            what="retired" if step.retired_after else "returned" if step.retired_before else "changed",
            prompt=in_brief(held[step.question_id].prompt),
        )
        for step in done
    ]
    return ImportView(
        applied=True,
        name=name,
        **_counts(done),
        unanswered=0,
        findings="",
        errors=0,
        changes=tuple(changes[:MOST_LISTED]),
    )


def _entry(row: tables.BankImport, numbers: dict[int, int]) -> ImportEntry:
    counts = {name: int(row.summary.get(name, 0)) for name in ("added", "changed", "unchanged", "retired")}
    return ImportEntry(
        number=numbers[row.id],
        at=row.at,
        document=row.document,
        **counts,
        returned=int(row.summary.get("returned", 0)),
        digest=row.digest[:12],
        undoes=numbers[row.undoes] if row.undoes else None,
    )
