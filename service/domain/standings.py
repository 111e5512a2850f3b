"""How long someone's streak is: a pure count over the rounds of one schedule, with freezes. No dates, no rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Literal

from service.domain.calendar import get_zone

Attendance = Literal["answered", "missed", "excused"]


@dataclass(frozen=True, slots=True)
class FreezePolicy:
    """How freezes are earned: one for every `earn_every` rounds answered, never holding more than `cap`."""

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
    """Where someone stands after the rounds counted."""

    current: int
    """Rounds answered since the last unfrozen miss."""
    best: int
    freezes_left: int
    used: int
    """Freezes used up so far, in all streaks."""


def compute_streak(history: Sequence[Attendance], freezes: FreezePolicy = FreezePolicy()) -> Streak:
    """The streak after `history`, the schedule's rounds oldest first.

    `excused` rounds (skipped, before joining, restored by an admin) neither add nor break. A miss uses up a
    freeze by itself, if there is a streak to save and a freeze left; a saved round adds nothing.
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


@dataclass(frozen=True, slots=True)
class MemberTotals:
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
class RankedMember:
    """One line of a board."""

    rank: int
    """From 1; shared by those whom nothing tells apart, and then numbers are left out: 1, 2, 2, 4."""
    totals: MemberTotals
    gain: float | None = None
    """On the board of those who improved: how much greater their accuracy is than in the period before, above 0."""

    @property
    def member_key(self) -> str:
        return self.totals.member_key

    @property
    def name(self) -> str:
        return self.totals.name

    @property
    def points(self) -> int:
        return self.totals.points


def rank_members(rows: Sequence[MemberTotals]) -> list[RankedMember]:
    """The board of `rows`: by points, then accuracy, then less total time, then a shared rank in order of name."""
    ordered = sorted(rows, key=lambda row: (_rank_key(row), *_name_key(row)))
    ranked: list[RankedMember] = []
    for _, tied in groupby(ordered, key=_rank_key):
        place = len(ranked) + 1
        ranked.extend(RankedMember(place, row) for row in tied)
    return ranked


def select_rookies(
    rows: Sequence[MemberTotals], first_answers: Mapping[str, datetime], since: datetime
) -> list[MemberTotals]:
    """The rows of those whose very first answer came at `since` or later; `rank` them for the rookie board."""
    return [row for row in rows if row.member_key in first_answers and first_answers[row.member_key] >= since]


def rank_most_improved(
    before: Sequence[MemberTotals], after: Sequence[MemberTotals], least_answered: int = 3
) -> list[RankedMember]:
    """The board of those whose share right rose from `before` to `after`: by gain, equal ones at a shared rank.

    Only those who answered at least `least_answered` questions in both periods: one lucky answer is no progress.
    """
    earlier = {row.member_key: row for row in before if row.answered >= max(1, least_answered)}
    gains = [
        (row, round(row.accuracy - earlier[row.member_key].accuracy, 9))
        for row in after
        if row.member_key in earlier and row.answered >= max(1, least_answered)
    ]
    gains.sort(key=lambda pair: (-pair[1], *_name_key(pair[0])))
    risen = [(row, gain) for row, gain in gains if gain > 0]
    return [RankedMember(1 + sum(other > gain for _, other in risen), row, gain) for row, gain in risen]


def _rank_key(row: MemberTotals) -> tuple[int, float, float]:
    """Smaller is better. Time counts to the millisecond."""
    return -row.points, -row.accuracy, round(row.seconds, 3)


def _name_key(row: MemberTotals) -> tuple[str, str, str]:
    return row.name.casefold(), row.name, row.member_key


WEEKS = 8
"""How many are told, the present one included."""
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Points that were booked; `round_id` and `credit` where they are for an answer."""

    at: datetime
    points: int
    round_id: int | None = None
    credit: float | None = None


def first_week(now: datetime, zone: str) -> date:
    """The Monday with which the weeks that are told begin."""
    today = now.astimezone(get_zone(zone)).date()
    return today - timedelta(days=today.weekday()) - (WEEKS - 1) * _WEEK


def weekly_totals(
    bookings: Iterable[LedgerEntry], now: datetime, zone: str
) -> tuple[tuple[date, int, int, float], ...]:
    """Of each week its Monday, the points, the rounds answered and the mean credit, the oldest first.

    Weeks before the first booking are left out, and so are all of them where there is none. A correction counts in the
    week it was booked in, and its round once.
    """
    begin, where = first_week(now, zone), get_zone(zone)
    found: dict[date, list[LedgerEntry]] = {begin + number * _WEEK: [] for number in range(WEEKS)}
    for booking in bookings:
        day = booking.at.astimezone(where).date()
        found.get(day - timedelta(days=day.weekday()), []).append(booking)
    used = [monday for monday, booked in found.items() if booked]
    return tuple(_week_totals(monday, booked) for monday, booked in found.items() if used and monday >= used[0])


def _week_totals(monday: date, booked: list[LedgerEntry]) -> tuple[date, int, int, float]:
    answered = len({booking.round_id for booking in booked if booking.credit is not None})
    credit = sum(booking.credit or 0.0 for booking in booked)
    return monday, sum(booking.points for booking in booked), answered, credit / answered if answered else 0.0
