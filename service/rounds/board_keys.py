"""Which boards there are: the bounds of their periods, and the ones to open before points are posted."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import period_bounds
from service.errors import Refused
from service.store import boards, ledger, schedules
from service.store.board_pages import BoardPage
from service.store.boards import BoardKey
from service.store.session import Sessions
from service.store.tables import Schedule, Season
from service.wire import NoSeason, Period

COMPARABLE_PERIODS: tuple[Period, ...] = ("day", "week", "month")
"""Periods with a previous one to compare with."""


async def find_key(
    session: AsyncSession, workspace_id: int, channel_id: int | None, period: Period, now: datetime, topic: str = ""
) -> tuple[BoardKey, BoardKey | None, Season | None]:
    """Returns the board of the period that contains `now`, the one before it, and the season.

    Days begin at midnight in the zone of the oldest schedule, or UTC. Refused for the season's board without a season.
    """
    # The bounds of these two do not depend on the zone.
    zoned = period not in ("season", "all")
    zone = await schedules.get_zone(session, workspace_id, channel_id) if zoned else "UTC"
    season = await ledger.get_running_season(session, workspace_id) if period == "season" else None
    if period == "season" and season is None:
        raise Refused(NoSeason())
    whole = _key(workspace_id, channel_id, period, now, zone, season)
    key = dataclasses.replace(whole, topic=boards.fold_topic(topic))
    return key, _previous(key, zone), season


def find_bounds(page: BoardPage, period: Period, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """Returns the bounds of the period that contains `now`, or None if the page is that of another board."""
    if period == "season" and page.season is None:
        return None
    bounds = period_bounds(period, now, page.zone, page.season[1] if page.season else None)
    return bounds if bounds[0] == page.since else None


async def open_board(
    session: AsyncSession, workspace_id: int, channel_id: int | None, period: Period, now: datetime
) -> int:
    """Returns the id of a board without a topic."""
    key, previous, _ = await find_key(session, workspace_id, channel_id, period, now)
    return await boards.open_board(session, key, previous)


async def open_season_board(session: AsyncSession, workspace_id: int, now: datetime) -> int | None:
    """Returns the id of the workspace's board of the season, or None if no season runs."""
    season = await ledger.get_running_season(session, workspace_id)
    if season is None:
        return None
    return await boards.open_board(session, _key(workspace_id, None, "season", now, "UTC", season))


async def open_for_posting(session: AsyncSession, schedule: Schedule, at: datetime) -> None:
    """Opens the boards that points of this schedule at `at` count on: all without a topic, and those with a topic that
    were open in the period before. A board that opens with its first points costs nothing to sum.
    """
    kept = await boards.list_boards(session, schedule.workspace_id)
    known = {dataclasses.replace(key, until=None) for key in kept}
    ended = {(key.channel_id, key.period, key.until, key.topic) for key in kept if key.topic and key.until}
    season = await ledger.get_running_season(session, schedule.workspace_id)
    for channel_id in (None, *await schedules.list_channels(session, schedule)):
        zone = await schedules.get_zone(session, schedule.workspace_id, channel_id)
        for period in ("day", "week", "month", "season", "all"):
            if period == "season" and season is None:
                continue
            key = _key(schedule.workspace_id, channel_id, period, at, zone, season)
            topics = sorted(topic for *board, topic in ended if board == [channel_id, period, key.since])
            for wanted in (key, *[dataclasses.replace(key, topic=topic) for topic in topics]):
                if dataclasses.replace(wanted, until=None) not in known:
                    await boards.open_board(session, wanted, _previous(wanted, zone))


async def drop_old_boards(sessions: Sessions, now: datetime) -> None:
    """Drops the boards of periods that are long over, each in its own transaction."""
    while True:
        async with sessions.begin() as session:
            found = await boards.find_old_board(session, now)
            if found is None:
                return
            board_id, workspace_id = found
            await boards.lock_boards(session, [workspace_id])
            await boards.drop_boards(session, [board_id])


def _key(
    workspace_id: int, channel_id: int | None, period: Period, at: datetime, zone: str, season: Season | None
) -> BoardKey:
    """Returns the board without a topic."""
    since, until = period_bounds(period, at, zone, season.starts_at if season else None)
    return BoardKey(workspace_id, channel_id, "", period, since, until)


def _previous(key: BoardKey, zone: str) -> BoardKey | None:
    if key.since is None or key.period not in COMPARABLE_PERIODS:
        return None
    since, until = period_bounds(key.period, key.since - timedelta(seconds=1), zone, None)
    return dataclasses.replace(key, since=since, until=until)
