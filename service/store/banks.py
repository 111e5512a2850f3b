"""Rows of banks, questions and question versions. What may be chosen is in `candidates`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.competition_tables import Sprint, SprintQuestion
from service.store.members import Caller, merged_ids
from service.store.monitoring import lacks_gpu
from service.store.statements import built_once
from service.store.tables import (
    AnswerRow,
    BankImport,
    BankRow,
    QuestionRow,
    QuestionVersion,
    Retirement,
    Round,
    Schedule,
    Workspace,
)
from service.wire import BankView, Generated


def is_visible_to(workspace_id: int) -> ColumnElement[bool]:
    """Tests whether a bank is shared by all workspaces or owned by this one."""
    return or_(BankRow.workspace_id.is_(None), BankRow.workspace_id == workspace_id)


def restrict_to_askable(
    query: Select[*tuple[Any, ...]], workspace_id: int, *, anywhere: bool = False
) -> Select[*tuple[Any, ...]]:
    """Restricts a query of question versions to those that may be asked in this workspace now.

    Leaves out questions that no connected sandbox can judge, unless `anywhere` is set.
    """
    retired = exists().where(Retirement.question_id == QuestionRow.id, Retirement.workspace_id == workspace_id)
    return (
        query.join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
        .where(
            is_current(),
            QuestionVersion.answered.is_(True),
            or_(QuestionVersion.family.is_(False), has_variants()),
            QuestionRow.retired_at.is_(None),
            QuestionRow.held.is_(False),
            is_visible_to(workspace_id),
            ~retired,
            *(() if anywhere else (~lacks_gpu(),)),
        )
    )


def has_variants() -> ColumnElement[bool]:
    """Tests whether variants of the family `QuestionVersion` are stored."""
    drawn = QuestionVersion.__table__.alias("has_drawn")
    return exists(
        select(drawn.c.id).where(
            drawn.c.question_id == QuestionVersion.question_id,
            drawn.c.version == QuestionVersion.version,
            drawn.c.drawing > 0,
        )
    )


def is_asked_now(workspace_id: int) -> ColumnElement[bool]:
    """Tests whether a round or a sprint of the workspace is asking any version of `QuestionRow` now, or will in a
    running sprint. Its key is still secret."""
    then = QuestionVersion.__table__.alias("asked_now")
    in_round = (
        select(Round.id)
        .join(then, then.c.id == Round.version_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.closed_at.is_(None), then.c.question_id == QuestionRow.id)
    )
    in_sprint = (
        select(SprintQuestion.id)
        .join(Sprint, Sprint.id == SprintQuestion.sprint_id)
        .join(then, then.c.id == SprintQuestion.version_id)
        .where(
            Sprint.workspace_id == workspace_id,
            Sprint.ended_at.is_(None),
            SprintQuestion.settled_at.is_(None),
            then.c.question_id == QuestionRow.id,
        )
    )
    return or_(exists(in_round), exists(in_sprint))


async def count_waiting_for_gpu(session: AsyncSession, workspace_id: int) -> int:
    """Returns how many more questions could be asked in this workspace if a sandbox had a GPU."""
    query = restrict_to_askable(select(func.count()).select_from(QuestionVersion), workspace_id, anywhere=True)
    return int(await session.scalar(query.where(lacks_gpu())) or 0)


async def count_topics(session: AsyncSession, workspace_id: int) -> list[tuple[str, int]]:
    """Returns each topic with the number of questions that may be asked, by name."""
    return [(topic, int(count)) for topic, count in await session.execute(*_count_topics(workspace_id))]


@built_once
def _count_topics(workspace_id: int) -> Select[*tuple[Any, ...]]:
    query = restrict_to_askable(select(QuestionVersion.topic, func.count()).select_from(QuestionVersion), workspace_id)
    return query.group_by(QuestionVersion.topic).order_by(QuestionVersion.topic)


async def list_banks(session: AsyncSession, workspace_id: int) -> list[BankView]:
    """Returns the banks visible to this workspace, its own last."""
    retired_here = exists().where(Retirement.question_id == QuestionRow.id, Retirement.workspace_id == workspace_id)
    retired = or_(QuestionRow.retired_at.is_not(None), retired_here)
    rows = await session.execute(
        select(
            BankRow.name,
            BankRow.title,
            func.count().filter(QuestionVersion.answered.is_(True), ~retired, ~QuestionRow.held),
            func.count().filter(QuestionVersion.answered.is_(False), ~retired),
            func.count().filter(retired),
            func.count().filter(QuestionRow.held, ~retired),
        )
        .join(QuestionRow, QuestionRow.bank_id == BankRow.id)
        .join(QuestionVersion, is_current())
        .where(is_visible_to(workspace_id))
        .group_by(BankRow.id)
        .order_by(BankRow.workspace_id.is_not(None), BankRow.name)
    )
    return [
        BankView(name=name, title=title, questions=askable, unanswered=unanswered, retired=gone, waiting=waiting)
        for name, title, askable, unanswered, gone, waiting in rows
    ]


async def get_question_id(session: AsyncSession, workspace_id: int, bank: str, key: str) -> int:
    """Returns the id of a question in a bank of the workspace's own. Raises NoResultFound if there is none."""
    mine = (BankRow.workspace_id == workspace_id, BankRow.name == bank, QuestionRow.key == key)
    query = select(QuestionRow.id).join(BankRow, BankRow.id == QuestionRow.bank_id).where(*mine)
    return (await session.scalars(query)).one()


