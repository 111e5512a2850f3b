"""Boards of a channel or workspace over a period, and seasons with their final boards. Ranking is in
`service.domain.standings`."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import period_bounds
from service.domain.standings import (
    RankedMember,
    Streak,
    compute_streak,
    rank_members,
    rank_most_improved,
    select_rookies,
)
from service.errors import Refused
from service.rounds.schedules import resolve_topics
from service.store import ledger, rounds, schedules
from service.store.ledger import Scope
from service.store.members import Caller
from service.store.tables import Season
from service.wire import (
    Board,
    BoardRow,
    Contest,
    NoSeason,
    Period,
    PeriodUnsuitable,
    SeasonNameTaken,
    SeasonTooShort,
    SeasonView,
    TextNeeded,
)

TITLES: dict[Period, str] = {"day": "Today", "week": "This week", "month": "This month", "all": "All time"}
COMPARABLE_PERIODS: tuple[Period, ...] = ("day", "week", "month")
"""Periods with a previous one to compare with."""
NO_STREAK = compute_streak(())


async def get_board(
    session: AsyncSession,
    caller: Caller,
    *,
    period: Period = "week",
    topic: str = "",
    contest: Contest = "points",
    limit: int = 10,
    now: datetime,
) -> Board:
    """Returns the board of the caller's channel, or without one of the workspace.

    Days begin at midnight in the zone of the channel's schedule, or UTC. Refused for the
    season's board without a season, for an unknown topic, and for a contest that the period does not support.
    """
    _check_contest(contest, period)
    scope, season = await _resolve_scope(session, caller.workspace_id, caller.channel_id, period, now)
    scope = dataclasses.replace(scope, topic=topic)
    ranked = await _rank(session, scope, contest, period)
    if topic and not ranked:
        await resolve_topics(session, caller.workspace_id, [topic])
    shown = await _board_rows(session, scope, ranked[:limit], caller.member_id)
    mine = [line for line in ranked if line.member_key == str(caller.member_id)]
    return Board(
        title=season.name if season else TITLES[period],
        period=period,
        scope="workspace" if caller.channel_id is None else "channel",
        topic=topic,
        contest=contest,
        since=scope.since,
        until=scope.until,
        rows=shown,
        total=len(ranked),
        mine=next(iter(await _board_rows(session, scope, mine, caller.member_id)), None),
    )


async def get_top(session: AsyncSession, channel_id: int, now: datetime, limit: int = 5) -> tuple[BoardRow, ...]:
    """Returns the top of the channel's board of the week for a reveal, with no row marked `me`."""
    workspace_id = await schedules.get_workspace_id(session, channel_id)
    scope, _ = await _resolve_scope(session, workspace_id, channel_id, "week", now)
    return await _board_rows(session, scope, rank_members(await ledger.sum_by_member(session, scope))[:limit])


async def build_final_board(session: AsyncSession, season: Season, until: datetime) -> list[dict[str, Any]]:
    """Returns the workspace's board of a season ending at `until`: JSON-ready `BoardRow`s, each with its `member` id.

    Includes hidden members; they are filtered whenever it is shown.
    """
    scope = Scope(season.workspace_id, since=season.starts_at, until=until, hidden_too=True)
    ranked = rank_members(await ledger.sum_by_member(session, scope))
    shown = await _board_rows(session, scope, ranked)
    return [
        {**row.model_dump(mode="json"), "member": int(line.member_key)} for row, line in zip(shown, ranked, strict=True)
    ]


async def load_schedule_streaks(
    session: AsyncSession, schedule_id: int, member_ids: Collection[int]
) -> dict[int, Streak]:
    """Returns each member's streak over the schedule's rounds."""
    return await load_best_streaks(session, [schedule_id], member_ids)


async def load_best_streaks(
    session: AsyncSession, schedule_ids: Collection[int], member_ids: Collection[int]
) -> dict[int, Streak]:
    """Returns each member's longest current streak over the schedules."""
    found = await rounds.load_histories(session, schedule_ids, member_ids)
    best = dict.fromkeys(member_ids, NO_STREAK)
    for (_, member_id), history in found.items():
        best[member_id] = max(best[member_id], compute_streak(history), key=lambda each: (each.current, each.best))
    return best


def _check_contest(contest: Contest, period: Period) -> None:
    if contest == "rookies" and period == "all":
        raise Refused(PeriodUnsuitable(contest=contest))
    if contest == "improved" and period not in COMPARABLE_PERIODS:
        raise Refused(PeriodUnsuitable(contest=contest))


