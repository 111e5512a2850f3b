"""Slot times of schedules: pure rules over local dates, time zones and holidays. No clock and no database."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from service.wire import Period

SlotAction = Literal["post", "late", "skip"]

ON_TIME = timedelta(minutes=1)
"""A slot found within this time of its instant is on time."""
DEFAULT_CATCH_UP = timedelta(hours=2)
"""Default time after its instant within which a slot is still posted."""
SEARCH_DAYS = 400
"""Local dates that `next_slot` searches: a year and a month of holidays."""

_DAY = timedelta(days=1)


class UnknownZone(ValueError):
    """There is no such time zone."""

    def __init__(self, name: str, similar: tuple[str, ...]) -> None:
        super().__init__(f"time zone {name!r}: no such zone")
        self.similar = similar
        """Names of zones that may have been meant."""


class UnknownHolidays(ValueError):
    """There is no such holiday calendar."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """The days and local time at which a schedule posts.

    Raises UnknownZone, UnknownHolidays, or ValueError for a weekday outside 0..6 or a time with a zone.
    """

    at: time
    """Local wall time."""
    weekdays: frozenset[int]
    """0 is Monday."""
    zone: str
    """IANA name, such as `Europe/Berlin`."""
    holidays: frozenset[date] = frozenset()
    """The team's own days off."""
    country: str | None = None
    """A calendar of the `holidays` package: `DE`, or with a subdivision `US-CA`."""
    skips: frozenset[date] = frozenset()
    """Dates that an admin skipped."""
    every_days: int = 1
    """Of the days that otherwise fit, only every n-th, counted from `first_day`."""
    first_day: date = date.min
    """Day from which `every_days` counts. Earlier days have no slot if it is more than one."""
    month_days: frozenset[int] = frozenset()
    """Days of the month, 1 to 31; any if empty. The last day of a shorter month stands for those that it lacks."""

    def __post_init__(self) -> None:
        get_zone(self.zone)
        if self.at.tzinfo is not None:
            raise ValueError(f"schedule time {self.at}: it carries a zone; give a plain time and name the zone")
        if wrong := sorted(self.weekdays - set(range(7))):
            raise ValueError(f"schedule weekdays {wrong}: no such day; use 0 (Monday) to 6 (Sunday)")
        if wrong := sorted(self.month_days - set(range(1, 32))):
            raise ValueError(f"schedule days of the month {wrong}: no such day; use 1 to 31")
        if self.every_days < 1:
            raise ValueError(f"schedule every {self.every_days} days: use 1 or more")
        if self.country is not None:
            _public_holidays(self.country, 2000)

    def without_days_off(self) -> Timetable:
        """Returns the timetable with slots on holidays and skipped dates too."""
        return replace(self, holidays=frozenset(), country=None, skips=frozenset())


@dataclass(frozen=True, slots=True)
class Slot:
    """One posting of a schedule: its local date and its instant."""

    day: date
    instant: datetime
    """UTC. After a DST gap it can fall on the date after `day`."""


@dataclass(frozen=True, slots=True)
class DueSlot:
    """A slot whose instant has passed, and what to do with it."""

    slot: Slot
    action: SlotAction


