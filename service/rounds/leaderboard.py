"""Boards: who stands where in a channel or workspace over a period. Ranks are made by `ranking`."""

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
from service.errors import NotPossible
from service.rounds.schedules import resolve_topics
from service.store import ledger, rounds, schedules
from service.store.ledger import Scope
from service.store.members import Caller
from service.store.tables import Season
from service.wire import Board, BoardRow, Contest, Period, SeasonView

TITLES: dict[Period, str] = {"day": "Today", "week": "This week", "month": "This month", "all": "All time"}
COMPARABLE_PERIODS: tuple[Period, ...] = ("day", "week", "month")
"""Periods that have one before them, to see who improved."""
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
    """The board of the caller's channel, or where there is none of the workspace.

    Days begin at midnight in the zone of the channel's schedule, in UTC where it has none. Refused for the season's
    board when no season is running, for a topic that neither a booking nor the bank knows, and for a period that has
    no beginning, or none before it, where the contest asks for that.
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
    """The head of the channel's board of the week, for a reveal: nobody in it is `me`."""
    workspace_id = await schedules.get_workspace_id(session, channel_id)
    scope, _ = await _resolve_scope(session, workspace_id, channel_id, "week", now)
    return await _board_rows(session, scope, rank_members(await ledger.sum_by_member(session, scope))[:limit])


async def build_final_board(session: AsyncSession, season: Season, until: datetime) -> list[dict[str, Any]]:
    """The workspace's board of a season that ends at `until`, JSON-ready: `BoardRow`s, each with its `member`'s id.

    Hidden members are in it: whether they show is asked whenever it is shown.
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
    """The streak of each member over the schedule's own rounds."""
    return await load_best_streaks(session, [schedule_id], member_ids)


async def load_best_streaks(
    session: AsyncSession, schedule_ids: Collection[int], member_ids: Collection[int]
) -> dict[int, Streak]:
    """Of each member the longest streak that runs in one of the schedules."""
    found = await rounds.load_histories(session, schedule_ids, member_ids)
    best = dict.fromkeys(member_ids, NO_STREAK)
    for (_, member_id), history in found.items():
        best[member_id] = max(best[member_id], compute_streak(history), key=lambda each: (each.current, each.best))
    return best


def _check_contest(contest: Contest, period: Period) -> None:
    if contest == "rookies" and period == "all":
        raise NotPossible(cause="Rookies are those who began within a period: ask for a day, week, month or season.")
    if contest == "improved" and period not in COMPARABLE_PERIODS:
        raise NotPossible(cause="Who improved is seen against the period before: ask for a day, week or month.")


async def _rank(session: AsyncSession, scope: Scope, contest: Contest, period: Period) -> list[RankedMember]:
    """The whole board of a contest within `scope`, which is that of `period`."""
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
        raise NotPossible(cause="No season is running. Ask for another period, or have an admin start a season.")
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
    """Start a season; a running one ends at this moment and is archived. Refused for a name that was used before."""
    name = name.strip()
    if not name:
        raise NotPossible(cause="A season needs a name, such as Spring 2026.")
    await ledger.lock_seasons(session, caller.workspace_id)
    if await ledger.find_season(session, caller.workspace_id, name):
        raise NotPossible(cause=f"There has been a season {name} already: choose another name.")
    running = await ledger.get_running_season(session, caller.workspace_id)
    if running is not None:
        await _archive(session, running, now)
    season = ledger.add_season(session, caller.workspace_id, name, now)
    await session.flush()
    return _season_view(season, caller, frozenset())


async def end_season(session: AsyncSession, caller: Caller, now: datetime) -> SeasonView:
    """End the running season and keep its board; refused where none runs."""
    await ledger.lock_seasons(session, caller.workspace_id)
    running = await ledger.get_running_season(session, caller.workspace_id)
    if running is None:
        raise NotPossible(cause="No season is running: there is nothing to end.")
    await _archive(session, running, now)
    return _season_view(running, caller, await ledger.list_hidden_members(session, caller.workspace_id))


async def list_seasons(session: AsyncSession, caller: Caller) -> tuple[SeasonView, ...]:
    """Every season, the newest first, each that ended with its final board. Hidden members are left out."""
    hidden = await ledger.list_hidden_members(session, caller.workspace_id)
    return tuple(
        _season_view(season, caller, hidden) for season in await ledger.list_seasons(session, caller.workspace_id)
    )


async def _archive(session: AsyncSession, season: Season, now: datetime) -> None:
    if now <= season.starts_at:
        raise NotPossible(cause=f"The season {season.name} has only just begun: end it a moment later.")
    final = await build_final_board(session, season, now)
    ledger.end_season(season, now, final)
    await session.flush()


def _season_view(season: Season, caller: Caller, hidden: frozenset[int] | set[int]) -> SeasonView:
    shown = [row for row in season.archive or () if row["member"] not in hidden]
    ranks = [row["rank"] for row in shown]
    archive = tuple(
        # Where somebody is left out the ranks behind close up; shared ones stay shared.
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
