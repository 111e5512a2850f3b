"""Tournaments: teams that play on several days by answering the daily questions.

A tournament is a state machine in the database. The leader's tick advances it, one step in each transaction:

    joining → (first day begins) running: day settled → next day settled … → over

- A day is settled when every round that counts on it is closed, once: its row and its scores are append-only.
- In a table, points that are corrected later (a regrade, a confirmed answer) are settled again, as further rows, with
  the next day. What a bracket has decided stays decided.
- Points of a tournament are those of the rounds: boards and streaks are as without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.competitions.tournament_views import build_view, current_day, day_is_left, local_day
from service.domain.calendar import get_zone, slot_instant, start_of_day
from service.domain.tournaments import (
    RECENT_DAYS,
    TeamDay,
    balance_teams,
    count_stages,
    decide_pair,
    may_pick,
    pair_teams,
    smallest_team,
    sum_best,
)
from service.errors import Refused
from service.rounds import leaderboard
from service.rounds.schedules import build_timetable
from service.store import duels, members, outbox
from service.store import schedules as schedule_rows
from service.store import tournaments as rows
from service.store.competition_tables import Tournament, TournamentTeam
from service.store.members import Caller, find_named_member, lock_named_member
from service.store.session import Sessions
from service.store.tables import Round, Schedule
from service.store.tournaments import Player
from service.wire import (
    ChannelNeeded,
    ScheduleSpec,
    TournamentEvent,
    TournamentPlan,
    TournamentPost,
    TournamentRefused,
    WinnerPost,
)

log = structlog.get_logger(__name__)
JUDGE_WITHIN = timedelta(hours=1)
"""How long a day waits for verdicts on code after its last round closed. Later ones are corrections."""
MOST_AHEAD = timedelta(days=366)
"""How long before its first day a tournament can be planned."""


# What admins and members do


async def plan(session: AsyncSession, caller: Caller, wanted: TournamentPlan, now: datetime) -> int:
    """Opens a tournament for members to join, and announces it. Returns its id. Refused while another one has not
    ended."""
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    schedules = await _find_schedules(session, caller, wanted.schedules)
    zone = _first_zone([ScheduleSpec.from_stored(schedule.spec).zone for schedule in schedules], now)
    today = now.astimezone(get_zone(zone)).date()
    first_day = wanted.first_day or today + timedelta(days=7 - today.weekday())
    if not today < first_day <= today + MOST_AHEAD:
        raise Refused(TournamentRefused(why="past day"))
    needed = count_stages(wanted.team_count)
    if wanted.form == "bracket" and wanted.teams == "random" and wanted.days < needed:
        raise Refused(TournamentRefused(why="few days", count=needed))
    if wanted.teams == "chats" and len(await rows.list_chats(session, caller.workspace_id)) < 2:
        raise Refused(TournamentRefused(why="one chat"))
    made = await rows.add(
        session,
        caller,
        {
            "title": wanted.title.strip(),
            "form": wanted.form,
            "teams_by": wanted.teams,
            "team_count": wanted.team_count,
            "best": wanted.best,
            "late": wanted.late,
            "balance": wanted.balance,
            "zone": zone,
            "first_day": first_day,
            "days": wanted.days,
            "starts_at": start_of_day(zone, first_day),
            "created_at": now,
        },
    )
    if made is None:
        raise Refused(TournamentRefused(why="live"))
    rows.add_schedules(session, made, [schedule.id for schedule in schedules])
    await session.flush()
    await _post(session, made, "announced", now)
    return made.id


async def cancel(session: AsyncSession, caller: Caller, now: datetime, tournament_id: int = 0) -> int:
    """Ends the workspace's tournament without a result, unless it is another than `tournament_id`. Returns its id."""
    tournament = await _lock_live(session, caller)
    if tournament_id and tournament.id != tournament_id:
        raise Refused(TournamentRefused(why="another"))
    await _end(session, tournament, "cancelled", now)
    return tournament.id


