"""Imports as rows: what a bank holds, what each import did to it, and what other banks hold beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, func, insert, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Question, from_data
from service.domain.import_plan import GENERATED_TAG, StoredQuestion
from service.store.banks import is_visible_to
from service.store.tables import BankImport, BankRow, ImportStep, QuestionAlias, QuestionVersion, Round
from service.store.tables import QuestionRow as QuestionRow

BATCH = 1000
"""So many rows are written, or read whole, at a time."""

T = TypeVar("T")

_SAID = ("question_id", "kind", "level", "topic", "answered", "family", "digest", "body")
"""The columns of a version that a copy of it shares."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an import did to one question."""

    question_id: int
    version_before: int | None
    """None for a question it added."""
    version_after: int
    retired_before: bool
    retired_after: bool


@dataclass(frozen=True, slots=True)
class CurrentQuestion:
    """A question as it stands."""

    key: str
    prompt: str
    retired_at: datetime | None


async def lock_imports(session: AsyncSession) -> None:
    """Let imports wait for one another until this transaction ends."""
    await session.execute(text("select pg_advisory_xact_lock(hashtext('dailygrad bank import'))"))


async def find_bank(session: AsyncSession, workspace_id: int | None, name: str) -> BankRow | None:
    """The workspace's own bank of that name, or with None the one for everybody."""
    return await session.scalar(
        select(BankRow).where(BankRow.workspace_id.is_not_distinct_from(workspace_id), BankRow.name == name)
    )


async def list_stored(session: AsyncSession, bank_id: int) -> list[StoredQuestion]:
    """The bank's questions, the retired too."""
    aliases = (
        select(func.array_agg(QuestionAlias.key)).where(QuestionAlias.question_id == QuestionRow.id).scalar_subquery()
    )
    rows = await session.execute(
        select(
            QuestionRow.id,
            QuestionRow.key,
            QuestionRow.current,
            QuestionVersion.digest,
            QuestionRow.retired_at,
            QuestionRow.place,
            aliases,
            QuestionVersion.body["tags"].contains([GENERATED_TAG]),
        )
        .join(QuestionVersion, _says_now())
        .where(QuestionRow.bank_id == bank_id)
        .order_by(QuestionRow.id)
    )
    return [
        StoredQuestion(id_, key, current, digest, retired_at is not None, place or {}, tuple(names or ()), made)
        for id_, key, current, digest, retired_at, place, names, made in rows
    ]


async def load_questions(session: AsyncSession, question_ids: Collection[int]) -> dict[int, Question]:
    """What those questions say now."""
    found: dict[int, Question] = {}
    for batch in split_batches(question_ids):
        rows = await session.execute(
            select(QuestionRow.id, QuestionVersion.body)
            .join(QuestionVersion, _says_now())
            .where(QuestionRow.id.in_(batch))
        )
        found.update((id_, from_data(body)) for id_, body in rows)
    return found


async def stream_other_questions(
    session: AsyncSession, workspace_id: int | None, name: str
) -> AsyncIterator[tuple[str, Question]]:
    """What else the workspace is asked, or with None everybody is: the questions of other banks, each with its bank.

    Left out are the bank of that name that belongs to the workspace, and what a document retired.
    """
    mine = BankRow.workspace_id.is_not_distinct_from(workspace_id) & (BankRow.name == name)
    visible = BankRow.workspace_id.is_(None) if workspace_id is None else is_visible_to(workspace_id)
    rows = await session.stream(
        select(BankRow.name, QuestionVersion.body)
        .join(QuestionRow, QuestionRow.bank_id == BankRow.id)
        .join(QuestionVersion, _says_now())
        .where(visible, ~mine, QuestionRow.retired_at.is_(None))
        .order_by(QuestionRow.id)
        .execution_options(yield_per=BATCH)
    )
    async for bank, body in rows:
        yield bank, from_data(body)


