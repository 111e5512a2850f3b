"""Rows of bank imports: what a bank contains, what each import changed, and what other banks contain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from questions.model import GENERATED_TAG, Question, from_data
from service.domain.import_plan import StoredQuestion
from service.store.banks import is_current, is_visible_to
from service.store.statements import batches, insert_batches, insert_rows
from service.store.tables import BankImport, BankRow, ImportStep, QuestionAlias, QuestionVersion, Round
from service.store.tables import QuestionRow as QuestionRow

BATCH = 1000
"""Rows written, or read in full, at a time."""

_COPIED_COLUMNS = ("question_id", "kind", "level", "topic", "answered", "family", "digest", "body")
"""Columns that a copied version keeps."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an import did to one question."""

    question_id: int
    version_before: int | None
    """None for an added question."""
    version_after: int
    retired_before: bool
    retired_after: bool


@dataclass(frozen=True, slots=True)
class CurrentQuestion:
    """A question in its current version."""

    key: str
    prompt: str
    retired_at: datetime | None


async def lock_imports(session: AsyncSession) -> None:
    """Makes imports wait for one another until this transaction ends."""
    await session.execute(text("select pg_advisory_xact_lock(hashtext('dailygrad bank import'))"))


async def find_bank(session: AsyncSession, workspace_id: int | None, name: str) -> BankRow | None:
    """Returns the workspace's own bank of that name, or with None the shared bank."""
    return await session.scalar(
        select(BankRow).where(BankRow.workspace_id.is_not_distinct_from(workspace_id), BankRow.name == name)
    )


async def list_bank_names(session: AsyncSession, workspace_id: int | None) -> list[str]:
    """Returns the names of the workspace's own banks and of the shared ones, in order."""
    own = or_(BankRow.workspace_id.is_(None), BankRow.workspace_id == workspace_id)
    return list(await session.scalars(select(BankRow.name).where(own).order_by(BankRow.name)))


async def list_stored(session: AsyncSession, bank_id: int) -> list[StoredQuestion]:
    """Returns the questions of the bank, including retired ones."""
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
        .join(QuestionVersion, is_current())
        .where(QuestionRow.bank_id == bank_id)
        .order_by(QuestionRow.id)
    )
    return [
        StoredQuestion(id_, key, current, digest, retired_at is not None, place or {}, tuple(names or ()), made)
        for id_, key, current, digest, retired_at, place, names, made in rows
    ]


async def load_questions(session: AsyncSession, question_ids: Collection[int]) -> dict[int, Question]:
    """Returns the current versions of these questions."""
    found: dict[int, Question] = {}
    for batch in batches(question_ids, BATCH):
        rows = await session.execute(
            select(QuestionRow.id, QuestionVersion.body)
            .join(QuestionVersion, is_current())
            .where(QuestionRow.id.in_(batch))
        )
        found.update((id_, from_data(body)) for id_, body in rows)
    return found


async def stream_other_questions(
    session: AsyncSession, workspace_id: int | None, name: str
) -> AsyncIterator[tuple[str, Question]]:
    """Streams the questions of other banks that the workspace can see (with None: shared banks), each with its bank.

    Leaves out the workspace's own bank of that name, and questions that a document retired.
    """
    mine = BankRow.workspace_id.is_not_distinct_from(workspace_id) & (BankRow.name == name)
    visible = BankRow.workspace_id.is_(None) if workspace_id is None else is_visible_to(workspace_id)
    rows = await session.stream(
        select(BankRow.name, QuestionVersion.body)
        .join(QuestionRow, QuestionRow.bank_id == BankRow.id)
        .join(QuestionVersion, is_current())
        .where(visible, ~mine, QuestionRow.retired_at.is_(None))
        .order_by(QuestionRow.id)
        .execution_options(yield_per=BATCH)
    )
    async for bank, body in rows:
        yield bank, from_data(body)


