"""Cards of tournaments: the announcement, the teams, the state after each day, and the podium."""

from __future__ import annotations

from datetime import datetime
from typing import Final, assert_never

from bot.core.actions import JoinTournament, LeaveTournament, ShowTournament, encode
from bot.core.cards import Block, Button, Card, Charted, Small, Table, Text
from bot.core.charts import PodiumChart, PodiumPlace
from bot.core.markup import escape
from bot.core.text.words import (
    MEDALS,
    and_list,
    chat_words,
    day_words,
    in_brief,
    moment_markdown,
    person_markdown,
    plural,
)
from service.wire import (
    TournamentDay,
    TournamentPair,
    TournamentPost,
    TournamentStage,
    TournamentTeam,
    TournamentView,
)

COLORS: Final = (
    "Red", "Blue", "Green", "Gold", "Violet", "Orange", "Silver", "Teal",
    "Pink", "Brown", "Lime", "Navy", "Coral", "Olive", "Plum", "Gray",
)  # fmt: skip
"""Names of teams that have neither a captain nor a chat."""
NAMED: Final = 20
"""Members of a team that a card names."""
_SHOW: Final = Button("See the tournament", encode(ShowTournament()))


def team_name(team: TournamentTeam) -> str:
    """Returns what a team is called, without markup."""
    if team.captain is not None:
        return f"{team.captain.name}'s team"
    if team.platform is not None:
        return chat_words(team.platform) + (f" {team.chat}" if team.chat else "")
    return f"Team {COLORS[team.number - 1]}" if team.number <= len(COLORS) else f"Team {team.number}"


def tournament_post_card(post: TournamentPost) -> Card:
    """Returns a message about a tournament to a channel."""
    view = post.tournament
    match post.event:
        case "announced":
            return _announcement_card(view)
        case "started":
            return _started_card(view)
        case "day":
            return _day_card(view, post)
        case "over":
            return _podium_card(view, post)
        case "cancelled":
            return _cancelled_card(view)
        case _ as never:
            assert_never(never)


def tournament_card(view: TournamentView, now: datetime, title: str = "") -> Card:
    """Returns a tournament as one member sees it."""
    blocks: list[Block] = [Text(f"**{state_words(view)}**")]
    if shows_teams(view):
        blocks += [*_own(view), *_standings(view), *_stages(view)]
    if view.state == "joining":
        blocks += [*_members(view), *_free(view)]
    elif view.state == "running":
        blocks += [*_today(view), *_members(view)]
    if view.results:
        blocks += _days(view)
    if view.state != "cancelled":
        blocks.append(Small(rules_words(view)))
    if view.others:
        names = and_list([escape(title) for title in view.others[:5]])
        blocks.append(Small(f"Earlier tournaments: {names}. `/quiz board tournament NAME` shows one."))
    summary = in_brief(state_words(view), 200)
    return Card(title or f"Tournament: {view.title}", summary, tuple(blocks), _buttons(view))


_NO_TEAM_YET: Final = "You take part. You will see your team when the teams are made."


def joined_card(view: TournamentView, now: datetime) -> Card:
    """Confirms to a member that they take part."""
    card = tournament_card(view, now)
    if view.state == "joining":
        return Card("You are in", in_brief(_NO_TEAM_YET, 200), card.blocks, card.buttons)
    sentence = f"You take part in {_own_team(view)}. Your answers count from tomorrow."
    further = (block for block in card.blocks[1:] if block not in _own(view))
    return Card("You are in", in_brief(sentence, 200), (Text(sentence), *further), card.buttons)


def left_card(view: TournamentView) -> Card:
    """Confirms to a member that they no longer take part."""
    text = "You are no longer in the tournament." + (
        "" if view.state == "joining" else " What you have earned stays with your team."
    )
    back = (Button("Join again", encode(JoinTournament(str(view.id)))),) if view.state == "joining" or view.late else ()
    return Card("You left the tournament", text, (Text(text),), back)


