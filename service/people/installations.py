"""Installations: stores their tokens encrypted, and leases each token to one bot process for refreshing.

Only the bot calls the platform.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from service.credentials import TokenCipher
from service.store import bots, chats, outbox
from service.store.chats import InstallationRow
from service.wire import Installation, InstallationKey, Platform

AHEAD = timedelta(hours=2)
"""Time before expiry at which a token is refreshed. A Slack token lasts twelve hours."""
LEASE = timedelta(minutes=1)
"""Time that one process has to refresh a token."""
STATE_GOOD_FOR = timedelta(minutes=10)
"""Time that an installation may take."""
NO_SECRET = {"app", "bot_id", "bot_user", "scopes", "installed_by", "name"}


async def keep(session: AsyncSession, cipher: TokenCipher, installation: Installation, now: datetime) -> None:
    """Saves a new installation, or an installation's new tokens. Raises NoTokenKey."""
    values = {
        "about": installation.model_dump(mode="json", include=NO_SECRET),
        "token": cipher.encrypt(installation.token),
        "refresh": cipher.encrypt(installation.refresh) if installation.refresh else None,
        "expires_at": installation.expires_at,
        "installed_at": now,
    }
    await chats.save_installation(session, installation, values)
    await chats.mark_left_by_installation(session, installation, now)
    if installation.team:
        await outbox.retry_refused(session, installation.platform, installation.team, "", now)


async def renew(
    session: AsyncSession, cipher: TokenCipher, installation: Installation, used: SecretStr, now: datetime
) -> None:
    """Saves the new tokens of an installation, got with the refresh token that was `used`.

    Does nothing if that is not its refresh token any more: the app was removed or installed again while the platform
    was asked, and tokens of before would bring it back or take the place of newer ones.
    """
    row = await chats.lock_installation(session, installation)
    if row is None or row.refresh is None or cipher.decrypt(row.refresh) != used:
        return
    row.token = cipher.encrypt(installation.token)
    row.refresh = cipher.encrypt(installation.refresh) if installation.refresh else None
    row.expires_at, row.leased_until = installation.expires_at, None
    await session.flush()
    await outbox.retry_refused(session, row.platform, row.team, "", now)


async def forget(
    session: AsyncSession, key: InstallationKey, now: datetime, removed_at: datetime | None = None
) -> None:
    """Deletes the tokens of an installation. Schedules of chats that no other installation covers post nothing.

    Keeps tokens that came after `removed_at`: platforms may report late that the app was removed, and by then it may
    have been installed again.
    """
    await chats.revoke_installation(session, key, removed_at or now, now)
    await chats.mark_left_by_installation(session, key, now)


async def record_presence(
    session: AsyncSession, chat: tuple[Platform, str], present: bool, application: str, now: datetime
) -> None:
    """Records that the bot is in the chat, or was removed from it. What the chat refused before is tried again.

    A report of an application that does not serve the chat changes nothing.
    """
    platform, workspace = chat
    known = await chats.find_chat(session, platform, workspace)
    if known is not None and application not in ("", known.application):
        if known.application and not present:
            return
        if not await bots.bind_chat(session, known, application, now):
            return
    await chats.mark_left(session, platform, workspace, None if present else now)
    if present:
        await outbox.retry_refused(session, platform, workspace, "", now)


async def find(session: AsyncSession, cipher: TokenCipher, key: InstallationKey) -> Installation | None:
    """Returns the installation for a team, or None. Raises NoTokenKey or WrongTokenKey."""
    row = await chats.find_installation(session, key)
    if row is None or row.token is None:
        return None
    return Installation(
        **key_of(row).model_dump(),
        **row.about,
        token=cipher.decrypt(row.token),
        refresh=cipher.decrypt(row.refresh) if row.refresh else None,
        expires_at=row.expires_at,
    )


async def due(session: AsyncSession, platform: Platform, now: datetime) -> tuple[InstallationKey, ...]:
    """Returns the installations to refresh now, most urgent first."""
    return tuple(key_of(row) for row in await chats.list_expiring_installations(session, platform, now, now + AHEAD))


async def lease(session: AsyncSession, cipher: TokenCipher, key: InstallationKey, now: datetime) -> SecretStr | None:
    """Returns the refresh token to the first caller while it is due; None to others until the lease ends."""
    sealed = await chats.lease_refresh_token(session, key, now, now + AHEAD, now + LEASE)
    return None if sealed is None else cipher.decrypt(sealed)


async def issue(session: AsyncSession, platform: Platform, state: str, now: datetime) -> None:
    """Records an OAuth state as sent. Only its hash is stored, so the table's contents cannot be replayed."""
    await chats.add_oauth_state(session, platform, _digest(state), now, now + STATE_GOOD_FOR)


async def consume(session: AsyncSession, platform: Platform, state: str, now: datetime) -> bool:
    """Returns whether a returned OAuth state was sent, is unexpired and is used for the first time."""
    return await chats.take_oauth_state(session, platform, _digest(state), now)


def key_of(row: InstallationRow) -> InstallationKey:
    """Returns which installation a row is."""
    return InstallationKey.model_validate({"platform": row.platform, "team": row.team, "enterprise": row.enterprise})


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
