"""Tournaments: what an admin plans, and the teams, days and pairs as everybody sees them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from service.wire.base import Model, Platform, Short

TournamentForm = Literal["table", "bracket"]
"""Every day each team meets each other, or pairs of teams whose winners go on."""
TournamentTeams = Literal["random", "captains", "chats"]
"""How teams are made: balanced at random, picked by captains, or one of each linked chat."""
TournamentBalance = Literal["points", "rating"]
"""What says how strong a member is: recent points, or the rating of duels."""
TournamentState = Literal["joining", "running", "over", "cancelled"]
TournamentEvent = Literal["announced", "started", "day", "over", "cancelled"]
PairWinner = Literal["first", "second", "both"]


class TournamentPlan(Model):
    """A tournament as an admin plans it."""

    title: Annotated[str, Field(min_length=1, max_length=60)]
    first_day: date | None = None
    """The next Monday if it is None."""
    days: Annotated[int, Field(ge=1, le=31)] = 7
    form: TournamentForm = "table"
    teams: TournamentTeams = "random"
    team_count: Annotated[int, Field(ge=2, le=16)] = 2
    """Number of teams, if they are made at random."""
    best: Annotated[int, Field(ge=1, le=100)] | None = None
    """Most members of a team that count on a day."""
    late: bool = True
    """Whether members can join after the start."""
    balance: TournamentBalance = "points"
    schedules: Annotated[tuple[Annotated[int, Field(ge=1, lt=2**63)], ...], Field(max_length=20)] = ()
    """Schedules whose daily rounds count; those of the channel if empty."""


class Named(Model):
    """A member who is named."""

    name: str


class TournamentTeam(Model):
    """A team and its place."""

    number: int
    platform: Platform | None = None
    """The chat whose members it is made of."""
    chat: int = 0
    """Tells several chats of one platform apart: 1 for the oldest; 0 if there is one."""
    captain: Named | None = None
    members: int
    named: tuple[Named, ...] = ()
    """The first of its members; hidden ones are only counted."""
    rank: int = 0
    """0 before the first day that was played."""
    table: int = 0
    """Table points."""
    points: int = 0
    """Sum of the points of all days."""
    playing: bool = True
    """Whether it can still win."""
    answered: int = 0
    """Members who have answered a round of today that is open."""


class TournamentScore(Model):
    """What a team earned on a day."""

    team: int
    points: int
    counted: int
    """Members whose results were added up."""
    accuracy: float
    seconds: float | None = None
    """Their mean time."""
    corrected: int = 0
    """Change of the points since the day was settled first."""


class TournamentPair(Model):
    """Two teams of a bracket that meet, or one without an opponent."""

    first: int
    second: int | None = None
    winner: PairWinner | None = None


class TournamentStage(Model):
    """The pairs of one stage of a bracket."""

    number: int
    day: date | None = None
    """The day that decided it; None if it is still open."""
    pairs: tuple[TournamentPair, ...]


class TournamentDay(Model):
    """A day that was settled. Without rounds nobody played."""

    day: date
    rounds: int
    scores: tuple[TournamentScore, ...] = ()
    """Best first."""


class TournamentView(Model):
    """A tournament as everybody sees it. What is right in an open round is in none of the numbers."""

    id: int
    title: str
    form: TournamentForm
    teams_by: TournamentTeams
    state: TournamentState
    first_day: date
    days: int
    best: int | None = None
    """Members of each team that count on a day; None before the start."""
    late: bool
    zone: str
    starts_at: datetime
    joined: int
    """Number of members who take part."""
    teams: tuple[TournamentTeam, ...] = ()
    """Best first; in order of their numbers before the first day that was played."""
    free: tuple[Named, ...] = ()
    """Members whom a captain can pick; hidden ones are left out."""
    results: tuple[TournamentDay, ...] = ()
    stages: tuple[TournamentStage, ...] = ()
    today: date | None = None
    """The day that is played now; None if none is."""
    takes_part: bool = False
    """Whether the reader does."""
    team: int | None = None
    """The reader's team."""
    picks: bool = False
    """Whether the reader is a captain who can pick a member now."""
    others: tuple[Short, ...] = ()
    """Titles of other tournaments, newest first."""


class TournamentPost(Model):
    """A message about a tournament to a channel."""

    kind: Literal["tournament"] = "tournament"
    event: TournamentEvent
    tournament: TournamentView
    corrected: tuple[date, ...] = ()
    """Earlier days whose points were corrected."""
