"""Codes that wait to be typed, and how many were tried, as rows. What a code does is `joining`'s and `merging`'s."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller
from service.store.tables import LinkCode, LinkGuess, Workspace


async def put(session: AsyncSession, caller: Caller, what: str, digest: str, now: datetime, expires: datetime) -> None:
    """Keep the caller's new code, in place of what they made before; old ones of everybody go."""
    before = (LinkCode.what == what) & (LinkCode.member_id == caller.member_id)
    await session.execute(delete(LinkCode).where(before | (LinkCode.expires_at <= now)))
    row = LinkCode(
        what=what,
        workspace_id=caller.workspace_id,
        chat_id=caller.chat_id,
        member_id=caller.member_id,
        digest=digest,
        expires_at=expires,
    )
    session.add(row)
    await session.flush()


async def kept(session: AsyncSession, digests: Sequence[str]) -> str | None:
    """Which of these is kept."""
    return await session.scalar(select(LinkCode.digest).where(LinkCode.digest.in_(digests)))


async def held(session: AsyncSession, what: str, digests: Sequence[str], now: datetime) -> LinkCode | None:
    """The code that left one of these, kept from everybody else until the transaction ends; None where it is wrong,
    used or too old."""
    query = select(LinkCode).where(LinkCode.what == what, LinkCode.digest.in_(digests), LinkCode.expires_at > now)
    return await session.scalar(query.with_for_update())


async def use(session: AsyncSession, code: LinkCode) -> None:
    """Have the code be good no more."""
    await session.delete(code)
    await session.flush()


async def may_guess(session: AsyncSession, workspace_id: int, now: datetime, within: timedelta, most: int) -> bool:
    """Note that a code is tried in this workspace; False, and nothing is noted, where that was done too often."""
    await session.execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    mine = LinkGuess.workspace_id == workspace_id
    await session.execute(delete(LinkGuess).where(mine, LinkGuess.at <= now - within))
    tried = await session.scalar(select(func.count()).select_from(LinkGuess).where(mine)) or 0
    if tried >= most:
        return False
    session.add(LinkGuess(workspace_id=workspace_id, at=now))
    return True
