"""Rows of problems that admins are notified of: each open at most once, with the queries that detect and resolve them.

Notices are in `service.rounds.alerts`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, exists, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.schedules import list_channels
from service.store.tables import UNSENT, Channel, Chat, Identity, Outbox, Round, Schedule, Trouble
from service.wire import TroubleKind

PRIVATE_CHATS = ("discord", "slack")
"""Platforms where admins can be messaged privately. On the others everyone shares one room."""


@dataclass(frozen=True, slots=True)
class NoticeTarget:
    """Recipient of a notice: a channel, or with `member_id` one person in that chat."""

    chat_id: int
    channel_id: int | None
    member_id: int | None


@dataclass(frozen=True, slots=True)
class DelayedAnswers:
    """The waiting code answers of a workspace."""

    workspace_id: int
    count: int
    oldest: datetime


async def open_trouble(
    session: AsyncSession, workspace_id: int, what: TroubleKind, subject: int, detail: dict[str, Any], now: datetime
) -> Trouble | None:
    """Opens a trouble. Returns None if it is already open."""
    values = {"workspace_id": workspace_id, "what": what, "subject": subject, "detail": detail, "since": now}
    made = await session.scalar(insert(Trouble).values(values).on_conflict_do_nothing().returning(Trouble.id))
    return None if made is None else await session.get(Trouble, made)


async def close_trouble(session: AsyncSession, trouble: Trouble, now: datetime) -> bool:
    """Closes a trouble. Returns False if it was already closed."""
    ending = update(Trouble).where(Trouble.id == trouble.id, Trouble.over_at.is_(None)).values(over_at=now)
    return await session.scalar(ending.returning(Trouble.id)) is not None


async def list_open(session: AsyncSession, what: TroubleKind, workspace_id: int | None = None) -> Sequence[Trouble]:
    """Returns open troubles of a kind, oldest first; of one workspace, or of all."""
    mine = [] if workspace_id is None else [Trouble.workspace_id == workspace_id]
    query = select(Trouble).where(*mine, Trouble.what == what, Trouble.over_at.is_(None)).order_by(Trouble.id)
    return (await session.scalars(query)).all()


async def list_all_open(session: AsyncSession, workspace_id: int) -> Sequence[Trouble]:
    """Returns the open troubles of a workspace, oldest first."""
    query = select(Trouble).where(Trouble.workspace_id == workspace_id, Trouble.over_at.is_(None))
    return (await session.scalars(query.order_by(Trouble.id))).all()


async def list_recent(session: AsyncSession, workspace_id: int | None, since: datetime) -> Sequence[Trouble]:
    """Returns troubles that are open or were closed since then, newest first; of one workspace, or of all."""
    mine = [] if workspace_id is None else [Trouble.workspace_id == workspace_id]
    query = select(Trouble).where(*mine, (Trouble.over_at.is_(None)) | (Trouble.over_at >= since))
    return (await session.scalars(query.order_by(Trouble.id.desc()))).all()


async def list_late_posts(
    session: AsyncSession, before: datetime, most: int
) -> Sequence[tuple[Outbox, Schedule, Channel]]:
    """Returns questions due before then that are not posted yet and have no open trouble, nor their channel."""
    late = and_(Trouble.what == "late", Trouble.subject == Outbox.id)
    refused = and_(Trouble.what == "refused", Trouble.subject == Outbox.channel_id)
    known = exists().where(late | refused, Trouble.over_at.is_(None))
    query = (
        select(Outbox, Schedule, Channel)
        .join(Round, Round.id == Outbox.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(Channel, Channel.id == Outbox.channel_id)
        .where(Outbox.state.in_(UNSENT), Outbox.kind == "question", Outbox.due_at < before, ~known)
        .order_by(Outbox.id)
        .limit(most)
    )
    return [(row, schedule, channel) for row, schedule, channel in await session.execute(query)]


async def list_settled_late_posts(session: AsyncSession, most: int) -> Sequence[tuple[Trouble, Outbox]]:
    """Returns open troubles about late questions that have since been posted or given up."""
    query = (
        select(Trouble, Outbox)
        .join(Outbox, Outbox.id == Trouble.subject)
        .where(Trouble.what == "late", Trouble.over_at.is_(None), Outbox.state.not_in(UNSENT))
        .order_by(Trouble.id)
        .limit(most)
    )
    return [(trouble, row) for trouble, row in await session.execute(query)]


async def list_recovered_channels(session: AsyncSession, most: int) -> Sequence[Trouble]:
    """Returns open troubles about channels that have since accepted a message."""
    arrived = exists().where(
        Outbox.channel_id == Trouble.subject,
        Outbox.member_id.is_(None),
        Outbox.edits_id.is_(None),
        Outbox.sent_at > Trouble.since,
    )
    query = select(Trouble).where(Trouble.what == "refused", Trouble.over_at.is_(None), arrived)
    return (await session.scalars(query.order_by(Trouble.id).limit(most))).all()


async def list_delayed_answers(session: AsyncSession, before: datetime) -> Sequence[DelayedAnswers]:
    """Returns workspaces with a code answer that has been waiting since `before` or longer."""
    return [DelayedAnswers(*row) for row in await session.execute(text(_BEHIND), {"before": before})]


async def list_left_chats(session: AsyncSession, most: int) -> Sequence[Chat]:
    """Returns chats that the bot was removed from and that have no open trouble about it."""
    known = exists().where(Trouble.what == "revoked", Trouble.subject == Chat.id, Trouble.over_at.is_(None))
    query = select(Chat).where(Chat.left_at.is_not(None), ~known)
    return (await session.scalars(query.order_by(Chat.id).limit(most))).all()


async def list_restored_chats(session: AsyncSession, most: int) -> Sequence[Trouble]:
    """Returns open troubles about chats that the bot has since come back to."""
    left = exists().where(Chat.id == Trouble.subject, Chat.left_at.is_not(None))
    query = select(Trouble).where(Trouble.what == "revoked", Trouble.over_at.is_(None), ~left)
    return (await session.scalars(query.order_by(Trouble.subject).limit(most))).all()


async def has_left(session: AsyncSession, chat_id: int) -> bool:
    """Returns whether the bot was removed from the chat."""
    return (await session.get_one(Chat, chat_id)).left_at is not None


async def get_oldest_schedule(session: AsyncSession, workspace_id: int) -> Schedule | None:
    """Returns the workspace's oldest schedule, whose creator receives notices that concern no schedule."""
    query = select(Schedule).where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None))
    return await session.scalar(query.order_by(Schedule.id).limit(1))


