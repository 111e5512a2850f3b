"""Rows of the audit log of admin actions. Append-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.members import Caller
from service.store.tables import Base, Member, new_id


class Audit(Base):
    """An action of an admin."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_at", "at", postgresql_using="brin"),)
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    member_id: Mapped[int | None] = mapped_column(ForeignKey("member.id"), index=True)
    action: Mapped[str]
    detail: Mapped[dict[str, Any]]
    at: Mapped[datetime]


def add(session: AsyncSession, caller: Caller, action: str, detail: dict[str, Any], now: datetime) -> None:
    """Records an action of the caller. `detail` names members by row id, so that they can be forgotten."""
    row = Audit(workspace_id=caller.workspace_id, member_id=caller.member_id, action=action, detail=detail, at=now)
    session.add(row)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which actions to list. What is empty does not matter."""

    before: int | None = None
    """Only actions with a lower id, for the next page."""
    action: str = ""
    """First word, or all, of what was done, such as `bank` or `bank import`."""
    by: str = ""
    """Part of the admin's name."""


NEWEST = AuditFilter()


async def list_latest(
    session: AsyncSession, workspace_id: int, limit: int, wanted: AuditFilter = NEWEST
) -> list[tuple[Audit, str]]:
    """Returns the latest actions with their admins' names, newest first."""
    query = select(Audit, Member.name).join(Member, Member.id == Audit.member_id)
    query = query.where(Audit.workspace_id == workspace_id)
    if wanted.before is not None:
        query = query.where(Audit.id < wanted.before)
    if wanted.action:
        longer = Audit.action.startswith(f"{wanted.action} ", autoescape=True)
        query = query.where(or_(Audit.action == wanted.action, longer))
    if wanted.by:
        query = query.where(Member.name.icontains(wanted.by, autoescape=True))
    rows = await session.execute(query.order_by(Audit.id.desc()).limit(limit))
    return [(audit, name) for audit, name in rows]
