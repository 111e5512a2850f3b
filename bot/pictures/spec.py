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
class FormulaDrawing:
    """LaTeX formulas, drawn below one another."""

    sources: tuple[str, ...]


Drawing = BoardDrawing | DistributionDrawing | ProgressDrawing | FormulaDrawing

MOST_PLACES = 10

_KINDS: dict[str, type] = {kind.__name__: kind for kind in Drawing.__args__}
_PARTS: dict[str, type] = {"places": BoardPlace, "choices": ChoiceBar, "weeks": Week}


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
        return tuple(part(**one) if part else one for one in value)
    return value