async def find_questions(
    session: AsyncSession, workspace_id: int, key: str
) -> Sequence[tuple[QuestionRow, QuestionVersion]]:
    """Returns the questions with this id that the workspace can see, with their current versions, its own bank first.

    A family is also found by the id of any of its variants.
    """
    wanted = key.strip().lower()
    rows = await session.execute(
        select(QuestionRow, QuestionVersion)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
        .join(QuestionVersion, is_current())
        .where(or_(func.lower(QuestionRow.key) == wanted, _drew(wanted)), is_visible_to(workspace_id))
        .order_by(BankRow.workspace_id.is_(None), BankRow.name)
    )
    return [(question, version) for question, version in rows]


async def is_own_question(session: AsyncSession, workspace_id: int, question_id: int) -> bool:
    """Returns whether the question is in a bank of the workspace's own."""
    own = select(QuestionRow.id).join(BankRow, BankRow.id == QuestionRow.bank_id)
    own = own.where(QuestionRow.id == question_id, BankRow.workspace_id == workspace_id)
    return await session.scalar(own) is not None


async def retire(session: AsyncSession, workspace_id: int, question_id: int, now: datetime) -> None:
    """Retires a question in this workspace. Does nothing if it is already retired."""
    row = insert(Retirement).values(workspace_id=workspace_id, question_id=question_id, at=now)
    await session.execute(row.on_conflict_do_nothing())


async def reinstate(session: AsyncSession, workspace_id: int, question_id: int) -> None:
    """Reverses `retire`."""
    if row := await session.get(Retirement, (workspace_id, question_id)):
        await session.delete(row)


async def is_retired(session: AsyncSession, workspace_id: int, question_id: int) -> bool:
    """Returns whether the workspace retired the question."""
    return await session.get(Retirement, (workspace_id, question_id)) is not None


async def approve(session: AsyncSession, workspace_id: int | None, key: str | None) -> int:
    """Approves one held question of the workspace's own banks, or all if `key` is None. Returns how many."""
    own = select(BankRow.id).where(BankRow.workspace_id.is_not_distinct_from(workspace_id))
    waiting = [QuestionRow.held, QuestionRow.retired_at.is_(None), QuestionRow.bank_id.in_(own)]
    if key is not None:
        waiting.append(func.lower(QuestionRow.key) == key.strip().lower())
    done = await session.execute(update(QuestionRow).where(*waiting).values(held=False).returning(QuestionRow.id))
    return len(done.all())


async def get_generated_policy(session: AsyncSession, workspace_id: int) -> Generated:
    """Returns how the workspace's imports treat generated choices."""
    return cast(Generated, await session.scalar(select(Workspace.generated).where(Workspace.id == workspace_id)))


async def set_generated_policy(session: AsyncSession, workspace_id: int, how: Generated) -> None:
    """Sets how the workspace's imports treat generated choices."""
    await session.execute(update(Workspace).where(Workspace.id == workspace_id).values(generated=how))


async def count_imports_each(session: AsyncSession, workspace_ids: Collection[int]) -> dict[int, int]:
    """Returns how many imports went into banks that each of these workspaces can see."""
    query = select(BankRow.workspace_id, func.count()).join(BankImport, BankRow.id == BankImport.bank_id)
    seen = or_(BankRow.workspace_id.is_(None), BankRow.workspace_id.in_(workspace_ids))
    found = {row[0]: int(row[1]) for row in await session.execute(query.where(seen).group_by(BankRow.workspace_id))}
    return {workspace_id: found.get(None, 0) + found.get(workspace_id, 0) for workspace_id in workspace_ids}


async def has_met_question(session: AsyncSession, caller: Caller, question_id: int) -> bool:
    """Returns whether the caller has answered the question, or a closed round or a sprint of their workspace asked
    it."""
    answered = (
        select(AnswerRow.id)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .where(AnswerRow.member_id.in_(merged_ids(caller.member_id)), QuestionVersion.question_id == question_id)
    )
    closed = (
        select(Round.id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(
            Schedule.workspace_id == caller.workspace_id,
            Round.closed_at.is_not(None),
            QuestionVersion.question_id == question_id,
        )
    )
    revealed = (
        select(SprintQuestion.id)
        .join(QuestionVersion, QuestionVersion.id == SprintQuestion.version_id)
        .where(
            SprintQuestion.workspace_id == caller.workspace_id,
            SprintQuestion.settled_at.is_not(None),
            QuestionVersion.question_id == question_id,
        )
    )
    return await session.scalar(answered.union_all(closed, revealed).limit(1)) is not None


def _drew(wanted: str) -> ColumnElement[bool]:
    """Tests whether `QuestionRow` is a family with a variant of this id: the family's id plus ten digits."""
    drawn = QuestionVersion.__table__.alias("named_drawing")
    return (func.lower(QuestionRow.key) == wanted.rpartition("-")[0]) & exists(
        select(drawn.c.id).where(
            drawn.c.question_id == QuestionRow.id, drawn.c.drawing > 0, drawn.c.body["id"].as_string() == wanted
        )
    )


def is_current() -> ColumnElement[bool]:
    """Tests whether `QuestionVersion` is the current version of `QuestionRow`, as the document has it."""
    return (
        (QuestionVersion.question_id == QuestionRow.id)
        & (QuestionVersion.version == QuestionRow.current)
        & (QuestionVersion.drawing == 0)
    )
