"""Who stands where on a board: pure ordering of sums already made. No ledger, no periods, no wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Standing:
    """What one member gathered in the period."""

    member_key: str
    name: str
    """As kept with the answers."""
    points: int
    right: float
    """Sum of the credits, each 0 to 1."""
    answered: int
    seconds: float
    """Total time taken over the answers."""

    @property
    def accuracy(self) -> float:
        """Share right, 0 to 1; 0 for someone who answered nothing."""
        # Sums of thirds taken in another order must not tell two members apart.
        return round(self.right / self.answered, 9) if self.answered else 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """One line of a board."""

    rank: int
    """From 1; shared by those whom nothing tells apart, and then numbers are left out: 1, 2, 2, 4."""
    standing: Standing
    gain: float | None = None
    """On the board of those who improved: how much greater their accuracy is than in the period before, above 0."""

    @property
    def member_key(self) -> str:
        return self.standing.member_key

    @property
    def name(self) -> str:
        return self.standing.name

    @property
    def points(self) -> int:
        return self.standing.points


def rank(rows: Sequence[Standing]) -> list[Ranked]:
    """The board of `rows`: by points, then accuracy, then less total time, then a shared rank in order of name."""
    ordered = sorted(rows, key=lambda row: (_merit(row), *_by_name(row)))
    ranked: list[Ranked] = []
    for _, tied in groupby(ordered, key=_merit):
        place = len(ranked) + 1
        ranked.extend(Ranked(place, row) for row in tied)
    return ranked


def rookies(rows: Sequence[Standing], first_answers: Mapping[str, datetime], since: datetime) -> list[Standing]:
    """The rows of those whose very first answer came at `since` or later; `rank` them for the rookie board."""
    return [row for row in rows if row.member_key in first_answers and first_answers[row.member_key] >= since]


def most_improved(before: Sequence[Standing], after: Sequence[Standing], least_answered: int = 3) -> list[Ranked]:
    """The board of those whose share right rose from `before` to `after`: by gain, equal ones at a shared rank.

    Only those who answered at least `least_answered` questions in both periods: one lucky answer is no progress.
    """
    earlier = {row.member_key: row for row in before if row.answered >= max(1, least_answered)}
    gains = [
        (row, round(row.accuracy - earlier[row.member_key].accuracy, 9))
        for row in after
        if row.member_key in earlier and row.answered >= max(1, least_answered)
    ]
    gains.sort(key=lambda pair: (-pair[1], *_by_name(pair[0])))
    risen = [(row, gain) for row, gain in gains if gain > 0]
    return [Ranked(1 + sum(other > gain for _, other in risen), row, gain) for row, gain in risen]


def _merit(row: Standing) -> tuple[int, float, float]:
    """Smaller is better. Time counts to the millisecond."""
    return -row.points, -row.accuracy, round(row.seconds, 3)


def _by_name(row: Standing) -> tuple[str, str, str]:
    return row.name.casefold(), row.name, row.member_key
