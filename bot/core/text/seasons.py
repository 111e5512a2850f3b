"""Words of the page of seasons, and of the winner's role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.core.cards import PODIUM_PLACES, Award, Card, Podium, PodiumPlace, Table, Text
from bot.core.channel_access import RoleProblem
from bot.core.markup import escape
from bot.core.text.admin import season_span as season_span
from bot.core.text.words import and_list, plural
from service.wire import WinnerPost, WinnerRoleView

LONGEST_NAME = 80
"""Longest name of a season, characters."""
SHOWN = 10
"""Members of a final board that are shown."""
NO_NAME: Final = ("No name", "Give the season a name, such as Autumn.")
NO_ROLES: Final = "Only Discord has roles that a bot can give. Type `/quiz-admin season role` there."
_ROLE_PROBLEMS: Final[Mapping[RoleProblem, str]] = {
    "unknown": "There is no such role on this server any more. Choose another one.",
    "not to be given": "Nobody can be given this role: it belongs to everyone, or to another app. Choose another one.",
    "no permission": "I lack **Manage Roles**. Open Server Settings, then Roles, and allow it for my role.",
    "too high": "It is not below my own role. Open Server Settings, then Roles, and drag my role above it.",
}


def role_problem_words(problem: RoleProblem) -> str:
    """Explains why the bot cannot give a role, and what to do, as Markdown."""
    return _ROLE_PROBLEMS[problem]


def winner_role_card(view: WinnerRoleView, problem: RoleProblem | None = None) -> Card:
    """Says what the winner of a season gets, and what keeps the bot from giving it."""
    if not view.role:
        text = "The winner of a season gets no role. Name one with `/quiz-admin season role`."
        return Card("Winner's role", "The winner of a season gets no role.", (Text(text),))
    text = (
        f"When a season ends, its winner gets this role, and whoever had it from me before loses it. The winner is "
        f"announced in {escape(view.channel_name)}."
    )
    # The award only names the role here: nothing posts this card from the outbox.
    card = Card("Winner's role", "The winner of a season gets a role.", (Text(text),), award=Award(view.role, ("",)))
    if problem is None:
        return card
    warning = Text(f"**I cannot give this role yet.** {role_problem_words(problem)}")
    return replace(card, blocks=(warning, *card.blocks))


def winner_card(post: WinnerPost) -> Card:
    """Announces the winner of a season."""
    best = min(row.rank for row in post.top)
    names = [row.name for row in post.top if row.rank == best]
    won = "win" if len(names) > 1 else "wins"
    head = f"{and_list(names)} {won} the season {post.season}"
    points = plural(post.top[0].points, "point")
    text = f"**{and_list([escape(name) for name in names])}** {won} with {points}. Congratulations!"
    rows = tuple((str(row.rank), row.name, str(row.points)) for row in post.top)
    table = Table(("Rank", "Name", "Points"), rows, f"The best of {post.season}", (0, 2))
    places = tuple(
        PodiumPlace(row.rank, row.name, plural(row.points, "point")) for row in post.top if row.rank <= PODIUM_PLACES
    )
    return Card(
        head,
        f"{head}, with {points}.",
        (Podium(text, places), table),
        award=Award(post.role, post.winners, post.former),
    )
