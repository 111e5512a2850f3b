"""Schedules, their skips and their rounds as rows. When a slot falls is `calendar`'s business."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import Channel, Round, Schedule, ScheduleSkip


async def workspace_of(session: AsyncSession, channel_id: int) -> int:
    """The workspace a channel belongs to."""
    return (await session.scalars(select(Channel.workspace_id).where(Channel.id == channel_id))).one()


async def zone_of(session: AsyncSession, workspace_id: int, channel_id: int | None = None) -> str:
    """The zone of the channel's (or the workspace's) oldest schedule, for saying when a day begins; UTC without one."""
    query = select(Schedule.spec["zone"].astext).where(
        Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None)
    )
    if channel_id is not None:
        query = query.where(Schedule.channel_id == channel_id)
    return await session.scalar(query.order_by(Schedule.id).limit(1)) or "UTC"


async def find(session: AsyncSession, workspace_id: int, schedule_id: int) -> tuple[Schedule, Channel] | None:
    """A schedule of this workspace that was not removed, with its channel; locked until the transaction ends."""
    query = (
        select(Schedule, Channel)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Schedule.id == schedule_id, Schedule.removed_at.is_(None))
        .with_for_update(of=Schedule)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def all_of(session: AsyncSession, workspace_id: int) -> Sequence[tuple[Schedule, Channel]]:
    """Every schedule of the workspace that was not removed, oldest first, with its channel."""
    query = (
        select(Schedule, Channel)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None))
        .order_by(Schedule.id)
    )
    return [(schedule, channel) for schedule, channel in await session.execute(query)]


async def skips(session: AsyncSession, schedule_id: int) -> frozenset[date]:
    """The dates an admin took out."""
    return frozenset(await session.scalars(select(ScheduleSkip.day).where(ScheduleSkip.schedule_id == schedule_id)))


async def skip(session: AsyncSession, schedule_id: int, day: date) -> None:
    """Take a date out; once is enough."""
    await session.execute(insert(ScheduleSkip).values(schedule_id=schedule_id, day=day).on_conflict_do_nothing())


async def round_on(session: AsyncSession, schedule_id: int, day: date) -> Round | None:
    """The round of that slot, where one was written."""
    return await session.scalar(select(Round).where(Round.schedule_id == schedule_id, Round.day == day))


def add(session: AsyncSession, workspace_id: int, channel_id: int, spec: dict[str, Any], since: datetime) -> Schedule:
    """A schedule whose slots are owed from `since` on."""
    row = Schedule(workspace_id=workspace_id, channel_id=channel_id, spec=spec, since=since)
    session.add(row)
    return row
