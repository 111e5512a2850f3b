"""Deletes old rows in small batches, and remembers when maintenance was last done.

Nothing that earns points or that members can look up is deleted: answers, verdicts, the ledger and the messages of
rounds stay.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from sqlalchemy import String, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base

Kind = Literal["inbox", "outbox", "audit", "failed_jobs"]
BATCH: Final = 2_000
"""Rows deleted in one transaction, at most."""
RETENTION: Final = "retention"
BACKUP: Final = "backup"

# Duplicates of an event come within hours, from a chat that got no reply.
_INBOX = """
    delete from inbox where (chat_id, event_id) in (
        select chat_id, event_id from inbox where at < :before limit :most for update skip locked
    )
"""
# Private messages and notices. Those of rounds stay: their threads are corrected and looked up for years.
_OUTBOX = """
    delete from outbox where id in (
        select id from outbox message
        where sent_at < :before and state = 'sent' and (round_id is null or member_id is not null)
        and not exists (select from outbox edit where edit.edits_id = message.id)
        limit :most for update skip locked
    )
"""
_AUDIT = "delete from audit where id in (select id from audit where at < :before order by id limit :most)"
_FAILED_JOBS = """
    delete from procrastinate_jobs where id in (
        select job.id from procrastinate_jobs job join procrastinate_events event on event.job_id = job.id
        where job.status in ('failed', 'cancelled', 'aborted')
        group by job.id having max(event.at) < :before limit :most
    )
"""
_STATEMENTS: Final[dict[Kind, str]] = {
    "inbox": _INBOX,
    "outbox": _OUTBOX,
    "audit": _AUDIT,
    "failed_jobs": _FAILED_JOBS,
}


class Maintenance(Base):
    """When a task of maintenance was last done."""

    __tablename__ = "maintenance"
    task: Mapped[str] = mapped_column(String(), primary_key=True)
    done_at: Mapped[datetime]


async def delete_old(session: AsyncSession, kind: Kind, before: datetime) -> int:
    """Deletes a batch of rows of that kind from before then. Returns their number."""
    if kind == "audit":
        # Until the transaction ends; the table refuses every other change.
        await session.execute(text("select set_config('dailygrad.retiring', 'on', true)"))
    deleted = await session.execute(text(_STATEMENTS[kind]), {"before": before, "most": BATCH})
    return int(getattr(deleted, "rowcount", 0))


async def record_done(session: AsyncSession, task: str, now: datetime) -> None:
    """Records that the task was done."""
    made = insert(Maintenance).values(task=task, done_at=now)
    await session.execute(made.on_conflict_do_update(index_elements=["task"], set_={"done_at": now}))


async def list_done(session: AsyncSession) -> dict[str, datetime]:
    """Returns when each task was last done."""
    rows = await session.execute(select(Maintenance.task, Maintenance.done_at))
    return {row.task: row.done_at for row in rows}
