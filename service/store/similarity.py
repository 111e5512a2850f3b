"""Answers of a workspace's closed rounds, as the statistics for moderators need them. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import (
    AnswerRow,
    CurrentAnswer,
    Ledger,
    Member,
    QuestionVersion,
    Round,
    Schedule,
    VerdictRow,
)


@dataclass(frozen=True, slots=True)
class QuickMember:
    """A member with right answers that came very soon after the question."""

    member_id: int
    name: str
    right: int
    quick: int


async def list_choices(
    session: AsyncSession, workspace_id: int, since: datetime
) -> tuple[list[dict[int, str | None]], dict[int, str]]:
    """Returns what members answered to each choice question of a round that closed since then: the wrong options, or
    None for a right answer; and the members' names. Each variant of a round is a question of its own."""
    newest = (
        select(VerdictRow.answer_id, VerdictRow.credit)
        .ext(distinct_on(VerdictRow.answer_id))
        .order_by(VerdictRow.answer_id, VerdictRow.id.desc())
        .subquery()
    )
    query: Any = (
        select(Round.id, AnswerRow.version_id, Member.id, Member.name, AnswerRow.given["options"], newest.c.credit)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(CurrentAnswer, CurrentAnswer.round_id == Round.id)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        .join(newest, newest.c.answer_id == AnswerRow.id)
        .where(
            Schedule.workspace_id == workspace_id,
            Round.closed_at >= since,
            QuestionVersion.kind == "choice",
            Member.forgotten_at.is_(None),
        )
    )
    asked: dict[tuple[int, int], dict[int, str | None]] = {}
    names: dict[int, str] = {}
    for round_id, version_id, member_id, name, options, credit in await session.execute(query):
        names[member_id] = name
        wrong = None if credit == 1 else "\n".join(sorted(options or ()))
        asked.setdefault((round_id, version_id), {})[member_id] = wrong
    return list(asked.values()), names


@dataclass(frozen=True, slots=True)
class OwnVariantAnswer:
    """A member's judged answer to a variant of their own."""

    round_id: int
    version_id: int
    member_id: int
    name: str
    given: dict[str, Any]
    credit: float | None


async def list_own_variants(session: AsyncSession, workspace_id: int, since: datetime) -> list[OwnVariantAnswer]:
    """Returns the judged answers of the rounds that closed since then and gave every member their own variant."""
    query = (
        select(Round.id, AnswerRow.version_id, Member.id, Member.name, AnswerRow.given, VerdictRow.credit)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(CurrentAnswer, CurrentAnswer.round_id == Round.id)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        # Variants are never graded again, so an answer has one verdict.
        .join(VerdictRow, and_(VerdictRow.answer_id == AnswerRow.id, VerdictRow.version_id == AnswerRow.version_id))
        .where(
            Schedule.workspace_id == workspace_id,
            Round.own_variants,
            Round.closed_at >= since,
            Member.forgotten_at.is_(None),
        )
        .order_by(Round.id, AnswerRow.id)
    )
    return [OwnVariantAnswer(*row) for row in await session.execute(query)]


async def list_quick(
    session: AsyncSession, workspace_id: int, since: datetime, within_s: float, least: int
) -> list[QuickMember]:
    """Returns the members with at least `least` fully right answers within some seconds of the question, most first."""
    quick = func.count().filter(Ledger.seconds < within_s)
    query = (
        select(Member.id, Member.name, func.count(), quick)
        .join(Ledger, Ledger.member_id == Member.id)
        .where(
            Ledger.workspace_id == workspace_id,
            Ledger.reason == "round",
            Ledger.at >= since,
            Ledger.credit == 1,
            Member.forgotten_at.is_(None),
            Member.merged_into.is_(None),
        )
        .group_by(Member.id)
        .having(quick >= least)
        .order_by(quick.desc(), Member.id)
    )
    return [QuickMember(id_, name, int(right), int(count)) for id_, name, right, count in await session.execute(query)]
