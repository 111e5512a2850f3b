"""Tournaments as members and admins see them. Hidden members are counted and never named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import cast

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import get_zone
from service.domain.tournaments import Standing, TeamDay, may_pick, rank_bracket, rank_table
from service.errors import Refused
from service.store import tournaments as rows
from service.store.competition_tables import Tournament, TournamentDay, TournamentPair, TournamentScore, TournamentTeam
from service.store.members import Caller, list_ids_on
from service.store.tables import Chat
from service.store.tournaments import Player
from service.wire import Named, NotFound, Platform, TournamentStage, TournamentView
from service.wire import TournamentDay as DayView
from service.wire import TournamentPair as PairView
from service.wire import TournamentScore as ScoreView
from service.wire import TournamentTeam as TeamView

SHOWN_NAMES = 30
"""Members of a team who are named in a view."""
SHOWN_TITLES = 20
"""Other tournaments that a view lists."""


async def show(session: AsyncSession, caller: Caller, title: str, now: datetime) -> TournamentView:
    """Returns the workspace's newest tournament, or the one with that title. Refused if there is none."""
    tournament = await rows.find(session, caller.workspace_id, title.strip())
    if tournament is None:
        raise Refused(NotFound(what="tournament", name=title.strip()))
    return await build_view(session, tournament, caller.member_id, now)


async def show_by_id(session: AsyncSession, caller: Caller, tournament_id: int, now: datetime) -> TournamentView:
    """Returns a tournament of the workspace."""
    tournament = await rows.get(session, caller.workspace_id, tournament_id)
    if tournament is None:
        raise Refused(NotFound(what="tournament", name=str(tournament_id)))
    return await build_view(session, tournament, caller.member_id, now)


async def build_view(
    session: AsyncSession, tournament: Tournament, reader: int | None, now: datetime
) -> TournamentView:
    """Returns a tournament as a member sees it, or without `reader` as a channel does."""
    teams = await rows.list_teams(session, tournament.id)
    everyone = await rows.list_players(session, tournament.id)
    players = [player for player in everyone if player.row.until_day is None]
    left = [player for player in everyone if player.row.until_day is not None]
    days, scores = await rows.list_days(session, tournament.id), await rows.list_scores(session, tournament.id)
    pairs = await rows.list_pairs(session, tournament.id)
    today = _day_played_now(tournament, days, now)
    answered = await rows.count_answered(session, tournament, today) if today else {}
    standings = _rank(tournament, teams, day_scores(scores), pairs)
    chats = await rows.list_chats(session, tournament.workspace_id) if tournament.teams_by == "chats" else ()
    numbers = {team.id: team.number for team in teams}
    ids = await list_ids_on(session, "discord", [player.member.id for player in players])
    mine = next((player for player in players if player.member.id == reader), None)
    sizes = {team.id: sum(player.row.team_id == team.id for player in players) for team in teams}
    own = next((team for team in teams if reader is not None and team.captain_id == reader), None)
    return TournamentView.model_validate(
        {
            "id": tournament.id,
            "title": tournament.title,
            "form": tournament.form,
            "teams_by": tournament.teams_by,
            "state": tournament.state,
            "first_day": tournament.first_day,
            "days": tournament.days,
            "best": None if tournament.state in ("joining", "cancelled") else tournament.best,
            "at_most": tournament.best if tournament.state == "joining" else None,
            "late": tournament.late,
            "day_left": day_is_left(tournament, now) or any(player.member.id == reader for player in left),
            "zone": tournament.zone,
            "starts_at": tournament.starts_at,
            "joined": len(players),
            "teams": _view_teams(teams, players, ids, standings, answered, chats),
            "free": tuple(_names((player for player in players if player.row.team_id is None), ids))
            if tournament.teams_by == "captains" and tournament.state == "joining"
            else (),
            "results": tuple(_view_day(day, scores.get(day.day, {}), numbers) for day in days),
            "stages": _view_stages(pairs, numbers),
            "today": today,
            "takes_part": mine is not None,
            "team": numbers.get(mine.row.team_id) if mine is not None and mine.row.team_id is not None else None,
            "picks": own is not None and tournament.state == "joining" and may_pick(own.id, sizes),
            "others": tuple(await rows.list_titles(session, tournament.workspace_id, tournament.id, SHOWN_TITLES)),
        }
    )


def day_scores(recorded: Mapping[date, Mapping[int, Sequence[TournamentScore]]]) -> list[dict[int, TeamDay]]:
    """Returns what each team earned on each day that was played, by the scores that count."""
    return [
        {
            team: TeamDay(found[-1].points, found[-1].credit, found[-1].counted, found[-1].seconds)
            for team, found in scores.items()
        }
        for scores in recorded.values()
    ]


def current_day(tournament: Tournament, days: Sequence[TournamentDay]) -> date | None:
    """Returns the day to settle next; None after the last one."""
    following = days[-1].day + timedelta(days=1) if days else tournament.first_day
    return following if following < tournament.first_day + timedelta(days=tournament.days) else None


