"""Encrypts the secrets in the database again with the newest key, so that an older key can be dropped."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.credentials import TokenCipher, WrongTokenKey
from service.people import installations, web_chat
from service.process import in_background
from service.store import chats, web_people
from service.store.chats import InstallationRow
from service.store.session import Sessions

log = structlog.get_logger(__name__)

UNREADABLE: Final = (
    "stored secrets were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY, so the web chat or apps in Slack do "
    "not work: add that key behind the others, or run `dailygrad reencrypt --forget`"
)
BATCH: Final = 50
"""Installations that are locked at a time: a few milliseconds of work."""


@dataclass(frozen=True, slots=True)
class Reencryption:
    """What was found: numbers of Slack installations and of web chats."""

    again: int = 0
    """Encrypted again with the newest key."""
    current: int = 0
    """Encrypted with the newest key before."""
    unreadable: int = 0
    """Encrypted with a key that is not known. They are left as they are, unless they are to be forgotten."""

    def __add__(self, other: Reencryption) -> Reencryption:
        return Reencryption(self.again + other.again, self.current + other.current, self.unreadable + other.unreadable)


async def reencrypt(sessions: Sessions, cipher: TokenCipher, *, forget_at: datetime | None = None) -> Reencryption:
    """Encrypts everything again that another key than the newest encrypted. May run while bots refresh tokens, and in
    several processes at once. Raises NoTokenKey.

    With `forget_at`, the time now, what no key fits is deleted: those apps must be installed again, and web chats get a
    new secret, which signs their browsers out.
    """
    cipher.require_key()
    found, last = Reencryption(), 0
    while True:
        async with sessions.begin() as session:
            rows = await chats.lock_tokens(session, last, BATCH)
            for row in rows:
                found += (one := _reencrypt_tokens(row, cipher))
                if one.unreadable and forget_at is not None:
                    await installations.forget(session, installations.key_of(row), forget_at)
        if not rows:
            break
        last = rows[-1].id
    async with sessions.begin() as session:
        for chat in await web_people.list_secret_chats(session):
            found += (one := await _reencrypt_web_secret(session, cipher, chat))
            if one.unreadable and forget_at is not None:
                await web_people.forget_secret(session, chat)
    return found


def _reencrypt_tokens(row: InstallationRow, cipher: TokenCipher) -> Reencryption:
    stored = [one for one in (row.token, row.refresh) if one is not None]
    if all(map(cipher.is_current, stored)):
        return Reencryption(current=1)
    try:
        token, refresh = (None if one is None else cipher.reencrypt(one) for one in (row.token, row.refresh))
    except WrongTokenKey:
        return Reencryption(unreadable=1)
    row.token, row.refresh = token, refresh
    return Reencryption(again=1)


async def _reencrypt_web_secret(session: AsyncSession, cipher: TokenCipher, chat: int) -> Reencryption:
    await web_people.lock(session, chat)
    before = await web_people.get_secret(session, chat)
    try:
        await web_chat.get_secret(session, cipher, chat)
    except WrongTokenKey:
        return Reencryption(unreadable=1)
    after = await web_people.get_secret(session, chat)
    return Reencryption(current=1) if before == after else Reencryption(again=1)


@contextlib.asynccontextmanager
async def reencrypting(sessions: Sessions, cipher: TokenCipher) -> AsyncIterator[None]:
    """Encrypts everything again beside the block, if there is an older key, and reports what no key fits."""
    if not cipher.has_key:
        yield
        return

    async def work() -> None:
        try:
            found = await reencrypt(sessions, cipher)
        except (SQLAlchemyError, OSError) as error:
            log.warning("stored secrets were not encrypted again", error=type(error).__name__)
        else:
            if found.unreadable:
                log.error(UNREADABLE, unreadable=found.unreadable)
            if cipher.has_older_keys:
                log.info("stored secrets have the newest key", again=found.again, unreadable=found.unreadable)

    async with in_background(work()):
        yield
