"""Bringing a bank into the database: all of a document or, where it has an error, nothing. Reading is `questions`'.

Which question is which is `aligning`'s, what is said about it `previewing`'s, taking it back `undoing`'s.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions.model import Bank, Question, as_data
from questions.read import Reading, read_path, shipped_bank
from questions.report import reading_text
from service.aligning import Aligning, place_of, sha256
from service.generating import is_generated, may_have_forms, with_forms
from service.previewing import MOST_LISTED, Item, Plan, changes_of, twins_of
from service.regrading import regrade
from service.store import devices, imports, tables
from service.store.imports import Step, batches
from service.wire import Generated, ImportView

Tell = Callable[[str, int, int], None]
"""Told of the progress: what is done, how much of it so far, and of how much."""


def silent(_said: str, _done: int, _total: int) -> None:
    """Tells nobody."""


async def plan(session: AsyncSession, bank: Bank, row: tables.Bank | None, generated: Generated = "none") -> Plan:
    """What to do so that the database holds `bank`, whose row, where it has one, is `row`."""
    stored = await imports.stored(session, row.id) if row else []
    made_before = [old for old in stored if old.generated]
    # Thousands of digests and comparisons would keep every other call waiting.
    aligning = await asyncio.to_thread(Aligning, bank.questions, [old for old in stored if not old.generated])
    texts = await imports.texts(session, [old.id for old in (*aligning.doubtful(), *made_before)])
    aligned = await asyncio.to_thread(aligning.aligned, texts)
    if generated != "none" and may_have_forms(bank):
        aligned = await asyncio.to_thread(with_forms, aligned, made_before)
    return await asyncio.to_thread(Plan.of, aligned, stored, texts)


async def import_bank(
    session: AsyncSession,
    reading: Reading,
    workspace_id: int | None,
    now: datetime,
    apply: bool,
    *,
    tell: Tell = silent,
    most: int | None = MOST_LISTED,
    generated: Generated = "none",
) -> ImportView:
    """Make the database hold what was read; without `apply`, or with an error in the document, only say what would.

    With `workspace_id` None the bank is for everybody. Questions the document no longer holds are retired. `most`
    limits how much the view lists of changes and of duplicates, `generated` says what becomes of choices made of prose.
    """
    return await _bring(session, reading.bank, reading, workspace_id, now, apply, tell, most, generated)


async def import_shipped(
    session: AsyncSession, now: datetime, apply: bool = True, *, tell: Tell = silent, most: int | None = MOST_LISTED
) -> ImportView:
    """The bank that comes with Dailygrad, for everybody. Raises ValueError if one of its documents has an error."""
    bank = await asyncio.to_thread(shipped_bank)
    return await _bring(session, bank, None, None, now, apply, tell, most)


async def import_path(
    sessions: async_sessionmaker[AsyncSession],
    path: Path | None,
    now: datetime,
    apply: bool = True,
    *,
    tell: Tell = silent,
    most: int | None = MOST_LISTED,
    generated: Generated = "none",
) -> tuple[ImportView, ...]:
    """The operator's import for everybody: a document, or each one of a directory; with None the shipped bank.

    Each document is a bank of its own: one with an error stays out and keeps no other out. Raises OSError, and
    ValueError for a directory without documents.
    """
    tell("reading", 0, 0)
    if path is None:
        async with sessions.begin() as session:
            return (await import_shipped(session, now, apply, tell=tell, most=most),)
    readings = await asyncio.to_thread(read_path, path)
    if not readings:
        raise ValueError(f"bank {path}: no document there; give a file, or a directory of .md or .txt files")
    views = []
    for reading in readings:
        async with sessions.begin() as session:
            views.append(
                await import_bank(session, reading, None, now, apply, tell=tell, most=most, generated=generated)
            )
    return tuple(views)


async def _bring(
    session: AsyncSession,
    bank: Bank,
    reading: Reading | None,
    workspace_id: int | None,
    now: datetime,
    apply: bool,
    tell: Tell,
    most: int | None,
    generated: Generated = "none",
) -> ImportView:
    await imports.hold(session)
    row = await imports.find(session, workspace_id, bank.name)
    todo = await plan(session, bank, row, generated)
    made = [item for item in todo.items if is_generated(item.question)]
    hold = generated == "hold"
    findings = reading.findings if reading else ()
    faults = _faults(bank)
    errors = len(faults) + sum(finding.severity == "error" for finding in findings)
    twins = await twins_of(session, todo, workspace_id, bank.name, lambda done, of: tell("comparing", done, of))
    changes = changes_of(todo)
    view = ImportView(
        applied=apply and not errors,
        name=bank.name,
        **todo.counts(),
        unanswered=sum(not question.answered for question in bank.questions),
        findings="\n".join((reading_text(reading).plain if reading else "", *faults)).strip(),
        errors=errors,
        changes=tuple(changes[:most]),
        **twins.said(most),
        generated=len(made),
        waiting=sum(item.old is None for item in made) if hold else 0,
        for_gpu=0 if await devices.gpu_seen(session) else sum(map(_needs_gpu, bank.questions)),
    )
    if view.applied:
        document = PurePath(reading.source.name).name if reading else ""
        row = row or tables.Bank(workspace_id=workspace_id, name=bank.name)
        await _Writing(session, row, now, tell, hold).write(bank, todo, view, document)
    return view


def _needs_gpu(question: Question) -> bool:
    return question.task is not None and question.task.device == "cuda"


def _faults(bank: Bank) -> list[str]:
    """What keeps a bank out of the database though it could be read."""
    if not bank.questions:
        return [f"error: bank {bank.name}: no question was recognised in it, so nothing is imported"]
    return [
        f"error: {place}: it holds a NUL character, which the database cannot keep; save the document as plain text"
        for place, data in (
            ("the title or front matter", (bank.name, bank.title, bank.licence)),
            *(
                (f"question `{question.id}`, line {question.place.line}", as_data(question))
                for question in bank.questions
            ),
        )
        # A backslash of the text itself is doubled; what is left is the character.
        if "\\u0000" in json.dumps(data).replace("\\\\", "")
    ]


class _Writing:
    """Writes a plan in batches, so that no more of it than that is held twice."""

    def __init__(self, session: AsyncSession, bank: tables.Bank, now: datetime, tell: Tell, hold: bool) -> None:
        self._session = session
        self._bank = bank
        self._now = now
        self._tell = tell
        self._hold = hold
        self._written: list[str] = []
        self._steps: list[Step] = []
        self._aliases: dict[str, int] = {}

    async def write(self, bank: Bank, todo: Plan, view: ImportView, document: str) -> None:
        row = self._bank
        before = {"title": row.title, "licence": row.licence} if row.id else None
        row.title, row.licence = bank.title, bank.licence
        self._session.add(row)
        await self._session.flush()
        news, done = todo.news, 0
        fixed: dict[int, int] = {}
        for batch in batches(news):
            await self._add([item for item in batch if not item.old])
            fixed.update(await self._change([item for item in batch if item.old]))
            done += len(batch)
            self._tell("writing", done, len(news))
        await self._keep([item for item in todo.items if item.old and not item.changed])
        await self._retire(todo)
        await imports.add_aliases(self._session, row.id, self._aliases)
        counts = view.model_dump(include={*todo.counts(), "unanswered"})
        record = tables.BankImport(
            bank_id=row.id,
            at=self._now,
            digest=sha256("\n".join(self._written)),
            summary={**counts, "before": before},
            document=document,
        )
        await imports.add_import(self._session, record, self._steps)
        await regrade_all(self._session, fixed, self._now)

    async def _add(self, items: Sequence[Item]) -> None:
        rows = [
            {
                "bank_id": self._bank.id,
                "key": item.question.id,
                "current": 1,
                "place": place_of(item.question),
                "held": self._hold and is_generated(item.question),
            }
            for item in items
        ]
        ids = await imports.add_questions(self._session, rows)
        versions = [self._version(id_, 1, item) for id_, item in zip(ids, items, strict=True)]
        await imports.add_versions(self._session, versions)
        self._steps += [Step(id_, None, 1, retired_before=True, retired_after=False) for id_ in ids]

    async def _change(self, items: Sequence[Item]) -> dict[int, int]:
        """The new versions' numbers in the database, by the questions'."""
        olds = [(item.old, item) for item in items if item.old]
        made = await imports.add_versions(
            self._session, [self._version(old.id, old.current + 1, item) for old, item in olds]
        )
        await self._keep(items)
        return dict(zip((old.id for old, _ in olds), made, strict=True))

    async def _keep(self, items: Sequence[Item]) -> None:
        """Have questions the bank knows be asked as they are now, and note where they stand."""
        rows = []
        for item in items:
            old, place = item.old, place_of(item.question)
            assert old is not None, "only what the bank knows is kept"
            current = old.current + item.changed
            if item.changed or old.retired or old.place != place:
                rows.append({"id": old.id, "current": current, "retired_at": None, "place": place})
            if item.changed or old.retired:
                self._steps.append(Step(old.id, old.current, current, retired_before=old.retired, retired_after=False))
            if item.made not in (old.key, *old.aliases):
                self._aliases[item.made] = old.id
        for batch in batches(rows):
            await imports.set_questions(self._session, batch)

    async def _retire(self, todo: Plan) -> None:
        for batch in batches(old for old, _ in todo.vanished):
            rows = [{"id": old.id, "retired_at": self._now} for old in batch]
            await imports.set_questions(self._session, rows)
            self._steps += [
                Step(old.id, old.current, old.current, retired_before=False, retired_after=True) for old in batch
            ]

    def _version(self, question_id: int, version: int, item: Item) -> dict[str, Any]:
        question = item.question
        self._written.append(f"{question_id} {item.digest}")
        return {
            "question_id": question_id,
            "version": version,
            "kind": question.kind,
            "level": question.level,
            "topic": question.topic,
            "answered": question.answered,
            "family": bool(question.draw),
            "digest": item.digest,
            "body": as_data(question),
            "created_at": self._now,
        }


async def regrade_all(session: AsyncSession, fixed: Mapping[int, int], now: datetime) -> None:
    """Judge again what closed rounds asked of these questions; each with the number of its new version."""
    for question_id in sorted(await imports.judged(session, fixed)):
        await regrade(session, fixed[question_id], now)
