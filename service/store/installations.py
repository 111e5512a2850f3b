"""Installations and the states of their consent pages, as rows. Encrypting is the caller's business."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import InstallationRow, OAuthState
from service.wire import InstallationKey


async def keep(session: AsyncSession, key: InstallationKey, values: dict[str, Any]) -> None:
    """Write an installation, new or in place of what was known of it."""
    fresh = {**values, "leased_until": None, "revoked_at": None}
    made = insert(InstallationRow).values(platform=key.platform, enterprise=key.enterprise, team=key.team, **fresh)
    await session.execute(made.on_conflict_do_update(index_elements=["platform", "enterprise", "team"], set_=fresh))


async def find(session: AsyncSession, key: InstallationKey) -> InstallationRow | None:
    """The team's installation, the newest first, else that of its whole enterprise."""
    wide = (InstallationRow.team == "") & (InstallationRow.enterprise == key.enterprise)
    mine = InstallationRow.team == key.team
    query = (
        select(InstallationRow)
        .where(
            InstallationRow.platform == key.platform,
            InstallationRow.revoked_at.is_(None),
            or_(mine, wide) if key.enterprise else mine & (InstallationRow.team != ""),
        )
        .order_by((InstallationRow.team == "").asc(), InstallationRow.installed_at.desc())
        .limit(1)
    )
    return await session.scalar(query)


async def forget(session: AsyncSession, key: InstallationKey, now: datetime) -> None:
    """Throw both tokens away."""
    within = [InstallationRow.enterprise == key.enterprise] if key.enterprise or not key.team else []
    await session.execute(
        update(InstallationRow)
        .where(InstallationRow.platform == key.platform, InstallationRow.team == key.team, *within)
        .values(token=None, refresh=None, leased_until=None, revoked_at=now)
    )


async def due(session: AsyncSession, platform: str, now: datetime, by: datetime) -> Sequence[InstallationRow]:
    """Those whose token ends by then, that nobody is refreshing, the most urgent first."""
    query = select(InstallationRow).where(InstallationRow.platform == platform, *_refreshable(now, by))
    return (await session.scalars(query.order_by(InstallationRow.expires_at, InstallationRow.id))).all()


async def lease(
    session: AsyncSession, key: InstallationKey, now: datetime, by: datetime, until: datetime
) -> bytes | None:
    """The refresh token of one that is due, to this caller alone until then; another who asks meanwhile waits for this
    transaction, and gets None."""
    taken = (
        update(InstallationRow)
        .where(
            InstallationRow.platform == key.platform,
            InstallationRow.enterprise == key.enterprise,
            InstallationRow.team == key.team,
            *_refreshable(now, by),
        )
        .values(leased_until=until)
        .returning(InstallationRow.refresh)
    )
    return await session.scalar(taken)


def _refreshable(now: datetime, by: datetime) -> list[ColumnElement[bool]]:
    return [
        InstallationRow.revoked_at.is_(None),
        InstallationRow.refresh.is_not(None),
        InstallationRow.expires_at <= by,
        or_(InstallationRow.leased_until.is_(None), InstallationRow.leased_until <= now),
    ]


async def add_state(session: AsyncSession, platform: str, digest: str, now: datetime, expires_at: datetime) -> None:
    """Keep a state's hash; old ones go."""
    await session.execute(delete(OAuthState).where(OAuthState.expires_at <= now))
    session.add(OAuthState(digest=digest, platform=platform, expires_at=expires_at))


async def take_state(session: AsyncSession, platform: str, digest: str, now: datetime) -> bool:
    """Whether the state was there and in time; it is not any more."""
    mine = (OAuthState.digest == digest, OAuthState.platform == platform)
    expires_at = await session.scalar(delete(OAuthState).where(*mine).returning(OAuthState.expires_at))
    return expires_at is not None and expires_at > now
