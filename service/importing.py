"""Bringing a bank into the database: all of a document or, where it has an error, nothing. Reading is `questions`'."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions.model import Bank, Question, as_data
from questions.read import Reading, read_path, shipped_bank
from questions.report import reading_text
from service.regrading import regrade
from service.store import banks, tables
from service.store.banks import Stored
from service.wire import ImportView

NOT_ASKED = ("place", "number", "section")
"""What may change in a document without changing what is asked."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import will do to the questions of a bank."""

    added: list[Question] = field(default_factory=list)
    changed: list[tuple[Stored, Question]] = field(default_factory=list)
    unchanged: list[Stored] = field(default_factory=list)
    vanished: list[Stored] = field(default_factory=list)
    """In the bank and no longer in the document; each is retired."""


def digest_of(question: Question) -> str:
    """What `question` says, in 64 hex digits: the same wherever in the document it stands."""
    data = {name: value for name, value in as_data(question).items() if name not in NOT_ASKED}
    data["code_blocks"] = [{**block, "line": 0} for block in data["code_blocks"]]
    # Fields younger than the first banks: left out while empty, so that no question changes by our learning a field.
    if not data["draw"]:
        del data["draw"]
    if data["task"] and not data["task"]["driver"]:
        del data["task"]["driver"]
    return _sha256(json.dumps(data, sort_keys=True, ensure_ascii=True))


def plan(bank: Bank, stored: dict[str, Stored]) -> Plan:
    """What to do so that the database holds `bank`."""
    found = Plan()
    for question in bank.questions:
        old = stored.get(question.id)
        if old is None:
            found.added.append(question)
        elif old.digest != digest_of(question):
            found.changed.append((old, question))
        else:
            found.unchanged.append(old)
    ids = {question.id for question in bank.questions}
    found.vanished.extend(old for key, old in stored.items() if key not in ids and old.row.retired_at is None)
    return found


async def import_bank(
    session: AsyncSession, reading: Reading, workspace_id: int | None, now: datetime, apply: bool
) -> ImportView:
    """Make the database hold what was read; without `apply`, or with an error in the document, only say what would.

    With `workspace_id` None the bank is for everybody. Questions the document no longer holds are retired.
    """
    return await _bring(session, reading.bank, reading, workspace_id, now, apply)


async def import_shipped(session: AsyncSession, now: datetime) -> ImportView:
    """The bank that comes with Dailygrad, for everybody. Raises ValueError if one of its documents has an error."""
    return await _bring(session, await asyncio.to_thread(shipped_bank), None, None, now, apply=True)


async def import_path(
    sessions: async_sessionmaker[AsyncSession], path: Path | None, now: datetime
) -> tuple[ImportView, ...]:
    """The operator's import for everybody: a document, or each one of a directory; with None the shipped bank.

    Each document is a bank of its own: one with an error stays out and keeps no other out. Raises OSError, and
    ValueError for a directory without documents.
    """
    if path is None:
        async with sessions.begin() as session:
            return (await import_shipped(session, now),)
    readings = await asyncio.to_thread(read_path, path)
    if not readings:
        raise ValueError(f"bank {path}: no document there; give a file, or a directory of .md or .txt files")
    views = []
    for reading in readings:
        async with sessions.begin() as session:
            views.append(await import_bank(session, reading, None, now, apply=True))
    return tuple(views)


async def _bring(
    session: AsyncSession,
    bank: Bank,
    reading: Reading | None,
    workspace_id: int | None,
    now: datetime,
    apply: bool,
) -> ImportView:
    await banks.hold_imports(session)
    row = await banks.find(session, workspace_id, bank.name)
    todo = plan(bank, await banks.stored(session, row) if row else {})
    findings = reading.findings if reading else ()
    faults = _faults(bank)
    errors = len(faults) + sum(finding.severity == "error" for finding in findings)
    view = ImportView(
        applied=apply and not errors,
        name=bank.name,
        added=len(todo.added),
        changed=len(todo.changed),
        unchanged=len(todo.unchanged),
        retired=len(todo.vanished),
        unanswered=sum(not question.answered for question in bank.questions),
        findings="\n".join((reading_text(reading).plain if reading else "", *faults)).strip(),
        errors=errors,
    )
    if view.applied:
        await _write(session, row or tables.Bank(workspace_id=workspace_id, name=bank.name), bank, todo, view, now)
    return view


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


async def _write(
    session: AsyncSession, row: tables.Bank, bank: Bank, todo: Plan, view: ImportView, now: datetime
) -> None:
    row.title, row.licence = bank.title, bank.licence
    session.add(row)
    await session.flush()
    fresh = [tables.Question(bank_id=row.id, key=question.id, current=1) for question in todo.added]
    session.add_all(fresh)
    await session.flush()
    versions = [_version(row, question, now) for row, question in zip(fresh, todo.added, strict=True)]
    fixed = []
    for old, question in todo.changed:
        old.row.current += 1
        fixed.append(_version(old.row, question, now))
    versions += fixed
    for old in (*todo.unchanged, *(old for old, _ in todo.changed)):
        old.row.retired_at = None
    for old in todo.vanished:
        old.row.retired_at = now
    session.add_all(versions)
    digest = _sha256("\n".join(f"{version.question_id} {version.digest}" for version in versions))
    summary = view.model_dump(include={"added", "changed", "unchanged", "retired", "unanswered"})
    session.add(tables.BankImport(bank_id=row.id, at=now, digest=digest, summary=summary))
    await session.flush()
    for version in fixed:
        await regrade(session, version.id, now)


def _version(row: tables.Question, question: Question, now: datetime) -> tables.QuestionVersion:
    return tables.QuestionVersion(
        question_id=row.id,
        version=row.current,
        kind=question.kind,
        level=question.level,
        topic=question.topic,
        answered=question.answered,
        family=bool(question.draw),
        digest=digest_of(question),
        body=as_data(question),
        created_at=now,
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
