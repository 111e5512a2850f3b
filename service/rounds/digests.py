"""The digest of a week: what those who run the quiz get on Monday about the week before. Without names."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import get_zone
from service.domain.topics import area_of
from service.reference_clock import Interval
from service.rounds import mastery
from service.rounds.review import notify_moderators
from service.store import digests as rows
from service.store import schedules
from service.store.members import Caller
from service.store.session import Sessions
from service.wire import DigestQuestion, DigestTopic, DigestView, TopicMastery, WeekDigest

log = structlog.get_logger(__name__)
SENT_AT = time(9)
"""Local time on Monday at which a digest is sent."""
LATEST = timedelta(days=3)
"""How late a digest is still sent."""
LEAST_ANSWERS = 3
"""Judged answers that a question needs to be named."""
LEAST_TOPIC_ANSWERS = 10
"""Judged answers that a topic needs to be named."""
TOPICS_NAMED = 3
"""Weakest topics that a digest names."""
TOPIC_WEEKS = 4
"""Weeks over which topics are compared: one week asks about too few."""
RETRY = timedelta(hours=1)
"""Time after which a digest that could not be made is tried again."""
CHECK_INTERVAL = timedelta(seconds=60)
"""Interval between checks."""
MAX_PER_CHECK = 50
"""Most digests made in one check. The tick waits for them."""
_WEEK = timedelta(days=7)


async def plan_first(session: AsyncSession, workspace_id: int, zone: str, now: datetime) -> None:
    """Plans the digests of a workspace that gets its first schedule."""
    await rows.add_plan(session, workspace_id, next_monday(zone, now))


async def switch(session: AsyncSession, caller: Caller, on: bool, now: datetime) -> DigestView:
    """Turns the workspace's digests on or off."""
    zone = await schedules.get_zone(session, caller.workspace_id)
    await rows.set_plan(session, caller.workspace_id, next_monday(zone, now) if on else None)
    return await view(session, caller, now)


async def view(session: AsyncSession, caller: Caller, now: datetime) -> DigestView:
    """Returns the digest of the last complete week, sent or not."""
    zone = await schedules.get_zone(session, caller.workspace_id)
    return DigestView(
        digest=await make_digest(session, caller.workspace_id, zone, last_week(zone, now)),
        next_at=await rows.get_next(session, caller.workspace_id),
        zone=zone,
    )


def last_week(zone: str, now: datetime) -> date:
    """Returns the Monday of the last complete week."""
    today = now.astimezone(get_zone(zone)).date()
    return today - timedelta(days=today.weekday()) - _WEEK


def next_monday(zone: str, now: datetime) -> datetime:
    """Returns the next instant at which a digest is sent."""
    tz = get_zone(zone)
    today = now.astimezone(tz).date()
    monday = today - timedelta(days=today.weekday())
    instants = (datetime.combine(monday + weeks * _WEEK, SENT_AT, tz).astimezone(now.tzinfo) for weeks in range(2))
    return next(instant for instant in instants if instant > now)


async def make_digest(session: AsyncSession, workspace_id: int, zone: str, monday: date) -> WeekDigest:
    """Returns the digest of the week of that Monday. A question belongs to the week in which it closed."""
    start, end = (_midnight(zone, monday + days) for days in (timedelta(), _WEEK))
    before = _midnight(zone, monday - _WEEK)
    totals = await rows.sum_answers(session, workspace_id, start, end)
    hardest = await rows.find_hardest(session, workspace_id, start, end, LEAST_ANSWERS)
    since = _midnight(zone, monday - (TOPIC_WEEKS - 1) * _WEEK)
    weakest = await rows.list_weakest_topics(
        session, workspace_id, since, end, least=LEAST_TOPIC_ANSWERS, most=TOPICS_NAMED
    )
    known = await mastery.view_team(session, workspace_id)
    return WeekDigest(
        first=monday,
        last=monday + _WEEK - timedelta(days=1),
        rounds=await rows.count_rounds(session, workspace_id, start, end),
        members=totals.members,
        members_before=(await rows.sum_answers(session, workspace_id, before, start)).members,
        answers=totals.answers,
        right=totals.right,
        hardest=hardest and DigestQuestion(question=hardest.name, answers=hardest.answers, right=hardest.right),
        weakest=tuple([_view_topic(one, known.get(area_of(one.name))) for one in weakest]),
        reports=await rows.count_open_reports(session, workspace_id),
    )


class Digests:
    """Sends the digests that are due; called at every tick."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._interval = Interval(CHECK_INTERVAL)

    async def check(self, now: datetime) -> None:
        """Enqueues the digests that are due, each once, whichever process is first."""
        if not self._interval.is_due(now):
            return
        for _ in range(MAX_PER_CHECK):
            async with self._sessions.begin() as session:
                due = await rows.claim_due(session, now)
                if due is None:
                    return
                try:
                    async with session.begin_nested():
                        await _send(session, *due, now)
                except (SQLAlchemyError, ValueError, TypeError, LookupError) as error:
                    # A digest that cannot be made must not hold up the others, nor what a tick does after them.
                    log.error("digest not sent", workspace=due[0], exc_info=error)
                    await rows.move_plan(session, due[0], now + RETRY)


async def _send(session: AsyncSession, workspace_id: int, due_at: datetime, now: datetime) -> None:
    zone = await schedules.get_zone(session, workspace_id)
    await rows.move_plan(session, workspace_id, next_monday(zone, now))
    if now - due_at > LATEST:
        return
    digest = await make_digest(session, workspace_id, zone, last_week(zone, now))
    if digest.rounds:
        key = f"digest:{workspace_id}:{digest.first.isoformat()}"
        await notify_moderators(session, workspace_id, key, digest, None, now)


def _view_topic(one: rows.Share, known: TopicMastery | None) -> DigestTopic:
    low, high = (known.low, known.high) if known else (None, None)
    return DigestTopic(topic=one.name, answers=one.answers, right=one.right, low=low, high=high)


def _midnight(zone: str, day: date) -> datetime:
    return datetime.combine(day, time(), get_zone(zone))
