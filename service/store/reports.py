"""Rows of members' reports about questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller
from service.store.tables import Member, QuestionRow, QuestionVersion, ReportRow


def add(session: AsyncSession, caller: Caller, version_id: int, text: str, now: datetime) -> ReportRow:
    """Adds an open report by the caller."""
    row = ReportRow(
        workspace_id=caller.workspace_id,
        member_id=caller.member_id,
        version_id=version_id,
        text=text,
        at=now,
        state="open",
    )
    session.add(row)
    return row


async def list_reports(session: AsyncSession, workspace_id: int) -> Sequence[tuple[ReportRow, str, str]]:
    """Returns the reports with question id and reporter's name, open ones first, then newest first."""
    query = _select().where(ReportRow.workspace_id == workspace_id)
    rows = await session.execute(query.order_by(ReportRow.state != "open", ReportRow.id.desc()))
    return [(report, key, name) for report, key, name in rows]


async def lock_report(session: AsyncSession, workspace_id: int, report_id: int) -> tuple[ReportRow, str, str] | None:
    """Returns one report of this workspace, locked until the transaction ends."""
    query = _select().where(ReportRow.workspace_id == workspace_id, ReportRow.id == report_id)
    row = (await session.execute(query.with_for_update(of=ReportRow))).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


def _select() -> Select[ReportRow, str, str]:
    return (
        select(ReportRow, QuestionRow.key, Member.name)
        .join(QuestionVersion, QuestionVersion.id == ReportRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .join(Member, Member.id == ReportRow.member_id)
    )
