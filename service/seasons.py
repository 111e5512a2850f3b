"""Seasons: begun and ended by admins, their final board kept. How a board is made is `leaderboard`'s business."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service import leaderboard
from service.errors import NotPossible
from service.store import seasons as rows
from service.store.members import Caller
from service.store.tables import Season
from service.wire import BoardRow, SeasonView


async def start(session: AsyncSession, caller: Caller, name: str, now: datetime) -> SeasonView:
    """Start a season; a running one ends at this moment and is archived. Refused for a name that was used before."""
    name = name.strip()
    if not name:
        raise NotPossible(cause="A season needs a name, such as Spring 2026.")
    await rows.hold(session, caller.workspace_id)
    if await rows.named(session, caller.workspace_id, name):
        raise NotPossible(cause=f"There has been a season {name} already: choose another name.")
    running = await rows.running(session, caller.workspace_id)
    if running is not None:
        await _archive(session, running, now)
    season = rows.add(session, caller.workspace_id, name, now)
    await session.flush()
    return _view(season, caller, frozenset())


async def end(session: AsyncSession, caller: Caller, now: datetime) -> SeasonView:
    """End the running season and keep its board; refused where none runs."""
    await rows.hold(session, caller.workspace_id)
    running = await rows.running(session, caller.workspace_id)
    if running is None:
        raise NotPossible(cause="No season is running: there is nothing to end.")
    await _archive(session, running, now)
    return _view(running, caller, await rows.hidden_members(session, caller.workspace_id))


async def listed(session: AsyncSession, caller: Caller) -> tuple[SeasonView, ...]:
    """Every season, the newest first, each that ended with its final board. Hidden members are left out."""
    hidden = await rows.hidden_members(session, caller.workspace_id)
    return tuple(_view(season, caller, hidden) for season in await rows.all_of(session, caller.workspace_id))


async def _archive(session: AsyncSession, season: Season, now: datetime) -> None:
    if now <= season.starts_at:
        raise NotPossible(cause=f"The season {season.name} has only just begun: end it a moment later.")
    final = await leaderboard.final(session, season, now)
    rows.end(season, now, final)
    await session.flush()


def _view(season: Season, caller: Caller, hidden: frozenset[int] | set[int]) -> SeasonView:
    shown = [row for row in season.archive or () if row["member"] not in hidden]
    ranks = [row["rank"] for row in shown]
    archive = tuple(
        # Where somebody is left out the ranks behind close up; shared ones stay shared.
        BoardRow(**_said(row), rank=1 + sum(rank < row["rank"] for rank in ranks), me=row["member"] == caller.member_id)
        for row in shown
    )
    return SeasonView(
        id=season.id, name=season.name, starts_at=season.starts_at, ends_at=season.ends_at, archive=archive
    )


def _said(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in ("member", "rank", "me")}
