"""Bringing a bank into the database: all of a document or, where it has an error, nothing. Reading is `questions`'.

Which question is which is `aligning`'s, what is said about it `previewing`'s, taking it back `undoing`'s.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions.blocks import plain
from questions.model import Bank, Question, as_data
from questions.overview import fields_changed
from questions.reader import Reading, read_path, shipped_bank
from questions.report import reading_text
from questions.similarity import NEAR_DUPLICATE, Fingerprint, Index, fingerprint_of
from service.domain.import_plan import (
    MatchedQuestions,
    QuestionMatcher,
    StoredQuestion,
    add_generated_choices,
    can_generate_choices,
    digest_of,
    is_generated,
    place_data,
    sha256,
)
from service.errors import NotFound, NotPossible
from service.rounds.regrading import regrade_question
from service.store import imports, monitoring, tables
from service.store.imports import CurrentQuestion, Step, split_batches
from service.wire import BankLog, Generated, ImportChange, ImportEntry, ImportView, Twin

# What an import does, question by question, and what is asked twice: said before anything is written, and after.


MOST_LISTED = 100
"""Of changes and of duplicates, in a view that goes to a chat."""
BRIEF = 100
"""Characters of a prompt in a list."""
AT_A_TIME = 500
"""Questions compared before the progress is told and other calls get their turn."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question of the document, with the id it has in the bank."""

    question: Question
    digest: str
    made: str
    """The id the document gives it."""
    old: StoredQuestion | None
    """The bank's question it is."""
    before: Question | None
    """What that one says, where it says something else."""

    @property
    def changed(self) -> bool:
        """Whether what is asked changes."""
        return self.old is not None and self.old.digest != self.digest

    @property
    def moved(self) -> bool:
        """Whether it stands under another heading or in another document, or under an id that was not known."""
        if self.old is None:
            return False
        place = place_data(self.question)
        elsewhere = bool(self.old.place) and any(self.old.place[name] != place[name] for name in ("source", "section"))
        return elsewhere or self.made not in (self.old.key, *self.old.aliases)

    @property
    def returned(self) -> bool:
        """Whether a document had dropped it."""
        return self.old is not None and self.old.retired


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import will do to the questions of a bank."""

    items: Sequence[Item]
    """In the document's order."""
    vanished: Sequence[tuple[StoredQuestion, Question]]
    """In the bank and no longer in the document, with what they say; each is retired."""

    @classmethod
    def of(cls, matched: MatchedQuestions, stored: Iterable[StoredQuestion], texts: Mapping[int, Question]) -> Plan:
        """The plan that follows from which question is which."""
        items = [
            Item(question, digest_of(question), made, old, texts.get(old.id) if old else None)
            for (question, old), made in zip(matched.pairs, matched.document_ids, strict=True)
        ]
        kept = {item.old.id for item in items if item.old}
        gone = [(old, texts[old.id]) for old in stored if old.id not in kept and not old.retired]
        return cls(items, gone)

    @property
    def news(self) -> list[Item]:
        """What is added or changed."""
        return [item for item in self.items if item.old is None or item.changed]

    def counts(self) -> dict[str, int]:
        """How many questions are dealt with how."""
        old = [item for item in self.items if item.old]
        return {
            "added": len(self.items) - len(old),
            "changed": sum(item.changed for item in old),
            "unchanged": sum(not item.changed for item in old),
            "moved": sum(item.moved for item in old),
            "returned": sum(item.returned for item in old),
            "retired": len(self.vanished),
        }


def changes_of(plan: Plan) -> list[ImportChange]:
    """Every question that is not simply kept, in the document's order; what it no longer holds comes last."""
    made = [_change(item, what) for item in plan.items if (what := _what(item))]
    return made + [
        ImportChange(id=old.key, what="retired", prompt=in_brief(question.prompt)) for old, question in plan.vanished
    ]


def _what(item: Item) -> Literal["added", "changed", "moved", "returned"] | None:
    if item.old is None:
        return "added"
    if item.changed:
        return "changed"
    return "returned" if item.returned else "moved" if item.moved else None


def _change(item: Item, what: Literal["added", "changed", "moved", "returned"]) -> ImportChange:
    return ImportChange(
        id=item.question.id,
        what=what,
        prompt=in_brief(item.question.prompt),
        line=item.question.place.line,
        fields=fields_changed(item.before, item.question) if item.before and item.changed else (),
        made=item.made if item.made != item.question.id else "",
    )


