"""Use cases of the web chat: joining, sessions, sign-in links, messages, and waiting for changes.

All of it is shared by the processes of one chat: limits hold across them, and each learns of changes at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from service.credentials import TokenCipher
from service.domain.names import appearance, clean, find_problem, folded
from service.errors import Refused
from service.store import web_messages, web_people
from service.store.change_signal import WEB, ChangeSignal, await_change
from service.store.members import Caller
from service.store.session import Sessions
from service.store.tables import Member
from service.wire import (
    MOST_CHANGES,
    WEB_BOT_NAME,
    WEB_WORKSPACE,
    AdminRoleRefused,
    AdminsOnly,
    NameRefused,
    TooManyCalls,
    WebChanges,
    WebMessage,
    WebMessages,
    WebPerson,
    WebPost,
    WebSession,
    secret_digest,
)

SESSION_LIFETIME: Final = timedelta(days=365)
"""How long a browser stays signed in without being used."""
USED_EVERY: Final = timedelta(hours=1)
"""How exactly the last use of a session is known."""
OPERATORS_LINK: Final = timedelta(days=1)
"""How long a sign-in link works that the operator makes: they may send it to somebody."""
SESSIONS_SHOWN: Final = 200
POLL_SECONDS: Final = 1.0
"""Longest time until a change is found whose notification was lost, seconds."""


@dataclass(frozen=True, slots=True)
class Limit:
    """So many within a period."""

    most: int
    period: timedelta


JOINS: Final = Limit(300, timedelta(minutes=10))
"""People who join a chat: a large team on its first day, but no program that takes every name."""
MESSAGES: Final = Limit(60, timedelta(minutes=1))
"""Messages that a person writes. Commands are limited as calls."""


def _refuse_beyond(limit: Limit, count: int) -> None:
    if count >= limit.most:
        raise Refused(TooManyCalls(retry_s=round(limit.period.total_seconds())))


async def get_secret(session: AsyncSession, cipher: TokenCipher, chat: int) -> str:
    """Returns the secret with which the chat's processes sign forms and cookies; makes one if there is none.

    It is stored encrypted with the newest key, even after keys were rotated. Only a service without a key stores it
    as it is. Raises NoTokenKey or WrongTokenKey if it is encrypted and its key is gone.
    """
    await web_people.lock(session, chat)
    stored, encrypted = await web_people.get_secret(session, chat)
    if stored is None:
        secret = SecretStr(secrets.token_urlsafe(32))
    else:
        secret = cipher.decrypt(stored) if encrypted else SecretStr(stored.decode())
    if cipher.has_key and not (stored is not None and encrypted and cipher.is_current(stored)):
        await web_people.set_secret(session, chat, cipher.encrypt(secret), encrypted=True)
    elif stored is None:
        await web_people.set_secret(session, chat, secret.get_secret_value().encode(), encrypted=False)
    return secret.get_secret_value()


# People


async def join(session: AsyncSession, chat: int, typed: str, now: datetime) -> WebPerson:
    """Adds a person. Refused if the name is unsuitable, taken, or looks like another person's or the quiz's."""
    name = clean(typed)
    if problem := find_problem(name):
        raise Refused(problem)
    await web_people.lock(session, chat)
    _refuse_beyond(JOINS, await web_people.count_joined(session, chat, now - JOINS.period))
    compared, looks = folded(name), appearance(name)
    if looks in _BOT_LOOKS:
        raise Refused(_taken(name, compared == folded(WEB_BOT_NAME)))
    person = await web_people.add_person(session, chat, name, compared, looks, now)
    if person is None:
        raise Refused(_taken(name, await web_people.find_called(session, chat, compared) is not None))
    return person


_BOT_LOOKS: Final = frozenset(map(appearance, (WEB_BOT_NAME, WEB_BOT_NAME.upper())))


def _taken(name: str, same: bool) -> NameRefused:
    return NameRefused(why="taken" if same else "alike", name=name)


async def join_with_account(
    session: AsyncSession, chat: int, digest: str, typed: str, person: str | None, now: datetime
) -> WebPerson | None:
    """Returns the person that an account signs in from now on: a new one with that name, or the given one if
    they have no account yet. Returns None if they have one. An account that already signs someone in keeps doing so.

    Refused like `join`.
    """
    await web_people.lock(session, chat)
    if (known := await web_people.find_account(session, chat, digest)) is not None:
        return known
    if person is None:
        joined = await join(session, chat, typed, now)
    else:
        free = await web_people.list_without_account(session, chat, [person])
        if not free:
            return None
        (joined,) = free
    await web_people.add_account(session, chat, digest, joined.id)
    return joined


async def is_known(session: AsyncSession, chat: int, person: str) -> bool:
    """Returns whether a person joined the chat and was not forgotten."""
    return bool(await web_people.list_people(session, chat, [person]))


# Sessions


async def set_role(session: AsyncSession, caller: Caller, member: Member, admin: bool) -> None:
    """Makes a member of the web chat an admin, or no longer one. Refused for the caller's own role.

    One after the other: a caller who stopped being an admin meanwhile is refused, so an admin always remains.
    """
    await web_people.lock(session, caller.chat_id)
    people = await web_people.find_people_of(session, caller.chat_id, (caller.member_id, member.id))
    if member.id not in people or caller.member_id not in people:
        raise Refused(AdminRoleRefused(why="elsewhere"))
    if member.id == caller.member_id:
        raise Refused(AdminRoleRefused(why="self"))
    if not people[caller.member_id].admin:
        raise Refused(AdminsOnly())
    await web_people.set_admin(session, caller.chat_id, people[member.id].id, admin)


async def begin_session(session: AsyncSession, chat: int, person: str, digest: str, agent: str, now: datetime) -> bool:
    """Signs a browser in. Returns False if there is no such person."""
    # Before the look, so that nothing is written about someone who is being forgotten.
    await web_people.lock(session, chat)
    if not await is_known(session, chat, person):
        return False
    await web_people.begin_session(session, chat, person, digest, agent, now, now - SESSION_LIFETIME)
    return True


async def use_sessions(
    session: AsyncSession, chat: int, digests: Sequence[str], now: datetime
) -> dict[str, WebSession]:
    """Returns the sessions with these digests that have not ended, and records that they are used."""
    found = await web_people.find_sessions(session, chat, digests, now - SESSION_LIFETIME)
    if stale := [one.id for one in found.values() if one.used < now - USED_EVERY]:
        await web_people.mark_used(session, stale, now)
    return found


async def list_sessions(session: AsyncSession, chat: int, person: str | None, now: datetime) -> tuple[WebSession, ...]:
    """Returns the sessions of one person or of all, most recently used first."""
    return await web_people.list_sessions(session, chat, person, now - SESSION_LIFETIME, SESSIONS_SHOWN)


async def make_sign_in(session: AsyncSession, chat: int, person: str, digest: str, until: datetime) -> bool:
    """Adds a link that signs a person in, once before `until`. Returns False if there is no such person."""
    await web_people.lock(session, chat)
    if not await is_known(session, chat, person):
        return False
    await web_people.add_sign_in(session, chat, person, digest, until)
    return True


async def sign_in_by_name(session: AsyncSession, name: str, admin: bool, now: datetime) -> str | None:
    """Returns the code of a link that signs the person with that name in, once within a day; None if there is none.

    With `admin`, makes them an admin.
    """
    chat = await web_people.find_chat(session, WEB_WORKSPACE, now)
    await web_people.lock(session, chat)
    person = await web_people.find_called(session, chat, folded(name))
    if person is None:
        return None
    if admin:
        await web_people.set_admin(session, chat, person.id, True)
    code = secrets.token_urlsafe(24)
    await web_people.add_sign_in(session, chat, person.id, secret_digest(code), now + OPERATORS_LINK)
    return code


# Messages


async def post(session: AsyncSession, chat: int, wanted: WebPost, now: datetime) -> WebMessage | None:
    """Stores a message, once per key or event. Returns None if its author or reader is not in the chat.

    Refused if the author writes too fast.
    """
    await web_people.lock(session, chat)
    named = {wanted.member, wanted.author} - {None}
    people = await web_people.list_people(session, chat, [person for person in named if person is not None])
    if len(people) < len(named):
        return None
    if wanted.author is not None:
        since = now - MESSAGES.period
        _refuse_beyond(MESSAGES, await web_messages.count_written(session, chat, wanted.author, since))
    return await web_messages.post(session, chat, wanted, now)


async def list_seen(
    session: AsyncSession, chat: int, member: str, channel: str, *, after: int, before: int, limit: int
) -> WebMessages:
    """Returns the newest messages that a person may see in a channel, oldest first."""
    # Read before the messages: changes made in between are then found later, not lost.
    version, _ = await web_people.get_state(session, chat)
    found = await web_messages.list_seen(session, chat, member, channel, after=after, before=before, limit=limit)
    return WebMessages(version=version, messages=found)


async def list_results(session: AsyncSession, chat: int, editor: int, member: str, limit: int) -> WebMessages:
    """Returns an editor's result and later private deliveries, the latest change first."""
    version, _ = await web_people.get_state(session, chat)
    found = await web_messages.list_results(session, chat, editor, member, limit)
    return WebMessages(version=version, messages=found)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a process knows of a chat."""

    version: int
    sign_outs: int


async def changes_or_wait(
    sessions: Sessions,
    signal: ChangeSignal,
    chat: int,
    seen: Seen,
    *,
    wait_s: float,
    stopping: Callable[[], bool] = lambda: False,
) -> WebChanges:
    """Returns what changed since then, waiting up to `wait_s` for something. Once `stopping` returns True it stops
    within a second."""

    async def look() -> WebChanges | None:
        async with sessions() as session:
            version, sign_outs = await web_people.get_state(session, chat)
            if (version, sign_outs) == (seen.version, seen.sign_outs):
                return None
            found = await web_messages.list_changes(session, chat, seen.version, MOST_CHANGES)
        # The list may hold changes that were made after the version was read.
        latest = max([version, *(message.version for message in found)])
        return WebChanges(version=latest, sign_outs=sign_outs, messages=found)

    while True:
        changed = signal.next_change(WEB)
        found = await look()
        if found is not None or wait_s <= 0 or stopping():
            break
        pause = min(wait_s, POLL_SECONDS)
        await await_change(changed, pause)
        wait_s -= pause
    return found or WebChanges(version=seen.version, sign_outs=seen.sign_outs, messages=())
