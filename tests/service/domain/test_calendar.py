"""Slots in every zone's gaps and folds, catching up after an outage, and the bounds of periods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.calendar import (
    DEFAULT_CATCH_UP,
    DueSlot,
    Slot,
    Timetable,
    UnknownHolidays,
    UnknownZone,
    clock_change,
    due_slots,
    get_zone,
    next_slot,
    period_bounds,
    slot_instant,
    slots_between,
    start_of_day,
)
from service.wire import Period

ZONES = sorted(available_timezones())
ALL_WEEK = frozenset(range(7))
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
STEP = timedelta(days=7)

zones = st.sampled_from(ZONES)
instants = st.datetimes(
    datetime.combine(date(1975, 1, 1), time.min),
    datetime.combine(date(2037, 1, 1), time.min),
    timezones=st.just(UTC),
)
wall_times = st.times().map(lambda at: at.replace(second=0, microsecond=0))


def daily(zone: str, at: time) -> Timetable:
    return Timetable(at, ALL_WEEK, zone)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Change:
    """A zone's clocks changing from `before` to `after` UTC at `instant` (naive UTC)."""

    instant: datetime
    before: timedelta
    after: timedelta

    @property
    def kind(self) -> tuple[timedelta, timedelta, time]:
        return self.before, self.after, (self.instant + self.before).time()

    def first(self, wall: datetime) -> datetime:
        """Returns the first time the clocks show `wall`, or the end of the gap, computed from the offsets alone."""
        if wall - self.before < self.instant:
            return wall - self.before
        if wall - self.after >= self.instant:
            return wall - self.after
        shown = self.instant + self.after
        return self.instant + timedelta(seconds=-shown.second % 60)

    def leaves_out(self, day: date) -> bool:
        midnight = datetime.combine(day, time.min)
        return self.instant + self.before <= midnight and midnight + DAY <= self.instant + self.after

    def edges(self) -> set[time]:
        """Yields local times in, at and next to the gap or fold."""
        ends = sorted((self.instant + self.before, self.instant + self.after))
        middle = ends[0] + (ends[1] - ends[0]) / 2
        near = [end + n * MINUTE for end in (*ends, middle) for n in (-1, 0, 1)]
        return {moment.time().replace(second=0, microsecond=0) for moment in near}


def offset(zone: ZoneInfo, instant: datetime) -> timedelta:
    return (instant.replace(tzinfo=UTC).astimezone(zone).utcoffset()) or timedelta(0)


def changes(zone: ZoneInfo, start: int = 1965, end: int = 2039) -> Iterator[Change]:
    moment = datetime.combine(date(start, 1, 1), time.min)
    before = offset(zone, moment)
    while moment.year < end:
        after = offset(zone, moment + STEP)
        if after != before:
            yield Change(_turn(zone, moment, before), before, after)
        moment, before = moment + STEP, after


def _turn(zone: ZoneInfo, low: datetime, before: timedelta) -> datetime:
    seconds = range(int(STEP.total_seconds()))
    first, last = 0, len(seconds)
    while last - first > 1:
        middle = (first + last) // 2
        if offset(zone, low + timedelta(seconds=middle)) == before:
            first = middle
        else:
            last = middle
    return low + timedelta(seconds=last)


@lru_cache(maxsize=1)
def kinds_of_change() -> dict[str, list[Change]]:
    """Returns for each zone one change of every kind it ever had: by how much, and at what local time."""
    return {name: list({change.kind: change for change in changes(ZoneInfo(name))}.values()) for name in ZONES}


def is_alone(zone: ZoneInfo, change: Change) -> bool:
    """Returns whether no other change is close enough to interfere."""
    far = 4 * DAY
    return offset(zone, change.instant - far) == change.before and offset(zone, change.instant + far) == change.after


@pytest.mark.parametrize("zone", ZONES)
def test_every_kind_of_change_in_every_zone(zone: str) -> None:
    for change in kinds_of_change()[zone]:
        if is_alone(ZoneInfo(zone), change):
            check_change(zone, change)


def check_change(zone: str, change: Change) -> None:
    around = (change.instant + change.before).date()
    for at in change.edges() | {time(0), time(9), time(23, 59)}:
        timetable = daily(zone, at)
        for day in (around + n * DAY for n in range(-2, 3)):
            expected = None if change.leaves_out(day) else change.first(datetime.combine(day, at)).replace(tzinfo=UTC)
            assert slot_instant(timetable, day) == expected, (zone, day, at)


def test_the_examined_changes_are_many_and_of_every_kind() -> None:
    found = [change for several in kinds_of_change().values() for change in several]
    sizes = {change.after - change.before for change in found}
    assert len(found) > 1000
    assert {timedelta(minutes=30), timedelta(hours=1), -timedelta(hours=1), DAY} <= sizes