async def _rank(session: AsyncSession, scope: Scope, contest: Contest, period: Period) -> list[RankedMember]:
    """Returns the full board of a contest within `scope`, which covers `period`."""
    rows = await ledger.sum_by_member(session, scope)
    if contest == "points" or scope.since is None:
        return rank_members(rows)
    if contest == "rookies":
        return rank_members(
            select_rookies(rows, await ledger.first_answer_times(session, scope.workspace_id), scope.since)
        )
    just_before = scope.since - timedelta(seconds=1)
    earlier, _ = await _resolve_scope(session, scope.workspace_id, scope.channel_id, period, just_before)
    return rank_most_improved(
        await ledger.sum_by_member(session, dataclasses.replace(earlier, topic=scope.topic)), rows
    )


async def _resolve_scope(
    session: AsyncSession, workspace_id: int, channel_id: int | None, period: Period, now: datetime
) -> tuple[Scope, Season | None]:
    zone = await schedules.get_zone(session, workspace_id, channel_id)
    season = await ledger.get_running_season(session, workspace_id) if period == "season" else None
    if period == "season" and season is None:
        raise Refused(NoSeason())
    since, until = period_bounds(period, now, zone, season.starts_at if season else None)
    return Scope(workspace_id, channel_id, since=since, until=until), season


async def _board_rows(
    session: AsyncSession, scope: Scope, ranked: list[RankedMember], me: int | None = None
) -> tuple[BoardRow, ...]:
    members = [int(line.member_key) for line in ranked]
    running = await rounds.list_streak_schedules(session, scope.workspace_id, scope.channel_id)
    streaks = await load_best_streaks(session, running, members)
    return tuple(
        BoardRow(
            rank=line.rank,
            name=line.name,
            points=line.points,
            answered=line.totals.answered,
            accuracy=line.totals.accuracy,
            streak=streaks[member].current,
            me=member == me,
            gain=line.gain,
        )
        for line, member in zip(ranked, members, strict=True)
    )


async def start_season(session: AsyncSession, caller: Caller, name: str, now: datetime) -> SeasonView:
    """Starts a season, ending and archiving the running one. Refused for a name used before."""
    name = name.strip()
    if not name:
        raise Refused(TextNeeded(what="name of a season"))
    await ledger.lock_seasons(session, caller.workspace_id)
    if await ledger.find_season(session, caller.workspace_id, name):
        raise Refused(SeasonNameTaken(name=name))
    running = await ledger.get_running_season(session, caller.workspace_id)
    if running is not None:
        await _archive(session, running, now)
    season = ledger.add_season(session, caller.workspace_id, name, now)
    await session.flush()
    return _season_view(season, caller, frozenset())


async def end_season(session: AsyncSession, caller: Caller, now: datetime) -> SeasonView:
    """Ends the running season and archives its board. Refused if none is running."""
    await ledger.lock_seasons(session, caller.workspace_id)
    running = await ledger.get_running_season(session, caller.workspace_id)
    if running is None:
        raise Refused(NoSeason())
    await _archive(session, running, now)
    return _season_view(running, caller, await ledger.list_hidden_members(session, caller.workspace_id))


async def list_seasons(session: AsyncSession, caller: Caller) -> tuple[SeasonView, ...]:
    """Returns all seasons, newest first, with the final boards of those that ended. Leaves out hidden members."""
    hidden = await ledger.list_hidden_members(session, caller.workspace_id)
    return tuple(
        _season_view(season, caller, hidden) for season in await ledger.list_seasons(session, caller.workspace_id)
    )


async def _archive(session: AsyncSession, season: Season, now: datetime) -> None:
    if now <= season.starts_at:
        raise Refused(SeasonTooShort(name=season.name))
    final = await build_final_board(session, season, now)
    ledger.end_season(season, now, final)
    await session.flush()


def _season_view(season: Season, caller: Caller, hidden: frozenset[int] | set[int]) -> SeasonView:
    shown = [row for row in season.archive or () if row["member"] not in hidden]
    ranks = [row["rank"] for row in shown]
    archive = tuple(
        # Ranks close up where a member is left out; ties stay ties.
        BoardRow(
            **_row_fields(row), rank=1 + sum(rank < row["rank"] for rank in ranks), me=row["member"] == caller.member_id
        )
        for row in shown
    )
    return SeasonView(
        id=season.id, name=season.name, starts_at=season.starts_at, ends_at=season.ends_at, archive=archive
    )


def _row_fields(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in ("member", "rank", "me")}
