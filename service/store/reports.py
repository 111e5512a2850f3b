"""Reports as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller
from service.store.tables import Member, Question, QuestionVersion, Report


def add(session: AsyncSession, caller: Caller, version_id: int, text: str, now: datetime) -> Report:
    """A report by the caller, still open."""
    row = Report(
        workspace_id=caller.workspace_id,
        member_id=caller.member_id,
        version_id=version_id,
        text=text,
        at=now,
        state="open",
    )
    session.add(row)
    return row


async def all_of(session: AsyncSession, workspace_id: int) -> Sequence[tuple[Report, str, str]]:
    """The reports with the question's id and the reporter's name, those still open first, then the newest first."""
    query = _select().where(Report.workspace_id == workspace_id)
    rows = await session.execute(query.order_by(Report.state != "open", Report.id.desc()))
    return [(report, key, name) for report, key, name in rows]


async def find(session: AsyncSession, workspace_id: int, report_id: int) -> tuple[Report, str, str] | None:
    """One report of this workspace, locked until the transaction ends."""
    query = _select().where(Report.workspace_id == workspace_id, Report.id == report_id)
    row = (await session.execute(query.with_for_update(of=Report))).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


def _select() -> Select[Report, str, str]:
    return (
        select(Report, Question.key, Member.name)
        .join(QuestionVersion, QuestionVersion.id == Report.version_id)
        .join(Question, Question.id == QuestionVersion.question_id)
        .join(Member, Member.id == Report.member_id)
    )
