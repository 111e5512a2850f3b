"""How the database itself is: its clock, its schema's revision, what waits in the outbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import Outbox

WAITING = ("due", "sending", "uncertain")


@dataclass(frozen=True, slots=True)
class Waiting:
    """What of a workspace has not been delivered."""

    count: int
    oldest: datetime | None
    """When the oldest of them was due."""
    error: str
    """The last thing that went wrong with the oldest."""


async def server(session: AsyncSession) -> tuple[str, datetime]:
    """PostgreSQL's version and its clock, at this very moment."""
    row = (await session.execute(text("select current_setting('server_version'), clock_timestamp()"))).one()
    return str(row[0]), row[1]


async def revision(session: AsyncSession) -> str | None:
    """The migration the schema is at."""
    found: str | None = await session.scalar(text("select version_num from alembic_version"))
    return found


async def undelivered(session: AsyncSession, workspace_id: int, now: datetime) -> Waiting:
    """What should have been delivered by now and was not."""
    mine = (Outbox.workspace_id == workspace_id, Outbox.state.in_(WAITING), Outbox.due_at <= now)
    count = await session.scalar(select(func.count()).select_from(Outbox).where(*mine))
    oldest = await session.scalar(select(Outbox).where(*mine).order_by(Outbox.due_at, Outbox.id).limit(1))
    if oldest is None:
        return Waiting(0, None, "")
    return Waiting(int(count or 0), oldest.due_at, oldest.error or "")
