"""The outbox as rows: what waits, whose turn it is in its queue, what became of it. When to try again is
`delivering`'s business."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from service.store.tables import Channel, Member, Outbox, Round, Workspace
from service.wire import Notice, QuestionPost, RevealPost, VerdictNote

WAITING = ("due", "sending", "uncertain")
PRIVATE_PATIENCE = timedelta(days=1)
"""How long a message that no slot depends on is tried."""


async def leave(
    session: AsyncSession,
    key: str,
    body: QuestionPost | RevealPost | VerdictNote | Notice,
    *,
    workspace_id: int,
    channel_id: int | None,
    due_at: datetime,
    give_up_at: datetime | None = None,
    member_id: int | None = None,
    round_id: int | None = None,
) -> bool:
    """Leave a message to be made once. False where one of this key was left before; then nothing changes."""
    values: dict[str, Any] = {
        "key": key,
        "kind": body.kind,
        "body": body.model_dump(mode="json"),
        "workspace_id": workspace_id,
        "channel_id": channel_id,
        "member_id": member_id,
        "round_id": round_id,
        "due_at": due_at,
        "not_before": due_at,
        "give_up_at": give_up_at,
    }
    made = await session.scalar(insert(Outbox).values(values).on_conflict_do_nothing().returning(Outbox.id))
    return made is not None


async def claimable(session: AsyncSession, platform: str, now: datetime, limit: int) -> Sequence[Outbox]:
    """The heads of their queues that may be made now, locked; those another courier is taking are left to it."""
    query = (
        select(Outbox)
        .join(Workspace, Workspace.id == Outbox.workspace_id)
        .where(Workspace.platform == platform, *_ready(now), ~_someone_before())
        .order_by(Outbox.due_at, Outbox.id)
        .limit(limit)
        .with_for_update(of=Outbox, skip_locked=True)
    )
    return (await session.scalars(query)).all()


async def overdue(session: AsyncSession, now: datetime) -> Sequence[Outbox]:
    """Messages past their time that certainly were not made, locked."""
    query = (
        select(Outbox)
        .where(Outbox.state == "due", Outbox.give_up_at <= now)
        .order_by(Outbox.id)
        .with_for_update(skip_locked=True)
    )
    return (await session.scalars(query)).all()


async def locked(session: AsyncSession, outbox_id: int) -> Outbox | None:
    """The row, locked until the transaction ends."""
    return await session.get(Outbox, outbox_id, with_for_update=True)


async def address(session: AsyncSession, row: Outbox) -> tuple[Workspace, str, str | None]:
    """Workspace, the channel's external id and the member's."""
    workspace = await session.get_one(Workspace, row.workspace_id)
    channel = await session.get(Channel, row.channel_id) if row.channel_id else None
    member = await session.get(Member, row.member_id) if row.member_id else None
    return workspace, channel.external_id if channel else "", member.external_id if member else None


async def question_post(session: AsyncSession, round_id: int) -> Outbox | None:
    """The message that put the round's question to its channel."""
    return await session.scalar(select(Outbox).where(Outbox.round_id == round_id, Outbox.kind == "question"))


async def asked_at(session: AsyncSession, round_: Round) -> datetime:
    """When members could first see the round's question: when its post arrived, else when it was to."""
    post = await question_post(session, round_.id)
    return max(round_.opens_at, post.sent_at) if post and post.sent_at else round_.opens_at


def take(row: Outbox, now: datetime, lease: timedelta) -> bool:
    """Hand the row to a courier until the lease ends. True where an earlier attempt may have arrived."""
    uncertain = row.state != "due"
    row.state, row.attempt, row.claimed_until = "sending", row.attempt + 1, now + lease
    return uncertain


def _ready(now: datetime) -> list[ColumnElement[bool]]:
    free = or_(Outbox.claimed_until.is_(None), Outbox.claimed_until <= now)
    return [Outbox.state.in_(WAITING), Outbox.not_before <= now, free]


def _someone_before() -> ColumnElement[bool]:
    """Whether an older message of the same queue still waits.

    A channel's public messages are one queue, each member's private ones another; notices to admins go on the
    side, so that they can say what holds the queue up.
    """
    before = aliased(Outbox)
    return exists().where(
        and_(
            before.id < Outbox.id,
            before.state.in_(WAITING),
            before.workspace_id == Outbox.workspace_id,
            before.channel_id.is_not_distinct_from(Outbox.channel_id),
            before.member_id.is_not_distinct_from(Outbox.member_id),
            (before.kind == "notice") == (Outbox.kind == "notice"),
        )
    )
