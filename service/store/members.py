"""Workspaces, channels and members as rows: who calls, made known at their first call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import Channel, Member, Workspace
from service.wire import Where, Who

Row = TypeVar("Row", Workspace, Channel, Member)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, from where, in the database's terms. Every query is kept to `workspace_id`."""

    workspace_id: int
    member_id: int
    channel_id: int | None
    name: str
    admin: bool


async def known(session: AsyncSession, who: Who, where: Where | None, now: datetime) -> Caller:
    """The caller, made known or given a new name where there is news. Writes nothing otherwise."""
    workspace_id = await _workspace(session, who, now)
    channel_id = await channel_known(session, workspace_id, where) if where else None
    member_id = await _member(session, workspace_id, who, now)
    return Caller(workspace_id, member_id, channel_id, who.name, who.admin)


async def channel_known(session: AsyncSession, workspace_id: int, where: Where) -> int:
    """The channel's row; an empty name keeps the name known before."""
    row = await _one(session, Channel, workspace_id=workspace_id, external_id=where.channel)
    if row is None:
        return await _made(session, Channel, workspace_id=workspace_id, external_id=where.channel, name=where.name)
    if where.name and where.name != row.name:
        await session.execute(update(Channel).where(Channel.id == row.id).values(name=where.name))
    return row.id


async def lock(session: AsyncSession, member_id: int) -> None:
    """Let one transaction at a time write this member's answers."""
    await session.execute(select(Member.id).where(Member.id == member_id).with_for_update(key_share=True))


async def _workspace(session: AsyncSession, who: Who, now: datetime) -> int:
    row = await _one(session, Workspace, platform=who.platform, external_id=who.workspace)
    if row is not None:
        return row.id
    return await _made(session, Workspace, platform=who.platform, external_id=who.workspace, created_at=now)


async def _member(session: AsyncSession, workspace_id: int, who: Who, now: datetime) -> int:
    row = await _one(session, Member, workspace_id=workspace_id, external_id=who.member)
    if row is None:
        return await _made(
            session, Member, workspace_id=workspace_id, external_id=who.member, name=who.name, joined_at=now
        )
    if row.name != who.name:
        await session.execute(update(Member).where(Member.id == row.id).values(name=who.name))
    return row.id


async def _one(session: AsyncSession, table: type[Row], **key: Any) -> Row | None:
    return await session.scalar(select(table).filter_by(**key))


async def _made(session: AsyncSession, table: type[Row], **values: Any) -> int:
    """The id of the row, made unless someone else makes it at this moment."""
    key = {name: values[name] for name in ("platform", "workspace_id", "external_id") if name in values}
    await session.execute(insert(table).values(**values).on_conflict_do_nothing())
    row = await _one(session, table, **key)
    assert row is not None, "the conflict was with this very row, and it is committed"
    return row.id
