"""Counts of what waits for the admins of a workspace."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.markings import select_waiting
from service.store.review_tables import ReportRow, SuggestionRow
from service.store.tables import BankRow, CurrentAnswer, QuestionRow, Round, Schedule


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much waits, and how many members took part lately."""

    reports: int
    suggestions: int
    answers: int
    generated: int
    members: int


async def count_waiting(session: AsyncSession, workspace_id: int, since: datetime) -> Waiting:
    """Returns the counts, in one statement. `members` answered a round that opened since then."""
    reports = select(func.count()).where(ReportRow.workspace_id == workspace_id, ReportRow.state == "open")
    suggested = select(func.count()).where(SuggestionRow.workspace_id == workspace_id, SuggestionRow.state == "waiting")
    held = (
        select(func.count())
        .select_from(QuestionRow)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
        .where(QuestionRow.held, QuestionRow.retired_at.is_(None), BankRow.workspace_id == workspace_id)
    )
    members = (
        select(func.count(CurrentAnswer.member_id.distinct()))
        .join(Round, Round.id == CurrentAnswer.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.opens_at >= since)
    )
    counts: list[Select[Any]] = [reports, suggested, select_waiting(workspace_id), held, members]
    row = (await session.execute(select(*(each.scalar_subquery() for each in counts)))).one()
    return Waiting(*map(int, row))
