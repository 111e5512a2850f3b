"""Streaks and weekly totals, computed from attendance and ledger entries. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from service.domain.calendar import get_zone

Attendance = Literal["answered", "missed", "excused"]


@dataclass(frozen=True, slots=True)
class FreezePolicy:
    """How freezes are earned: one for every `earn_every` answered rounds, up to `cap`."""

    cap: int = 2
    earn_every: int = 7

    def __post_init__(self) -> None:
        if self.cap < 0 or self.earn_every < 1:
            raise ValueError(
                f"freezes (cap {self.cap}, one every {self.earn_every}): the cap must be 0 or more and "
                "the number of rounds 1 or more; a cap of 0 turns freezes off"
            )


@dataclass(frozen=True, slots=True)
class Streak:
    """A member's streak after the rounds counted."""

    current: int
    """Rounds answered since the last miss without a freeze."""
    best: int
    freezes_left: int
    used: int
    """Freezes used in all streaks."""


def compute_streak(history: Sequence[Attendance], freezes: FreezePolicy = FreezePolicy()) -> Streak:
    """Computes the streak over `history`, the schedule's rounds oldest first.

    `excused` rounds (skipped, before joining, restored by an admin) neither add nor break. A miss uses a freeze
    automatically if a streak is running and a freeze is left; a saved round adds nothing.
    """
    current = best = left = used = toward = 0
    for round_ in history:
        if round_ == "answered":
            current, toward = current + 1, toward + 1
            best = max(best, current)
            if toward == freezes.earn_every:
                left, toward = min(freezes.cap, left + 1), 0
        elif round_ == "missed" and current and left:
            left, used = left - 1, used + 1
        elif round_ == "missed":
            current = toward = 0
    return Streak(current, best, left, used)


WEEKS = 8
"""Number of weeks shown, including the current one."""
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Points in the ledger; `round_id` and `credit` are set for an answer."""

    at: datetime
    points: int
    round_id: int | None = None
    credit: float | None = None


def first_week(now: datetime, zone: str) -> date:
    """Returns the Monday that begins the first week shown."""
    today = now.astimezone(get_zone(zone)).date()
    return today - timedelta(days=today.weekday()) - (WEEKS - 1) * _WEEK


def weekly_totals(entries: Iterable[LedgerEntry], now: datetime, zone: str) -> tuple[tuple[date, int, int, float], ...]:
    """Returns Monday, points, answered rounds and mean credit of each week, oldest first.

    Starts at the first week with an entry; empty without entries. A correction counts in the week it was posted, and
    its round once.
    """
    begin, where = first_week(now, zone), get_zone(zone)
    found: dict[date, list[LedgerEntry]] = {begin + number * _WEEK: [] for number in range(WEEKS)}
    for entry in entries:
        day = entry.at.astimezone(where).date()
        found.get(day - timedelta(days=day.weekday()), []).append(entry)
    used = [monday for monday, week in found.items() if week]
    return tuple(_week_totals(monday, week) for monday, week in found.items() if used and monday >= used[0])


def _week_totals(monday: date, week: list[LedgerEntry]) -> tuple[date, int, int, float]:
    answered = len({entry.round_id for entry in week if entry.credit is not None})
    credit = sum(entry.credit or 0.0 for entry in week)
    return monday, sum(entry.points for entry in week), answered, credit / answered if answered else 0.0
