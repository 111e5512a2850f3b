"""Rows of the bots themselves: which application serves which chat, and the events that bots acknowledged.

A staging bot on production's service takes none of its messages. An event is recorded before it is acknowledged, and
answered by one process. Only bots that share the events of one application, such as replicas behind a
load balancer, record them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Identity, Index, delete, exists, func, select, text, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, Chat
from service.wire import Recorded


class BotApplication(Base):
    """An application of a chat platform, such as production's or staging's, and when one of its bots last called."""

    __tablename__ = "bot_application"
    platform: Mapped[str] = mapped_column(primary_key=True)
    application: Mapped[str] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime]


class ReceivedEvent(Base):
    """An event that a bot acknowledged, so that only one process answers it, and another one if that dies."""

    __tablename__ = "received_event"
    __table_args__ = (
        Index("ix_received_event_waiting", "claimed_until", postgresql_where=text("content is not null")),
        Index("ix_received_event_at", "at"),
        Index(
            "ix_received_event_author",
            "platform",
            "application",
            "author",
            "number",
            postgresql_where=text("content is not null and author <> ''"),
        ),
    )
    platform: Mapped[str] = mapped_column(primary_key=True)
    application: Mapped[str] = mapped_column(primary_key=True)
    event_id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    content: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """The event and the way back to its author; None once it is answered."""
    claimed_until: Mapped[datetime]
    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True))
    """Order of arrival."""
    author: Mapped[str] = mapped_column(server_default="")
    """The person whose events are answered in order; empty if this one waits for none, or is answered."""


SILENCE = timedelta(minutes=10)
"""Time without a call after which another application may take over an application's chats."""
_SEEN_INTERVAL = timedelta(minutes=1)
"""Interval at which it is noted that a bot is there."""


async def record_seen(session: AsyncSession, platform: str, application: str, now: datetime) -> None:
    """Records that a bot of the application runs, at most once a minute."""
    if not application:
        return
    made = insert(BotApplication).values(platform=platform, application=application, seen_at=now)
    stale = BotApplication.seen_at <= now - _SEEN_INTERVAL
    keys = ["platform", "application"]
    await session.execute(made.on_conflict_do_update(index_elements=keys, set_={"seen_at": now}, where=stale))


async def bind_chat(session: AsyncSession, chat: Chat, application: str, now: datetime) -> bool:
    """Makes the application serve the chat. Returns False if another one does and still runs.

    An application loses a chat when it was removed from it, or when none of its bots has called for ten minutes.
    """
    if not application or chat.application == application:
        return True
    if chat.application and chat.left_at is None:
        owner = (BotApplication.platform == chat.platform, BotApplication.application == chat.application)
        seen_at = await session.scalar(select(BotApplication.seen_at).where(*owner))
        if seen_at is not None and seen_at > now - SILENCE:
            return False
    moved = update(Chat).where(Chat.id == chat.id, Chat.application == chat.application)
    await session.execute(moved.values(application=application, left_at=None))
    return True


LEASE = timedelta(seconds=90)
"""Time in which the process that recorded an event answers it; after that, another one does."""
RETENTION = timedelta(days=1)
"""Time for which the id of an answered event is kept, to recognize a repeated delivery."""

ORDER_LIMIT = 2 * LEASE
"""Time after which an event that nobody answers no longer holds up later ones of its author."""


async def record_event(
    session: AsyncSession, bot: tuple[str, str], event_id: str, content: dict[str, Any], author: str, now: datetime
) -> Recorded:
    """Records an event of a bot's platform and application, and leases it to the caller."""
    if author:
        # Events of one author are numbered in the order in which they become visible.
        await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended("/".join((*bot, author)), 0))))
    values = {"platform": bot[0], "application": bot[1], "event_id": event_id, "at": now, "content": content}
    made = insert(ReceivedEvent).values(**values, author=author, claimed_until=now + LEASE).on_conflict_do_nothing()
    if await session.scalar(made.returning(ReceivedEvent.event_id)) is None:
        return "repeated"
    return "first" if not author or await take_turn(session, bot, event_id, now) else "waits"


async def take_turn(session: AsyncSession, bot: tuple[str, str], event_id: str, now: datetime) -> bool:
    """Extends the lease of an event; returns whether every earlier event of its author is answered."""
    mine = (ReceivedEvent.platform == bot[0], ReceivedEvent.application == bot[1])
    waiting = (*mine, ReceivedEvent.content.is_not(None))
    held = update(ReceivedEvent).where(*waiting, ReceivedEvent.event_id == event_id).values(claimed_until=now + LEASE)
    own = (await session.execute(held.returning(ReceivedEvent.author, ReceivedEvent.number))).one_or_none()
    if own is None or not own.author:
        return True
    before = exists().where(
        *waiting,
        ReceivedEvent.author == own.author,
        ReceivedEvent.author != "",
        ReceivedEvent.number < own.number,
        ReceivedEvent.at > now - ORDER_LIMIT,
    )
    return not await session.scalar(select(before))


async def mark_answered(session: AsyncSession, bot: tuple[str, str], event_id: str) -> None:
    """Records that an event was answered, and deletes what it said and who said it."""
    mine = (ReceivedEvent.platform == bot[0], ReceivedEvent.application == bot[1], ReceivedEvent.event_id == event_id)
    await session.execute(update(ReceivedEvent).where(*mine).values(content=None, author=""))


async def claim_events(
    session: AsyncSession, bot: tuple[str, str], now: datetime, limit: int
) -> Sequence[dict[str, Any]]:
    """Leases to the caller events that nobody answered in time, oldest first; returns their contents.

    Deletes the ids of events that were answered long ago.
    """
    mine = (ReceivedEvent.platform == bot[0], ReceivedEvent.application == bot[1])
    old = delete(ReceivedEvent).where(*mine, ReceivedEvent.content.is_(None), ReceivedEvent.at < now - RETENTION)
    await session.execute(old.execution_options(synchronize_session=False))
    waiting = (
        select(ReceivedEvent)
        .where(*mine, ReceivedEvent.content.is_not(None), ReceivedEvent.claimed_until <= now)
        .order_by(ReceivedEvent.number)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    found = []
    for row in await session.scalars(waiting):
        row.claimed_until = now + LEASE
        assert row.content is not None, "an answered event does not wait"
        found.append(row.content)
    return found
