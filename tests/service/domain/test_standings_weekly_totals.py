"""Weekly totals: which entries count in which week, and which weeks are shown."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from service.domain.standings import WEEKS, LedgerEntry, first_week, weekly_totals

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)  # a Thursday
MONDAY = date(2026, 3, 2)
BERLIN = "Europe/Berlin"


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def test_without_entries_there_are_no_weeks() -> None:
    assert weekly_totals((), NOW, BERLIN) == ()


def test_a_week_sums_its_entries_and_counts_a_corrected_round_once() -> None:
    booked = (
        LedgerEntry(ago(1), 10, round_id=1, credit=0.5),
        LedgerEntry(ago(0.5), 5, round_id=1, credit=0.5),
        LedgerEntry(ago(0.4), 10, round_id=2, credit=0.0),
        LedgerEntry(ago(0.3), -3),
    )
    assert weekly_totals(booked, NOW, BERLIN) == ((MONDAY, 22, 2, 0.5),)


def test_weeks_in_between_are_shown_and_those_before_the_first_are_not() -> None:
    found = weekly_totals((LedgerEntry(ago(14), 7, 1, 1.0), LedgerEntry(ago(0), 1, 2, 1.0)), NOW, BERLIN)
    assert [(week[0], week[1], week[2]) for week in found] == [
        (MONDAY - timedelta(days=14), 7, 1),
        (MONDAY - timedelta(days=7), 0, 0),
        (MONDAY, 1, 1),
    ]


def test_at_most_eight_weeks_are_shown_and_older_entries_count_in_none() -> None:
    found = weekly_totals([LedgerEntry(ago(7 * weeks), 1, weeks, 1.0) for weeks in range(12)], NOW, BERLIN)
    assert len(found) == WEEKS
    assert found[0][0] == first_week(NOW, BERLIN) == MONDAY - timedelta(days=49)
    assert {week[1] for week in found} == {1}


def test_a_week_begins_at_midnight_of_the_zone() -> None:
    late_sunday = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    assert weekly_totals((LedgerEntry(late_sunday, 1),), NOW, BERLIN) == ((MONDAY, 1, 0, 0.0),)
    assert [week[1] for week in weekly_totals((LedgerEntry(late_sunday, 1),), NOW, "UTC")] == [1, 0]