def planned_card(view: TournamentView) -> Card:
    """Confirms to an admin that a tournament is planned."""
    sentence = (
        f"**{escape(view.title)}** is announced in the channel, and members can join until {day_words(view.first_day)}."
    )
    blocks: list[Block] = [Text(sentence), Text(rules_words(view))]
    if view.teams_by == "captains":
        blocks.append(Text("Name the captains with `/quiz-admin tournament captain @member`. They pick their teams."))
    blocks.append(Text("`/quiz-admin tournament cancel` cancels it."))
    return Card("Tournament planned", in_brief(sentence, 200), tuple(blocks), (_SHOW,))


def cancelled_card(view: TournamentView) -> Card:
    """Confirms to an admin that a tournament has ended without a result."""
    return _cancelled_card(view)


# Words that the page shares with the cards


def state_words(view: TournamentView) -> str:
    """Returns how far a tournament is, in a sentence. Markdown."""
    match view.state:
        case "joining":
            starts = moment_markdown(view.starts_at, view.zone)
            return f"{plural(view.joined, 'member')} joined. It starts {starts} and takes {plural(view.days, 'day')}."
        case "running":
            played = sum(1 for day in view.results if day.rounds)
            left = view.days - len(view.results)
            return f"{plural(played, 'day')} played, {left} to go."
        case "over":
            return f"{_winners(view)} {'win' if _shared(view) else 'wins'} the tournament."
        case "cancelled":
            return "It was canceled."
        case _ as never:
            assert_never(never)


def shows_teams(view: TournamentView) -> bool:
    """Returns whether the teams are shown: not if the tournament was canceled before a day was over."""
    return view.state != "cancelled" or bool(view.results)


def rules_words(view: TournamentView) -> str:
    """Returns how a tournament is played. Markdown."""
    if view.best is None:
        limit = f", at most {view.at_most}" if view.at_most else ""
        count = f"On each day the best of each team count: as many as the smallest team has members{limit}."
    elif view.best == 1:
        count = "On each day the best member of each team counts."
    else:
        count = f"On each day the best {view.best} of each team count."
    if view.form == "table":
        form = "Every team meets every other one each day: more points win 2 table points, a tie is 1 each."
    else:
        form = "Pairs of teams meet each day, and the winner advances. If they tie, both do."
    return f"{count} {form} Equal points are decided by accuracy, then by time."


def teams_words(view: TournamentView) -> str:
    """Returns how the teams of a tournament are made, in a sentence."""
    return {
        "random": "Teams are made at random when it starts, and balanced.",
        "captains": "Captains pick the teams until it starts.",
        "chats": "Each linked chat is a team.",
    }[view.teams_by]


def team_cells(view: TournamentView, team: TournamentTeam) -> tuple[str, ...]:
    """Returns a team's row in the table of standings."""
    last = str(team.table) if view.form == "table" else ("still in" if team.playing else "out")
    return str(team.rank or "–"), team_name(team), last, f"{team.points:,}", str(team.members)


STANDING_COLUMNS: Final = {
    "table": ("Rank", "Team", "Table", "Points", "Members"),
    "bracket": ("Rank", "Team", "State", "Points", "Members"),
}


def pair_words(view: TournamentView, pair: TournamentPair) -> str:
    """Returns a pair of a bracket and how it went, without markup."""
    names = {team.number: team_name(team) for team in view.teams}
    if pair.second is None:
        return f"{names[pair.first]} advances without an opponent"
    if pair.winner is None:
        return f"{names[pair.first]} meets {names[pair.second]}"
    if pair.winner == "both":
        return f"{names[pair.first]} and {names[pair.second]} tied, and both advance"
    won, lost = (pair.first, pair.second) if pair.winner == "first" else (pair.second, pair.first)
    return f"{names[won]} beat {names[lost]}"


def stage_title(stage: TournamentStage) -> str:
    """Returns the heading of a stage."""
    return f"Stage {stage.number}" + (f", {day_words(stage.day)}" if stage.day else ", to be played next")


