"""Imports banks into the database: all of a document or, if it has an error, nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions.model import Bank, Question, as_data
from service.banks.import_preview import Item, Plan, find_duplicates, list_changes, summarize_questions
from service.deferred import load_module
from service.domain.import_plan import (
    QuestionMatcher,
    add_generated_choices,
    can_generate_choices,
    place_data,
    sha256,
)
from service.rounds.regrading import regrade_question
from service.store import imports, monitoring, rounds, tables
from service.store.imports import BATCH, Step
from service.store.statements import batches
from service.wire import Generated, ImportView, UnusedPassage

if TYPE_CHECKING:
    from questions.reader import Reading

FORGET = "none"
"""What is stated instead of a recipe to forget the one that is saved with the bank."""
MAX_LISTED = 100
"""Most changes, and most duplicates, in a view that goes to a chat."""

Progress = Callable[[str, int, int], None]
"""Receives the current step, how much of it is done, and its total."""


def ignore_progress(_step: str, _done: int, _total: int) -> None:
    """Ignores progress."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to import a bank."""

    generated: Generated = "none"
    """What to do with choices generated from prose."""
    limit: int | None = MAX_LISTED
    """Most changes, and most duplicates, in the view; None for all."""
    progress: Progress = ignore_progress
    recipe: Literal["", "saved", "forgotten"] = ""
    """Whether the document was read by the recipe saved with its bank, or the saved one is to be forgotten."""


DEFAULT = ImportOptions()


class NoDocuments(ValueError):
    """Raised when a folder to import has no documents. The message is for the operator."""


async def import_path(
    sessions: async_sessionmaker[AsyncSession],
    path: Path | None,
    now: datetime,
    apply: bool = True,
    options: ImportOptions = DEFAULT,
    recipe: str = "",
) -> tuple[ImportView, ...]:
    """Imports a document, or each document of a folder, as shared banks; with None the shipped bank.

    Reads by `recipe`, or else by the recipe saved with a bank; FORGET removes the saved one.

    Each document is a bank of its own: one with an error is left out without affecting the others. Raises OSError, and
    NoDocuments for a folder without documents.
    """
    options.progress("reading", 0, 0)
    await load_module("questions.reader")
    from questions.reader import read_path
    from questions.report import no_documents

    if path is None:
        async with sessions.begin() as session:
            return (await import_shipped(session, now, apply, options),)
    stated = "" if recipe.strip() == FORGET else recipe
    readings = await asyncio.to_thread(read_path, path, stated)
    if not readings:
        raise NoDocuments(no_documents(path))
    views = []
    for reading in readings:
        how, again = options, reading
        async with sessions.begin() as session:
            if recipe.strip() == FORGET:
                how = replace(options, recipe="forgotten")
            elif not _shares_name(reading) and (saved := await saved_recipe(session, None, reading, recipe)):
                how = replace(options, recipe="saved")
                (again,) = await asyncio.to_thread(read_path, Path(reading.source.name), saved)
            views.append(await import_bank(session, again, None, now, apply, how))
    return tuple(views)


def _shares_name(reading: Reading) -> bool:
    """Returns whether another document of the folder is the same bank, which only reading the folder shows."""
    return any(finding.code == "Q307" for finding in reading.findings)


async def saved_recipe(session: AsyncSession, workspace_id: int | None, reading: Reading, stated: str = "") -> str:
    """Returns the recipe saved with the bank of a document that was read without one; empty if there is none, or if
    the document or the caller states how to read it."""
    if stated.strip() or reading.bank.recipe or not reading.takes_recipe:
        return ""
    row = await imports.find_bank(session, workspace_id, reading.bank.name)
    return row.recipe if row else ""


async def import_shipped(
    session: AsyncSession, now: datetime, apply: bool = True, options: ImportOptions = DEFAULT
) -> ImportView:
    """Imports the shipped bank as a shared bank. Raises ValueError if one of its documents has an error."""
    await load_module("questions.reader")
    from questions.reader import shipped_bank

    bank = await asyncio.to_thread(shipped_bank)
    return await _Import(session, None, now, apply, options).run(bank, None)