def local_day(tournament: Tournament, now: datetime) -> date:
    """Returns the day that it is in the tournament's zone."""
    return now.astimezone(get_zone(tournament.zone)).date()


def day_is_left(tournament: Tournament, now: datetime) -> bool:
    """Returns whether a day is left that counts for a member who joins now: they count from the next day on."""
    return local_day(tournament, now) + timedelta(days=1) < tournament.first_day + timedelta(days=tournament.days)


def _day_played_now(tournament: Tournament, days: Sequence[TournamentDay], now: datetime) -> date | None:
    if tournament.state != "running":
        return None
    day = current_day(tournament, days)
    return day if day is not None and day <= local_day(tournament, now) else None


def _rank(
    tournament: Tournament,
    teams: Sequence[TournamentTeam],
    days: Sequence[dict[int, TeamDay]],
    pairs: Sequence[TournamentPair],
) -> list[Standing]:
    """Returns the places; none before a team has earned anything: nobody leads or wins with nothing."""
    ids = [team.id for team in teams if team.seed is not None]
    if not any(score.points or score.credit for day in days for score in day.values()):
        return []
    if tournament.form == "table":
        return rank_table(ids, days)
    out = {
        team: pair.stage
        for pair in pairs
        if pair.second_id is not None and pair.goes_on in ("first", "second")
        for team in (pair.second_id if pair.goes_on == "first" else pair.first_id,)
    }
    last = max(pair.stage for pair in pairs)
    return rank_bracket(ids, {team: out.get(team, last + 1) for team in ids}, days)


def _view_teams(
    teams: Sequence[TournamentTeam],
    players: Sequence[Player],
    ids: Mapping[int, str],
    standings: Sequence[Standing],
    answered: Mapping[int, int],
    chats: Sequence[Chat],
) -> tuple[TeamView, ...]:
    places = {standing.team: standing for standing in standings}
    captains = {player.member.id: player for player in players}
    made = []
    for team in teams:
        place = places.get(team.id)
        captain = captains.get(team.captain_id) if team.captain_id is not None else None
        platform, number = _chat(team.chat_id, chats)
        own = [player for player in players if player.row.team_id == team.id]
        view = TeamView(
            number=team.number,
            platform=platform,
            chat=number,
            captain=_name(captain, ids) if captain and not captain.member.hidden else None,
            members=len(own),
            named=tuple(_names(own, ids))[:SHOWN_NAMES],
            rank=place.rank if place else 0,
            table=place.table if place else 0,
            points=place.points if place else 0,
            playing=team.playing,
            answered=answered.get(team.id, 0),
        )
        made.append(view)
    return tuple(sorted(made, key=lambda view: (view.rank or len(made) + 1, view.number)))


def _chat(chat_id: int | None, chats: Sequence[Chat]) -> tuple[Platform | None, int]:
    """Returns the platform of a team's chat and its number among several of that platform."""
    chat = next((chat for chat in chats if chat.id == chat_id), None)
    if chat is None:
        return None, 0
    alike = [one.id for one in chats if one.platform == chat.platform]
    return cast(Platform, chat.platform), alike.index(chat.id) + 1 if len(alike) > 1 else 0


def _name(player: Player, ids: Mapping[int, str]) -> Named:
    return Named(name=player.member.name, discord=ids.get(player.member.id, ""))


def _names(players: Iterable[Player], ids: Mapping[int, str]) -> list[Named]:
    shown = (player for player in players if not player.member.hidden and player.member.forgotten_at is None)
    return [_name(player, ids) for player in shown]


def _view_day(
    day: TournamentDay, scores: Mapping[int, Sequence[TournamentScore]], numbers: Mapping[int, int]
) -> DayView:
    made = []
    for team, found in scores.items():
        last = found[-1]
        result = TeamDay(last.points, last.credit, last.counted, last.seconds)
        view = ScoreView(
            team=numbers[team],
            points=last.points,
            counted=last.counted,
            accuracy=min(1.0, result.accuracy),
            seconds=last.seconds,
            corrected=last.points - found[0].points,
        )
        made.append((result.merit, view))
    ordered = sorted(made, key=lambda pair: (pair[0], pair[1].team))
    return DayView(day=day.day, rounds=day.rounds, scores=tuple(view for _, view in ordered))


def _view_stages(pairs: Sequence[TournamentPair], numbers: Mapping[int, int]) -> tuple[TournamentStage, ...]:
    stages: dict[int, list[TournamentPair]] = {}
    for pair in pairs:
        stages.setdefault(pair.stage, []).append(pair)
    return tuple(
        TournamentStage(
            number=number,
            day=found[0].day,
            pairs=tuple(
                PairView.model_validate(
                    {
                        "first": numbers[pair.first_id],
                        "second": None if pair.second_id is None else numbers[pair.second_id],
                        "winner": pair.goes_on,
                    }
                )
                for pair in found
            ),
        )
        for number, found in stages.items()
    )
