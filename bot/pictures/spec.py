"""What can be drawn, as plain values: texts and numbers that are shown as they are. Nothing here draws."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A row of a board, every number already worded."""

    rank: str
    name: str
    points: int
    right: str
    streak: str
    mine: bool = False


@dataclass(frozen=True, slots=True)
class BoardDrawing:
    """A board's top; at most `MOST_PLACES` rows are drawn. Its title stands above it in the card."""

    places: tuple[BoardPlace, ...]


@dataclass(frozen=True, slots=True)
class ChoiceBar:
    """What some answered: how many, which share of all, and in a word whether it is right."""

    label: str
    count: int
    share: float
    mark: str


@dataclass(frozen=True, slots=True)
class DistributionDrawing:
    """The answers to one question."""

    choices: tuple[ChoiceBar, ...]


@dataclass(frozen=True, slots=True)
class Week:
    """A member's week: points, answers, and in words the share of them that was right (not said without answers)."""

    label: str
    points: int
    answers: int
    right: str


@dataclass(frozen=True, slots=True)
class ProgressDrawing:
    """A member's last weeks, the oldest first."""

    weeks: tuple[Week, ...]


@dataclass(frozen=True, slots=True)
class FormulaDrawing:
    """Formulas in LaTeX, one beneath another."""

    sources: tuple[str, ...]


Drawing = BoardDrawing | DistributionDrawing | ProgressDrawing | FormulaDrawing

MOST_PLACES = 10

_KINDS: dict[str, type] = {kind.__name__: kind for kind in Drawing.__args__}
_PARTS: dict[str, type] = {"places": BoardPlace, "choices": ChoiceBar, "weeks": Week}


def as_data(drawing: Drawing) -> dict[str, Any]:
    """The drawing as JSON-ready data."""
    return {"is": type(drawing).__name__, **asdict(drawing)}


def from_data(data: dict[str, Any]) -> Drawing:
    """The inverse of `as_data`. Raises KeyError or TypeError for what is none."""
    fields = {name: _field(name, value) for name, value in data.items() if name != "is"}
    found: Drawing = _KINDS[data["is"]](**fields)
    return found


def _field(name: str, value: Any) -> Any:
    if isinstance(value, list):
        part = _PARTS.get(name)
        return tuple(part(**one) if part else one for one in value)
    return value
