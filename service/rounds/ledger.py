"""Posts the points of a round to the ledger, once; used by closing, late verdicts and regrading."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from questions.drivers import scores_points
from questions.model import Question
from service.domain.scoring import (
    ScoringPolicy,
    compute_points,
    confidence_points,
    hint_points,
)
from service.rounds.board_keys import open_board, open_for_posting
from service.store import answers, boards, ledger, outbox, suggestions
from service.store.answers import RoundEntry
from service.store.statements import batches
from service.store.tables import AnswerRow, Round, Schedule
from service.wire import AnswerInput, ScheduleSpec

CREDIT_TOLERANCE = 1e-9
"""Difference below which two sums of credits are equal."""
RANKED_TOGETHER = 200_000
"""Members whose ranks are read by one statement, which goes through the whole board: a second or two at a million."""


class LedgerPosting:
    """Posts points of one round, together or a page of answers at a time. Takes the same number of statements for one
    answer as for a whole page."""

    def __init__(
        self,
        round_: Round,
        schedule: Schedule,
        question: Question,
        share_right: float | None,
        hinted: frozenset[int] = frozenset(),
        author: int | None = None,
    ) -> None:
        self._round = round_
        self._author = author
        self._hinted = hinted
        self._schedule = schedule
        self._question = question
        self._share_right = share_right
        self._shown_at: dict[int | None, datetime] = {}
        self._policy = ScoringPolicy(speed_bonus=ScheduleSpec.from_stored(schedule.spec).speed_bonus)
        self._week_board: int | None = None
        self._ranks_before: dict[int, int] = {}
        self._posted: list[int] = []

    @classmethod
    async def for_round(
        cls, session: AsyncSession, round_: Round, schedule: Schedule, question: Question
    ) -> LedgerPosting:
        """Creates it for a round, with the question's difficulty at the time it opened."""
        share = await answers.mean_credit_before(session, round_, schedule.workspace_id)
        hinted = await answers.list_hint_takers(session, round_.id)
        return cls(round_, schedule, question, share, hinted, await suggestions.find_round_author(session, round_.id))

    async def post(self, session: AsyncSession, graded: Sequence[tuple[RoundEntry, float | None]]) -> list[int]:
        """Posts the points of answers with their credits, once per round and member, and records how the members' ranks
        on the channel's board of the week changed. Returns the points of each.

        An open answer has no credit (None) and gets the points of participation.
        """
        await self.note_ranks(session, [entry.member.id for entry, _ in graded])
        points = await self.post_page(session, graded)
        await self.save_ranks(session)
        return points

    async def note_ranks(self, session: AsyncSession, member_ids: Sequence[int]) -> None:
        """Keeps the ranks that these members have before `post_page`. Call it once, with all members of all pages."""
        if not member_ids:
            return
        schedule, at = self._schedule, self._round.opens_at
        await open_for_posting(session, schedule, at)
        self._week_board = await open_board(session, schedule.workspace_id, schedule.channel_id, "week", at)
        for page in batches(member_ids, RANKED_TOGETHER):
            self._ranks_before |= await boards.get_ranks(session, self._week_board, page)

    async def post_page(self, session: AsyncSession, graded: Sequence[tuple[RoundEntry, float | None]]) -> list[int]:
        """Posts the points of some of the answers, as `post` does. Call `save_ranks` after the last page."""
        posted, rows = [], []
        for entry, credit in graded:
            if self.is_author(entry.member.id):
                posted.append(0)
                row = self._row(entry, f"round:{self._round.id}:member:{entry.member.id}", "round", 0, None)
                rows.append(row | {"seconds": None})
                continue
            seconds = await self._seconds(session, entry.answer)
            posted.append(self._points(credit, seconds) + self._extra_points(entry, credit))
            key = f"round:{self._round.id}:member:{entry.member.id}"
            # Writing prose is not a race, so its time breaks no tie.
            seconds_row = {"seconds": None if credit is None else seconds}
            rows.append(self._row(entry, key, "round", posted[-1], credit) | seconds_row)
        await ledger.insert_entries(session, rows)
        self._posted += [row["member_id"] for row in rows]
        return posted

    async def save_ranks(self, session: AsyncSession) -> None:
        """Records the ranks of the members whose points were posted: before, as noted, and after."""
        if self._week_board is None or not self._posted:
            return
        ranked = await boards.count_ranked(session, self._week_board)
        for page in batches(self._posted, RANKED_TOGETHER):
            after = await boards.get_ranks(session, self._week_board, page)
            ranks = [(member, self._ranks_before.get(member), after.get(member)) for member in page]
            await answers.save_ranks(session, self._round.id, ranks, ranked)

    async def post_corrections(
        self, session: AsyncSession, graded: Sequence[tuple[RoundEntry, float]], version_id: int
    ) -> list[int]:
        """Posts the differences to the members' points, once per question version. Returns the difference of each.

        The difference is 0 if no points were posted before, or if the credit is unchanged: a new level or changed
        scoring does not alter closed rounds.
        """
        totals = await ledger.sum_round(session, self._round.id, [entry.member.id for entry, _ in graded])
        moved, rows = [], []
        for entry, credit in graded:
            if self.is_author(entry.member.id):
                moved.append(0)
                continue
            points, credited = totals.get(entry.member.id, (0, credit))
            share = credit - credited
            if abs(share) < CREDIT_TOLERANCE:
                moved.append(0)
                continue
            earned = self._points(credit, await self._seconds(session, entry.answer))
            moved.append(earned + self._extra_points(entry, credit) - points)
            key = f"regrade:{version_id}:round:{self._round.id}:member:{entry.member.id}"
            rows.append(self._row(entry, key, "regrade", moved[-1], share) | {"seconds": None})
        await ledger.insert_entries(session, rows)
        return moved

    async def post_credit(self, session: AsyncSession, entry: RoundEntry, credit: float, given: int) -> int:
        """Posts the difference that a credit given by people makes, once per `GivenCredit`. Returns the points."""
        if self.is_author(entry.member.id):
            return 0
        posted = await ledger.sum_round(session, self._round.id, [entry.member.id])
        points, credited = posted.get(entry.member.id, (0, 0.0))
        moved = self._points(credit, None) + self.hint_points(entry.member.id, credit) - points
        row = self._row(entry, f"credit:{given}", "credit", moved, credit - credited)
        await ledger.insert_entries(session, [row | {"seconds": None}])
        return moved

    @property
    def share_right(self) -> float | None:
        """Measured share of right answers to the question before the round."""
        return self._share_right

    @property
    def author(self) -> int | None:
        """The member who suggested the question."""
        return self._author

    def full_points(self) -> int:
        """Returns the points of a right answer, without a bonus."""
        return self.points_without_bonus(1.0)

    def points_without_bonus(self, credit: float | None) -> int:
        """Returns the points of an answer with `credit` that came too late for a bonus."""
        return self._points(credit, None)

    def confidence_points(self, answer: AnswerRow, credit: float | None) -> int:
        """Returns the points for how sure the member was."""
        # Of ten thousand answers, few say: those that do not are not read for it.
        if credit is None or answer.given.get("confidence") is None:
            return 0
        return confidence_points(credit, AnswerInput.from_stored(answer.given).confidence, self._policy)

    def is_author(self, member_id: int) -> bool:
        """Returns whether the member suggested the question, so that it earns them nothing."""
        return member_id == self._author

    def hint_points(self, member_id: int, credit: float | None) -> int:
        """Returns what the hint cost the member; 0 if they did not take it."""
        if member_id not in self._hinted:
            return 0
        return hint_points(self.points_without_bonus(credit), self._policy)

    def _extra_points(self, entry: RoundEntry, credit: float | None) -> int:
        return self.confidence_points(entry.answer, credit) + self.hint_points(entry.member.id, credit)

    def _points(self, credit: float | None, seconds: float | None) -> int:
        question = self._question
        if question.task and not scores_points(question.task.driver):
            return 0
        return compute_points(question.kind, question.level, self._share_right, credit, seconds, self._policy).total

    def _row(self, entry: RoundEntry, key: str, reason: str, points: int, credit: float | None) -> dict[str, Any]:
        return {
            "key": key,
            "workspace_id": self._schedule.workspace_id,
            "member_id": entry.member.id,
            "round_id": self._round.id,
            "points": points,
            "credit": credit,
            "reason": reason,
            "at": self._round.opens_at,
        }

    async def _seconds(self, session: AsyncSession, answer: AnswerRow) -> float:
        if answer.chat_id not in self._shown_at:
            self._shown_at[answer.chat_id] = await outbox.first_shown_at(session, self._round, answer.chat_id)
        return max(0.0, (answer.at - self._shown_at[answer.chat_id]).total_seconds())
