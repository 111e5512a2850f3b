"""Reads a page of a board with all that is shown of its members, in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.boards import ACCURACY_UNITS, BoardLine
from service.store.rounds import Histories, read_histories
from service.wire import Contest, Period

AROUND = 2
"""Members shown on either side of the caller."""


@dataclass(frozen=True, slots=True)
class PageWanted:
    """The place of a board, and what to show of it."""

    workspace_id: int
    channel_id: int | None
    topic: str
    """As `fold_topic` returns it."""
    period: Period
    contest: Contest
    member_id: int | None
    """The member whose neighbors are shown."""
    limit: int


@dataclass(frozen=True, slots=True)
class BoardPage:
    """The top of a board, and the surroundings of one member, with what is shown of those members."""

    board_id: int
    since: datetime | None
    """Beginning of the board's period."""
    zone: str
    """Time zone of the oldest schedule of the channel (or the workspace), or UTC."""
    season: tuple[str, datetime] | None
    """Name and beginning of the running season, if the board is that of a season."""
    top: Sequence[BoardLine]
    near: Sequence[BoardLine]
    """The member with their neighbors; empty if they are not ranked."""
    total: int
    discord: dict[int, str]
    """Ids on Discord of the members who have one."""
    histories: Histories
    """Of the members in the active schedules of the channel (or the workspace)."""


_LOOK = text(
    "select * from look_at_board(:workspace, :channel, :topic, :period, :at, :board, :contest, :member, :most, :around)"
)


async def look_at_board(
    session: AsyncSession, wanted: PageWanted, at: datetime, board_id: int | None = None
) -> BoardPage | None:
    """Returns a page of a board: the best `limit` members, and a member with their neighbors. None if none is kept.

    Without `board_id`, it is a board whose period holds the instant. It is that of now unless the zone or the season
    was changed: compare `since` with the bounds of the period.
    """
    values = {
        "workspace": wanted.workspace_id,
        "channel": wanted.channel_id,
        "topic": wanted.topic,
        "period": wanted.period,
        "at": at,
        "board": board_id,
        "contest": wanted.contest,
        "member": wanted.member_id,
        "most": wanted.limit,
        "around": AROUND,
    }
    row = (await session.execute(_LOOK, values)).one_or_none()
    if row is None:
        return None
    lines = [(line[0], _read_line(line, wanted.contest)) for line in row.lines]
    return BoardPage(
        board_id=row.board_id,
        since=row.since,
        zone=row.zone or "UTC",
        season=None if row.season is None else (row.season, row.season_since),
        top=[line for near, line in lines if not near],
        near=[line for near, line in lines if near],
        total=int(row.total),
        discord={int(member_id): external_id for member_id, external_id in row.ids.items()},
        histories=read_histories(row.attendance, {line.member_id for _, line in lines}),
    )


def _read_line(line: Sequence[Any], contest: Contest) -> BoardLine:
    _, place, member_id, name, points, answered, accuracy, gain = line
    gained = gain / ACCURACY_UNITS if contest == "improved" else None
    return BoardLine(place, member_id, name, points, answered, accuracy / ACCURACY_UNITS, gained)
