"""Rows of the web chat's people, their browsers' sessions and sign-in links.

Every function but `find_chat` is restricted to one chat, by the id of its row.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import register_chat
from service.store.statements import built_once
from service.store.tables import Chat, Identity
from service.store.web_tables import (
    WebAccountRow,
    WebMessageRow,
    WebPersonRow,
    WebSessionRow,
    WebSignInRow,
    WebState,
)
from service.wire import WebPerson, WebSession


async def find_chat(session: AsyncSession, workspace: str, now: datetime) -> int:
    """Returns the id of the web chat that a workspace is, registered and with its shared state if needed."""
    found: int | None = await session.scalar(*_select_chat(workspace))
    if found is not None:
        return found
    chat = await register_chat(session, "web", workspace, "", now)
    first = {"chat_id": chat.id, "encrypted": False, "version": 0, "sign_outs": 0}
    await session.execute(insert(WebState).values(first).on_conflict_do_nothing())
    return chat.id


@built_once
def _select_chat(workspace: str) -> Select[int]:
    query = select(Chat.id).join(WebState, WebState.chat_id == Chat.id)
    return query.where(Chat.platform == "web", Chat.external_id == workspace)


async def get_state(session: AsyncSession, chat: int) -> tuple[int, int]:
    """Returns the version of the chat's latest change, and how often sessions ended."""
    query = select(WebState.version, WebState.sign_outs).where(WebState.chat_id == chat)
    version, sign_outs = (await session.execute(query)).one()
    return version, sign_outs


async def get_secret(session: AsyncSession, chat: int) -> tuple[bytes | None, bool]:
    """Returns the chat's secret as it is stored, and whether that is encrypted."""
    query = select(WebState.secret, WebState.encrypted).where(WebState.chat_id == chat)
    secret, encrypted = (await session.execute(query)).one()
    return secret, encrypted


async def list_secret_chats(session: AsyncSession) -> Sequence[int]:
    """Returns the chats that have a secret."""
    return (await session.scalars(select(WebState.chat_id).where(WebState.secret.is_not(None)))).all()


async def set_secret(session: AsyncSession, chat: int, secret: bytes, encrypted: bool) -> None:
    """Stores the chat's secret."""
    changed = update(WebState).where(WebState.chat_id == chat).values(secret=secret, encrypted=encrypted)
    await session.execute(changed)


async def forget_secret(session: AsyncSession, chat: int) -> None:
    """Deletes the chat's secret; the next who asks for it gets a new one."""
    await session.execute(update(WebState).where(WebState.chat_id == chat).values(secret=None, encrypted=False))


async def lock(session: AsyncSession, chat: int) -> None:
    """Locks the chat until the transaction ends, so that its changes happen one after the other."""
    await session.execute(select(WebState.chat_id).where(WebState.chat_id == chat).with_for_update())


async def next_version(session: AsyncSession, chat: int) -> int:
    """Returns the version of a change. Locks the chat, so that versions become visible in their order."""
    changed = update(WebState).where(WebState.chat_id == chat).values(version=WebState.version + 1)
    return (await session.scalars(changed.returning(WebState.version))).one()


async def note_sign_out(session: AsyncSession, chat: int) -> None:
    """Makes every process check the sessions of its open pages."""
    changed = update(WebState).where(WebState.chat_id == chat).values(sign_outs=WebState.sign_outs + 1)
    await session.execute(changed)


# People


async def count_joined(session: AsyncSession, chat: int, since: datetime) -> int:
    """Returns how many people joined after that instant."""
    query = select(func.count()).where(WebPersonRow.chat_id == chat, WebPersonRow.joined_at > since)
    return await session.scalar(query) or 0


async def add_person(
    session: AsyncSession, chat: int, name: str, folded: str, skeleton: str, now: datetime
) -> WebPerson | None:
    """Adds a person, the first one as the admin; None if another's name is or looks the same. Lock the chat first."""
    others = exists().where(WebPersonRow.chat_id == chat)
    first = not await session.scalar(select(others))
    person = WebPerson(id=secrets.token_hex(8), name=name, admin=first)
    values = {"chat_id": chat, "folded": folded, "skeleton": skeleton, "joined_at": now, **person.model_dump()}
    made = insert(WebPersonRow).values(values).on_conflict_do_nothing().returning(WebPersonRow.id)
    return person if await session.scalar(made) else None