async def import_bank(
    session: AsyncSession,
    reading: Reading,
    workspace_id: int | None,
    now: datetime,
    apply: bool,
    options: ImportOptions = DEFAULT,
) -> ImportView:
    """Makes the database match a document. Without `apply`, or with an error, only returns what it would do.

    With `workspace_id` None, all workspaces share the bank. Retires questions that the document no longer has.
    """
    return await _Import(session, workspace_id, now, apply, options).run(reading.bank, reading)


@dataclass(frozen=True, slots=True)
class _Import:
    """One import, in one transaction."""

    session: AsyncSession
    workspace_id: int | None
    now: datetime
    apply: bool
    options: ImportOptions

    async def run(self, bank: Bank, reading: Reading | None) -> ImportView:
        await imports.lock_imports(self.session)
        row = await imports.find_bank(self.session, self.workspace_id, bank.name)
        plan = await make_plan(self.session, bank, row, self.options.generated)
        view = await self._view(plan, bank, reading)
        if view.applied:
            document = PurePath(reading.source.name).name if reading else ""
            row = row or tables.BankRow(workspace_id=self.workspace_id, name=bank.name)
            await _Writer(self.session, row, self.now, self.options).write(bank, plan, view, document)
            view = view.model_copy(update={"number": await imports.count_imports(self.session, row.id)})
        return view

    async def _view(self, plan: Plan, bank: Bank, reading: Reading | None) -> ImportView:
        def progress(done: int, total: int) -> None:
            self.options.progress("comparing", done, total)

        from questions.passages import main_passages
        from questions.report import findings_text, summary_text

        findings = reading.findings if reading else ()
        errors = _storage_errors(bank)
        error_count = len(errors) + sum(finding.severity == "error" for finding in findings)
        duplicates = await find_duplicates(self.session, plan, self.workspace_id, bank.name, progress)
        generated = [item for item in plan.items if item.question.generated]
        unused, more_unused = main_passages(reading.unused if reading else ())
        return ImportView(
            applied=self.apply and not error_count,
            name=bank.name,
            **plan.counts(),
            unanswered=sum(not question.answered for question in bank.questions),
            findings="\n".join((findings_text(reading).plain if reading else "", *errors)).strip(),
            summary=summary_text(reading).plain if reading else "",
            errors=error_count,
            changes=tuple(list_changes(plan)[: self.options.limit]),
            **duplicates.view_fields(self.options.limit),
            generated=len(generated),
            waiting=sum(item.old is None for item in generated) if self.options.generated == "hold" else 0,
            recipe=reading.bank.recipe if reading else "",
            recipe_saved=self.options.recipe == "saved",
            explanation=reading.explanation if reading else (),
            unused=tuple(UnusedPassage(first=one.first, last=one.last, title=one.title) for one in unused),
            more_unused=more_unused,
            unused_share=reading.unused_share if reading and reading.mostly_unused else 0.0,
            questions=summarize_questions(bank),
            for_gpu=0 if await monitoring.check_gpu(self.session) else sum(map(_needs_gpu, bank.questions)),
        )


async def make_plan(
    session: AsyncSession, bank: Bank, row: tables.BankRow | None, generated: Generated = "none"
) -> Plan:
    """Returns what to do so that the database matches `bank`. `row` is the bank's row, if it exists."""
    stored = await imports.list_stored(session, row.id) if row else []
    # A generated choice that the bank itself has, as after an edit of one of its questions, is matched like any other.
    named = {question.id for question in bank.questions}
    generated_before = [old for old in stored if old.generated and old.key not in named]
    others = [old for old in stored if not old.generated or old.key in named]
    # In a thread: thousands of digests and comparisons would block the event loop.
    matcher = await asyncio.to_thread(QuestionMatcher, bank.questions, others)
    texts = await imports.load_questions(session, [old.id for old in (*matcher.unresolved(), *generated_before)])
    matched = await asyncio.to_thread(matcher.match, texts)
    if generated != "none" and can_generate_choices(bank):
        matched = await asyncio.to_thread(add_generated_choices, matched, generated_before)
    return await asyncio.to_thread(Plan.from_matches, matched, stored, texts)


def _needs_gpu(question: Question) -> bool:
    return question.task is not None and question.task.device == "cuda"


def _storage_errors(bank: Bank) -> list[str]:
    """Returns why a bank that could be read cannot be stored."""
    if not bank.questions:
        return ["error: no questions recognized, so nothing is imported; state in a recipe how they are written"]
    # What a question holds is a finding of the reader.
    if any("\0" in text for text in (bank.name, bank.title, bank.license)):
        problem = "it holds a NUL character, which the database cannot keep"
        return [f"error: the title or front matter: {problem}; save the document as plain text"]
    return []


