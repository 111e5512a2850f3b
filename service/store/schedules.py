"""Rows of schedules, their channels and their skipped dates. Slot times are in `service.domain.calendar`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm.attributes import set_committed_value

from service.store.members import Caller
from service.store.statements import built_once, columns_of_rows
from service.store.tables import (
    Channel,
    Chat,
    CurrentAnswer,
    QuestionRow,
    QuestionVersion,
    Round,
    Schedule,
    ScheduleChannel,
    ScheduleSkip,
)


def posts_to(channel_id: int) -> ColumnElement[bool]:
    """Tests whether `Schedule` posts to the channel, as its home or as a shared channel.

    A channel's board, streaks and open questions are those of these schedules, wherever they were answered.
    """
    shared = select(ScheduleChannel.schedule_id).where(ScheduleChannel.channel_id == channel_id)
    return or_(Schedule.channel_id == channel_id, Schedule.id.in_(shared))


async def list_channels(session: AsyncSession, schedule: Schedule) -> Sequence[int]:
    """Returns all channels of the schedule, its home first."""
    query = select(ScheduleChannel.channel_id).where(ScheduleChannel.schedule_id == schedule.id)
    query = query.order_by(ScheduleChannel.since, ScheduleChannel.channel_id)
    return [schedule.channel_id, *await session.scalars(query)]


async def list_channels_each(session: AsyncSession, schedules: Sequence[Schedule]) -> dict[int, list[tuple[int, int]]]:
    """Returns all channels of the schedules with their chats, the home first, by schedule."""
    ids = [schedule.id for schedule in schedules]
    homes = {schedule.id: schedule.channel_id for schedule in schedules}
    query = (
        select(ScheduleChannel.schedule_id, ScheduleChannel.channel_id)
        .where(ScheduleChannel.schedule_id.in_(ids))
        .order_by(ScheduleChannel.since, ScheduleChannel.channel_id)
    )
    pairs = [*homes.items(), *[(schedule_id, channel_id) for schedule_id, channel_id in await session.execute(query)]]
    chats = select(Channel.id, Channel.chat_id).where(Channel.id.in_({channel_id for _, channel_id in pairs}))
    chat_of = {row[0]: row[1] for row in await session.execute(chats)}
    found: dict[int, list[tuple[int, int]]] = {id_: [] for id_ in ids}
    for schedule_id, channel_id in pairs:
        found[schedule_id].append((channel_id, chat_of[channel_id]))
    return found


async def reload(session: AsyncSession, schedule_ids: Collection[int]) -> Sequence[Schedule]:
    """Returns these schedules as they are in the database now."""
    query = select(Schedule).where(Schedule.id.in_(schedule_ids)).order_by(Schedule.id)
    return (await session.scalars(query.execution_options(populate_existing=True))).all()


def plan(schedule: Schedule, since: datetime, next_at: datetime | None) -> None:
    """Sets the instants up to which the schedule's slots are processed, and at which it is looked at next.

    They are saved by `save_plans`, for many schedules at once.
    """
    set_committed_value(schedule, "since", since)
    set_committed_value(schedule, "next_at", next_at)


async def save_plans(session: AsyncSession, schedules: Sequence[Schedule]) -> None:
    """Saves what `plan` set."""
    rows = [{"id": one.id, "since": one.since, "next_at": one.next_at} for one in schedules]
    cells, table = columns_of_rows(Schedule, rows), cast(Table, Schedule.__table__)
    changed = update(table).where(table.c.id == cells.pop("id")).values(cells)
    await session.execute(changed)


async def find_channel_in_chat(session: AsyncSession, schedule: Schedule, chat_id: int | None) -> int | None:
    """Returns the schedule's first channel in that chat, or None."""
    for channel_id in await list_channels(session, schedule):
        channel = await session.get_one(Channel, channel_id)
        if chat_id in (None, channel.chat_id):
            return channel_id
    return None


async def list_shared_channels(
    session: AsyncSession, schedule_ids: Collection[int]
) -> dict[int, list[tuple[Channel, str]]]:
    """Returns the further channels of schedules with their platforms, in the order they were added."""
    query = (
        select(ScheduleChannel.schedule_id, Channel, Chat.platform)
        .join(Channel, ScheduleChannel.channel_id == Channel.id)
        .join(Chat, Chat.id == Channel.chat_id)
        .where(ScheduleChannel.schedule_id.in_(schedule_ids))
        .order_by(ScheduleChannel.since, ScheduleChannel.channel_id)
    )
    found: dict[int, list[tuple[Channel, str]]] = {}
    for schedule_id, channel, platform in await session.execute(query):
        found.setdefault(schedule_id, []).append((channel, platform))
    return found


