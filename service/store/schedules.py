"""Schedules, their skips and their rounds as rows. When a slot falls is `calendar`'s business."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller
from service.store.tables import Channel, Chat, Round, Schedule, ScheduleChannel, ScheduleSkip


def posts_to(channel_id: int) -> ColumnElement[bool]:
    """Whether `Schedule` posts to the channel, at home there or shared with it.

    A channel's board, streaks and open questions are those of these schedules, wherever they were answered.
    """
    shared = select(ScheduleChannel.schedule_id).where(ScheduleChannel.channel_id == channel_id)
    return or_(Schedule.channel_id == channel_id, Schedule.id.in_(shared))


async def list_channels(session: AsyncSession, schedule: Schedule) -> Sequence[int]:
    """Every channel the schedule posts to, its home first."""
    query = select(ScheduleChannel.channel_id).where(ScheduleChannel.schedule_id == schedule.id)
    query = query.order_by(ScheduleChannel.since, ScheduleChannel.channel_id)
    return [schedule.channel_id, *await session.scalars(query)]


async def find_channel_in_chat(session: AsyncSession, schedule: Schedule, chat_id: int | None) -> int | None:
    """The first of the schedule's channels in that chat; None where it has none there."""
    for channel_id in await list_channels(session, schedule):
        channel = await session.get_one(Channel, channel_id)
        if chat_id in (None, channel.chat_id):
            return channel_id
    return None


async def list_shared_channels(session: AsyncSession, schedule_id: int) -> Sequence[tuple[Channel, str]]:
    """The further channels of a schedule, in the order they were added, with their platforms."""
    query = (
        select(Channel, Chat.platform)
        .join(ScheduleChannel, ScheduleChannel.channel_id == Channel.id)
        .join(Chat, Chat.id == Channel.chat_id)
        .where(ScheduleChannel.schedule_id == schedule_id)
        .order_by(ScheduleChannel.since, ScheduleChannel.channel_id)
    )
    return [(channel, platform) for channel, platform in await session.execute(query)]


async def list_posting_channels(session: AsyncSession, platform: str) -> Sequence[tuple[str, str, str]]:
    """Every channel of the platform that a schedule posts to: its chat's id, its own, its name."""
    shared = select(ScheduleChannel.channel_id).join(Schedule, Schedule.id == ScheduleChannel.schedule_id)
    at_home = select(Schedule.channel_id).where(Schedule.removed_at.is_(None))
    query = (
        select(Chat.external_id, Channel.external_id, Channel.name)
        .join(Channel, Channel.chat_id == Chat.id)
        .where(Chat.platform == platform)
        .where(or_(Channel.id.in_(at_home), Channel.id.in_(shared.where(Schedule.removed_at.is_(None)))))
        .order_by(Chat.id, Channel.id)
    )
    return [(chat, channel, name) for chat, channel, name in await session.execute(query)]


async def add_channel(session: AsyncSession, schedule: Schedule, channel_id: int, now: datetime) -> None:
    """Have it post to this channel too; once is enough."""
    row = {"schedule_id": schedule.id, "channel_id": channel_id, "workspace_id": schedule.workspace_id, "since": now}
    await session.execute(insert(ScheduleChannel).values(row).on_conflict_do_nothing())


async def remove_channel(session: AsyncSession, schedule: Schedule, channel_id: int) -> None:
    """Have it no longer post to this channel, which it was shared with."""
    mine = (ScheduleChannel.schedule_id == schedule.id, ScheduleChannel.channel_id == channel_id)
    await session.execute(delete(ScheduleChannel).where(*mine))


async def get_platform(session: AsyncSession, channel: Channel) -> str:
    """The platform of the channel's chat."""
    return (await session.scalars(select(Chat.platform).where(Chat.id == channel.chat_id))).one()


async def get_workspace_id(session: AsyncSession, channel_id: int) -> int:
    """The workspace a channel belongs to."""
    return (await session.scalars(select(Channel.workspace_id).where(Channel.id == channel_id))).one()


async def get_zone(session: AsyncSession, workspace_id: int, channel_id: int | None = None) -> str:
    """The zone of the channel's (or the workspace's) oldest schedule, for saying when a day begins; UTC without one."""
    query = select(Schedule.spec["zone"].astext).where(
        Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None)
    )
    if channel_id is not None:
        query = query.where(posts_to(channel_id))
    return await session.scalar(query.order_by(Schedule.id).limit(1)) or "UTC"


async def lock_schedule(session: AsyncSession, workspace_id: int, schedule_id: int) -> tuple[Schedule, Channel] | None:
    """A schedule of this workspace that was not removed, with its channel; locked until the transaction ends."""
    query = (
        select(Schedule, Channel)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Schedule.id == schedule_id, Schedule.removed_at.is_(None))
        .with_for_update(of=Schedule)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def list_schedules(session: AsyncSession, workspace_id: int) -> Sequence[tuple[Schedule, Channel]]:
    """Every schedule of the workspace that was not removed, oldest first, with its channel."""
    query = (
        select(Schedule, Channel)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None))
        .order_by(Schedule.id)
    )
    return [(schedule, channel) for schedule, channel in await session.execute(query)]


async def list_skips(session: AsyncSession, schedule_id: int) -> frozenset[date]:
    """The dates an admin took out."""
    return frozenset(await session.scalars(select(ScheduleSkip.day).where(ScheduleSkip.schedule_id == schedule_id)))


async def list_skips_by_schedule(session: AsyncSession, schedule_ids: Sequence[int]) -> dict[int, frozenset[date]]:
    """The dates admins took out of these schedules; none for one without."""
    found: dict[int, set[date]] = {}
    rows = select(ScheduleSkip.schedule_id, ScheduleSkip.day).where(ScheduleSkip.schedule_id.in_(schedule_ids))
    for schedule_id, day in await session.execute(rows):
        found.setdefault(schedule_id, set()).add(day)
    return {schedule_id: frozenset(days) for schedule_id, days in found.items()}


async def add_skip(session: AsyncSession, schedule_id: int, day: date) -> None:
    """Take a date out; once is enough."""
    await session.execute(insert(ScheduleSkip).values(schedule_id=schedule_id, day=day).on_conflict_do_nothing())


async def find_round(session: AsyncSession, schedule_id: int, day: date) -> Round | None:
    """The round of that slot, where one was written."""
    return await session.scalar(select(Round).where(Round.schedule_id == schedule_id, Round.day == day))


def add(session: AsyncSession, caller: Caller, channel_id: int, spec: dict[str, Any], since: datetime) -> Schedule:
    """A schedule of the caller's, whose slots are owed from `since` on."""
    row = Schedule(
        workspace_id=caller.workspace_id, channel_id=channel_id, spec=spec, since=since, made_by=caller.member_id
    )
    session.add(row)
    return row