def day_line(view: TournamentView, day: TournamentDay) -> str:
    """Returns what the teams earned on a day, without markup."""
    if not day.rounds:
        return f"{day_words(day.day)}: no question, so nothing changed."
    names = {team.number: team_name(team) for team in view.teams}
    scores = ", ".join(f"{names[score.team]} {score.points}{_corrected(score.corrected)}" for score in day.scores)
    return f"{day_words(day.day)}: {scores}."


def answered_words(team: TournamentTeam) -> str:
    """Returns how many of a team have answered today."""
    return f"{team.answered} of {team.members} answered today"


# Parts of the cards


def _announcement_card(view: TournamentView) -> Card:
    starts = moment_markdown(view.starts_at, view.zone)
    sentence = f"A tournament of {plural(view.days, 'day')} starts {starts}."
    late = "" if view.late else " Nobody can join later."
    text = f"Press **Join** to take part, and answer the daily question as always.{late}"
    blocks = (Text(f"**{sentence}**"), Text(text), Text(teams_words(view)), Small(rules_words(view)))
    return Card(f"Tournament: {view.title}", in_brief(sentence, 200), blocks, _buttons(view))


def _started_card(view: TournamentView) -> Card:
    sentence = f"The tournament starts with {plural(len(view.teams), 'team')} and {plural(view.joined, 'member')}."
    blocks = (Text(f"**{sentence}**"), *_members(view), *_stages(view), Small(rules_words(view)))
    return Card(f"Tournament: {view.title}", sentence, blocks, _buttons(view))


def _day_card(view: TournamentView, post: TournamentPost) -> Card:
    day = view.results[-1]
    number = (day.day - view.first_day).days + 1
    blocks: list[Block] = [Text(escape(day_line(view, day)))]
    if post.corrected:
        days = and_list([day_words(one) for one in post.corrected])
        blocks.append(Text(f"Points of {days} were corrected, and the table with them."))
    blocks += [*_standings(view), *_stages(view)]
    leader = " and ".join(team_name(team) for team in view.teams if team.rank == 1) or "Nobody"
    title = f"Tournament: day {number} of {view.days}"
    return Card(title, f"{leader} {'lead' if _shared(view) else 'leads'}.", tuple(blocks), _buttons(view))


def _podium_card(view: TournamentView, post: TournamentPost) -> Card:
    sentence = state_words(view)
    lines = [
        f"{MEDALS[team.rank]} **{escape(team_name(team))}**: {_score(view, team)}"
        for team in view.teams
        if team.rank in MEDALS
    ]
    places = tuple(
        PodiumPlace(team.rank, team_name(team), _short_score(view, team)) for team in view.teams if team.rank in MEDALS
    )
    podium = (Charted("\n\n".join(lines), PodiumChart(places)),) if lines else ()
    blocks: list[Block] = [Text(f"**{sentence}**"), *podium]
    if post.corrected:
        days = and_list([day_words(one) for one in post.corrected])
        blocks.append(Text(f"Points of {days} were corrected, and the table with them."))
    if view.results and view.results[-1].rounds:
        blocks.append(Text(f"Last day, {escape(day_line(view, view.results[-1]))}"))
    blocks += _members(view)
    return Card(f"Tournament: {view.title}, the podium", in_brief(sentence, 200), tuple(blocks), (_SHOW,))


def _cancelled_card(view: TournamentView) -> Card:
    few = view.joined < 2 or len([team for team in view.teams if team.members]) < 2
    why = " Too few members joined for two teams." if few else ""
    sentence = f"The tournament **{escape(view.title)}** is canceled.{why}"
    return Card("Tournament canceled", in_brief(sentence, 200), (Text(sentence),))


def _buttons(view: TournamentView) -> tuple[Button, ...]:
    join = Button("Join", encode(JoinTournament(str(view.id))), "primary")
    if view.takes_part and view.state in ("joining", "running"):
        return (_SHOW, Button("Leave", encode(LeaveTournament())))
    return (join, _SHOW) if can_join(view) else (_SHOW,)


