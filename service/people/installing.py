"""Where the bot is installed: tokens kept encrypted, refreshed ahead of time by one caller, thrown away when revoked.

The calls to the platform are the bot's; the service keeps the tokens and says whose turn it is.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from service.credentials import TokenCipher
from service.store import chats
from service.store.tables import InstallationRow
from service.wire import Installation, InstallationKey, Platform

AHEAD = timedelta(hours=2)
"""How long before its end a token is refreshed: a Slack token is good for twelve hours."""
LEASE = timedelta(minutes=1)
STATE_GOOD_FOR = timedelta(minutes=10)
NO_SECRET = {"app", "bot_id", "bot_user", "scopes", "installed_by", "name"}


async def keep(session: AsyncSession, cipher: TokenCipher, installation: Installation, now: datetime) -> None:
    """Keep a new installation, or the new tokens of one. Raises NoTokenKey."""
    values = {
        "about": installation.model_dump(mode="json", include=NO_SECRET),
        "token": cipher.encrypt(installation.token),
        "refresh": cipher.encrypt(installation.refresh) if installation.refresh else None,
        "expires_at": installation.expires_at,
        "installed_at": now,
    }
    await chats.save_installation(session, installation, values)


async def find(session: AsyncSession, cipher: TokenCipher, key: InstallationKey) -> Installation | None:
    """The installation by which the bot acts in a team. Raises NoTokenKey or WrongTokenKey."""
    row = await chats.find_installation(session, key)
    if row is None or row.token is None:
        return None
    return Installation(
        **_key(row).model_dump(),
        **row.about,
        token=cipher.decrypt(row.token),
        refresh=cipher.decrypt(row.refresh) if row.refresh else None,
        expires_at=row.expires_at,
    )


async def due(session: AsyncSession, platform: Platform, now: datetime) -> tuple[InstallationKey, ...]:
    """The installations to refresh now, the most urgent first."""
    return tuple(_key(row) for row in await chats.list_expiring_installations(session, platform, now, now + AHEAD))


async def lease(session: AsyncSession, cipher: TokenCipher, key: InstallationKey, now: datetime) -> SecretStr | None:
    """The refresh token, to the first who asks while it is due; the next may ask when the lease ends."""
    sealed = await chats.lease_refresh_token(session, key, now, now + AHEAD, now + LEASE)
    return None if sealed is None else cipher.decrypt(sealed)


async def issue(session: AsyncSession, platform: Platform, state: str, now: datetime) -> None:
    """Keep that this state was sent along; its hash alone, so that nobody who reads the table can send it back."""
    await chats.add_oauth_state(session, platform, _digest(state), now, now + STATE_GOOD_FOR)


async def consume(session: AsyncSession, platform: Platform, state: str, now: datetime) -> bool:
    """Whether the state that came back was sent, for the first time and in time."""
    return await chats.take_oauth_state(session, platform, _digest(state), now)


def _key(row: InstallationRow) -> InstallationKey:
    return InstallationKey.model_validate({"platform": row.platform, "team": row.team, "enterprise": row.enterprise})


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
