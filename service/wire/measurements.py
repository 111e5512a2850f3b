"""The speed board: what code that passed a closed round used, in time and in memory."""

from __future__ import annotations

from datetime import date
from typing import Literal

from service.wire.base import Model, Ref

MeasuredBy = Literal["time", "memory"]
"""What a speed board is ordered by."""


class Spread(Model):
    """A median and the interval that contains the true one with the board's `confidence`."""

    median: float
    low: float
    high: float


class MeasuredRow(Model):
    """One answer of the board."""

    rank: int
    """One more than how many others are certainly better. Where intervals overlap, the rank is shared."""
    name: str
    me: bool = False
    time: Spread
    """CPU time of all cases together, milliseconds."""
    memory: Spread
    """Peak memory beyond what torch takes, MiB."""
    better_than: int
    """Of how many percent of the others it is certainly better."""


class SharedSolution(Model):
    """The best code of those whose authors let others see it."""

    name: str
    rank: int
    code: str


class MeasurementBoard(Model):
    """The speed board of a closed round."""

    ref: Ref
    day: date
    question: str
    by: MeasuredBy
    rows: tuple[MeasuredRow, ...]
    """The best answers, and the caller's own. Without hidden members."""
    total: int
    """How many answers were measured, hidden members' too."""
    unsteady: int
    """How many more answers passed the round but were not right in every run."""
    runs: int
    confidence: float
    time: Spread
    """Of the reference."""
    memory: Spread
    shared: bool | None = None
    """Whether the caller lets others see their code; None if it is not on the board."""
    solution: SharedSolution | None = None