async def list_posting_channels(
    session: AsyncSession, platform: str, application: str = ""
) -> Sequence[tuple[str, str, str]]:
    """Returns all channels of the platform that a schedule posts to: chat id, channel id and channel name.

    With an application, leaves out the chats that another one serves.
    """
    served = [Chat.application.in_((application, ""))] if application else []
    shared = select(ScheduleChannel.channel_id).join(Schedule, Schedule.id == ScheduleChannel.schedule_id)
    at_home = select(Schedule.channel_id).where(Schedule.removed_at.is_(None))
    query = (
        select(Chat.external_id, Channel.external_id, Channel.name)
        .join(Channel, Channel.chat_id == Chat.id)
        .where(Chat.platform == platform, *served)
        .where(or_(Channel.id.in_(at_home), Channel.id.in_(shared.where(Schedule.removed_at.is_(None)))))
        .order_by(Chat.id, Channel.id)
    )
    return [(chat, channel, name) for chat, channel, name in await session.execute(query)]


async def add_channel(session: AsyncSession, schedule: Schedule, channel_id: int, now: datetime) -> None:
    """Adds a channel that the schedule posts to. Does nothing if it already does."""
    row = {"schedule_id": schedule.id, "channel_id": channel_id, "workspace_id": schedule.workspace_id, "since": now}
    await session.execute(insert(ScheduleChannel).values(row).on_conflict_do_nothing())


async def remove_channel(session: AsyncSession, schedule: Schedule, channel_id: int) -> None:
    """Removes a shared channel from the schedule."""
    mine = (ScheduleChannel.schedule_id == schedule.id, ScheduleChannel.channel_id == channel_id)
    await session.execute(delete(ScheduleChannel).where(*mine))


async def list_chats(session: AsyncSession, chat_ids: Collection[int]) -> dict[int, Chat]:
    """Returns these chats, by id."""
    return {chat.id: chat for chat in await session.scalars(select(Chat).where(Chat.id.in_(chat_ids)))}


async def get_workspace_id(session: AsyncSession, channel_id: int) -> int:
    """Returns the workspace of a channel."""
    return (await session.scalars(select(Channel.workspace_id).where(Channel.id == channel_id))).one()


async def get_zone(session: AsyncSession, workspace_id: int, channel_id: int | None = None) -> str:
    """Returns the time zone of the channel's (or the workspace's) oldest schedule, or UTC."""
    return await session.scalar(*_select_zone(workspace_id, channel_id)) or "UTC"


@built_once
def _select_zone(workspace_id: int, channel_id: int | None) -> Select[str]:
    query = select(Schedule.spec["zone"].astext).where(
        Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None)
    )
    if channel_id is not None:
        query = query.where(posts_to(channel_id))
    return query.order_by(Schedule.id).limit(1)


async def lock_schedule(session: AsyncSession, workspace_id: int, schedule_id: int) -> tuple[Schedule, Channel] | None:
    """Returns an active schedule of this workspace with its channel, locked until the transaction ends."""
    query = (
        select(Schedule, Channel)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Schedule.id == schedule_id, Schedule.removed_at.is_(None))
        .with_for_update(of=Schedule, key_share=True)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def find_schedule(session: AsyncSession, workspace_id: int, schedule_id: int) -> tuple[Schedule, Channel] | None:
    """Returns an active schedule of this workspace with its channel."""
    row = (await session.execute(*_select_schedules(workspace_id, None, schedule_id))).one_or_none()
    return None if row is None else (row[0], row[1])


async def find_for_channel(session: AsyncSession, channel_id: int) -> int | None:
    """Returns the schedule that posts to the channel: the oldest with its home there, or else the oldest shared."""
    query = select(Schedule.id).where(posts_to(channel_id), Schedule.removed_at.is_(None))
    order = ((Schedule.channel_id == channel_id).desc(), Schedule.id)
    return await session.scalar(query.order_by(*order).limit(1))


