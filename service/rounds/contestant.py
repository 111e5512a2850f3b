"""A model that answers the questions of schedules that ask for it, before they open, and is never ranked.

The leader notices what to ask, a job asks, once. Posting and closing never wait for either: a reveal shows the answer
that is there by then. Its answers are rows of their own, so nothing that counts members' answers counts them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import cast

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.chat_completions import EndpointFailed, ModelEndpoint
from service.domain.calendar import slots_between
from service.domain.contestant import build_messages, parse_reply
from service.errors import Busy
from service.rounds.choosing import choose_for_day
from service.rounds.grading import grade_code
from service.rounds.jobs import Jobs
from service.rounds.ledger import find_problem, grade_answer
from service.rounds.sandbox_turns import FairSandbox
from service.rounds.schedules import build_timetable
from service.rounds.views import build_question_view
from service.store import contestants, questions, variants
from service.store import schedules as schedule_rows
from service.store.contestants import Key
from service.store.questions import Version
from service.store.session import Sessions
from service.store.tables import Round, Schedule
from service.wire import AnswerInput, ContestantAnswer, ScheduleSpec, Verdict, VerdictView

log = structlog.get_logger(__name__)
CHECK_INTERVAL = timedelta(seconds=15)
"""Interval between checks."""
AHEAD = timedelta(minutes=10)
"""Time before a slot from which its question is asked."""
OWNER = 0
"""Owner of the model's runs in the sandbox; members are numbered from 1."""


class Contestant:
    """Notices which questions to ask the model; called at every tick."""

    def __init__(self, sessions: Sessions, jobs: Jobs, endpoint: ModelEndpoint | None) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._endpoint = endpoint
        self._checked: datetime | None = None

    async def check(self, now: datetime) -> None:
        """Queues a question for each slot that comes soon, and for each open round that turned out another one."""
        if self._endpoint is None or (
            self._checked is not None and timedelta() <= now - self._checked < CHECK_INTERVAL
        ):
            return
        self._checked = now
        async with self._sessions.begin() as session:
            for key in await contestants.list_unasked_rounds(session, now):
                await self._queue(session, key, now)
            for schedule in await contestants.list_schedules(session):
                try:
                    async with session.begin_nested():
                        await self._look_ahead(session, schedule, now)
                except (SQLAlchemyError, ValueError, TypeError, LookupError) as error:
                    log.error("the model is not asked ahead", schedule=schedule.id, exc_info=error)

    async def _look_ahead(self, session: AsyncSession, schedule: Schedule, now: datetime) -> None:
        spec = ScheduleSpec.from_stored(schedule.spec)
        skips = await schedule_rows.list_skips(session, schedule.id)
        for slot in slots_between(build_timetable(spec, skips), now, now + AHEAD)[:1]:
            if await contestants.has_question(session, schedule.id, slot.day):
                return
            # The question that the slot will choose, unless the bank or the history changes until then.
            choice = await choose_for_day(session, schedule, spec, slot.day)
            if choice is not None:
                version_id = await variants.pick_for_round(session, schedule.workspace_id, int(choice.id))
                await self._queue(session, (schedule.id, slot.day, version_id), now)

    async def _queue(self, session: AsyncSession, key: Key, now: datetime) -> None:
        assert self._endpoint is not None, "nothing is queued without a model"
        if await contestants.add(session, key, self._endpoint.model, now):
            await self._jobs.defer_asking(session, key)


async def ask_model(
    sessions: Sessions,
    endpoint: ModelEndpoint | None,
    sandbox: FairSandbox | None,
    key: Key,
    clock: Callable[[], datetime],
) -> None:
    """Asks the model one question, and saves its answer. Does nothing if anyone has begun to ask it."""
    if endpoint is None:
        log.error("the model is not asked: this worker has no DAILYGRAD_CONTESTANT_URL")
        return
    async with sessions.begin() as session:
        if not await contestants.claim(session, key, clock()):
            return
        version = await questions.get_version(session, key[2])
    # No transaction is open while the endpoint and the sandbox work.
    question = build_question_view(version)
    try:
        reply = await endpoint.ask(build_messages(question))
    except EndpointFailed as problem:
        log.warning("the model gave no answer", model=endpoint.model, cause=str(problem))
        return
    given = parse_reply(question, reply)
    if given is not None and question.kind != "code" and find_problem(version.question, given):
        given = None
    if given is None:
        log.info("the model gave no valid answer", model=endpoint.model, question=question.id)
    async with sessions.begin() as session:
        await contestants.save(session, key, given, None, clock())
    if given is not None and given.code is not None and sandbox is not None:
        verdict = await _judge(sandbox, version, given.code)
        if verdict is not None:
            async with sessions.begin() as session:
                await contestants.save(session, key, given, verdict, clock())


async def _judge(sandbox: FairSandbox, version: Version, code: str) -> VerdictView | None:
    """Returns the verdict on code, or None if the sandbox has none: nobody waits for it, so nothing is repeated."""
    assert version.question.task is not None, "a code question has a task"
    try:
        async with sandbox.turn(OWNER, "practice") as turn:
            verdict = await grade_code(turn, version.question.task, code, secrets.randbits(128))
    except Busy:
        return None
    return None if verdict.verdict == "system error" else verdict


async def view_answer(
    session: AsyncSession, round_: Round, spec: ScheduleSpec, version: Version
) -> ContestantAnswer | None:
    """Returns what the model answered to a round that closes, or None if its schedule asks no model."""
    if not spec.contestant or round_.number:
        return None
    row = await contestants.find(session, (round_.schedule_id, round_.day, version.id))
    if row is None:
        return ContestantAnswer(model="", problem="no model")
    if row.answered_at is None:
        return ContestantAnswer(model=row.model, problem="no answer")
    if row.given is None:
        return ContestantAnswer(model=row.model, problem="invalid answer")
    given = AnswerInput.from_stored(row.given)
    verdict, credit = cast(Verdict | None, row.verdict), row.credit
    if version.question.kind not in ("code", "open"):
        graded = grade_answer(version.question, given)
        verdict, credit = graded.verdict, graded.credit
    return ContestantAnswer(model=row.model, given=given, verdict=verdict, credit=credit)
