"""What the database holds at this moment, counted for the metrics: a few cheap queries, none about anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import Chat, Outbox, Round, Schedule, Trouble

WAITING = ("due", "sending", "uncertain")


@dataclass(frozen=True, slots=True)
class Queue:
    """Some of what waits, under a name of ours."""

    name: str
    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of one task in one state."""

    task: str
    status: str
    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Measures:
    """All of it."""

    outbox: Sequence[Queue]
    """By platform."""
    overdue: Queue
    """Questions that should stand in their channel for longer than the grace."""
    answers: Queue
    """Code answers that wait for their verdict."""
    jobs: Sequence[Jobs]
    schedules: int
    open_rounds: int
    unclosed: int
    """Rounds whose time is up and whose books are open."""
    troubles: Sequence[tuple[str, int]]
    led: bool
    """Whether any worker leads."""


async def measured(session: AsyncSession, now: datetime, grace: timedelta, leader: int) -> Measures:
    """Everything, as of now; `leader` is the key of the leader's lock."""
    open_rounds, unclosed = await _rounds(session, now)
    return Measures(
        outbox=await _outbox(session),
        overdue=await _overdue(session, now - grace),
        answers=await waiting_answers(session),
        jobs=await jobs(session),
        schedules=await _schedules(session),
        open_rounds=open_rounds,
        unclosed=unclosed,
        troubles=await _troubles(session),
        led=await is_led(session, leader),
    )


async def waiting_answers(session: AsyncSession, workspace_id: int | None = None) -> Queue:
    """The code answers that wait for their verdict, of one workspace or of all."""
    values = {} if workspace_id is None else {"workspace": workspace_id}
    query = _ANSWERS if workspace_id is None else f"{_ANSWERS} and {_OF_ONE}"
    return Queue("code", *(await session.execute(text(query), values)).one())


async def jobs(session: AsyncSession) -> Sequence[Jobs]:
    """The jobs that wait, are being done, or failed for good."""
    return [Jobs(*row) for row in await session.execute(text(_JOBS))]


async def is_led(session: AsyncSession, leader: int) -> bool:
    """Whether somebody holds the leader's lock of this database."""
    return bool(await session.scalar(text(_LED), {"high": leader >> 32, "low": leader & 0xFFFFFFFF}))


async def _outbox(session: AsyncSession) -> Sequence[Queue]:
    query = (
        select(Chat.platform, func.count(), func.min(Outbox.due_at))
        .join(Chat, Chat.id == Outbox.chat_id)
        .where(Outbox.state.in_(WAITING))
        .group_by(Chat.platform)
    )
    return [Queue(*row) for row in await session.execute(query)]


async def _overdue(session: AsyncSession, before: datetime) -> Queue:
    query = select(func.count(), func.min(Outbox.due_at)).where(
        Outbox.state.in_(WAITING), Outbox.kind == "question", Outbox.due_at < before
    )
    return Queue("question", *(await session.execute(query)).one())


async def _schedules(session: AsyncSession) -> int:
    query = select(func.count()).select_from(Schedule).where(Schedule.removed_at.is_(None))
    return await session.scalar(query) or 0


async def _rounds(session: AsyncSession, now: datetime) -> tuple[int, int]:
    query = select(func.count(), func.count().filter(Round.closes_at <= now)).where(
        Round.closed_at.is_(None), Round.skipped.is_(None)
    )
    taken, unclosed = (await session.execute(query)).one()
    return taken - unclosed, unclosed


async def _troubles(session: AsyncSession) -> Sequence[tuple[str, int]]:
    query = select(Trouble.what, func.count()).where(Trouble.over_at.is_(None)).group_by(Trouble.what)
    return [(what, count) for what, count in await session.execute(query)]


# procrastinate keeps when a job was deferred as an event of it.
_JOBS = """
    select job.task_name, job.status::text, count(*), min(event.at)
    from procrastinate_jobs job
    left join procrastinate_events event on event.job_id = job.id and event.type = 'deferred'
    where job.status in ('todo', 'doing', 'failed')
    group by 1, 2 order by 1, 2
"""
# A job that found no turn is left anew, so it is the answer that says since when somebody waits.
_ANSWERS = """
    select count(distinct answer.id), min(answer.at)
    from procrastinate_jobs job join answer on answer.id = (job.args ->> 'answer_id')::bigint
    where job.task_name = 'judge_answer' and job.status in ('todo', 'doing')
"""
_OF_ONE = "answer.member_id in (select id from member where workspace_id = :workspace)"
_LED = """
    select exists (
        select from pg_locks
        where locktype = 'advisory' and granted and classid::bigint = :high and objid::bigint = :low
        and database = (select oid from pg_database where datname = current_database())
    )
"""
