"""Words of the admins' page of tournaments. Those that cards have too are in `tournaments`."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from bot.core.text.refusals import refusal_words
from bot.core.text.tournaments import rules_words as rules_words
from bot.core.text.tournaments import state_words as state_words
from bot.core.text.tournaments import team_name as team_name
from bot.core.text.tournaments import teams_words as teams_words
from bot.core.text.words import day_words, plural
from service.wire import (
    InvalidInput,
    TournamentBalance,
    TournamentForm,
    TournamentState,
    TournamentTeams,
    TournamentView,
)

FIELDS: Final = {
    "title": "Name",
    "first_day": "First day",
    "days": "Days",
    "teams": "Teams",
    "team_count": "Number of teams",
    "form": "Form",
    "best": "Members who count",
    "balance": "Teams are even by",
    "schedules": "Schedules",
    "late": "Joining late",
}
"""Labels of the form by the names of the plan's fields."""
STATES: Final[dict[TournamentState, str]] = {
    "joining": "Planned",
    "running": "Running",
    "over": "Over",
    "cancelled": "Canceled",
}
TEAMS: Final[dict[TournamentTeams, str]] = {
    "random": "Made at random",
    "captains": "Picked by captains",
    "chats": "One for each linked chat",
}
FORMS: Final[dict[TournamentForm, str]] = {"table": "Table", "bracket": "Bracket"}
BALANCES: Final[dict[TournamentBalance, str]] = {"points": "Recent points", "rating": "Rating of duels"}

FORM_HINT: Final = "In a table all teams meet every day; in a bracket the winners advance."
BEST_HINT: Final = "At most, of each team on a day. Empty for the size of the smallest team."
MEANING: Final = "In a tournament, teams play on several days by answering the daily questions."
NO_SCHEDULE: Final = "A tournament counts the daily rounds of schedules. Add a schedule first."
ONE_AT_A_TIME: Final = "There is one tournament at a time. You can plan the next one when this one is over."
CAPTAINS: Final = "Each captain gets a team, and picks its members until the tournament starts."
CANCELING: Final = "It ends without a result, and the channel is notified. You cannot undo this."
NO_CAPTAIN: Final = ("No name", "Type the name of the member who becomes a captain.")


def span_words(view: TournamentView) -> str:
    """Returns the days of a tournament, such as `Monday 2 March to Sunday 8 March, 7 days`."""
    last = view.first_day + timedelta(days=view.days - 1)
    until = f" to {day_words(last)}" if view.days > 1 else ""
    return f"{day_words(view.first_day)}{until}, {plural(view.days, 'day')}"


def refused_field(problem: InvalidInput) -> str:
    """Says what is wrong with a field of the form, by its label. Markdown."""
    name = problem.field.replace(" ", "_")
    label = next((FIELDS[known] for known in FIELDS if name == known or name.startswith(f"{known}_")), problem.field)
    return refusal_words(problem.model_copy(update={"field": label}))[1]
