"""Rows of the web chat's messages. Every function is restricted to one chat, by the id of its row."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import merged_ids
from service.store.tables import Identity
from service.store.web_people import lock, next_version
from service.store.web_tables import WebMessageRow, WebPersonRow
from service.wire import WebMessage, WebPost

PRIVATE_KEPT: Final = 40
"""Replies kept per member; older ones are deleted. Delivered messages are kept."""


async def post(session: AsyncSession, chat: int, wanted: WebPost, now: datetime) -> WebMessage:
    """Stores a message; returns the existing one if its key or event is known. Lock the chat first."""
    named = ((WebMessageRow.key, wanted.key), (WebMessageRow.event, wanted.event))
    if known := [column == value for column, value in named if value is not None]:
        found = await _one(session, chat, or_(*known))
        if found is not None:
            return found
    version = await next_version(session, chat)
    values = {"chat_id": chat, "version": version, "at": now, **wanted.model_dump()}
    made = insert(WebMessageRow).values(values).returning(WebMessageRow.id)
    message = (await session.scalars(made)).one()
    if wanted.member is not None:
        await _delete_old(session, chat, wanted.channel, wanted.member)
    return await _known(session, chat, message)


async def _delete_old(session: AsyncSession, chat: int, channel: str, member: str) -> None:
    mine = (
        WebMessageRow.chat_id == chat,
        WebMessageRow.channel == channel,
        WebMessageRow.member == member,
        WebMessageRow.key.is_(None),
    )
    kept = select(WebMessageRow.id).where(*mine).order_by(WebMessageRow.id.desc()).limit(PRIVATE_KEPT)
    await session.execute(delete(WebMessageRow).where(*mine, WebMessageRow.id.not_in(kept)))


async def replace(
    session: AsyncSession, chat: int, message: int, member: str | None, content: str
) -> WebMessage | None:
    """Replaces the content of a member's private message, or with None as the member of a delivered message.

    Returns None if there is no such message.
    """
    await lock(session, chat)
    theirs = WebMessageRow.key.is_not(None) if member is None else WebMessageRow.member == member
    changed = (
        update(WebMessageRow)
        .where(WebMessageRow.chat_id == chat, WebMessageRow.id == message, theirs)
        .values(content=content, version=await next_version(session, chat))
    )
    found = await session.scalar(changed.returning(WebMessageRow.id))
    return None if found is None else await _known(session, chat, found)


async def count_written(session: AsyncSession, chat: int, author: str, since: datetime) -> int:
    """Returns how many messages a person wrote after that instant."""
    query = select(func.count()).where(
        WebMessageRow.chat_id == chat, WebMessageRow.author == author, WebMessageRow.at > since
    )
    return await session.scalar(query) or 0


async def find_key(session: AsyncSession, chat: int, key: str) -> int | None:
    """Returns the id of the message stored under `key`, or None."""
    query = select(WebMessageRow.id).where(WebMessageRow.chat_id == chat, WebMessageRow.key == key)
    return await session.scalar(query)


async def find_message(session: AsyncSession, chat: int, message: int, member: str) -> WebMessage | None:
    """Returns a message if the member may see it."""
    return await _one(session, chat, (WebMessageRow.id == message) & _seen_by(member))


async def list_results(
    session: AsyncSession, chat: int, editor: int, member: str, limit: int
) -> tuple[WebMessage, ...]:
    """Returns an editor's result and later private deliveries, the latest change first."""
    later = WebMessageRow.key.is_not(None) & (WebMessageRow.id > editor)
    query = (
        _messages(chat)
        .where(WebMessageRow.member == member, or_(WebMessageRow.answers == editor, later))
        .order_by(WebMessageRow.version.desc())
        .limit(limit)
    )
    return tuple(map(_message, await session.execute(query)))


async def list_seen(
    session: AsyncSession, chat: int, member: str, channel: str, *, after: int, before: int, limit: int
) -> tuple[WebMessage, ...]:
    """Returns the newest messages the member may see in the channel that changed after a version, oldest first.

    `before` is the id of a message: only older ones.
    """
    query = (
        _messages(chat)
        .where(WebMessageRow.channel == channel, _seen_by(member))
        .where(WebMessageRow.version > after, WebMessageRow.id < before)
        .order_by(WebMessageRow.id.desc())
        .limit(limit)
    )
    return tuple(map(_message, await session.execute(query)))[::-1]


async def list_changes(session: AsyncSession, chat: int, after: int, limit: int) -> tuple[WebMessage, ...]:
    """Returns the messages that changed last after a version, in the order of their versions."""
    query = _messages(chat).where(WebMessageRow.version > after).order_by(WebMessageRow.version.desc()).limit(limit)
    return tuple(map(_message, await session.execute(query)))[::-1]


async def list_written(session: AsyncSession, member_id: int) -> list[tuple[str, datetime]]:
    """Returns what a member wrote in web chats, oldest first: the content as JSON, and when."""
    query = (
        select(WebMessageRow.content, WebMessageRow.at)
        .join(
            Identity,
            (Identity.chat_id == WebMessageRow.chat_id) & (Identity.external_id == WebMessageRow.author),
        )
        .where(Identity.member_id.in_(merged_ids(member_id)))
        .order_by(WebMessageRow.id)
    )
    return [(content, at) for content, at in await session.execute(query)]


def _seen_by(member: str) -> ColumnElement[bool]:
    return or_(WebMessageRow.member.is_(None), WebMessageRow.member == member)


def _messages(chat: int) -> Select[WebMessageRow, str | None]:
    author = (WebPersonRow.chat_id == WebMessageRow.chat_id) & (WebPersonRow.id == WebMessageRow.author)
    return (
        select(WebMessageRow, WebPersonRow.name)
        .outerjoin(WebPersonRow, author)
        .where(WebMessageRow.chat_id == chat)
        # A message may have been changed by a statement of this transaction.
        .execution_options(populate_existing=True)
    )


async def _one(session: AsyncSession, chat: int, condition: ColumnElement[bool]) -> WebMessage | None:
    row = (await session.execute(_messages(chat).where(condition))).first()
    return None if row is None else _message(row)


async def _known(session: AsyncSession, chat: int, message: int) -> WebMessage:
    found = await _one(session, chat, WebMessageRow.id == message)
    assert found is not None, "it was stored in this transaction"
    return found


def _message(row: Any) -> WebMessage:
    message, author = row
    return WebMessage(
        id=message.id,
        version=message.version,
        channel=message.channel,
        member=message.member,
        author=author,
        reply_to=message.reply_to,
        answers=message.answers,
        delivered=message.key is not None,
        content=message.content,
        at=message.at,
    )
