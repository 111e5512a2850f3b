"""What a judged answer in a round is earned, booked once; shared by the close, late verdicts and regrading."""

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
"""Credits are summed as floats; closer than this they are the same."""


def grade_answer(question: Question, given: AnswerInput) -> VerdictView:
    """How an answer of any kind but `code` is judged."""
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
    """The booking of one round: its measures are taken once."""

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
        """The book of a round, with its question's difficulty as it was when the round opened."""
        share = await answers.mean_credit_before(session, round_, schedule.workspace_id)
        return cls(round_, schedule, question, share)

    async def post(self, session: AsyncSession, entry: RoundEntry, credit: float) -> int:
        """Book what counts of a member, once per round and member whatever happens; returns the points."""
        seconds = await self._seconds(session, entry.answer)
        earned = self._points(credit, seconds)
        key = f"round:{self._round.id}:member:{entry.member.id}"
        await self._insert(session, entry.member.id, key, "round", earned, credit, seconds)
        return earned

    async def post_correction(self, session: AsyncSession, entry: RoundEntry, credit: float, version_id: int) -> int:
        """Book the difference to what stands for this member, once per version of the question; returns it.

        What was never booked stays so, and so does what is as right as before: a new level, or a schedule that
        scores otherwise by now, changes no round that is closed.
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
