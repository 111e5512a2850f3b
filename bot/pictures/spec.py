"""Drawings as plain data: texts and numbers, shown as given. Draws nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A row of a leaderboard, with its numbers as text."""

    rank: str
    name: str
    points: int
    right: str
    streak: str
    mine: bool = False


@dataclass(frozen=True, slots=True)
class BoardDrawing:
    """The top of a leaderboard: at most `MOST_PLACES` rows are drawn. The card has the title."""

    places: tuple[BoardPlace, ...]


@dataclass(frozen=True, slots=True)
class ChoiceBar:
    """An answer in a distribution: how many chose it, their share, and whether it is right, in words."""

    label: str
    count: int
    share: float
    mark: str


@dataclass(frozen=True, slots=True)
class DistributionDrawing:
    """The distribution of answers to one question."""

    choices: tuple[ChoiceBar, ...]


@dataclass(frozen=True, slots=True)
class Week:
    """A week: points, answers, and the share of right ones as text (not shown without answers)."""

    label: str
    points: int
    answers: int
    right: str


@dataclass(frozen=True, slots=True)
class ProgressDrawing:
    """A member's recent weeks, the oldest first."""

    weeks: tuple[Week, ...]


@dataclass(frozen=True, slots=True)
class PodiumStep:
    """One of the first three, with the score as text."""

    rank: int
    name: str
    score: str


@dataclass(frozen=True, slots=True)
class PodiumDrawing:
    """The first three, best first. More are not drawn."""

    steps: tuple[PodiumStep, ...]


@dataclass(frozen=True, slots=True)
class RangeRow:
    """A share that is right, from 0 to 1, with a range around it. `note` has the numbers as text."""

    label: str
    right: float
    note: str
    known: tuple[float, float] | None = None
    """The range in which the true share lies, if enough is known."""
    expected: tuple[float, float] | None = None
    """The shares that would fit what was said."""


@dataclass(frozen=True, slots=True)
class RangesDrawing:
    """Shares with their ranges, one below another."""

    title: str
    rows: tuple[RangeRow, ...]


@dataclass(frozen=True, slots=True)
class FormulaDrawing:
    """LaTeX formulas, drawn below one another."""

    sources: tuple[str, ...]


Drawing = BoardDrawing | DistributionDrawing | ProgressDrawing | PodiumDrawing | RangesDrawing | FormulaDrawing

MOST_PLACES = 10

_KINDS: dict[str, type] = {kind.__name__: kind for kind in Drawing.__args__}
_PARTS: dict[str, type] = {
    "places": BoardPlace,
    "choices": ChoiceBar,
    "weeks": Week,
    "steps": PodiumStep,
    "rows": RangeRow,
}


def as_data(drawing: Drawing) -> dict[str, Any]:
    """Converts a drawing to JSON-compatible data."""
    return {"is": type(drawing).__name__, **asdict(drawing)}


def from_data(data: dict[str, Any]) -> Drawing:
    """Converts data from `as_data` back. Raises KeyError or TypeError for invalid data."""
    fields = {name: _field(name, value) for name, value in data.items() if name != "is"}
    found: Drawing = _KINDS[data["is"]](**fields)
    return found


def _field(name: str, value: Any) -> Any:
    if isinstance(value, list):
        part = _PARTS.get(name)
        return tuple(part(**_values(one)) if part else one for one in value)
    return value


def _values(part: dict[str, Any]) -> dict[str, Any]:
    # JSON has no tuples.
    return {name: tuple(value) if isinstance(value, list) else value for name, value in part.items()}