def in_brief(prompt: str) -> str:
    """The first words of a prompt, plain."""
    said = plain(prompt)
    return said if len(said) <= BRIEF else said[: BRIEF - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Twins:
    """What is asked twice."""

    pairs: Sequence[Twin]
    """The most alike first."""

    def said(self, most: int | None) -> dict[str, Any]:
        """As fields of a view that lists at most so many."""
        exact = sum(twin.score == 1 for twin in self.pairs)
        return {
            "exact": exact,
            "near": len(self.pairs) - exact,
            "near_from": NEAR_DUPLICATE,
            "twins": tuple(self.pairs[:most]),
        }


async def twins_of(
    session: AsyncSession, plan: Plan, workspace_id: int | None, name: str, tell: Callable[[int, int], None]
) -> Twins:
    """Which new or changed questions are like others of the document, or of other banks the workspace is asked from."""
    # A choice made of a question asks the same by design.
    news = [item for item in plan.news if not is_generated(item.question)]
    if not news:
        return Twins(())
    prints: list[tuple[tuple[str, str], Fingerprint]] = []
    for batch in imports.split_batches(plan.items, AT_A_TIME):
        prints += await asyncio.to_thread(
            _prints, [("", item.question) for item in batch if not is_generated(item.question)]
        )
        tell(len(prints) // 2, len(plan.items))
    waiting: list[tuple[str, Question]] = []
    async for one in imports.stream_other_questions(session, workspace_id, name):
        if not is_generated(one[1]):
            waiting.append(one)
        if len(waiting) == AT_A_TIME:
            prints += await asyncio.to_thread(_prints, waiting)
            waiting = []
    prints += await asyncio.to_thread(_prints, waiting)
    index = await asyncio.to_thread(Index, prints)
    found = _Found(plan, index)
    for number, batch in enumerate(imports.split_batches(news, AT_A_TIME), 1):
        await asyncio.to_thread(found.look, batch)
        tell(len(plan.items) // 2 + min(number * AT_A_TIME, len(news)) // 2, len(plan.items))
    return Twins(sorted(found.pairs, key=lambda twin: -twin.score))


def _prints(questions: Iterable[tuple[str, Question]]) -> list[tuple[tuple[str, str], Fingerprint]]:
    return [((bank, question.id), fingerprint_of(question)) for bank, question in questions]


class _Found:
    """Gathers pairs; one of two new questions of the document is named once, by the later of them."""

    def __init__(self, plan: Plan, index: Index[tuple[str, str]]) -> None:
        self.pairs: list[Twin] = []
        self._index = index
        self._order = {item.question.id: number for number, item in enumerate(plan.news)}

    def look(self, items: Iterable[Item]) -> None:
        for item in items:
            id_ = item.question.id
            for like in self._index.similar_to(("", id_)):
                bank, other = like.key
                if bank or self._order.get(other, -1) < self._order[id_]:
                    line = item.question.place.line
                    self.pairs.append(Twin(id=id_, line=line, other=other, bank=bank, score=round(like.score, 3)))


Tell = Callable[[str, int, int], None]
"""Told of the progress: what is done, how much of it so far, and of how much."""


def silent(_said: str, _done: int, _total: int) -> None:
    """Tells nobody."""


async def plan(session: AsyncSession, bank: Bank, row: tables.BankRow | None, generated: Generated = "none") -> Plan:
    """What to do so that the database holds `bank`, whose row, where it has one, is `row`."""
    stored = await imports.list_stored(session, row.id) if row else []
    made_before = [old for old in stored if old.generated]
    # Thousands of digests and comparisons would keep every other call waiting.
    matcher = await asyncio.to_thread(QuestionMatcher, bank.questions, [old for old in stored if not old.generated])
    texts = await imports.load_questions(session, [old.id for old in (*matcher.unresolved(), *made_before)])
    matched = await asyncio.to_thread(matcher.match, texts)
    if generated != "none" and can_generate_choices(bank):
        matched = await asyncio.to_thread(add_generated_choices, matched, made_before)
    return await asyncio.to_thread(Plan.of, matched, stored, texts)


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
    await imports.lock_imports(session)
    row = await imports.find_bank(session, workspace_id, bank.name)
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
        for_gpu=0 if await monitoring.check_gpu(session) else sum(map(_needs_gpu, bank.questions)),
    )
    if view.applied:
        document = PurePath(reading.source.name).name if reading else ""
        row = row or tables.BankRow(workspace_id=workspace_id, name=bank.name)
        await _Writing(session, row, now, tell, hold).write(bank, todo, view, document)
    return view


def _needs_gpu(question: Question) -> bool:
    return question.task is not None and question.task.device == "cuda"


def _faults(bank: Bank) -> list[str]:
    """What keeps a bank out of the database though it could be read."""
    if not bank.questions:
        return [f"error: bank {bank.name}: no questions recognized in it, so nothing is imported"]
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

    def __init__(self, session: AsyncSession, bank: tables.BankRow, now: datetime, tell: Tell, hold: bool) -> None:
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
        for batch in split_batches(news):
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
                "place": place_data(item.question),
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
            old, place = item.old, place_data(item.question)
            assert old is not None, "only what the bank knows is kept"
            current = old.current + item.changed
            if item.changed or old.retired or old.place != place:
                rows.append({"id": old.id, "current": current, "retired_at": None, "place": place})
            if item.changed or old.retired:
                self._steps.append(Step(old.id, old.current, current, retired_before=old.retired, retired_after=False))
            if item.made not in (old.key, *old.aliases):
                self._aliases[item.made] = old.id
        for batch in split_batches(rows):
            await imports.update_questions(self._session, batch)

    async def _retire(self, todo: Plan) -> None:
        for batch in split_batches(old for old, _ in todo.vanished):
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


async def regrade_all(session: AsyncSession, fixed: Mapping[int, int], now: datetime) -> None:
    """Judge again what closed rounds asked of these questions; each with the number of its new version."""
    for question_id in sorted(await imports.filter_judged(session, fixed)):
        await regrade_question(session, fixed[question_id], now)


# The record of a bank's imports, and taking the latest one back: by a new import, so that nothing is ever erased.


WHICH = "The list of banks names them all."


async def import_log(session: AsyncSession, workspace_id: int | None, name: str) -> BankLog:
    """What was imported into the workspace's bank of that name, or into everybody's where it has none."""
    bank = await _bank(session, workspace_id, name)
    rows = await imports.list_imports(session, bank.id)
    numbers = {row.id: number for number, row in enumerate(rows, 1)}
    entries = [_entry(row, numbers) for row in reversed(rows)]
    return BankLog(name=bank.name, shared=bank.workspace_id is None, imports=tuple(entries))


async def undo_import(session: AsyncSession, workspace_id: int | None, name: str, now: datetime) -> ImportView:
    """Take back the latest import that changed anything in the workspace's bank, or with None in everybody's.

    What it added is retired, what it changed says again what it said before, in a new version, and what it retired
    comes back. Rounds keep the versions they asked; closed ones are judged again as after any change. An undo is an
    import too: undone in turn, it is done again. Refused where there is nothing to take back.
    """
    await imports.lock_imports(session)
    bank = await _bank(session, workspace_id, name)
    if bank.workspace_id != workspace_id:
        raise NotPossible(
            cause=f"Bank {name} is everybody's, not this workspace's own: its operator undoes it, "
            f"with `dailygrad bank undo {name}`."
        )
    latest, steps = await _latest(session, bank)
    held = await imports.load_current(session, [step.question_id for step in steps])
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


async def _bank(session: AsyncSession, workspace_id: int | None, name: str) -> tables.BankRow:
    wanted = name.strip()
    bank = await imports.find_bank(session, workspace_id, wanted) or await imports.find_bank(session, None, wanted)
    if bank is None:
        raise NotFound(what=f"bank {wanted!r}", cure=WHICH)
    return bank


async def _latest(session: AsyncSession, bank: tables.BankRow) -> tuple[tables.BankImport, list[Step]]:
    for row in reversed(await imports.list_imports(session, bank.id)):
        steps = await imports.list_steps(session, row.id)
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


async def _set(session: AsyncSession, done: Sequence[Step], held: dict[int, CurrentQuestion], now: datetime) -> None:
    for batch in split_batches(done):
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


def _view(name: str, done: Sequence[Step], held: dict[int, CurrentQuestion]) -> ImportView:
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
