"""Which application serves which chat: a staging bot on production's service takes none of its messages."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.bot_tables import BotApplication
from service.store.tables import Chat

SILENCE = timedelta(minutes=10)
"""Time without a call after which another application may take over an application's chats."""
_SEEN_INTERVAL = timedelta(minutes=1)


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