async def list_people(session: AsyncSession, chat: int, ids: Collection[str]) -> tuple[WebPerson, ...]:
    """Returns the people with these ids; those forgotten are left out."""
    query = _people(chat).where(WebPersonRow.id.in_(ids)).order_by(WebPersonRow.id)
    return tuple(map(_person, await session.execute(query)))


async def find_called(session: AsyncSession, chat: int, folded: str) -> WebPerson | None:
    """Returns the person with that name, or None."""
    row = (await session.execute(_people(chat).where(WebPersonRow.folded == folded))).one_or_none()
    return None if row is None else _person(row)


async def find_people_of(session: AsyncSession, chat: int, member_ids: Collection[int]) -> dict[int, WebPerson]:
    """Returns the people who are these members, by member."""
    same = (Identity.chat_id == WebPersonRow.chat_id) & (Identity.external_id == WebPersonRow.id)
    query = _people(chat).join(Identity, same).add_columns(Identity.member_id)
    rows = await session.execute(query.where(Identity.member_id.in_(member_ids)))
    return {row.member_id: _person(row) for row in rows}


async def set_admin(session: AsyncSession, chat: int, person: str, admin: bool) -> None:
    """Makes a person an admin, or no longer one. Does nothing for someone who was forgotten."""
    named = WebPersonRow.name.is_not(None)
    changed = update(WebPersonRow).where(WebPersonRow.chat_id == chat, WebPersonRow.id == person, named)
    await session.execute(changed.values(admin=admin))
    await note_sign_out(session, chat)


async def forget_people(session: AsyncSession, member_id: int) -> None:
    """Erases who the member is in web chats: names, browsers, links and messages, including private ones."""
    query = (
        select(Identity.chat_id, Identity.external_id)
        .join(WebPersonRow, (WebPersonRow.chat_id == Identity.chat_id) & (WebPersonRow.id == Identity.external_id))
        .where(Identity.member_id == member_id)
    )
    for chat, person in (await session.execute(query)).all():
        await lock(session, chat)
        for table in (WebSessionRow, WebSignInRow, WebAccountRow):
            await session.execute(delete(table).where(table.chat_id == chat, table.person == person))
        for theirs in (WebMessageRow.author, WebMessageRow.member):
            await session.execute(delete(WebMessageRow).where(WebMessageRow.chat_id == chat, theirs == person))
        erased = update(WebPersonRow).where(WebPersonRow.chat_id == chat, WebPersonRow.id == person)
        await session.execute(erased.values(name=None, folded=None, skeleton=None, admin=False))
        await note_sign_out(session, chat)


def _people(chat: int) -> Select[str, str | None, bool]:
    query = select(WebPersonRow.id, WebPersonRow.name, WebPersonRow.admin)
    return query.where(WebPersonRow.chat_id == chat, WebPersonRow.name.is_not(None))


def _person(row: Any) -> WebPerson:
    return WebPerson(id=row.id, name=row.name, admin=row.admin)


# Sessions


async def begin_session(
    session: AsyncSession, chat: int, person: str, digest: str, agent: str, now: datetime, kept_since: datetime
) -> None:
    """Adds a session, and deletes those that were last used before `kept_since`."""
    values = {"chat_id": chat, "person": person, "digest": digest, "agent": agent, "began_at": now, "used_at": now}
    await session.execute(insert(WebSessionRow).values(values).on_conflict_do_nothing())
    await session.execute(delete(WebSessionRow).where(WebSessionRow.used_at <= kept_since))


async def find_sessions(
    session: AsyncSession, chat: int, digests: Collection[str], kept_since: datetime
) -> dict[str, WebSession]:
    """Returns the sessions with these digests that have not ended, by digest."""
    rows = await session.execute(*_select_sessions(chat, digests, kept_since))
    return {row.digest: _session(row) for row in rows}


@built_once
def _select_sessions(chat: int, digests: Collection[str], kept_since: datetime) -> Select[*tuple[Any, ...]]:
    return _sessions(chat, kept_since).where(WebSessionRow.digest.in_(digests))


async def mark_used(session: AsyncSession, ids: Collection[int], now: datetime) -> None:
    """Records that sessions are used now."""
    await session.execute(update(WebSessionRow).where(WebSessionRow.id.in_(ids)).values(used_at=now))


