"""Where what admins must know is said: to the admin who made the schedule, privately; else in its channel."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.store import chats, outbox
from service.store.tables import Schedule
from service.wire import Notice


async def tell_admins(session: AsyncSession, schedule: Schedule, key: str, notice: Notice, now: datetime) -> None:
    """Leave a notice about a schedule, once for the key.

    A post that the channel refuses is told of where the bot may write. Where the maker is not known any more, and in
    the web chat and the console, where all sit in one room, it goes to the channel.
    """
    chat = await chats.of_channel(session, schedule.channel_id)
    maker = schedule.made_by if chat.platform in ("discord", "slack") else None
    for member_id in dict.fromkeys((maker, None)):
        left = await outbox.leave(
            session,
            key,
            notice,
            workspace_id=schedule.workspace_id,
            channel_id=schedule.channel_id if member_id is None else None,
            member_id=member_id,
            chat_id=chat.id,
            due_at=now,
            give_up_at=now + outbox.PRIVATE_PATIENCE,
        )
        if left:
            return
