"""Tells moderators what members write to them, and members what was decided.

What a member writes goes to the channel or person that an admin chose, or else privately to the admin who made the
oldest schedule. If neither can be reached, the oldest channel is notified that something waits, without its text.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.store import members, outbox, reports, suggestions, troubles
from service.store.outbox import NewMessage
from service.store.tables import Outbox
from service.wire import Notice, NoticeFact, QuestionReported, QuestionSuggested


async def notify_moderators(
    session: AsyncSession, workspace_id: int, key: str, fact: NoticeFact, in_public: NoticeFact | None, now: datetime
) -> None:
    """Enqueues a notice for the moderators, once per key. `in_public` takes its place where all members read it;
    without one, nothing is said there."""
    notice = Notice(fact=fact)
    place = await reports.get_place(session, workspace_id)
    if place is not None:
        message = NewMessage(key, notice, workspace_id, place.channel_id, place.member_id)
        if await _enqueue(session, message, now):
            return
    maker = await _find_maker(session, workspace_id)
    if maker is not None and await _enqueue(session, NewMessage(key, notice, workspace_id, member_id=maker), now):
        return
    channel = await troubles.get_oldest_channel(session, workspace_id)
    if channel is not None and in_public is not None:
        await _enqueue(session, NewMessage(key, Notice(fact=in_public), workspace_id, channel.id), now)


async def notify_others(session: AsyncSession, row: Outbox, now: datetime) -> None:
    """Enqueues a notice for moderators that was certainly not posted for the next ones who can be told."""
    fact = Notice.from_stored(row.body).fact
    if isinstance(fact, QuestionReported) and fact.question is not None:
        again = reports.repeated_key(fact.report)
        in_public: NoticeFact = QuestionReported(report=fact.report, question=None)
    elif isinstance(fact, QuestionSuggested) and row.key == suggestions.notice_key(fact.suggestion):
        again, in_public = f"{row.key}:again", fact
    else:
        return
    maker = await _find_maker(session, row.workspace_id)
    if maker not in (None, row.member_id):
        message = NewMessage(again, Notice(fact=fact), row.workspace_id, member_id=maker)
        if await _enqueue(session, message, now):
            return
    channel = await troubles.get_oldest_channel(session, row.workspace_id)
    if channel is not None:
        message = NewMessage(f"{again}:public", Notice(fact=in_public), row.workspace_id, channel.id)
        await _enqueue(session, message, now)


async def _find_maker(session: AsyncSession, workspace_id: int) -> int | None:
    """Returns the admin who made the oldest schedule; None if it was the installation."""
    schedule = await troubles.get_oldest_schedule(session, workspace_id)
    maker = schedule.made_by if schedule is not None else None
    return None if maker is None or await members.is_installation(session, maker) else maker


async def notify_member(
    session: AsyncSession, workspace_id: int, member_id: int, key: str, fact: NoticeFact, now: datetime
) -> None:
    """Enqueues a private notice for a member, once per key. Does nothing if the member is no longer known."""
    await _enqueue(session, NewMessage(key, Notice(fact=fact), workspace_id, member_id=member_id), now)


async def _enqueue(session: AsyncSession, message: NewMessage, now: datetime) -> bool:
    return await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)