async def list_sessions(
    session: AsyncSession, chat: int, person: str | None, kept_since: datetime, limit: int
) -> tuple[WebSession, ...]:
    """Returns the sessions of one person or of all, most recently used first."""
    query = _sessions(chat, kept_since).order_by(WebSessionRow.used_at.desc(), WebSessionRow.id.desc()).limit(limit)
    if person is not None:
        query = query.where(WebSessionRow.person == person)
    return tuple(map(_session, await session.execute(query)))


async def end_sessions(session: AsyncSession, chat: int, ids: Sequence[int], person: str | None) -> int:
    """Ends sessions, of that person only if one is given. Returns how many there were."""
    ended = delete(WebSessionRow).where(WebSessionRow.chat_id == chat, WebSessionRow.id.in_(ids))
    if person is not None:
        ended = ended.where(WebSessionRow.person == person)
    number = len((await session.scalars(ended.returning(WebSessionRow.id))).all())
    if number:
        await note_sign_out(session, chat)
    return number


def _sessions(chat: int, kept_since: datetime) -> Select[int, str, str, datetime, datetime, str, str | None, bool]:
    return (
        select(
            WebSessionRow.id.label("session_id"),
            WebSessionRow.digest,
            WebSessionRow.agent,
            WebSessionRow.began_at,
            WebSessionRow.used_at,
            WebPersonRow.id,
            WebPersonRow.name,
            WebPersonRow.admin,
        )
        .join(WebPersonRow, (WebPersonRow.chat_id == WebSessionRow.chat_id) & (WebPersonRow.id == WebSessionRow.person))
        .where(WebSessionRow.chat_id == chat, WebSessionRow.used_at > kept_since)
    )


def _session(row: Any) -> WebSession:
    return WebSession(id=row.session_id, person=_person(row), agent=row.agent, began=row.began_at, used=row.used_at)


# Sign-in links


async def add_sign_in(session: AsyncSession, chat: int, person: str, digest: str, until: datetime) -> None:
    """Adds a link that signs a person in, once before `until`."""
    values = {"chat_id": chat, "person": person, "digest": digest, "until": until}
    await session.execute(insert(WebSignInRow).values(values).on_conflict_do_nothing())


async def find_sign_in(session: AsyncSession, chat: int, digest: str, now: datetime) -> WebPerson | None:
    """Returns the person that a link signs in; None if it was used, is too old or never existed."""
    query = select(WebSignInRow.person).where(
        WebSignInRow.chat_id == chat, WebSignInRow.digest == digest, WebSignInRow.until > now
    )
    person = await session.scalar(query)
    return None if person is None else await _one(session, chat, person)


async def use_sign_in(session: AsyncSession, chat: int, digest: str, now: datetime) -> WebPerson | None:
    """Like `find_sign_in`, and deletes the link and all that are too old."""
    used = delete(WebSignInRow).where(WebSignInRow.chat_id == chat, WebSignInRow.digest == digest)
    row = (await session.execute(used.returning(WebSignInRow.person, WebSignInRow.until))).one_or_none()
    await session.execute(delete(WebSignInRow).where(WebSignInRow.until <= now))
    return None if row is None or row.until <= now else await _one(session, chat, row.person)


# Accounts at an OpenID provider


async def find_account(session: AsyncSession, chat: int, digest: str) -> WebPerson | None:
    """Returns the person that an account signs in, or None."""
    query = select(WebAccountRow.person).where(WebAccountRow.chat_id == chat, WebAccountRow.digest == digest)
    person = await session.scalar(query)
    return None if person is None else await _one(session, chat, person)


async def add_account(session: AsyncSession, chat: int, digest: str, person: str) -> bool:
    """Links an account to the person whom it signs in. Returns False if either is linked to another."""
    made = insert(WebAccountRow).values(chat_id=chat, digest=digest, person=person).on_conflict_do_nothing()
    return await session.scalar(made.returning(WebAccountRow.person)) is not None


async def list_without_account(session: AsyncSession, chat: int, ids: Collection[str]) -> tuple[WebPerson, ...]:
    """Returns the people among these that no account signs in."""
    known = exists().where(WebAccountRow.chat_id == chat, WebAccountRow.person == WebPersonRow.id)
    query = _people(chat).where(WebPersonRow.id.in_(ids), ~known).order_by(WebPersonRow.id)
    return tuple(map(_person, await session.execute(query)))


async def _one(session: AsyncSession, chat: int, person: str) -> WebPerson | None:
    return next(iter(await list_people(session, chat, [person])), None)
