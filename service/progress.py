"""A member's last weeks: pure, from their bookings. Weeks begin on Monday, at midnight in a zone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from service.calendar import zone_named

WEEKS = 8
"""How many are told, the present one included."""
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Booking:
    """Points that were booked; `round_id` and `credit` where they are for an answer."""

    at: datetime
    points: int
    round_id: int | None = None
    credit: float | None = None


def first_monday(now: datetime, zone: str) -> date:
    """The Monday with which the weeks that are told begin."""
    today = now.astimezone(zone_named(zone)).date()
    return today - timedelta(days=today.weekday()) - (WEEKS - 1) * _WEEK


def last_weeks(bookings: Iterable[Booking], now: datetime, zone: str) -> tuple[tuple[date, int, int, float], ...]:
    """Of each week its Monday, the points, the rounds answered and the mean credit, the oldest first.

    Weeks before the first booking are left out, and so are all of them where there is none. A correction counts in the
    week it was booked in, and its round once.
    """
    begin, where = first_monday(now, zone), zone_named(zone)
    found: dict[date, list[Booking]] = {begin + number * _WEEK: [] for number in range(WEEKS)}
    for booking in bookings:
        day = booking.at.astimezone(where).date()
        found.get(day - timedelta(days=day.weekday()), []).append(booking)
    used = [monday for monday, booked in found.items() if booked]
    return tuple(_week(monday, booked) for monday, booked in found.items() if used and monday >= used[0])


def _week(monday: date, booked: list[Booking]) -> tuple[date, int, int, float]:
    answered = len({booking.round_id for booking in booked if booking.credit is not None})
    credit = sum(booking.credit or 0.0 for booking in booked)
    return monday, sum(booking.points for booking in booked), answered, credit / answered if answered else 0.0