async def name_captain(session: AsyncSession, caller: Caller, name: str, now: datetime) -> tuple[int, int]:
    """Gives a member a team to pick, before the start. Returns the ids of the tournament and of the member."""
    member = await lock_named_member(session, caller, name)
    tournament = await _lock_live(session, caller)
    if tournament.teams_by != "captains":
        raise Refused(TournamentRefused(why="no captains"))
    if tournament.state != "joining":
        raise Refused(TournamentRefused(why="started"))
    await rows.add_member(
        session, tournament, {"member_id": member.id, "chat_id": caller.chat_id, "joined_at": now, "team_id": None}
    )
    player = await rows.get_member(session, tournament.id, member.id)
    assert player is not None, "it was just added"
    if player.team_id is not None:
        raise Refused(TournamentRefused(why="not free"))
    number = max((team.number for team in await rows.list_teams(session, tournament.id)), default=0) + 1
    team = await rows.add_team(session, tournament, number, captain=member.id)
    player.team_id = team.id
    await session.flush()
    return tournament.id, member.id


async def join(session: AsyncSession, caller: Caller, wanted: int, now: datetime) -> int:
    """Makes the caller take part; joining again changes nothing. Returns the tournament's id.

    Refused if `wanted` is another tournament than the one that has not ended; 0 stands for that one. Who joins after
    the start goes to the smallest team, or to that of their chat, and counts from the next day on. Refused if no day
    is left.
    """
    caller = await members.lock_caller(session, caller)
    tournament = await _lock_live(session, caller)
    if wanted not in (0, tournament.id):
        raise Refused(TournamentRefused(why="closed"))
    values = {"member_id": caller.member_id, "chat_id": caller.chat_id, "joined_at": now}
    if tournament.state == "joining":
        await rows.add_member(session, tournament, {**values, "team_id": None})
        return tournament.id
    player = await rows.get_member(session, tournament.id, caller.member_id)
    if player is not None and player.until_day is None:
        return tournament.id
    tomorrow = local_day(tournament, now) + timedelta(days=1)
    is_over = player is None and not day_is_left(tournament, now)
    team = await _late_team(session, tournament, caller) if tournament.late and not is_over else None
    if team is None:
        raise Refused(TournamentRefused(why="closed"))
    if player is None:
        await rows.add_member(session, tournament, {**values, "team_id": team, "from_day": tomorrow})
    else:
        # Back in their own team. Days between leaving and now count, if they answered: nothing can be gained by it.
        player.until_day = None
        await session.flush()
    return tournament.id


async def leave(session: AsyncSession, caller: Caller, now: datetime) -> int:
    """Makes the caller no longer take part, from today on. What was settled stays. Returns the tournament's id."""
    caller = await members.lock_caller(session, caller)
    tournament = await _lock_live(session, caller)
    player = await rows.get_member(session, tournament.id, caller.member_id)
    if player is None or player.until_day is not None:
        raise Refused(TournamentRefused(why="not joined"))
    await rows.hand_over(session, tournament.id, caller.member_id)
    if tournament.state == "joining":
        await rows.delete_member(session, player)
        await rows.delete_empty_teams(session, [tournament.id])
    else:
        player.until_day = await rows.first_open_day(session, tournament, now)
        await session.flush()
    return tournament.id


async def pick(session: AsyncSession, caller: Caller, name: str) -> int:
    """Takes a member into the caller's team. Refused unless the caller is a captain and no team is smaller."""
    member = await find_named_member(session, caller, name)
    tournament = await _lock_live(session, caller)
    if tournament.teams_by != "captains":
        raise Refused(TournamentRefused(why="no captains"))
    if tournament.state != "joining":
        raise Refused(TournamentRefused(why="started"))
    teams = await rows.list_teams(session, tournament.id)
    own = next((team for team in teams if team.captain_id == caller.member_id), None)
    if own is None:
        raise Refused(TournamentRefused(why="not captain"))
    sizes = _sizes(teams, await rows.list_players(session, tournament.id))
    if not may_pick(own.id, sizes):
        raise Refused(TournamentRefused(why="not your turn"))
    player = await rows.get_member(session, tournament.id, member.id)
    if player is None or player.team_id is not None:
        raise Refused(TournamentRefused(why="not free"))
    player.team_id = own.id
    await session.flush()
    return tournament.id


async def _find_schedules(session: AsyncSession, caller: Caller, wanted: Sequence[int]) -> list[Schedule]:
    """Returns the wanted schedules; if none is named, those that post to the caller's channel."""
    known = await schedule_rows.list_schedules(session, caller.workspace_id, None if wanted else caller.channel_id)
    found = [schedule for schedule, _ in known if not wanted or schedule.id in wanted]
    if len(found) < max(1, len(set(wanted))):
        raise Refused(TournamentRefused(why="schedules"))
    return found