def can_join(view: TournamentView) -> bool:
    """Returns whether a reader who does not take part can join now, so that a day counts for them."""
    return view.state == "joining" or (view.state == "running" and view.late and view.day_left)


def _own(view: TournamentView) -> tuple[Block, ...]:
    if view.picks and view.free:
        return (Text("You are a captain, and it is your turn: `/quiz tournament pick @member`."),)
    if view.team is not None:
        return (Text(f"You play for {_own_team(view)}."),)
    if view.takes_part:
        return (Text(_NO_TEAM_YET),)
    return ()


def _own_team(view: TournamentView) -> str:
    return next((f"**{escape(team_name(team))}**" for team in view.teams if team.number == view.team), "a team")


def _standings(view: TournamentView) -> tuple[Block, ...]:
    if not any(team.rank for team in view.teams):
        return ()
    rows = tuple(team_cells(view, team) for team in view.teams)
    mine = next((place for place, team in enumerate(view.teams) if team.number == view.team), None)
    numeric = (0, 2, 3, 4) if view.form == "table" else (0, 3, 4)
    return (Table(STANDING_COLUMNS[view.form], rows, "Standings", numeric, mine=mine),)


def _stages(view: TournamentView) -> tuple[Block, ...]:
    if not view.stages:
        return ()
    shown = view.stages[-2:] if view.state == "running" else view.stages
    lines = []
    for stage in shown:
        pairs = "\n".join(f"- {escape(pair_words(view, pair))}" for pair in stage.pairs)
        lines.append(f"**{stage_title(stage)}**\n{pairs}")
    return (Text("\n\n".join(lines)),)


def _members(view: TournamentView) -> tuple[Block, ...]:
    lines = [f"- **{escape(team_name(team))}**: {people_markdown(team)}" for team in sorted(view.teams, key=_number)]
    return (Text("\n".join(lines)),) if lines else ()


def people_words(team: TournamentTeam) -> str:
    """Returns the members of a team, without markup."""
    return _people(team, [person.name for person in team.named[:NAMED]])


def people_markdown(team: TournamentTeam) -> str:
    """Returns the members of a team as Markdown; Discord shows mentions of them, which notify nobody."""
    return _people(team, [person_markdown(person) for person in team.named[:NAMED]])


def _people(team: TournamentTeam, names: list[str]) -> str:
    more = team.members - len(names)
    if more and names:
        return f"{', '.join(names)} and {more} more"
    return and_list(names) if names else plural(team.members, "member")


def _free(view: TournamentView) -> tuple[Block, ...]:
    if not view.free:
        return ()
    names = and_list([person_markdown(person) for person in view.free[:NAMED]])
    more = f" and {len(view.free) - NAMED} more" if len(view.free) > NAMED else ""
    return (Text(f"To be picked: {names}{more}."),)


def _today(view: TournamentView) -> tuple[Block, ...]:
    if view.today is None:
        return ()
    lines = [f"{escape(team_name(team))}: {answered_words(team)}" for team in sorted(view.teams, key=_number)]
    return (Text(". ".join(lines) + "."),)


def _days(view: TournamentView) -> list[Block]:
    return [Text("\n".join(f"- {escape(day_line(view, day))}" for day in view.results[-7:]))]


def _score(view: TournamentView, team: TournamentTeam) -> str:
    points = plural(team.points, "point")
    return f"{plural(team.table, 'table point')}, {points}" if view.form == "table" else points


def _short_score(view: TournamentView, team: TournamentTeam) -> str:
    """Returns what decides the place, for the picture, which has no room for more."""
    return plural(team.table, "table point") if view.form == "table" else plural(team.points, "point")


def _corrected(change: int) -> str:
    return f" (corrected by {change:+d})" if change else ""


def _shared(view: TournamentView) -> bool:
    return sum(team.rank == 1 for team in view.teams) > 1


def _winners(view: TournamentView) -> str:
    names = [escape(team_name(team)) for team in view.teams if team.rank == 1]
    return and_list(names) if names else "Nobody"


def _number(team: TournamentTeam) -> int:
    return team.number