class _Writer:
    """Writes a plan to the database in batches, to limit memory."""

    def __init__(self, session: AsyncSession, bank: tables.BankRow, now: datetime, options: ImportOptions) -> None:
        self._session = session
        self._bank = bank
        self._now = now
        self._progress = options.progress
        self._hold = options.generated == "hold"
        self._forgets = options.recipe == "forgotten"
        self._written: list[str] = []
        self._steps: list[Step] = []
        self._aliases: dict[str, int] = {}

    async def write(self, bank: Bank, plan: Plan, view: ImportView, document: str) -> None:
        row = self._bank
        before = {"title": row.title, "license": row.license, "recipe": row.recipe} if row.id else None
        row.title, row.license = bank.title, bank.license
        row.recipe = bank.recipe or ("" if self._forgets else row.recipe or "")
        self._session.add(row)
        await self._session.flush()
        news, done = plan.new_or_changed, 0
        fixed: dict[int, int] = {}
        for batch in batches(news, BATCH):
            await self._add([item for item in batch if not item.old])
            fixed.update(await self._change([item for item in batch if item.old]))
            done += len(batch)
            self._progress("writing", done, len(news))
        await self._keep([item for item in plan.items if item.old and not item.changed])
        await self._retire(plan)
        await imports.add_aliases(self._session, row.id, self._aliases)
        counts = view.model_dump(include={*plan.counts(), "unanswered"})
        record = tables.BankImport(
            bank_id=row.id,
            at=self._now,
            digest=sha256("\n".join(self._written)),
            summary={**counts, "before": before},
            document=document,
        )
        await imports.add_import(self._session, record, self._steps)
        await regrade_changed(self._session, fixed, self._now)

    async def _add(self, items: Sequence[Item]) -> None:
        rows = [
            {
                "bank_id": self._bank.id,
                "key": item.question.id,
                "current": 1,
                "place": place_data(item.question),
                "held": self._hold and item.question.generated,
            }
            for item in items
        ]
        ids = await imports.add_questions(self._session, rows)
        versions = [self._version(id_, 1, item) for id_, item in zip(ids, items, strict=True)]
        await imports.add_versions(self._session, versions)
        self._steps += [Step(id_, None, 1, retired_before=True, retired_after=False) for id_ in ids]

    async def _change(self, items: Sequence[Item]) -> dict[int, int]:
        """Returns the ids of the new versions by question id."""
        olds = [(item.old, item) for item in items if item.old]
        made = await imports.add_versions(
            self._session, [self._version(old.id, old.current + 1, item) for old, item in olds]
        )
        await self._keep(items)
        return dict(zip((old.id for old, _ in olds), made, strict=True))

    async def _keep(self, items: Sequence[Item]) -> None:
        """Updates known questions: their current version, their place and their aliases; restores retired ones."""
        rows = []
        for item in items:
            old, place = item.old, place_data(item.question)
            assert old is not None, "only known questions can be kept"
            current = old.current + item.changed
            if item.changed or old.retired or old.place != place:
                rows.append({"id": old.id, "current": current, "retired_at": None, "place": place})
            if item.changed or old.retired:
                self._steps.append(Step(old.id, old.current, current, retired_before=old.retired, retired_after=False))
            if item.given_id not in (old.key, *old.aliases):
                self._aliases[item.given_id] = old.id
        for batch in batches(rows, BATCH):
            await imports.update_questions(self._session, batch)

    async def _retire(self, plan: Plan) -> None:
        for batch in batches((old for old, _ in plan.vanished), BATCH):
            rows = [{"id": old.id, "retired_at": self._now} for old in batch]
            await imports.update_questions(self._session, rows)
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


async def regrade_changed(session: AsyncSession, fixed: Mapping[int, int], now: datetime) -> None:
    """Grades closed rounds with these questions again. `fixed` has the id of each question's new version."""
    judged = await imports.filter_judged(session, fixed)
    if not judged:
        return
    # All at once, and before the boards, in the order of everyone who locks both.
    await rounds.hold_closed(session, judged)
    for question_id in sorted(judged):
        await regrade_question(session, fixed[question_id], now)