def _first_zone(zones: Sequence[str], now: datetime) -> str:
    """Returns the zone in which a day begins first, so that no question of the first day comes before the start."""
    return min(zones, key=lambda zone: start_of_day(zone, now.date()))


async def _lock_live(session: AsyncSession, caller: Caller) -> Tournament:
    tournament = await rows.lock_live(session, caller.workspace_id)
    if tournament is None:
        raise Refused(TournamentRefused(why="none"))
    return tournament


async def _late_team(session: AsyncSession, tournament: Tournament, caller: Caller) -> int | None:
    """Returns the team for a late joiner; None if there is none, such as for a chat without a team."""
    teams = [team for team in await rows.list_teams(session, tournament.id) if team.playing]
    if tournament.teams_by == "chats":
        return next((team.id for team in teams if team.chat_id == caller.chat_id), None)
    return smallest_team(_sizes(teams, await rows.list_players(session, tournament.id))) if teams else None


def _sizes(teams: Sequence[TournamentTeam], players: Sequence[Player]) -> dict[int, int]:
    active = [player.row.team_id for player in players if player.row.until_day is None]
    return {team.id: active.count(team.id) for team in teams}


# What the leader does


async def advance_all(sessions: Sessions, now: datetime) -> None:
    """Takes the next step of every tournament that is due, each in its own transaction. Called at every tick."""
    async with sessions.begin() as session:
        due = await rows.list_due(session, now)
    for tournament_id in due:
        try:
            async with sessions.begin() as session:
                await advance(session, tournament_id, now)
        except (SQLAlchemyError, ValueError, TypeError, LookupError) as error:
            # A tournament that cannot continue must not hold up the others; the next tick retries it.
            log.error("tournament not advanced", tournament=tournament_id, exc_info=error)


async def advance(session: AsyncSession, tournament_id: int, now: datetime) -> None:
    """Starts the tournament, or settles its next day, if that is due."""
    tournament = await rows.lock(session, tournament_id)
    if tournament is None or now < tournament.starts_at:
        return
    if tournament.state == "joining":
        await _start(session, tournament, now)
        return
    day = current_day(tournament, await rows.list_days(session, tournament.id))
    assert day is not None, "a tournament ends with its last day"
    rounds = await _rounds_of_day(session, tournament, day, now)
    if rounds is not None:
        await _settle(session, tournament, day, rounds, now)


async def _start(session: AsyncSession, tournament: Tournament, now: datetime) -> None:
    """Makes the teams and fixes how many members count. Cancels a tournament without two teams."""
    players = list(await rows.list_players(session, tournament.id))
    strengths = await _strengths(session, tournament, [player.member.id for player in players], now)
    await _make_teams(session, tournament, players, strengths)
    teams = await rows.list_teams(session, tournament.id)
    players = list(await rows.list_players(session, tournament.id))
    sizes = _sizes(teams, players)
    manned = [team for team in teams if sizes[team.id]]
    if len(manned) < 2:
        await _end(session, tournament, "cancelled", now)
        return
    smallest = min(sizes[team.id] for team in manned)
    tournament.best = min(smallest, tournament.best or smallest)
    mean = {
        team.id: sum(strengths[p.member.id] for p in players if p.row.team_id == team.id) / max(1, sizes[team.id])
        for team in teams
    }
    for seed, team in enumerate(sorted(teams, key=lambda one: (not sizes[one.id], -mean[one.id], one.number)), 1):
        team.seed, team.playing = seed, bool(sizes[team.id])
    tournament.state = "running"
    await session.flush()
    if tournament.form == "bracket":
        await _add_stage(session, tournament, 1)
    await _post(session, tournament, "started", now)


async def _strengths(
    session: AsyncSession, tournament: Tournament, member_ids: Sequence[int], now: datetime
) -> dict[int, float]:
    if tournament.balance == "rating":
        rated = await duels.get_ratings(session, member_ids)
        return {member_id: float(known.rating.shown) for member_id, known in rated.items()}
    since = now - timedelta(days=RECENT_DAYS)
    return await rows.sum_recent_points(session, tournament.workspace_id, member_ids, since)


