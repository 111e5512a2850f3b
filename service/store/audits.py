"""Rows of the audit log of admin actions. Append-only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller
from service.store.tables import Audit, Member


def add(session: AsyncSession, caller: Caller, action: str, detail: dict[str, Any], now: datetime) -> None:
    """Records an action of the caller. `detail` names members by row id, so that they can be forgotten."""
    row = Audit(workspace_id=caller.workspace_id, member_id=caller.member_id, action=action, detail=detail, at=now)
    session.add(row)


async def list_latest(session: AsyncSession, workspace_id: int, limit: int) -> list[tuple[Audit, str]]:
    """Returns the latest actions with their admins' names, newest first."""
    rows = await session.execute(
        select(Audit, Member.name)
        .join(Member, Member.id == Audit.member_id)
        .where(Audit.workspace_id == workspace_id)
        .order_by(Audit.id.desc())
        .limit(limit)
    )
    return [(audit, name) for audit, name in rows]
