"""Edits single questions of a workspace's own banks: checks a text, says what it would move, and puts it in place."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Bank, Question
from service.banks import imports
from service.banks.documents import DocumentReader
from service.banks.moderation import find_named
from service.deferred import load_module
from service.errors import Refused
from service.rounds.views import preview_question
from service.store import banks, regrades
from service.store import imports as import_rows
from service.store.members import Caller
from service.store.tables import BankRow, QuestionRow
from service.wire import (
    PACKED,
    EditRefused,
    EditView,
    ImportView,
    QuestionSource,
    RegradeView,
    SuggestionProblem,
    digest_of,
)

if TYPE_CHECKING:
    from questions.reader import Reading

_NATIVE_RULES = frozenset(("Q203", "Q231", "Q232"))
"""Rules of the native format: reasons of wrong options, key points, and answers of open questions."""
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CheckedText:
    """The text of one question with what the checks found in it."""

    text: str
    problem: SuggestionProblem
    findings: str = ""
    reading: Reading | None = None

    @property
    def question(self) -> Question | None:
        """The question, if the text is one."""
        found = self.reading.bank.questions if self.reading is not None else ()
        return found[0] if len(found) == 1 else None


async def check(text: str, reader: DocumentReader) -> CheckedText:
    """Reads a question in the child process that reads documents. Never refuses it, so that no text is lost."""
    if not text.strip() or text.startswith(PACKED):
        return CheckedText(text, "no question")
    try:
        reading = await reader.read(text, "suggestion.md")
    except Refused:
        return CheckedText(text, "unreadable")
    return CheckedText(text, _problem(reading), _findings(reading), reading)


def _findings(reading: Reading) -> str:
    """Returns what the checks say about a question, and which lines of its text are left out of it."""
    from questions.report import findings_text, unused_text

    unused = unused_text(reading.unused) if reading.bank.questions else ""
    return "\n".join((findings_text(reading).plain, f"in no question: {unused}" if unused else "")).strip()


def _problem(reading: Reading) -> SuggestionProblem:
    found = reading.bank.questions
    if reading.has_errors:
        return "errors"
    if len(found) != 1:
        return "several questions" if found else "no question"
    return "" if found[0].answered else "no answer"


@dataclass(frozen=True, slots=True)
class _Target:
    """A question that can be edited here."""

    row: QuestionRow
    bank: BankRow


async def view_source(session: AsyncSession, caller: Caller, question: str) -> QuestionSource:
    """Returns a question of the workspace's own banks as Markdown. Refused for a shared one."""
    target = await _find(session, caller, question)
    current = (await import_rows.load_questions(session, [target.row.id]))[target.row.id]
    text = await _source_text(target, current)
    return QuestionSource(question=target.row.key, bank=target.bank.title or target.bank.name, text=text)


async def _source_text(target: _Target, current: Question) -> str:
    alone = dataclasses.replace(current, id=target.row.key)
    await load_module("questions.export")
    from questions.export import export_bank

    text = export_bank(Bank(target.bank.name, "", (alone,)), "markdown").decode()
    # What precedes the question is about its bank, which an edit does not change.
    return _FRONT_MATTER.sub("", text)


async def edit(
    session: AsyncSession,
    caller: Caller,
    question: str,
    checked: CheckedText,
    now: datetime,
    *,
    apply: bool,
    seen: str = "",
) -> EditView:
    """Replaces a question by the text that was checked. Its answers in closed rounds are judged again. Refused if its
    text is not any more the one that the moderator has `seen` (its digest): what another one changed would be lost.

    Without `apply`, does the same in a part of the transaction that is undone: the counts are those of a real edit.
    """
    # Of two edits at once, the second one sees what the first one changed.
    await import_rows.lock_imports(session)
    target = await _find(session, caller, question)
    current = (await import_rows.load_questions(session, [target.row.id]))[target.row.id]
    if seen and digest_of(await _source_text(target, current)) != seen:
        raise Refused(EditRefused(question=target.row.key, why="changed"))
    checked = _waive(checked, current)
    if checked.problem or checked.question is None or checked.reading is None:
        if apply:
            raise Refused(EditRefused(question=target.row.key, why="unsound"))
        return EditView(question=target.row.key, problem=checked.problem, findings=checked.findings)
    changed = dataclasses.replace(checked.question, id=target.row.key, place=current.place)
    if not changed.license:
        changed = dataclasses.replace(changed, license=current.license)
    _, key = preview_question(changed, checked.reading.bank)
    known = EditView(question=target.row.key, findings=checked.findings, key=key)
    part = await session.begin_nested()
    before = target.row.current
    done = await put_question(session, caller, target.bank.name, checked.reading, changed, now)
    fields = next((change.fields for change in done.changes if change.id == target.row.key), ())
    await session.refresh(target.row)
    moved = RegradeView()
    if target.row.current != before:
        sums = await regrades.sum_regrade(session, target.row.id)
        moved = RegradeView.model_validate(dataclasses.asdict(sums))
    if apply:
        await part.commit()
    else:
        await part.rollback()
    return known.model_copy(update={"applied": apply, "fields": fields, "regrade": moved})


def _waive(checked: CheckedText, current: Question) -> CheckedText:
    """Drops errors for what the question lacks already: what an import need not have, an edit need not add."""
    reading, question = checked.reading, checked.question
    if reading is None or question is None or not reading.has_errors:
        return checked
    from questions.checks import check_question

    before = dataclasses.replace(current, place=question.place)
    native = dataclasses.replace(reading.bank, dialects=("native",))
    lacks = _NATIVE_RULES & {finding.code for finding in check_question(before, native, reading.source)}
    kept = tuple(finding for finding in reading.findings if finding.code not in lacks)
    reading = dataclasses.replace(reading, findings=kept)
    return CheckedText(checked.text, _problem(reading), _findings(reading), reading)


async def put_question(
    session: AsyncSession,
    caller: Caller,
    name: str,
    reading: Reading,
    question: Question,
    now: datetime,
    *,
    title: str = "",
) -> ImportView:
    """Imports a bank of the workspace's own again with one question more, or with another in its place.

    `title` is that of a bank that is new.
    """
    # Before the bank is read: another import must not change it in between.
    await import_rows.lock_imports(session)
    bank = await import_rows.find_bank(session, caller.workspace_id, name)
    stored = await import_rows.list_stored(session, bank.id) if bank else []
    kept = {one.id: one.key for one in stored if not one.retired or one.key == question.id}
    before = await import_rows.load_questions(session, kept)
    others = [dataclasses.replace(before[id_], id=key) for id_, key in kept.items()]
    put = dataclasses.replace(question, license=question.license or reading.bank.license)
    document = Bank(
        name=name,
        title=bank.title if bank else title,
        questions=_with(others, put),
        license=bank.license if bank else "",
        recipe=bank.recipe if bank else "",
    )
    whole = dataclasses.replace(reading, bank=document)
    view = await imports.import_bank(session, whole, caller.workspace_id, now, apply=True)
    assert view.applied, "a checked question has no error"
    return view


def _with(others: Sequence[Question], put: Question) -> tuple[Question, ...]:
    if all(other.id != put.id for other in others):
        return (*others, put)
    return tuple(put if other.id == put.id else other for other in others)


async def _find(session: AsyncSession, caller: Caller, question: str) -> _Target:
    row, _ = (await find_named(session, caller, question))[0]
    if not await banks.is_own_question(session, caller.workspace_id, row.id):
        raise Refused(EditRefused(question=row.key, why="shared"))
    return _Target(row, await session.get_one(BankRow, row.bank_id))