@pytest.mark.parametrize("zone", ZONES)
def test_one_slot_per_local_date_and_always_later(zone: str) -> None:
    for change in kinds_of_change()[zone]:
        middle = change.instant.replace(tzinfo=UTC)
        at = (change.instant + (change.before + change.after) / 2).time().replace(second=0, microsecond=0)
        slots = slots_between(daily(zone, at), middle - 6 * DAY, middle + 6 * DAY)
        assert sorted({slot.day for slot in slots}) == [slot.day for slot in slots]
        assert all(one.instant < other.instant for one, other in pairwise(slots))
        assert 10 <= len(slots) <= 13


@given(zones, instants, wall_times)
def test_a_slot_is_the_first_instant_its_clock_shows_the_time(zone: str, moment: datetime, at: time) -> None:
    day = moment.astimezone(ZoneInfo(zone)).date()
    instant = slot_instant(daily(zone, at), day)
    if instant is None:
        return
    wanted = datetime.combine(day, at)
    assert instant.tzinfo is UTC
    assert instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None) >= wanted
    for minutes in (1, 29, 31, 59, 61, 119):
        earlier = (instant - minutes * MINUTE).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        assert earlier < wanted


@pytest.mark.parametrize(
    ("zone", "day", "at", "expected"),
    [
        pytest.param("Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T01:00", id="gap of an hour"),
        pytest.param("Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T00:30", id="fold of an hour"),
        pytest.param("Australia/Lord_Howe", "2026-10-04", "02:10", "2026-10-03T15:30", id="gap of half an hour"),
        pytest.param("Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04T14:45", id="fold of half an hour"),
        pytest.param("America/Sao_Paulo", "2018-11-04", "00:15", "2018-11-04T03:00", id="gap at midnight"),
        pytest.param("America/Nuuk", "2026-03-28", "23:30", "2026-03-29T01:00", id="gap up to midnight"),
        pytest.param("America/St_Johns", "2006-10-28", "23:30", "2006-10-29T02:00", id="fold over midnight"),
    ],
)
def test_gaps_and_folds_by_hand(zone: str, day: str, at: str, expected: str) -> None:
    timetable = daily(zone, time.fromisoformat(at))
    assert slot_instant(timetable, date.fromisoformat(day)) == utc(expected)


def test_a_date_that_never_was_has_no_slot() -> None:
    apia = daily("Pacific/Apia", time(9))
    assert slot_instant(apia, date(2011, 12, 30)) is None
    days = [slot.day for slot in slots_between(apia, utc("2011-12-29T00:00"), utc("2012-01-01T00:00"))]
    assert days == [date(2011, 12, 29), date(2011, 12, 31), date(2012, 1, 1)]


def test_only_its_weekdays() -> None:
    weekdays = replace(daily("UTC", time(9)), weekdays=frozenset({0, 2}))
    slots = slots_between(weekdays, utc("2026-06-01T00:00"), utc("2026-06-14T23:00"))
    assert [slot.day.day for slot in slots] == [1, 3, 8, 10]


def test_no_slot_on_holidays_own_days_off_and_skips() -> None:
    off = replace(
        daily("Europe/Berlin", time(9)),
        country="DE",
        holidays=frozenset({date(2026, 12, 24)}),
        skips=frozenset({date(2026, 12, 28)}),
    )
    slots = slots_between(off, utc("2026-12-23T00:00"), utc("2026-12-29T23:00"))
    assert [slot.day.day for slot in slots] == [23, 27, 29]


def test_a_subdivision_has_its_own_holidays() -> None:
    epiphany = date(2026, 1, 6)
    assert slot_instant(replace(daily("Europe/Berlin", time(9)), country="DE-BY"), epiphany) is None
    assert slot_instant(replace(daily("Europe/Berlin", time(9)), country="DE-BE"), epiphany) is not None


def test_next_slot_is_strictly_after() -> None:
    timetable = daily("Europe/Berlin", time(9))
    first = next_slot(timetable, utc("2026-06-01T06:59"))
    assert first == Slot(date(2026, 6, 1), utc("2026-06-01T07:00"))
    assert next_slot(timetable, first.instant) == Slot(date(2026, 6, 2), utc("2026-06-02T07:00"))


@given(zones, instants, wall_times, st.frozensets(st.integers(0, 6), min_size=1))
def test_next_slot_and_slots_between_agree(zone: str, after: datetime, at: time, weekdays: frozenset[int]) -> None:
    timetable = Timetable(at, weekdays, zone)
    found = next_slot(timetable, after)
    assert found is not None
    assert slots_between(timetable, after, found.instant) == [found]


