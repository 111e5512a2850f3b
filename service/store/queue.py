"""The jobs' queue as rows: which place a job has in it. What jobs do is `service.jobs`' business."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_BEFORE = text(
    """
    select count(*) from procrastinate_jobs as other, procrastinate_jobs as mine
    where mine.id = :job and other.task_name = mine.task_name and other.id <> mine.id
    and (other.status = 'doing' or other.status = 'todo'
         and (other.scheduled_at is null or other.scheduled_at <= now())
         and (other.priority, -other.id) > (mine.priority, -mine.id))
    """
)


async def before(session: AsyncSession, job: int) -> int:
    """How many jobs of its kind are at work or go before it."""
    return int(await session.scalar(_BEFORE, {"job": job}) or 0)