async def get_oldest_channel(session: AsyncSession, workspace_id: int) -> Channel | None:
    """Returns the workspace's oldest channel."""
    query = select(Channel).where(Channel.workspace_id == workspace_id)
    return await session.scalar(query.order_by(Channel.id).limit(1))


async def get_schedule_of_message(session: AsyncSession, outbox_id: int) -> Schedule | None:
    """Returns the schedule whose question a message posts."""
    query = (
        select(Schedule).join(Round, Round.schedule_id == Schedule.id).join(Outbox, Outbox.round_id == Round.id)
    ).where(Outbox.id == outbox_id)
    return await session.scalar(query)


async def find_notice_target(
    session: AsyncSession, schedule: Schedule, troubled: Collection[int]
) -> NoticeTarget | None:
    """Returns the schedule's creator in a chat without trouble, or else one of its channels in such a chat."""
    if schedule.made_by is not None:
        known = (
            select(Identity.chat_id)
            .join(Chat, Chat.id == Identity.chat_id)
            .where(Identity.member_id == schedule.made_by, Chat.platform.in_(PRIVATE_CHATS))
            .where(Identity.chat_id.not_in(troubled))
        )
        chat_id = await session.scalar(known.order_by(Identity.id).limit(1))
        if chat_id is not None:
            return NoticeTarget(chat_id, None, schedule.made_by)
    for channel_id in await list_channels(session, schedule):
        channel = await session.get_one(Channel, channel_id)
        if channel.chat_id not in troubled:
            return NoticeTarget(channel.chat_id, channel.id, None)
    return None


async def withdraw_message(session: AsyncSession, key: str) -> bool:
    """Cancels a message that no dispatcher has claimed. Returns False if it is too late."""
    unsent = update(Outbox).where(Outbox.key == key, Outbox.state == "due", Outbox.taken_at.is_(None))
    gone = unsent.values(state="skipped", error="it was over before it could be told").returning(Outbox.id)
    return await session.scalar(gone) is not None


_BEHIND = """
    select member.workspace_id, count(distinct answer.id), min(answer.at)
    from procrastinate_jobs job
    join answer on answer.id = (job.args ->> 'answer_id')::bigint
    join member on member.id = answer.member_id
    where job.task_name = 'judge_answer' and job.status in ('todo', 'doing') and answer.at <= :before
    group by 1 order by 1
"""
