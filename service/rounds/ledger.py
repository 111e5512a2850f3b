"""Grades answers and posts the points of a round to the ledger, once; used by closing, late verdicts and regrading."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Question
from service.domain.scoring import ScoredAnswer, ScoringPolicy, compute_credit, compute_points
from service.store import answers, outbox
from service.store.answers import RoundEntry
from service.store.tables import AnswerRow, Ledger, Round, Schedule
from service.wire import AnswerInput, ScheduleSpec, VerdictView

CREDIT_TOLERANCE = 1e-9
"""Difference below which two sums of credits are equal."""


def grade_answer(question: Question, given: AnswerInput) -> VerdictView:
    """Returns the verdict on an answer of any kind but `code`."""
    options = None if given.options is None else frozenset(given.options)
    found = compute_credit(question, ScoredAnswer(options, given.text))
    return VerdictView(
        verdict=found.verdict,
        credit=found.share,
        message=found.message,
        judged=given.text or "",
        provisional=found.provisional,
    )


class LedgerPosting:
    """Posts points of one round, with the round's difficulty loaded once."""

    def __init__(self, round_: Round, schedule: Schedule, question: Question, share_right: float | None) -> None:
        self._round = round_
        self._schedule = schedule
        self._question = question
        self._share_right = share_right
        self._policy = ScoringPolicy(speed_bonus=ScheduleSpec.model_validate(schedule.spec).speed_bonus)

    @classmethod
    async def for_round(
        cls, session: AsyncSession, round_: Round, schedule: Schedule, question: Question
    ) -> LedgerPosting:
        """Creates it for a round, with the question's difficulty at the time it opened."""
        share = await answers.mean_credit_before(session, round_, schedule.workspace_id)
        return cls(round_, schedule, question, share)

    async def post(self, session: AsyncSession, entry: RoundEntry, credit: float) -> int:
        """Posts a member's points, once per round and member. Returns the points."""
        seconds = await self._seconds(session, entry.answer)
        earned = self._points(credit, seconds)
        key = f"round:{self._round.id}:member:{entry.member.id}"
        await self._insert(session, entry.member.id, key, "round", earned, credit, seconds)
        return earned

    async def post_correction(self, session: AsyncSession, entry: RoundEntry, credit: float, version_id: int) -> int:
        """Posts the difference to the member's points, once per question version. Returns the difference.

        Does nothing if no points were posted before, or if the credit is unchanged: a new level or changed scoring
        does not alter closed rounds.
        """
        query = select(func.count(), func.sum(Ledger.points), func.sum(Ledger.credit)).where(
            Ledger.round_id == self._round.id, Ledger.member_id == entry.member.id
        )
        count, booked, credited = (await session.execute(query)).one()
        if not count:
            return 0
        share = credit - float(credited or 0)
        if abs(share) < CREDIT_TOLERANCE:
            return 0
        earned = self._points(credit, await self._seconds(session, entry.answer)) - int(booked)
        key = f"regrade:{version_id}:round:{self._round.id}:member:{entry.member.id}"
        await self._insert(session, entry.member.id, key, "regrade", earned, share, None)
        return earned

    def _points(self, credit: float, seconds: float) -> int:
        question = self._question
        return compute_points(question.kind, question.level, self._share_right, credit, seconds, self._policy).total

    async def _insert(
        self,
        session: AsyncSession,
        member_id: int,
        key: str,
        reason: str,
        earned: int,
        credit: float,
        seconds: float | None,
    ) -> None:
        row = {
            "key": key,
            "workspace_id": self._schedule.workspace_id,
            "member_id": member_id,
            "round_id": self._round.id,
            "points": earned,
            "credit": credit,
            "seconds": seconds,
            "reason": reason,
            "at": self._round.opens_at,
        }
        await session.execute(insert(Ledger).values(row).on_conflict_do_nothing())

    async def _seconds(self, session: AsyncSession, answer: AnswerRow) -> float:
        asked_at = await outbox.first_shown_at(session, self._round, answer.chat_id)
        return max(0.0, (answer.at - asked_at).total_seconds())
