"""Boards of a channel or workspace over a period, seasons with their final boards, and the announcement of winners.

The order of members is in `service.store.migrations.boards`, where boards are kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import ON_TIME
from service.domain.standings import Streak, compute_streak
from service.errors import Refused
from service.rounds import alerts
from service.rounds.board_keys import COMPARABLE_PERIODS, find_bounds, find_key
from service.rounds.schedules import resolve_topics
from service.store import boards, ledger, outbox, rounds, schedules
from service.store.board_pages import BoardPage, PageWanted, look_at_board
from service.store.boards import BoardKey, BoardLine
from service.store.members import Caller, list_current_ids, list_ids_on
from service.store.rounds import Histories
from service.store.session import Sessions
from service.store.tables import Season
from service.wire import (
    Board,
    BoardRow,
    Contest,
    NoSeason,
    Period,
    PeriodUnsuitable,
    Placed,
    SeasonNameTaken,
    SeasonTooShort,
    SeasonView,
    TextNeeded,
    WinnerPost,
    WinnerRoleView,
)

TITLES: dict[Period, str] = {"day": "Today", "week": "This week", "month": "This month", "all": "All time"}
NO_STREAK = compute_streak(())
SLOTS_LATE = ON_TIME + timedelta(minutes=1)
"""Time after a slot in which its round may still be made as if it had opened then."""


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """Which board to show, and how many of its rows."""

    period: Period = "week"
    topic: str = ""
    contest: Contest = "points"
    limit: int = 10


WEEK = BoardQuery()


async def get_board(session: AsyncSession, caller: Caller, now: datetime, query: BoardQuery = WEEK) -> Board:
    """Returns the board of the caller's channel, or without one of the workspace.

    Refused for the season's board without a season, for an unknown topic, and for a contest that the period does not
    support. Takes one statement, or several the first time that anyone looks at a board.
    """
    period, topic, contest = query.period, query.topic, query.contest
    _check_contest(contest, period)
    wanted = PageWanted(
        workspace_id=caller.workspace_id,
        channel_id=caller.channel_id,
        topic=boards.fold_topic(topic),
        period=period,
        contest=contest,
        member_id=caller.member_id,
        limit=query.limit,
    )
    look = await _look(session, wanted, now, topic)
    if topic and not look.page.total:
        await resolve_topics(session, caller.workspace_id, [topic])
    rows = _page_rows(look.page, caller.member_id)
    top, near = rows[: len(look.page.top)], rows[len(look.page.top) :]
    return Board(
        title=look.season or TITLES[period],
        period=period,
        scope="workspace" if caller.channel_id is None else "channel",
        topic=topic,
        contest=contest,
        since=look.since,
        until=look.until,
        rows=top,
        total=look.page.total,
        mine=next((row for row in near if row.me), None),
        near=near,
    )


TOP_ROWS = 5
"""Rows of the board that a reveal shows."""


async def get_top(session: AsyncSession, channel_id: int, now: datetime) -> tuple[BoardRow, ...]:
    """Returns the top of the channel's board of the week for a reveal, with no row marked `me`."""
    workspace_id = await schedules.get_workspace_id(session, channel_id)
    wanted = PageWanted(workspace_id, channel_id, "", "week", "points", None, TOP_ROWS)
    return _page_rows((await _look(session, wanted, now)).page)


@dataclass(frozen=True, slots=True)
class _Look:
    """A page of the board of now, with the bounds of its period."""

    page: BoardPage
    since: datetime | None
    until: datetime | None
    season: str | None


async def _look(session: AsyncSession, wanted: PageWanted, now: datetime, topic: str = "") -> _Look:
    page = await look_at_board(session, wanted, now)
    bounds = find_bounds(page, wanted.period, now) if page else None
    if page is not None and bounds is not None:
        return _Look(page, *bounds, page.season[0] if page.season else None)
    key, previous, season = await find_key(
        session, wanted.workspace_id, wanted.channel_id, wanted.period, now, wanted.topic
    )
    board_id = await boards.find_board(session, key)
    if board_id is None:
        if key.topic and not await boards.has_topic(session, key.topic):
            await resolve_topics(session, wanted.workspace_id, [topic])
        board_id = await boards.open_board(session, key, previous)
    page = await look_at_board(session, wanted, now, board_id)
    assert page is not None, "the board was opened"
    return _Look(page, key.since, key.until, season.name if season else None)


