"""Seasons and their archives: rows in and out. When one starts or ends is the use case's business."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import Member, Season, Workspace


async def running(session: AsyncSession, workspace_id: int) -> Season | None:
    """The season that has no end yet."""
    query = select(Season).where(Season.workspace_id == workspace_id, Season.ends_at.is_(None))
    return await session.scalar(query)


async def hold(session: AsyncSession, workspace_id: int) -> None:
    """Let those who start or end a season here wait for one another until the transaction ends."""
    await session.execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))


async def named(session: AsyncSession, workspace_id: int, name: str) -> Season | None:
    """The season of that name, in whatever case it is written."""
    found = await session.scalars(select(Season).where(Season.workspace_id == workspace_id))
    return next((season for season in found if season.name.casefold() == name.casefold()), None)


async def all_of(session: AsyncSession, workspace_id: int) -> list[Season]:
    """Every season, the newest first."""
    query = select(Season).where(Season.workspace_id == workspace_id).order_by(Season.starts_at.desc())
    return list(await session.scalars(query))


async def hidden_members(session: AsyncSession, workspace_id: int) -> set[int]:
    """Those who are to be left out of every board, the archived ones too."""
    query = select(Member.id).where(Member.workspace_id == workspace_id, Member.hidden.is_(True))
    return set(await session.scalars(query))


def add(session: AsyncSession, workspace_id: int, name: str, starts_at: datetime) -> Season:
    """A season that runs from `starts_at`; the database refuses a second one that runs."""
    season = Season(workspace_id=workspace_id, name=name, starts_at=starts_at)
    session.add(season)
    return season


def end(season: Season, ends_at: datetime, archive: list[dict[str, Any]]) -> None:
    """End a season with its final board."""
    season.ends_at, season.archive = ends_at, archive
