"""Charts and formulas as plain data: what a chat or a page may draw of a card. Texts are plain and shown as given.

The texts of a card say the same. `bot.pictures` draws PNGs, the web's `charts.html` draws SVG.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["blank", "missed", "answered", "part", "right"]
"""A day of a heatmap. `blank` had no question; `answered` has neither credit nor a verdict yet."""
LEVELS: dict[Level, str] = {"missed": "Missed", "answered": "Answered", "part": "Partly right", "right": "Right"}
"""Names of the levels that a legend explains."""
MARK_SIZES: dict[Level, int] = {"blank": 14, "missed": 14, "answered": 6, "part": 10, "right": 14}
"""Side of a day's mark in a cell of 14: levels differ in size as well as in color."""
PODIUM_PLACES = 3


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A row of a leaderboard."""

    rank: int
    name: str
    points: int
    right: str
    """Share of right answers, or a dash."""
    streak: int
    mine: bool = False


@dataclass(frozen=True, slots=True)
class BoardChart:
    """A leaderboard."""

    places: tuple[BoardPlace, ...]


@dataclass(frozen=True, slots=True)
class ChoiceBar:
    """An answer in a distribution: how many chose it, their share, and whether it is right, in words."""

    label: str
    count: int
    share: float
    mark: str


@dataclass(frozen=True, slots=True)
class DistributionChart:
    """The distribution of answers to one question."""

    choices: tuple[ChoiceBar, ...]


@dataclass(frozen=True, slots=True)
class Week:
    """A week: points, answers, and the share of right ones as text (empty without answers)."""

    label: str
    points: int
    answers: int
    right: str


@dataclass(frozen=True, slots=True)
class WeeksChart:
    """A member's recent weeks, the oldest first."""

    weeks: tuple[Week, ...]


@dataclass(frozen=True, slots=True)
class PodiumPlace:
    """One of the first three, with the score as text."""

    rank: int
    name: str
    score: str


@dataclass(frozen=True, slots=True)
class PodiumChart:
    """The first three, best first. More are not drawn."""

    places: tuple[PodiumPlace, ...]


@dataclass(frozen=True, slots=True)
class RangeRow:
    """A value from 0 to 1, usually a share that is right, with a range around it. `note` has the numbers as text."""

    label: str
    value: float
    note: str
    known: tuple[float, float] | None = None
    """The range in which the true value lies, if enough is known."""
    expected: tuple[float, float] | None = None
    """The shares that would fit what was said."""


@dataclass(frozen=True, slots=True)
class RangesChart:
    """Shares with their ranges, one below another. `legend` says what mark, bar and band are."""

    title: str
    rows: tuple[RangeRow, ...]
    legend: str


@dataclass(frozen=True, slots=True)
class MeasuredChart:
    """Measured values with their error, one below another, on a scale from 0 whose ticks have these labels."""

    title: str
    rows: tuple[RangeRow, ...]
    ticks: tuple[str, ...]
    legend: str


@dataclass(frozen=True, slots=True)
class HeatWeek:
    """A week of a heatmap, named by its Monday, with a level for each day from Monday on."""

    label: str
    days: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class HeatmapChart:
    """The days of a member's last weeks, the oldest first."""

    weeks: tuple[HeatWeek, ...]
    months: tuple[tuple[int, str], ...]
    """The week, from 0, in which a month begins, and the month's short name."""


@dataclass(frozen=True, slots=True)
class DigestChart:
    """A week of a team: how many members answered in it and in the one before, its hardest question, and the topics
    that are known worst. Without names of members."""

    members: int
    members_before: int
    hardest: RangeRow | None
    weakest: tuple[RangeRow, ...]


Chart = (
    BoardChart | DistributionChart | WeeksChart | PodiumChart | RangesChart | MeasuredChart | HeatmapChart | DigestChart
)


@dataclass(frozen=True, slots=True)
class FormulaDrawing:
    """LaTeX formulas, drawn below one another."""

    sources: tuple[str, ...]


Drawing = Chart | FormulaDrawing
PARTS: tuple[type, ...] = (*get_args(Drawing), BoardPlace, ChoiceBar, Week, PodiumPlace, RangeRow, HeatWeek)
"""All classes of drawings and of their parts."""