def test_a_schedule_without_days_has_no_next_slot() -> None:
    never = Timetable(time(9), frozenset(), "UTC")
    assert next_slot(never, utc("2026-06-01T00:00")) is None


def test_nothing_between_an_instant_and_an_earlier_one() -> None:
    assert slots_between(daily("UTC", time(9)), utc("2026-06-05T00:00"), utc("2026-06-01T00:00")) == []


@pytest.mark.parametrize(
    ("late", "action"),
    [("00:00", "post"), ("00:01", "post"), ("00:02", "late"), ("02:00", "late"), ("02:01", "skip"), ("09:00", "skip")],
)
def test_a_late_slot_is_posted_or_skipped_by_its_delay(late: str, action: str) -> None:
    instant = utc("2026-06-01T09:00")
    hours, minutes = map(int, late.split(":"))
    now = instant + timedelta(hours=hours, minutes=minutes)
    found = due_slots(daily("UTC", time(9)), now, DEFAULT_CATCH_UP, instant - MINUTE)
    assert [(item.slot.instant, item.action) for item in found] == [(instant, action)]


def test_after_an_outage_only_the_newest_slot_is_posted() -> None:
    found = due_slots(daily("UTC", time(9)), utc("2026-06-04T09:30"), timedelta(days=3), utc("2026-06-01T09:00"))
    assert [(item.slot.day.day, item.action) for item in found] == [(2, "skip"), (3, "skip"), (4, "late")]


def test_nothing_is_due_between_slots() -> None:
    timetable = daily("UTC", time(9))
    assert due_slots(timetable, utc("2026-06-01T12:00"), DEFAULT_CATCH_UP, utc("2026-06-01T09:00")) == []


@given(zones, instants, wall_times, st.timedeltas(timedelta(0), timedelta(days=9)), st.integers(1, 5))
def test_ticking_in_parts_misses_and_repeats_nothing(
    zone: str, since: datetime, at: time, span: timedelta, parts: int
) -> None:
    timetable = daily(zone, at)
    ticks = [since + span * n / parts for n in range(parts + 1)]
    in_parts: list[DueSlot] = []
    for start, now in pairwise(ticks):
        in_parts += due_slots(timetable, now, DEFAULT_CATCH_UP, start)
    assert [item.slot for item in in_parts] == slots_between(timetable, since, ticks[-1])


@given(zones, instants, st.sampled_from(["day", "week", "month"]))
def test_a_period_holds_now_and_meets_the_next(zone: str, now: datetime, period: Period) -> None:
    start, end = period_bounds(period, now, zone)
    assert start is not None and end is not None
    assert start <= now < end
    assert period_bounds(period, end, zone)[0] == end
    assert period_bounds(period, start, zone) == (start, end)


@pytest.mark.parametrize("zone", ["America/St_Johns", "Pacific/Apia", "America/Sao_Paulo", "Africa/Cairo"])
def test_days_meet_where_midnight_is_odd(zone: str) -> None:
    for change in kinds_of_change()[zone]:
        for hours in range(-26, 27):
            now = change.instant.replace(tzinfo=UTC) + timedelta(hours=hours, minutes=7)
            start, end = period_bounds("day", now, zone)
            assert start is not None and end is not None
            assert start <= now < end
            assert period_bounds("day", end, zone)[0] == end


@pytest.mark.parametrize(
    ("zone", "day", "begins"),
    [
        ("UTC", date(2026, 3, 4), datetime(2026, 3, 4, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 3, 29), datetime(2026, 3, 28, 23, tzinfo=UTC)),
        ("America/New_York", date(2026, 11, 2), datetime(2026, 11, 2, 5, tzinfo=UTC)),
        ("America/Sao_Paulo", date(2018, 11, 4), datetime(2018, 11, 4, 3, tzinfo=UTC)),
    ],
)
def test_a_day_begins_at_midnight_or_at_the_first_instant_after_it(zone: str, day: date, begins: datetime) -> None:
    """In São Paulo, clocks went forward from midnight to one o'clock."""
    assert start_of_day(zone, day) == begins


def test_periods_by_hand() -> None:
    now = utc("2026-03-29T12:00")
    assert period_bounds("day", now, "Europe/Berlin") == (utc("2026-03-28T23:00"), utc("2026-03-29T22:00"))
    assert period_bounds("week", now, "Europe/Berlin") == (utc("2026-03-22T23:00"), utc("2026-03-29T22:00"))
    assert period_bounds("month", now, "Europe/Berlin") == (utc("2026-02-28T23:00"), utc("2026-03-31T22:00"))
    assert period_bounds("month", utc("2026-12-31T23:30"), "UTC") == (utc("2026-12-01T00:00"), utc("2027-01-01T00:00"))


