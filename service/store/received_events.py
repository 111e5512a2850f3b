"""Rows of events that bots acknowledged: recorded before the acknowledgement, and answered by one process.

Only for bots of which several receive the events of one application, such as replicas behind a load balancer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.bot_tables import ReceivedEvent
from service.wire import Recorded

LEASE = timedelta(seconds=90)
"""Time in which the process that recorded an event answers it; after that, another one does."""
RETENTION = timedelta(days=1)
"""Time for which the id of an answered event is kept, to recognize a repeated delivery."""


ORDER_LIMIT = 2 * LEASE
"""Time after which an event that nobody answers no longer holds up later ones of its author."""


async def record(
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


async def claim(session: AsyncSession, bot: tuple[str, str], now: datetime, limit: int) -> Sequence[dict[str, Any]]:
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