async def _make_teams(
    session: AsyncSession, tournament: Tournament, players: Sequence[Player], strengths: dict[int, float]
) -> None:
    """Puts every member who has no team into one."""
    free = [player for player in players if player.row.team_id is None]
    if tournament.teams_by == "chats":
        chats = sorted({player.row.chat_id for player in free})
        made = {
            chat_id: await rows.add_team(session, tournament, number, chat_id=chat_id)
            for number, chat_id in enumerate(chats, 1)
        }
        for player in free:
            player.row.team_id = made[player.row.chat_id].id
        await session.flush()
        return
    teams = list(await rows.list_teams(session, tournament.id))
    if tournament.teams_by == "random":
        count = min(tournament.team_count, len(free))
        teams = [await rows.add_team(session, tournament, number) for number in range(1, count + 1)]
    if not teams:
        return
    begun = [[player.member.id for player in players if player.row.team_id == team.id] for team in teams]
    added = {player.member.id: strengths[player.member.id] for player in free}
    full = balance_teams(added, begun, f"tournament:{tournament.id}", strengths)
    team_of = {member_id: team.id for team, member_ids in zip(teams, full, strict=True) for member_id in member_ids}
    for player in free:
        player.row.team_id = team_of[player.member.id]
    await session.flush()


async def _rounds_of_day(session: AsyncSession, tournament: Tournament, day: date, now: datetime) -> list[Round] | None:
    """Returns the rounds that count on a day; None while one is open, awaits verdicts or may still come."""
    found = {round_.schedule_id: round_ for round_ in await rows.list_rounds(session, tournament.id, day)}
    for schedule in await rows.list_schedules(session, tournament.id):
        round_ = found.get(schedule.id)
        if round_ is None and await _may_come(session, schedule, day, now):
            return None
        if round_ is not None and round_.closed_at is None and round_.skipped is None:
            return None
    closed = [round_ for round_ in found.values() if round_.closed_at is not None]
    if not closed:
        # A day without a question is over when it is over, not before it has begun.
        return [] if now >= start_of_day(tournament.zone, day + timedelta(days=1)) else None
    last = max(round_.closed_at for round_ in closed if round_.closed_at is not None)
    if now < last + JUDGE_WITHIN and await rows.awaits_verdicts(session, [round_.id for round_ in closed]):
        return None
    return closed


async def _may_come(session: AsyncSession, schedule: Schedule, day: date, now: datetime) -> bool:
    """Returns whether the schedule may still post its question of the day."""
    if schedule.removed_at is not None or schedule.paused_at is not None:
        return False
    spec = ScheduleSpec.from_stored(schedule.spec)
    skips = await schedule_rows.list_skips(session, schedule.id)
    instant = slot_instant(build_timetable(spec, skips), day)
    return instant is not None and now <= instant + timedelta(minutes=spec.catch_up_minutes + 1)


async def _settle(
    session: AsyncSession, tournament: Tournament, day: date, rounds: Sequence[Round], now: datetime
) -> None:
    """Records what the teams earned on a day, decides the bracket's stage, and ends a tournament that is decided."""
    teams = await rows.list_teams(session, tournament.id)
    await rows.add_day(session, tournament, day, len(rounds), now)
    corrected = await _correct(session, tournament, teams, day) if tournament.form == "table" else ()
    left = [team for team in teams if team.playing]
    if rounds:
        scores = await _score(session, tournament, teams, [day])
        await rows.add_scores(session, tournament, day, scores[day], settled_with=day, numbers={})
        if tournament.form == "bracket":
            left = await _decide(session, tournament, teams, scores[day], day)
    is_last = day >= tournament.first_day + timedelta(days=tournament.days - 1)
    if is_last or len(left) < 2:
        await _end(session, tournament, "over", now, corrected)
    elif rounds or corrected:
        await _post(session, tournament, "day", now, day, corrected)


async def _score(
    session: AsyncSession, tournament: Tournament, teams: Sequence[TournamentTeam], days: Sequence[date]
) -> dict[date, dict[int, TeamDay]]:
    assert tournament.best is not None, "it is fixed at the start"
    best, sums = tournament.best, await rows.sum_days(session, tournament, days)
    return {day: {team.id: sum_best(sums[day].get(team.id, ()), best) for team in teams} for day in days}