def test_all_time_has_no_bounds_and_a_season_no_end() -> None:
    now = utc("2026-03-29T12:00")
    assert period_bounds("all", now, "UTC") == (None, None)
    assert period_bounds("season", now, "UTC", utc("2026-01-05T08:00")) == (utc("2026-01-05T08:00"), None)
    with pytest.raises(ValueError, match="no season is running; start one"):
        period_bounds("season", now, "UTC")


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("Europe/Berlln", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("europe/london ", "Europe/London"),
        ("Mars/Olympus Mons", ""),
        ("", ""),
        ("../../etc/passwd", ""),
    ],
)
def test_an_unknown_zone_comes_with_similar_names(name: str, similar: str) -> None:
    with pytest.raises(UnknownZone) as error:
        get_zone(name)
    assert repr(name) in str(error.value)
    assert next(iter(error.value.similar), "") == similar
    assert len(error.value.similar) <= 3


def test_a_folder_of_zones_is_no_zone() -> None:
    with pytest.raises(UnknownZone):
        get_zone("Europe")


def test_an_invalid_timetable_is_rejected() -> None:
    plain = daily("UTC", time(9))
    with pytest.raises(UnknownZone, match="Europe/Nowhere"):
        replace(plain, zone="Europe/Nowhere")
    with pytest.raises(ValueError, match=r"weekdays \[7\].*use 0"):
        replace(plain, weekdays=frozenset({1, 7}))
    with pytest.raises(ValueError, match="carries a zone"):
        replace(plain, at=time(9, tzinfo=UTC))
    with pytest.raises(UnknownHolidays, match="'XX'"):
        replace(plain, country="XX")
    with pytest.raises(UnknownHolidays, match="'US-ZZ'"):
        replace(plain, country="US-ZZ")


months = st.builds(date, st.integers(2024, 2031), st.integers(1, 12), st.just(1))


@given(months, st.sets(st.integers(1, 31), min_size=1), zones)
def test_days_of_the_month_are_each_met_once_and_the_last_day_stands_for_the_missing(
    month: date, days: set[int], zone: str
) -> None:
    length = ((month + timedelta(days=31)).replace(day=1) - month).days
    timetable = Timetable(time(12), ALL_WEEK, zone, month_days=frozenset(days))
    found = {day for day in range(1, length + 1) if slot_instant(timetable, month.replace(day=day)) is not None}
    assert found == {min(day, length) for day in days}


@given(st.dates(date(2024, 1, 1), date(2030, 1, 1)), st.integers(2, 60), zones, wall_times, st.integers(0, 400))
def test_every_few_days_keeps_its_distance_across_changes_of_the_clocks(
    first: date, every: int, zone: str, at: time, offset: int
) -> None:
    timetable = Timetable(at, ALL_WEEK, zone, every_days=every, first_day=first)
    assert slot_instant(timetable, first - DAY) is None and slot_instant(timetable, first - every * DAY) is None
    after = datetime.combine(first + offset * DAY, time.min, UTC)
    upcoming: list[Slot] = []
    while len(upcoming) < 4 and (slot := next_slot(timetable, upcoming[-1].instant if upcoming else after)):
        upcoming.append(slot)
    assert len(upcoming) == 4
    assert all((slot.day - first).days % every == 0 for slot in upcoming)
    assert all((later.day - earlier.day).days == every for earlier, later in pairwise(upcoming))


def test_every_few_days_goes_on_counting_over_days_off() -> None:
    first = date(2026, 3, 2)
    timetable = Timetable(time(9), ALL_WEEK, "UTC", every_days=3, first_day=first, skips=frozenset({first + 3 * DAY}))
    found = slots_between(timetable, utc("2026-03-01"), utc("2026-03-12"))
    assert [slot.day.day for slot in found] == [2, 8, 11]


def test_days_that_do_not_exist_are_rejected() -> None:
    with pytest.raises(ValueError, match="days of the month"):
        Timetable(time(9), ALL_WEEK, "UTC", month_days=frozenset({0, 32}))
    with pytest.raises(ValueError, match="every 0 days"):
        Timetable(time(9), ALL_WEEK, "UTC", every_days=0)


@pytest.mark.parametrize(
    ("day", "at", "change"),
    [
        (date(2026, 3, 29), time(2, 30), (60, True)),
        (date(2026, 3, 29), time(3), (60, False)),
        (date(2026, 3, 28), time(2, 30), (0, False)),
        (date(2026, 10, 25), time(2, 30), (-60, False)),
    ],
)
def test_a_change_of_the_clocks_is_told_in_minutes(day: date, at: time, change: tuple[int, bool]) -> None:
    assert clock_change(Timetable(at, ALL_WEEK, "Europe/Berlin"), day) == change