async def build_final_board(session: AsyncSession, season: Season) -> list[dict[str, Any]]:
    """Returns the workspace's board of a season that has ended: JSON-ready `BoardRow`s, each with its `member` id.

    Includes hidden members; they are filtered whenever it is shown. The board is dropped.
    """
    await boards.drop_season_boards(session, season.workspace_id)
    key = BoardKey(season.workspace_id, None, "", "season", season.starts_at, season.ends_at)
    board_id = await boards.open_board(session, key)
    lines = await boards.list_all(session, board_id)
    running = await rounds.list_streak_schedules(session, season.workspace_id)
    members = [line.member_id for line in lines]
    streaks = await load_best_streaks(session, running, members)
    discord = await list_ids_on(session, "discord", members)
    shown = [_board_row(line, discord, streaks) for line in lines]
    await boards.drop_season_boards(session, season.workspace_id)
    # Ids stay out of what is kept for good: a member is looked up by their row.
    return [
        {**row.model_dump(mode="json", exclude={"discord"}), "member": line.member_id}
        for row, line in zip(shown, lines, strict=True)
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
    return _best_streaks(await rounds.load_histories(session, schedule_ids, member_ids), member_ids)


def _best_streaks(histories: Histories, member_ids: Collection[int]) -> dict[int, Streak]:
    best = dict.fromkeys(member_ids, NO_STREAK)
    for (_, member_id), history in histories.items():
        best[member_id] = max(best[member_id], compute_streak(history), key=lambda each: (each.current, each.best))
    return best


def _check_contest(contest: Contest, period: Period) -> None:
    if contest == "rookies" and period == "all":
        raise Refused(PeriodUnsuitable(contest=contest))
    if contest == "improved" and period not in COMPARABLE_PERIODS:
        raise Refused(PeriodUnsuitable(contest=contest))


def _page_rows(page: BoardPage, me: int | None = None) -> tuple[BoardRow, ...]:
    """Returns the rows of the top, and then those near the member."""
    lines = [*page.top, *page.near]
    streaks = _best_streaks(page.histories, {line.member_id for line in lines})
    return tuple(_board_row(line, page.discord, streaks, me) for line in lines)


def _board_row(
    line: BoardLine, discord: Mapping[int, str], streaks: Mapping[int, Streak], me: int | None = None
) -> BoardRow:
    return BoardRow(
        rank=line.rank,
        name=line.name,
        discord=discord.get(line.member_id, ""),
        points=line.points,
        answered=line.answered,
        accuracy=line.accuracy,
        streak=streaks[line.member_id].current,
        me=line.member_id == me,
        gain=line.gain,
    )


async def start_season(session: AsyncSession, caller: Caller, name: str, now: datetime) -> SeasonView:
    """Starts a season and ends the running one, as `end_season` does. Refused for a name used before."""
    name = name.strip()
    if not name:
        raise Refused(TextNeeded(what="name of a season"))
    await ledger.lock_seasons(session, caller.workspace_id)
    if await ledger.find_season(session, caller.workspace_id, name):
        raise Refused(SeasonNameTaken(name=name))
    running = await ledger.get_running_season(session, caller.workspace_id)
    if running is not None:
        await _end(session, running, now)
    season = ledger.add_season(session, caller.workspace_id, name, now)
    await session.flush()
    return await view_season(session, caller, season.id)


async def end_season(session: AsyncSession, caller: Caller, now: datetime) -> SeasonView:
    """Ends the running season. Refused if none is running.

    Questions that are open now still count in it. Its board is archived and its winners are announced at once, or by
    `settle_seasons` when they have closed.
    """
    await ledger.lock_seasons(session, caller.workspace_id)
    running = await ledger.get_running_season(session, caller.workspace_id)
    if running is None:
        raise Refused(NoSeason())
    await _end(session, running, now)
    return await view_season(session, caller, running.id)


async def end_seasons_at_once(session: AsyncSession, workspace_id: int, now: datetime) -> None:
    """Ends the running season of a workspace, if there is one, and archives its board, without the questions that are
    open now; and archives the boards that wait for such questions."""
    await ledger.lock_seasons(session, workspace_id)
    for season in await ledger.list_seasons(session, workspace_id):
        if season.ends_at is None:
            await _set_end(session, season, now)
        if season.archive is None:
            await _archive(session, season, now)


async def settle_seasons(sessions: Sessions, now: datetime) -> None:
    """Archives the boards of ended seasons whose last question has closed, each in its own transaction."""
    async with sessions() as session:
        due = await ledger.list_unsettled_seasons(session, now - SLOTS_LATE)
    for season_id, workspace_id in due:
        async with sessions.begin() as session:
            await ledger.lock_seasons(session, workspace_id)
            season = await session.get(Season, season_id)
            # Another worker, or a move of the workspace, may have been first.
            if season is not None and season.archive is None:
                await _archive(session, season, now)


async def list_seasons(session: AsyncSession, caller: Caller) -> tuple[SeasonView, ...]:
    """Returns all seasons, newest first, with the final boards of those that ended. Leaves out hidden members."""
    return await _season_views(session, caller, await ledger.list_seasons(session, caller.workspace_id))


async def view_season(session: AsyncSession, caller: Caller, season_id: int) -> SeasonView:
    """Returns a season of the caller's workspace, which must exist, as `list_seasons` does."""
    (season,) = [one for one in await ledger.list_seasons(session, caller.workspace_id) if one.id == season_id]
    return (await _season_views(session, caller, [season]))[0]


async def _end(session: AsyncSession, season: Season, now: datetime) -> None:
    await _set_end(session, season, now)
    if (season.id, season.workspace_id) in await ledger.list_unsettled_seasons(session, now - SLOTS_LATE):
        await _archive(session, season, now)
    else:
        await boards.drop_season_boards(session, season.workspace_id)


async def _set_end(session: AsyncSession, season: Season, now: datetime) -> None:
    if now <= season.starts_at:
        raise Refused(SeasonTooShort(name=season.name))
    season.ends_at = now
    await session.flush()


async def _archive(session: AsyncSession, season: Season, now: datetime) -> None:
    season.archive = await build_final_board(session, season)
    await session.flush()
    await announce_season_winners(session, season, now)


async def _season_views(session: AsyncSession, caller: Caller, seasons: Sequence[Season]) -> tuple[SeasonView, ...]:
    hidden = await ledger.list_hidden_members(session, caller.workspace_id)
    finals = [_best_final_rows(season, hidden) for season in seasons]
    ids = await list_ids_on(session, "discord", {row["member"] for rows in finals for row in rows})
    return tuple(
        SeasonView(
            id=season.id,
            name=season.name,
            starts_at=season.starts_at,
            ends_at=season.ends_at,
            final=season.ends_at is None or season.archive is not None,
            archive=tuple(
                BoardRow.from_stored(
                    {**row, "discord": ids.get(row["member"], ""), "me": row["member"] == caller.member_id}
                )
                for row in rows
            ),
        )
        for season, rows in zip(seasons, finals, strict=True)
    )


def _best_final_rows(season: Season, hidden: Collection[int]) -> list[dict[str, Any]]:
    """Returns the first rows of a season's final board, without hidden members. Ranks close up where one is left out;
    ties stay ties."""
    shown = [row for row in season.archive or () if row["member"] not in hidden]
    ranks = [row["rank"] for row in shown]
    return [{**row, "rank": 1 + bisect_left(ranks, row["rank"])} for row in shown[:MOST_FINAL_ROWS]]


MOST_FINAL_ROWS = 100
"""Longest final board in a view. The archive has every member of the season."""
WINNERS_NAMED = 3
"""Members of a final board who are named in the announcement of its winners, unless more have won."""
ROLE_TIMEOUT = timedelta(days=7)
"""How long the chat may refuse the winners' role before it is given up."""


async def set_winner_role(
    session: AsyncSession, caller: Caller, wanted: boards.NewWinnerRole, now: datetime
) -> WinnerRoleView:
    """Names the role of the caller's chat for a kind of event, and where its winners are announced; an empty one turns
    it off."""
    await boards.save_winner_role(session, wanted, now)
    await alerts.close_role_trouble(session, caller.workspace_id, caller.chat_id, now)
    none = WinnerRoleView(event=wanted.event)
    return next((one for one in await list_winner_roles(session, [caller.chat_id]) if one.event == wanted.event), none)


async def list_winner_roles(session: AsyncSession, chat_ids: Collection[int]) -> tuple[WinnerRoleView, ...]:
    """Returns the roles of chats."""
    return tuple(
        WinnerRoleView.model_validate({"event": row.event, "role": row.role, "channel_name": channel.shown_name})
        for row, channel in await boards.list_winner_roles_of_chats(session, chat_ids)
    )


async def announce_season_winners(session: AsyncSession, season: Season, now: datetime) -> None:
    """Enqueues the announcement of a season that has ended, once for each chat with a role."""
    rows = season.archive or ()
    hidden = await ledger.list_hidden_members(session, season.workspace_id) if rows else set()
    shown = [row for row in rows if row["member"] not in hidden]
    if not shown:
        return
    best = min(row["rank"] for row in shown)
    winners = [row["member"] for row in shown if row["rank"] == best]
    top = tuple(
        Placed(rank=row["rank"], name=row["name"], points=row["points"])
        for row in shown[: max(WINNERS_NAMED, len(winners))]
    )
    post = WinnerPost(event="season", season=season.name, top=top, role="")
    await announce_winners(session, Won(season.workspace_id, f"season:{season.id}", post, winners), now)


@dataclass(frozen=True, slots=True)
class Won:
    """What is announced of an event that has ended: the message, and the ids of the members who won."""

    workspace_id: int
    key: str
    post: WinnerPost
    """Without the role and those who are given it."""
    winners: Sequence[int]


async def announce_winners(session: AsyncSession, won: Won, now: datetime) -> None:
    """Enqueues the announcement of winners, once for each chat that has a role for such an event."""
    for role in await boards.list_winner_roles(session, won.workspace_id, won.post.event):
        former = await list_current_ids(session, role.holders) - set(won.winners)
        given = {
            "role": role.role,
            "winners": await boards.list_external_ids(session, role.chat_id, won.winners),
            "former": await boards.list_external_ids(session, role.chat_id, former),
        }
        message = outbox.NewMessage(
            key=f"{won.key}:winner:{role.chat_id}",
            body=won.post.model_copy(update=given),
            workspace_id=won.workspace_id,
            channel_id=role.channel_id,
        )
        await outbox.enqueue(session, message, now, now + ROLE_TIMEOUT)
        role.holders = list(won.winners)