async def add_questions(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Add rows of `question`; their numbers, in the same order."""
    made = insert(QuestionRow).returning(QuestionRow.id, sort_by_parameter_order=True)
    return list(await session.scalars(made, rows)) if rows else []


async def add_versions(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Add rows of `question_version`; their numbers, in the same order."""
    made = insert(QuestionVersion).returning(QuestionVersion.id, sort_by_parameter_order=True)
    return list(await session.scalars(made, rows)) if rows else []


async def add_aliases(session: AsyncSession, bank_id: int, aliases: dict[str, int]) -> None:
    """Note ids that prompts make now, each with the question that is meant; the latest word stands."""
    for batch in split_batches(aliases.items()):
        made = upsert(QuestionAlias).values(
            [{"bank_id": bank_id, "key": key, "question_id": question_id} for key, question_id in batch]
        )
        await session.execute(
            made.on_conflict_do_update(
                index_elements=["bank_id", "key"], set_={"question_id": made.excluded.question_id}
            )
        )


async def update_questions(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    """Set `current`, `retired_at` and `place` of questions by their `id`."""
    if rows:
        await session.execute(update(QuestionRow), rows)


async def add_import(session: AsyncSession, record: BankImport, steps: Iterable[Step]) -> None:
    """Note an import and what it did."""
    session.add(record)
    await session.flush()
    for batch in split_batches(steps):
        await session.execute(insert(ImportStep), [{"import_id": record.id, **asdict(step)} for step in batch])


async def list_imports(session: AsyncSession, bank_id: int) -> list[BankImport]:
    """What was imported into the bank, oldest first."""
    return list(await session.scalars(select(BankImport).where(BankImport.bank_id == bank_id).order_by(BankImport.id)))


async def list_steps(session: AsyncSession, import_id: int) -> list[Step]:
    """What an import did, question by question."""
    rows = await session.scalars(
        select(ImportStep).where(ImportStep.import_id == import_id).order_by(ImportStep.question_id)
    )
    return [
        Step(row.question_id, row.version_before, row.version_after, row.retired_before, row.retired_after)
        for row in rows
    ]


async def load_current(session: AsyncSession, question_ids: Collection[int]) -> dict[int, CurrentQuestion]:
    """The questions as they stand, by their number."""
    found: dict[int, CurrentQuestion] = {}
    for batch in split_batches(question_ids):
        rows = await session.execute(
            select(QuestionRow.id, QuestionRow.key, QuestionVersion.body["prompt"].as_string(), QuestionRow.retired_at)
            .join(QuestionVersion, _says_now())
            .where(QuestionRow.id.in_(batch))
        )
        found.update((id_, CurrentQuestion(key, prompt, retired_at)) for id_, key, prompt, retired_at in rows)
    return found


async def copy_versions(session: AsyncSession, copies: Iterable[tuple[int, int, int]], now: datetime) -> dict[int, int]:
    """Have questions say in a new version what they said in an old one: question, old version, new version.

    Returns the new versions' numbers in the database, by the questions'.
    """
    found: dict[int, int] = {}
    for batch in split_batches(copies):
        number = {(question_id, old): new for question_id, old, new in batch}
        rows = await session.scalars(
            select(QuestionVersion).where(
                tuple_(QuestionVersion.question_id, QuestionVersion.version).in_(number), QuestionVersion.drawing == 0
            )
        )
        said = [
            {name: getattr(row, name) for name in _SAID} | {"version": number[row.question_id, row.version]}
            for row in rows
        ]
        made = await add_versions(session, [{**row, "created_at": now} for row in said])
        found.update(zip((row["question_id"] for row in said), made, strict=True))
    return found


async def filter_judged(session: AsyncSession, question_ids: Collection[int]) -> set[int]:
    """Those of the questions that a closed round asked."""
    found: set[int] = set()
    for batch in split_batches(question_ids):
        found.update(
            await session.scalars(
                select(QuestionVersion.question_id)
                .join(Round, Round.version_id == QuestionVersion.id)
                .where(QuestionVersion.question_id.in_(batch), Round.closed_at.is_not(None))
                .distinct()
            )
        )
    return found


def split_batches(things: Iterable[T], size: int = BATCH) -> Iterable[list[T]]:
    """The things, so many at a time."""
    source = iter(things)
    while batch := list(islice(source, size)):
        yield batch


def _says_now() -> ColumnElement[bool]:
    """Whether `QuestionVersion` is what the document says of `QuestionRow` now."""
    return (
        (QuestionVersion.question_id == QuestionRow.id)
        & (QuestionVersion.version == QuestionRow.current)
        & (QuestionVersion.drawing == 0)
    )