async def list_schedules(
    session: AsyncSession, workspace_id: int, channel_id: int | None = None
) -> Sequence[tuple[Schedule, Channel]]:
    """Returns the active schedules of the workspace with their home channels, oldest first. With a channel, only those
    that post to it, as their home or as a shared channel."""
    found = await session.execute(*_select_schedules(workspace_id, channel_id, None))
    return [(schedule, channel) for schedule, channel in found]


@built_once
def _select_schedules(workspace_id: int, channel_id: int | None, schedule_id: int | None) -> Select[Schedule, Channel]:
    query = (
        select(Schedule, Channel)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None))
        .order_by(Schedule.id)
    )
    if channel_id is not None:
        query = query.where(posts_to(channel_id))
    return query if schedule_id is None else query.where(Schedule.id == schedule_id)


async def list_skips(session: AsyncSession, schedule_id: int) -> frozenset[date]:
    """Returns the dates that admins skipped."""
    return frozenset(await session.scalars(select(ScheduleSkip.day).where(ScheduleSkip.schedule_id == schedule_id)))


async def list_skips_by_schedule(session: AsyncSession, schedule_ids: Sequence[int]) -> dict[int, frozenset[date]]:
    """Returns the skipped dates by schedule, for schedules that have any."""
    found: dict[int, set[date]] = {}
    rows = select(ScheduleSkip.schedule_id, ScheduleSkip.day).where(ScheduleSkip.schedule_id.in_(schedule_ids))
    for schedule_id, day in await session.execute(rows):
        found.setdefault(schedule_id, set()).add(day)
    return {schedule_id: frozenset(days) for schedule_id, days in found.items()}


async def add_skip(session: AsyncSession, schedule_id: int, day: date) -> None:
    """Adds a skipped date. Does nothing if it is already skipped."""
    await session.execute(insert(ScheduleSkip).values(schedule_id=schedule_id, day=day).on_conflict_do_nothing())


async def remove_skip(session: AsyncSession, schedule_id: int, day: date) -> None:
    """Reverses `add_skip`."""
    await session.execute(delete(ScheduleSkip).where(ScheduleSkip.schedule_id == schedule_id, ScheduleSkip.day == day))


def is_slot(schedule_id: int, day: date) -> ColumnElement[bool]:
    """Tests whether `Round` is that of the schedule's slot, and not an extra one."""
    return and_(Round.schedule_id == schedule_id, Round.day == day, Round.number == 0)


async def find_round(session: AsyncSession, schedule_id: int, day: date) -> Round | None:
    """Returns the round of that slot, if it exists."""
    return await session.scalar(select(Round).where(is_slot(schedule_id, day)))


async def list_slot_days(session: AsyncSession, schedule_ids: Collection[int], first: date) -> dict[int, set[date]]:
    """Returns the local dates from `first` on whose slots have a round, posted or skipped, by schedule."""
    query = select(Round.schedule_id, Round.day).where(
        Round.schedule_id.in_(schedule_ids), Round.day >= first, Round.number == 0
    )
    found: dict[int, set[date]] = {id_: set() for id_ in schedule_ids}
    for schedule_id, day in await session.execute(query):
        found[schedule_id].add(day)
    return found


def add(session: AsyncSession, caller: Caller, channel_id: int, spec: dict[str, Any], since: datetime) -> Schedule:
    """Adds a schedule of the caller with slots from `since` on."""
    row = Schedule(
        workspace_id=caller.workspace_id, channel_id=channel_id, spec=spec, since=since, made_by=caller.member_id
    )
    session.add(row)
    return row


@dataclass(frozen=True, slots=True)
class PostedRound:
    """A round of a schedule with how often it was answered. `version` is None if the slot was skipped."""

    row: Round
    version: QuestionVersion | None
    question: str
    answers: int


async def list_posted(
    session: AsyncSession, schedule_ids: Collection[int], first: date, last: date
) -> Sequence[PostedRound]:
    """Returns the rounds of the schedules on these local dates, oldest first, extra ones after the day's."""
    answers = select(func.count()).where(CurrentAnswer.round_id == Round.id).correlate(Round).scalar_subquery()
    query = (
        select(Round, QuestionVersion, QuestionRow.key, answers)
        .outerjoin(QuestionVersion, QuestionVersion.id == Round.version_id)
        .outerjoin(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(Round.schedule_id.in_(schedule_ids), Round.day.between(first, last))
        .order_by(Round.day, Round.number, Round.schedule_id)
    )
    return [PostedRound(row, version, key or "", count) for row, version, key, count in await session.execute(query)]
