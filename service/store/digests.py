"""When digests are due, and the figures in them, from the rounds that closed in a week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, Subquery, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.ledger import answers_in
from service.store.review_tables import DigestPlan, ReportRow
from service.store.tables import QuestionRow, QuestionVersion, Round, Schedule


async def add_plan(session: AsyncSession, workspace_id: int, next_at: datetime) -> None:
    """Plans the workspace's first digest. Does nothing if it has a plan, or digests were turned off."""
    made = insert(DigestPlan).values(workspace_id=workspace_id, next_at=next_at)
    await session.execute(made.on_conflict_do_nothing())


async def set_plan(session: AsyncSession, workspace_id: int, next_at: datetime | None) -> None:
    """Sets when the next digest is sent; None turns digests off."""
    made = insert(DigestPlan).values(workspace_id=workspace_id, next_at=next_at)
    await session.execute(made.on_conflict_do_update(index_elements=["workspace_id"], set_={"next_at": next_at}))


async def get_next(session: AsyncSession, workspace_id: int) -> datetime | None:
    """Returns when the next digest is sent; None if never."""
    return await session.scalar(select(DigestPlan.next_at).where(DigestPlan.workspace_id == workspace_id))


async def claim_due(session: AsyncSession, now: datetime) -> tuple[int, datetime] | None:
    """Locks the plan that has been due longest, unless another process has it. Returns its workspace and instant."""
    query = select(DigestPlan.workspace_id, DigestPlan.next_at).where(DigestPlan.next_at <= now)
    query = query.order_by(DigestPlan.next_at).limit(1).with_for_update(skip_locked=True)
    row = (await session.execute(query)).one_or_none()
    return None if row is None or row[1] is None else (row[0], row[1])


async def move_plan(session: AsyncSession, workspace_id: int, next_at: datetime | None) -> None:
    """Sets the next instant of a plan that is locked."""
    await session.execute(update(DigestPlan).where(DigestPlan.workspace_id == workspace_id).values(next_at=next_at))


@dataclass(frozen=True, slots=True)
class Totals:
    """What was answered in the rounds that closed in a period."""

    rounds: int
    members: int
    answers: int
    right: float | None
    """Mean credit of the judged answers; None if there are none."""


@dataclass(frozen=True, slots=True)
class Share:
    """How a question or a topic was answered."""

    name: str
    answers: int
    right: float
    """Mean credit."""


async def count_rounds(session: AsyncSession, workspace_id: int, start: datetime, end: datetime) -> int:
    """Returns how many rounds closed in the period."""
    closed = _closed(workspace_id, start, end).subquery()
    return int(await session.scalar(select(func.count()).select_from(closed)) or 0)


async def sum_answers(session: AsyncSession, workspace_id: int, start: datetime, end: datetime) -> Totals:
    """Returns what was answered in the rounds that closed in the period."""
    each = _answers(workspace_id, start, end)
    query = select(
        func.count(each.c.id.distinct()),
        func.count(each.c.member_id.distinct()),
        func.count(),
        func.avg(each.c.credit),
    )
    rounds, members, answers, right = (await session.execute(query.select_from(each))).one()
    return Totals(rounds, members, answers, None if right is None else float(right))


async def find_hardest(
    session: AsyncSession, workspace_id: int, start: datetime, end: datetime, least: int
) -> Share | None:
    """Returns the question of the period with the lowest mean credit, of those with `least` judged answers."""
    each = _answers(workspace_id, start, end)
    answers, right = func.count(each.c.credit), func.avg(each.c.credit)
    query = (
        select(QuestionRow.key, answers, right)
        .select_from(each)
        .join(QuestionVersion, QuestionVersion.id == each.c.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .group_by(QuestionRow.id)
        .having(answers >= least)
        .order_by(right, QuestionRow.key)
        .limit(1)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else Share(row[0], row[1], float(row[2]))


async def list_weakest_topics(
    session: AsyncSession, workspace_id: int, start: datetime, end: datetime, *, least: int, most: int
) -> Sequence[Share]:
    """Returns the topics of the period with the lowest mean credit, of those with `least` judged answers; lowest
    first. Leaves out topics that were always answered right."""
    each = _answers(workspace_id, start, end)
    answers, right = func.count(each.c.credit), func.avg(each.c.credit)
    query = (
        select(QuestionVersion.topic, answers, right)
        .select_from(each)
        .join(QuestionVersion, QuestionVersion.id == each.c.version_id)
        .where(QuestionVersion.topic != "")
        .group_by(QuestionVersion.topic)
        .having(answers >= least, right < 1)
        .order_by(right, QuestionVersion.topic)
        .limit(most)
    )
    return [Share(name, count, float(mean)) for name, count, mean in await session.execute(query)]


async def count_open_reports(session: AsyncSession, workspace_id: int) -> int:
    """Returns how many reports wait for a moderator."""
    waiting = (ReportRow.workspace_id == workspace_id, ReportRow.state == "open")
    return int(await session.scalar(select(func.count()).where(*waiting)) or 0)


def _closed(workspace_id: int, start: datetime, end: datetime) -> Select[int, int | None]:
    """Selects the rounds of the workspace that closed in the period, with their question's version."""
    return (
        select(Round.id, Round.version_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.skipped.is_(None))
        .where(Round.closed_at >= start, Round.closed_at < end)
    )


def _answers(workspace_id: int, start: datetime, end: datetime) -> Subquery:
    return answers_in(_closed(workspace_id, start, end).subquery()).subquery()