async def _correct(
    session: AsyncSession, tournament: Tournament, teams: Sequence[TournamentTeam], settling: date
) -> tuple[date, ...]:
    """Records what changed on earlier days since they were settled. Returns those days."""
    recorded = await rows.list_scores(session, tournament.id)
    now = await _score(session, tournament, teams, list(recorded))
    changed = []
    for day, scores in recorded.items():
        moved = {
            team: score
            for team, score in now[day].items()
            if team in scores and (score.points, score.counted) != (scores[team][-1].points, scores[team][-1].counted)
        }
        numbers = {team: scores[team][-1].number + 1 for team in moved}
        await rows.add_scores(session, tournament, day, moved, settled_with=settling, numbers=numbers)
        changed += [day] if moved else []
    return tuple(changed)


async def _decide(
    session: AsyncSession,
    tournament: Tournament,
    teams: Sequence[TournamentTeam],
    scores: dict[int, TeamDay],
    day: date,
) -> list[TournamentTeam]:
    """Decides the pairs of the current stage, and makes the next one. Returns the teams that are left."""
    by_id = {team.id: team for team in teams}
    pairs = await rows.list_pairs(session, tournament.id)
    stage = max(pair.stage for pair in pairs)
    for pair in (pair for pair in pairs if pair.stage == stage):
        second = pair.second_id
        goes_on = "first" if second is None else decide_pair(scores[pair.first_id], scores[second])
        pair.day, pair.goes_on = day, goes_on
        if second is not None and goes_on != "both":
            by_id[second if goes_on == "first" else pair.first_id].playing = False
    await session.flush()
    left = [team for team in teams if team.playing]
    if len(left) > 1:
        await _add_stage(session, tournament, stage + 1)
    return left


async def _add_stage(session: AsyncSession, tournament: Tournament, stage: int) -> None:
    teams = [team for team in await rows.list_teams(session, tournament.id) if team.playing]
    ordered = sorted(teams, key=lambda team: (team.seed or 0, team.number))
    await rows.add_pairs(session, tournament, stage, pair_teams([team.id for team in ordered]))


async def _end(
    session: AsyncSession,
    tournament: Tournament,
    event: TournamentEvent,
    now: datetime,
    corrected: tuple[date, ...] = (),
) -> None:
    tournament.state, tournament.ended_at = event, now
    await session.flush()
    await _post(session, tournament, event, now, corrected=corrected)
    if event == "over":
        await _announce_winners(session, tournament, now)


async def _announce_winners(session: AsyncSession, tournament: Tournament, now: datetime) -> None:
    """Has the members of the winning teams given their role; hidden members are left out."""
    view = await build_view(session, tournament, None, now)
    teams = tuple(team for team in view.teams if team.rank == 1)
    numbers = {team.number for team in teams}
    ids = {team.id for team in await rows.list_teams(session, tournament.id) if team.number in numbers}
    players = [player for player in await rows.list_players(session, tournament.id) if player.row.until_day is None]
    won = [player.member.id for player in players if player.row.team_id in ids and not player.member.hidden]
    if won:
        post = WinnerPost(event="tournament", season=tournament.title, teams=teams, role="")
        key = f"tournament:{tournament.id}"
        await leaderboard.announce_winners(session, leaderboard.Won(tournament.workspace_id, key, post, won), now)


async def _post(
    session: AsyncSession,
    tournament: Tournament,
    event: TournamentEvent,
    now: datetime,
    day: date | None = None,
    corrected: tuple[date, ...] = (),
) -> None:
    """Enqueues a message to the tournament's channel and to those of its schedules."""
    view = await build_view(session, tournament, None, now)
    body = TournamentPost(event=event, tournament=view, corrected=corrected)
    channels = {tournament.channel_id}
    for schedule in await rows.list_schedules(session, tournament.id):
        channels |= set(await schedule_rows.list_channels(session, schedule))
    for channel_id in sorted(channels):
        message = outbox.NewMessage(
            key=f"tournament:{tournament.id}:{event}:{day or ''}:{channel_id}",
            body=body,
            workspace_id=tournament.workspace_id,
            channel_id=channel_id,
        )
        await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)
