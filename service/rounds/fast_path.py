"""The fast path of an answer: in an open round, to a question that is neither code nor a member's own variant, one
statement does what `submissions.submit_answer` does.

Whatever is out of the ordinary is left to that function, which also decides what is refused.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg import DataError, IntegrityError, OperationalError

from questions.model import Question
from service.errors import Refused
from service.rounds import delivery, submissions
from service.store import questions, rounds
from service.store.answers import ExpectedRound, Submission, record_in_one_statement
from service.store.session import DirectPool, Sessions
from service.tracing import add_fields
from service.wire import CONFIDENCE_KINDS, AnswerResult, QuestionRef, ScheduleSpec, Where, Who

MOST_ROUNDS = 1000
"""Rounds that are remembered; the ones not answered for longest are forgotten first."""


@dataclass(frozen=True, slots=True)
class KnownRound:
    """A round as it was when it was read. The statement changes nothing if it is different now."""

    question: Question
    expected: ExpectedRound
    zone: str


class FastPath:
    """Records answers by one statement each. Rounds are remembered, so it is for one database."""

    def __init__(self, pool: DirectPool, sessions: Sessions) -> None:
        self._pool = pool
        self._sessions = sessions
        self._rounds: OrderedDict[int, KnownRound] = OrderedDict()

    async def record(self, who: Who, where: Where, submitted: Submission, now: datetime) -> AnswerResult | None:
        """Returns the result, stored once per event. None if the answer needs `submit_answer`; nothing is changed
        then."""
        reference = QuestionRef.parse(submitted.ref)
        if reference.kind != "round":
            return None
        known = await self._find(reference.id)
        if known is None:
            return None
        expected = known.expected
        # A platform's clock may be ahead, and nobody answers before the question was posted.
        at = max(expected.opens_at, min(submitted.at, now))
        if at >= expected.closes_at:
            return None
        try:
            given = submissions.validate_answer(known.question, submitted.given)
        except Refused:
            return None
        recorded = AnswerResult(
            status="recorded", ref=str(reference), given=given, closes_at=expected.closes_at, zone=known.zone
        )
        done = await self._execute(who, where, expected, replace(submitted, given=given, at=at), now, recorded)
        if done is None:
            self._rounds.pop(reference.id, None)
        return done

    async def _execute(
        self,
        who: Who,
        where: Where,
        expected: ExpectedRound,
        submitted: Submission,
        now: datetime,
        recorded: AnswerResult,
    ) -> AnswerResult | None:
        changed = recorded.model_copy(update={"status": "changed"})
        replies = (_stored(recorded), _stored(changed))
        edits = delivery.plan_answer_count(expected.id, now)
        try:
            async with self._pool.connection() as connection:
                done = await record_in_one_statement(connection, who, where, expected, submitted, now, replies, edits)
        except (IntegrityError, OperationalError, DataError):
            # The event is another member's, the database is in trouble, or it cannot store a text: the other path says
            # which.
            return None
        if done is None:
            return None
        if done.reply is not None:
            return AnswerResult.model_validate(done.reply["reply"], strict=False, extra="ignore")
        add_fields(answer=done.answer_id, member=done.member_id, ref=recorded.ref)
        return changed if done.is_change else recorded

    async def _find(self, round_id: int) -> KnownRound | None:
        """Returns the round, or None if answers to it never take this path."""
        known = self._rounds.get(round_id)
        if known is None:
            known = await self._read(round_id)
            if known is None:
                return None
            self._rounds[round_id] = known
        self._rounds.move_to_end(round_id)
        if len(self._rounds) > MOST_ROUNDS:
            self._rounds.popitem(last=False)
        return known

    async def _read(self, round_id: int) -> KnownRound | None:
        async with self._sessions() as session:
            found = await rounds.find_asked(session, round_id)
            if found is None:
                return None
            round_, schedule = found
            if round_.closed_at is not None or round_.own_variants or round_.version_id is None:
                return None
            question = (await questions.get_version(session, round_.version_id)).question
        spec = ScheduleSpec.from_stored(schedule.spec)
        if question.kind == "code" or (spec.confidence and question.kind in CONFIDENCE_KINDS):
            return None
        expected = ExpectedRound(
            round_.id, round_.version_id, round_.opens_at, round_.closes_at, json.dumps(schedule.spec)
        )
        return KnownRound(question, expected, spec.zone)


def _stored(reply: AnswerResult) -> str:
    """Returns the reply as `run_once` stores it."""
    return f'{{"reply":{reply.model_dump_json()}}}'
