"""Boards, a member's own numbers, privacy, and codes that link accounts and chats."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from service.wire.base import Contest, Model, Period, Platform


class BoardRow(Model):
    rank: int
    name: str
    points: int
    answered: int
    accuracy: float
    """Mean credit over the answered rounds, 0 to 1."""
    streak: int
    me: bool = False
    gain: float | None = None
    """Of those who improved: how much greater their accuracy is than in the period before."""


class Board(Model):
    """A board over one period. Hidden members are left out, their ranks closed up."""

    title: str
    period: Period
    scope: Literal["channel", "workspace"]
    topic: str = ""
    contest: Contest = "points"
    since: datetime | None = None
    until: datetime | None = None
    rows: tuple[BoardRow, ...] = ()
    total: int = 0
    """Members on the board, of whom `rows` may be the top."""
    mine: BoardRow | None = None


class Me(Model):
    name: str
    hidden: bool
    points: int
    season_points: int
    rank: int | None
    answered: int
    accuracy: float
    streak: int
    best_streak: int
    freezes: int
    cards: int
    cards_due: int
    topics: tuple[tuple[str, int, float], ...] = ()
    """Topic, answers, mean credit; weakest first."""
    weeks: tuple[tuple[date, int, int, float], ...] = ()
    """Of the last weeks the Monday, points, answers and mean credit, the oldest first."""


class TopicCount(Model):
    topic: str
    questions: int


class Rules(Model):
    """The numbers `/quiz rules` prints: the very ones used."""

    base: dict[str, int]
    speed_bonus: bool
    speed_share: float
    speed_window_s: float
    freeze_cap: int
    freeze_every: int
    catch_up_minutes: int


class PrivacyView(Model):
    """What is kept about a member."""

    name: str
    hidden: bool
    answers: int
    ledger_rows: int
    cards: int
    export: str = ""
    """For `export`: JSON; for `csv`: that."""
    format: Literal["json", "csv"] = "json"
    forgotten: bool = False


class LinkCode(Model):
    """A code to type in the other chat: good once, until `expires_at`. It is shown this once and kept nowhere."""

    code: str
    expires_at: datetime


class ChatLinked(Model):
    """What linking a chat did, or would do (`done` false): what it brings along to the shared workspace."""

    done: bool
    platforms: tuple[Platform, ...]
    """The chats of the shared workspace, once linked."""
    schedules: int = 0
    members: int = 0
    points: int = 0
    """Net points in all."""
    banks: int = 0
    seasons: int = 0
    ending: str = ""
    """The season that runs in what is brought along, and ends with its board kept."""


class MemberLinked(Model):
    """What linking two identities to one member did."""

    name: str
    """What they go by on the boards."""
    platforms: tuple[Platform, ...]
    """Every chat they are known in now."""
    points: int = 0
    """Points that were moved to the one member."""
    twice: int = 0
    """Rounds answered under both identities: each counts once, by the better result."""
    cards: int = 0
    hidden: bool = False
    """Whether they are hidden from the boards: so when either was."""