async def add_questions(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Inserts rows of `question`. Returns their ids in the same order."""
    ids: dict[tuple[Any, ...], int] = {}
    for batch in batches(rows, BATCH):
        made = insert_rows(QuestionRow, batch).returning(QuestionRow.id, QuestionRow.bank_id, QuestionRow.key)
        found = await session.execute(made)
        ids |= {(bank_id, key): id_ for id_, bank_id, key in found}
    return [ids[row["bank_id"], row["key"]] for row in rows]


async def add_versions(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Inserts rows of `question_version`, not of variants. Returns their ids in the same order."""
    ids: dict[tuple[Any, ...], int] = {}
    for batch in batches(rows, BATCH):
        made = insert_rows(QuestionVersion, batch).returning(
            QuestionVersion.id, QuestionVersion.question_id, QuestionVersion.version
        )
        found = await session.execute(made)
        ids |= {(question_id, version): id_ for id_, question_id, version in found}
    return [ids[row["question_id"], row["version"]] for row in rows]


async def add_aliases(session: AsyncSession, bank_id: int, aliases: dict[str, int]) -> None:
    """Records ids that prompts make now, each with the question meant. A newer alias replaces an older one."""
    for batch in batches(aliases.items(), BATCH):
        made = upsert(QuestionAlias).values(
            [{"bank_id": bank_id, "key": key, "question_id": question_id} for key, question_id in batch]
        )
        await session.execute(
            made.on_conflict_do_update(
                index_elements=["bank_id", "key"], set_={"question_id": made.excluded.question_id}
            )
        )


async def update_questions(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    """Updates `current`, `retired_at` and `place` of questions by `id`."""
    if rows:
        await session.execute(update(QuestionRow), rows)


async def add_import(session: AsyncSession, record: BankImport, steps: Iterable[Step]) -> None:
    """Records an import and its steps."""
    session.add(record)
    await session.flush()
    for made in insert_batches(ImportStep, [{"import_id": record.id, **asdict(step)} for step in steps]):
        await session.execute(made)


async def list_imports(session: AsyncSession, bank_id: int) -> list[BankImport]:
    """Returns the imports into the bank, oldest first."""
    return list(await session.scalars(select(BankImport).where(BankImport.bank_id == bank_id).order_by(BankImport.id)))


async def count_imports(session: AsyncSession, bank_id: int) -> int:
    """Returns how many imports into the bank there are, which is the number of the latest."""
    query = select(func.count()).select_from(BankImport).where(BankImport.bank_id == bank_id)
    return int(await session.scalar(query) or 0)


@dataclass(frozen=True, slots=True)
class LoggedImport:
    """An import with its number, from 1, among those into its bank."""

    row: BankImport
    number: int
    undoes: int | None
    """Number of the import that it undid."""


async def list_newest_imports(session: AsyncSession, bank_id: int, most: int) -> list[LoggedImport]:
    """Returns the newest imports into the bank, newest first."""
    number = func.row_number().over(order_by=BankImport.id).label("number")
    numbered = select(BankImport.id, number).where(BankImport.bank_id == bank_id).subquery()
    undone = aliased(numbered)
    query = (
        select(BankImport, numbered.c.number, undone.c.number)
        .join(numbered, numbered.c.id == BankImport.id)
        .outerjoin(undone, undone.c.id == BankImport.undoes)
        .order_by(BankImport.id.desc())
        .limit(most)
    )
    return [LoggedImport(*row) for row in await session.execute(query)]


async def list_steps(session: AsyncSession, import_id: int) -> list[Step]:
    """Returns the steps of an import by question."""
    rows = await session.scalars(
        select(ImportStep).where(ImportStep.import_id == import_id).order_by(ImportStep.question_id)
    )
    return [
        Step(row.question_id, row.version_before, row.version_after, row.retired_before, row.retired_after)
        for row in rows
    ]


async def load_current(session: AsyncSession, question_ids: Collection[int]) -> dict[int, CurrentQuestion]:
    """Returns the questions in their current versions, by id."""
    found: dict[int, CurrentQuestion] = {}
    for batch in batches(question_ids, BATCH):
        rows = await session.execute(
            select(QuestionRow.id, QuestionRow.key, QuestionVersion.body["prompt"].as_string(), QuestionRow.retired_at)
            .join(QuestionVersion, is_current())
            .where(QuestionRow.id.in_(batch))
        )
        found.update((id_, CurrentQuestion(key, prompt, retired_at)) for id_, key, prompt, retired_at in rows)
    return found


async def copy_versions(session: AsyncSession, copies: Iterable[tuple[int, int, int]], now: datetime) -> dict[int, int]:
    """Copies old versions as new ones: (question, old version, new version).

    Returns the row ids of the new versions by question id.
    """
    found: dict[int, int] = {}
    for batch in batches(copies, BATCH):
        number = {(question_id, old): new for question_id, old, new in batch}
        rows = await session.scalars(
            select(QuestionVersion).where(
                tuple_(QuestionVersion.question_id, QuestionVersion.version).in_(number), QuestionVersion.drawing == 0
            )
        )
        copied = [
            {name: getattr(row, name) for name in _COPIED_COLUMNS} | {"version": number[row.question_id, row.version]}
            for row in rows
        ]
        made = await add_versions(session, [{**row, "created_at": now} for row in copied])
        found.update(zip((row["question_id"] for row in copied), made, strict=True))
    return found


async def filter_judged(session: AsyncSession, question_ids: Collection[int]) -> set[int]:
    """Returns those of the questions that a closed round asked."""
    found: set[int] = set()
    for batch in batches(question_ids, BATCH):
        found.update(
            await session.scalars(
                select(QuestionVersion.question_id)
                .join(Round, Round.version_id == QuestionVersion.id)
                .where(QuestionVersion.question_id.in_(batch), Round.closed_at.is_not(None))
                .distinct()
            )
        )
    return found
