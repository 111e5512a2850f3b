"""What an operations page is drawn from, as rows: slots with their messages, what waits, what failed. Of one workspace,
or of all for whoever runs Dailygrad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.measures import WAITING, Queue
from service.store.tables import Channel, Chat, Outbox, Round, Schedule


@dataclass(frozen=True, slots=True)
class Posting:
    """A round and one message that puts its question to a channel; no message where it was skipped before."""

    round: Round
    schedule: Schedule
    row: Outbox | None
    channel: Channel
    chat: Chat


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that was given up."""

    task: str
    attempts: int
    at: datetime | None


async def postings(session: AsyncSession, workspace_id: int | None, since: datetime, limit: int) -> Sequence[Posting]:
    """The slots since then, the newest first."""
    mine = [] if workspace_id is None else [Schedule.workspace_id == workspace_id]
    query = (
        select(Round, Schedule, Outbox, Channel, Chat)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .outerjoin(Outbox, and_(Outbox.round_id == Round.id, Outbox.kind == "question"))
        .join(Channel, Channel.id == func.coalesce(Outbox.channel_id, Schedule.channel_id))
        .join(Chat, Chat.id == Channel.chat_id)
        .where(*mine, Round.opens_at >= since)
        .order_by(Round.opens_at.desc(), Round.id.desc(), Outbox.id)
        .limit(limit)
    )
    return [Posting(*row) for row in await session.execute(query)]


async def undelivered(session: AsyncSession, workspace_id: int | None) -> Sequence[Queue]:
    """The messages that wait, by platform."""
    query = (
        select(Chat.platform, func.count(), func.min(Outbox.due_at))
        .join(Chat, Chat.id == Outbox.chat_id)
        .where(*_mine(workspace_id), Outbox.state.in_(WAITING))
        .group_by(Chat.platform)
        .order_by(Chat.platform)
    )
    return [Queue(*row) for row in await session.execute(query)]


async def failures(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[tuple[Outbox, Chat, Channel | None]]:
    """Messages due since then that were given up, or whose last try failed, the newest first."""
    failed = or_(Outbox.state == "skipped", Outbox.state.in_(WAITING))
    return await _messages(session, workspace_id, since, limit, and_(failed, Outbox.error.is_not(None)))


async def unjudged(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[tuple[Outbox, Chat, Channel | None]]:
    """Messages since then which tell a member that their code could not be judged, the newest first."""
    ours = Outbox.body["verdict"]["verdict"].astext == "system error"
    return await _messages(session, workspace_id, since, limit, and_(Outbox.kind == "verdict", ours))


async def failed_jobs(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[FailedJob]:
    """Jobs given up since then, the newest first; of one workspace those that judge its answers."""
    query = _FAILED_OF_ONE if workspace_id is not None else _FAILED
    values = {"since": since, "most": limit, "workspace": workspace_id}
    return [FailedJob(*row) for row in await session.execute(text(query), values)]


async def _messages(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int, which: ColumnElement[bool]
) -> Sequence[tuple[Outbox, Chat, Channel | None]]:
    query = (
        select(Outbox, Chat, Channel)
        .join(Chat, Chat.id == Outbox.chat_id)
        .outerjoin(Channel, Channel.id == Outbox.channel_id)
        .where(*_mine(workspace_id), Outbox.due_at >= since, which)
        .order_by(Outbox.due_at.desc(), Outbox.id.desc())
        .limit(limit)
    )
    return [(row, chat, channel) for row, chat, channel in await session.execute(query)]


def _mine(workspace_id: int | None) -> list[ColumnElement[bool]]:
    return [] if workspace_id is None else [Outbox.workspace_id == workspace_id]


_FAILED = """
    select job.task_name, job.attempts, max(event.at)
    from procrastinate_jobs job
    join procrastinate_events event on event.job_id = job.id and event.type = 'failed' and event.at >= :since
    where job.status = 'failed' and cast(:workspace as bigint) is null
    group by job.id order by 3 desc limit :most
"""
_FAILED_OF_ONE = """
    select job.task_name, job.attempts, max(event.at)
    from procrastinate_jobs job
    join procrastinate_events event on event.job_id = job.id and event.type = 'failed' and event.at >= :since
    join answer on answer.id = (job.args ->> 'answer_id')::bigint
    join member on member.id = answer.member_id
    where job.status = 'failed' and member.workspace_id = :workspace
    group by job.id order by 3 desc limit :most
"""
