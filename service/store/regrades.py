"""What judging the answers of closed rounds again moved. Judging them is in `service.rounds.regrading`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from service.store.questions import newest_version_id
from service.store.tables import AnswerRow, CurrentAnswer, Ledger, QuestionVersion, Round, VerdictRow

CREDIT_TOLERANCE = 1e-9
"""Difference below which two credits are equal."""


@dataclass(frozen=True, slots=True)
class Regrade:
    """What judging the answers of closed rounds again moved."""

    rounds: int
    """Closed rounds with the question."""
    answers: int
    """Answers in them that count."""
    judged: int
    """Of those, answers that the new version judged."""
    better: int
    worse: int
    gained: int
    """Points that members got."""
    lost: int
    members: int
    """Members whose points changed."""


async def sum_regrade(session: AsyncSession, question_id: int) -> Regrade:
    """Returns what the newest version of a question moved, in three statements."""
    version_id = await newest_version_id(session, question_id)
    of_question = select(QuestionVersion.id).where(QuestionVersion.question_id == question_id)
    rounds, answers = (
        await session.execute(
            select(func.count(Round.id.distinct()), func.count(CurrentAnswer.answer_id))
            .outerjoin(CurrentAnswer, CurrentAnswer.round_id == Round.id)
            .where(Round.version_id.in_(of_question), Round.closed_at.is_not(None))
        )
    ).one()
    new, old = aliased(VerdictRow), aliased(VerdictRow)
    latest = (
        select(old.credit)
        .where(old.answer_id == new.answer_id, old.version_id != version_id)
        .order_by(old.id.desc())
        .limit(1)
        .correlate(new)
        .scalar_subquery()
    )
    moved = new.credit - latest
    judged, better, worse = (
        await session.execute(
            select(
                func.count(),
                func.count().filter(moved > CREDIT_TOLERANCE),
                func.count().filter(moved < -CREDIT_TOLERANCE),
            )
            .select_from(new)
            .join(CurrentAnswer, CurrentAnswer.answer_id == new.answer_id)
            .join(AnswerRow, AnswerRow.id == new.answer_id)
            .where(new.version_id == version_id, AnswerRow.round_id.is_not(None))
        )
    ).one()
    corrections = Ledger.key.startswith(f"regrade:{version_id}:", autoescape=True)
    gained, lost, members = (
        await session.execute(
            select(
                func.coalesce(func.sum(Ledger.points).filter(Ledger.points > 0), 0),
                func.coalesce(-func.sum(Ledger.points).filter(Ledger.points < 0), 0),
                func.count(Ledger.member_id.distinct()).filter(Ledger.points != 0),
            ).where(corrections, Ledger.round_id.in_(select(Round.id).where(Round.version_id.in_(of_question))))
        )
    ).one()
    return Regrade(*map(int, (rounds, answers, judged, better, worse, gained, lost, members)))