def get_zone(name: str) -> ZoneInfo:
    """Returns the time zone `name`. Raises UnknownZone."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UnknownZone(name, _similar_zones(name)) from None


def slot_instant(timetable: Timetable, day: date) -> datetime | None:
    """Returns the UTC instant of the slot on local date `day`, or None if that date has no slot.

    In a DST gap it is the first valid minute after the gap; in a fold the first occurrence. A date that the zone
    skipped entirely (Apia, 30 December 2011) has no slot.
    """
    if not _is_in_rhythm(timetable, day) or _is_off(timetable, day):
        return None
    zone = get_zone(timetable.zone)
    if _first_instant(zone, day, time.min).astimezone(zone).date() != day:
        return None
    return _first_instant(zone, day, timetable.at)


def local_instant(zone: str, day: date, at: time) -> datetime:
    """Returns the instant of a local time, in UTC: in a gap the first valid minute after it, else the first of two."""
    return _first_instant(get_zone(zone), day, at)


def clock_change(timetable: Timetable, day: date) -> tuple[int, bool]:
    """Returns by how many minutes the zone's clocks are set forward on local date `day`, negative if back; and whether
    they jump over the time of the slot."""
    zone = get_zone(timetable.zone)
    start, end = _first_instant(zone, day, time.min), _first_instant(zone, day + _DAY, time.min)
    minutes = 24 * 60 - round((end - start).total_seconds() / 60)
    wall = datetime.combine(day, timetable.at)
    return minutes, minutes > 0 and _wall_time(_first_instant(zone, day, timetable.at), zone) != wall


def holiday_name(country: str, day: date) -> str:
    """Returns the name of the public holiday on that day; empty if it is none."""
    return _public_holidays(country, day.year).get(day, "") if country else ""


def start_of_day(zone: str, day: date) -> datetime:
    """Returns the UTC instant at which the local date `day` begins."""
    return _first_instant(get_zone(zone), day, time.min)


def next_slot(timetable: Timetable, after: datetime) -> Slot | None:
    """Returns the first slot strictly after `after` (aware), or None if the next 400 days have none."""
    first_day = _local_date(timetable, after) - 2 * _DAY
    days = (first_day + n * _DAY for n in range(SEARCH_DAYS))
    return next((slot for slot in _slots_on(timetable, days) if slot.instant > after), None)


def slots_between(timetable: Timetable, start: datetime, end: datetime) -> list[Slot]:
    """Returns the slots with start < instant <= end, in order. Both instants are aware."""
    first_day = _local_date(timetable, start) - 2 * _DAY
    count = (_local_date(timetable, end) - first_day).days + 2
    days = (first_day + n * _DAY for n in range(max(count, 0)))
    return [slot for slot in _slots_on(timetable, days) if start < slot.instant <= end]


def due_slots(timetable: Timetable, now: datetime, catch_up: timedelta, since: datetime) -> list[DueSlot]:
    """Returns every slot in (since, now] with its action, oldest first.

    `post`: at most one minute late. `late`: within `catch_up`, posted and marked late. `skip`: too late; breaks no
    streak. Of several slots only the newest is posted, because two questions at once help nobody.
    """
    slots = slots_between(timetable, since, now)
    if not slots:
        return []
    newest = slots.pop()
    return [*(DueSlot(slot, "skip") for slot in slots), DueSlot(newest, _action_for(now - newest.instant, catch_up))]


def period_bounds(
    period: Period, now: datetime, zone: str, season_start: datetime | None = None
) -> tuple[datetime | None, datetime | None]:
    """Returns the UTC instants start <= t < end of the `period` around `now`, by local days. None means unbounded.

    Weeks start on Monday. Raises ValueError for `season` if none is running.
    """
    if period == "all":
        return None, None
    if period == "season":
        return _season_start(season_start), None
    where = get_zone(zone)
    first, end = _period_days(period, _current_day(where, now))
    return _first_instant(where, first, time.min), _first_instant(where, end, time.min)


def _action_for(lateness: timedelta, catch_up: timedelta) -> SlotAction:
    if lateness <= ON_TIME:
        return "post"
    return "late" if lateness <= catch_up else "skip"


def _season_start(start: datetime | None) -> datetime:
    if start is None:
        raise ValueError("board of the season: no season is running; start one, or ask for another period")
    return start.astimezone(UTC)


def _period_days(period: Literal["day", "week", "month"], day: date) -> tuple[date, date]:
    if period == "day":
        return day, day + _DAY
    if period == "week":
        monday = day - day.weekday() * _DAY
        return monday, monday + 7 * _DAY
    first = day.replace(day=1)
    return first, (first + 31 * _DAY).replace(day=1)


def _current_day(zone: ZoneInfo, now: datetime) -> date:
    day = now.astimezone(zone).date()
    # Where clocks go back over midnight, the old date shows again for a while, but the new day has begun.
    while now >= _first_instant(zone, day + _DAY, time.min):
        day += _DAY
    return day


def _slots_on(timetable: Timetable, days: Iterator[date]) -> Iterator[Slot]:
    for day in days:
        if (instant := slot_instant(timetable, day)) is not None:
            yield Slot(day, instant)


def _is_in_rhythm(timetable: Timetable, day: date) -> bool:
    if day.weekday() not in timetable.weekdays or not _is_month_day(timetable.month_days, day):
        return False
    past = (day - timetable.first_day).days
    return timetable.every_days == 1 or (past >= 0 and past % timetable.every_days == 0)


def _is_month_day(month_days: frozenset[int], day: date) -> bool:
    if not month_days or day.day in month_days:
        return True
    is_last = day == date.max or (day + _DAY).day == 1
    return is_last and max(month_days) > day.day


def _is_off(timetable: Timetable, day: date) -> bool:
    if day in timetable.holidays or day in timetable.skips:
        return True
    return timetable.country is not None and day in _public_holidays(timetable.country, day.year)


def _local_date(timetable: Timetable, instant: datetime) -> date:
    return instant.astimezone(get_zone(timetable.zone)).date()


def _first_instant(zone: ZoneInfo, day: date, at: time) -> datetime:
    """Returns the first instant at which the zone's clocks show `day` `at` or later; after a gap, on a whole minute."""
    wall = datetime.combine(day, at)
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if _wall_time(instant, zone) == wall:
        return instant
    # In a gap, fold=0 reads the clock as before the change and fold=1 as after it, so the change lies between.
    return _whole_minute(_find_change(zone, wall, instant), zone)


def _find_change(zone: ZoneInfo, wall: datetime, after: datetime) -> datetime:
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if _wall_time(before + timedelta(seconds=middle), zone) > wall:
            high = middle
        else:
            low = middle
    return before + timedelta(seconds=high)


def _whole_minute(instant: datetime, zone: ZoneInfo) -> datetime:
    # Changes from local mean time come at odd seconds.
    return instant + timedelta(seconds=-_wall_time(instant, zone).second % 60)


def _wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)


def _similar_zones(name: str) -> tuple[str, ...]:
    """Returns names of zones that may have been meant, at most three."""
    known = _zones_by_ending()
    wanted = name.strip().casefold().replace(" ", "_")
    close = known.get(wanted) or [
        zone for ending in difflib.get_close_matches(wanted, known, 3, 0.7) for zone in known[ending]
    ]
    return tuple(dict.fromkeys(close[:3]))


@lru_cache(maxsize=1)
def _zones_by_ending() -> dict[str, list[str]]:
    """Returns every zone under its full name and its last part, both case-folded: people write `berlin`."""
    found: dict[str, list[str]] = {}
    for zone in sorted(available_timezones()):
        for ending in dict.fromkeys((zone.casefold(), zone.rpartition("/")[2].casefold())):
            found.setdefault(ending, []).append(zone)
    return found


@lru_cache(maxsize=256)
def _public_holidays(code: str, year: int) -> dict[date, str]:
    # Here, because few schedules skip holidays: 4 MB of each process, loaded in less time than one country's calendar.
    import holidays

    country, _, subdivision = code.partition("-")
    try:
        return dict(holidays.country_holidays(country, subdiv=subdivision or None, years=year, language="en_US"))
    except NotImplementedError:
        raise UnknownHolidays(f"holiday calendar {code!r}: no such country or subdivision") from None
