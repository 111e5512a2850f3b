"""Words of schedules as calendars: days, clock changes and settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

from bot.core.markup import escape
from bot.core.text.admin import plan_words
from bot.core.text.words import MONTHS, day_words, in_brief, joined, local, minutes_words, plural, sentence, wait_words
from service.wire import DayState, ScheduleDay, ScheduleMonth, ScheduleView, SkipReason

NO_SCHEDULE: Final = ("No such schedule", "It may have been removed. The list shows the current ones.")
NO_DATE: Final = ("No date", "Choose the day in the calendar, and skip it there.")
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
STATES: Final[dict[DayState, str]] = {
    "none": "",
    "planned": "Planned",
    "open": "Open",
    "closed": "Closed",
    "missed": "Not posted",
    "paused": "Paused",
    "skipped": "Skipped",
    "holiday": "Holiday",
}
_WHY: Final[dict[SkipReason, str]] = {
    "missed": "Dailygrad did not run at that time.",
    "no question": "No question in the bank matched.",
    "needs gpu": "Only questions that need a GPU matched.",
    "not posted": "The chat refused the message.",
}
_FIELDS: Final = {
    "at": "The time is not a time of day, such as 09:00.",
    "open_minutes": "How long it stays open is a number of minutes, from 1 to 10080.",
    "every_days": "The interval is a number of days, from 1 to 365.",
    "memory_days": "The time before a question repeats is a number of days, up to 3650.",
    "catch_up_minutes": "How late it may be posted is a number of minutes, up to 1440.",
    "first_day": "The first day is not a date.",
    "month_days": "Days of the month are numbers from 1 to 31, such as 1, 15, or last.",
}


def invalid_field(name: str) -> str:
    """Says what is wrong with a setting."""
    return _FIELDS.get(name, "One of the settings is not valid. Check them and try again.")


def read_month_days(typed: str) -> list[int]:
    """Reads days of the month, such as `1, 15, last`; anything else becomes 0, which no schedule accepts."""
    parts = re.split(r"[,\s]+", typed.lower().strip()) if typed.strip() else []
    return [31 if part == "last" else int(part) if re.fullmatch(r"\d{1,2}", part) else 0 for part in parts][:31]


def title(found: ScheduleMonth) -> str:
    """Names the month."""
    return f"{MONTHS[found.first.month - 1]} {found.first.year}"


def neighbors(found: ScheduleMonth) -> tuple[str, str]:
    """Returns the months before and after, as written in a URL."""
    before, after = found.first - timedelta(days=1), found.first + timedelta(days=32)
    return f"{before:%Y-%m}", f"{after:%Y-%m}"


def weeks(found: ScheduleMonth) -> list[list[ScheduleDay | None]]:
    """Returns the days by week from Monday on, with None for days of other months."""
    lead = found.first.weekday()
    cells: list[ScheduleDay | None] = [*[None] * lead, *found.days]
    cells += [None] * (-len(cells) % 7)
    return [cells[start : start + 7] for start in range(0, len(cells), 7)]


def clock(day: ScheduleDay, zone: str) -> str:
    """Returns the local time of a day's post."""
    return f"{local(day.at, zone):%H:%M}" if day.at else ""


def brief(day: ScheduleDay) -> str:
    """Returns the second line of a day in the calendar."""
    match day.state:
        case "planned":
            return day.question.topic if day.question else ""
        case "open" | "closed":
            return plural(day.answers, "answer")
        case "holiday":
            return day.holiday
        case _:
            return ""


def spoken(day: ScheduleDay, zone: str) -> str:
    """Describes a day in a sentence, for those who cannot see the calendar."""
    at = f" at {clock(day, zone)}" if day.at and day.state in ("planned", "open", "closed") else ""
    return f"{day_words(day.day)}: {STATES[day.state].lower()}{at}"


def instant(day: ScheduleDay, zone: str) -> str:
    """Says when exactly a day's question is posted: in the schedule's zone and in UTC."""
    if day.at is None:
        return ""
    there = local(day.at, zone)
    utc = "" if zone == "UTC" else f", which is {day.at:%H:%M} UTC"
    return f"{there:%H:%M} ({zone}){utc}"


def about_day(day: ScheduleDay) -> str:
    """Says why a day has no question, or what came of it."""
    match day.state:
        case "none":
            return "The schedule posts nothing on this day."
        case "missed":
            return _WHY[day.why] if day.why else "Nothing was posted."
        case "paused":
            return "The schedule is paused. It posts again once you resume it."
        case "skipped":
            return "You skipped this day. No streak breaks."
        case "holiday":
            return f"{day.holiday}: the schedule keeps public holidays. No streak breaks."
        case "open" | "closed":
            extra = f", with {plural(day.extra, 'extra question')}" if day.extra else ""
            return f"{plural(day.answers, 'answer')}{extra}."
        case "planned":
            return ""


def clock_changes(found: ScheduleMonth) -> Iterator[str]:
    """Says what happens on the days on which the clocks change."""
    for day in found.days:
        if not day.clock_minutes:
            continue
        way = "forward" if day.clock_minutes > 0 else "back"
        sentence = (
            f"{day_words(day.day)}: clocks go {way} by {minutes_words(abs(day.clock_minutes))} in {found.spec.zone}."
        )
        if day.moved and day.at:
            sentence += f" {found.spec.at:%H:%M} does not exist that day, so it posts at {clock(day, found.spec.zone)}."
        else:
            sentence += f" It still posts at {found.spec.at:%H:%M} local time{_utc_before_and_after(found, day)}."
        yield sentence


def _utc_before_and_after(found: ScheduleMonth, change: ScheduleDay) -> str:
    before = next((day.at for day in reversed(found.days) if day.at and day.day < change.day), None)
    after = next((day.at for day in found.days if day.at and day.day > change.day), None)
    if before is None or after is None:
        return ""
    return f": {before:%H:%M} UTC before, {after:%H:%M} UTC after"


def plan(view: ScheduleView) -> str:
    """Describes a schedule in one sentence. Markdown."""
    return sentence(plan_words(view.spec))


def next_dates(view: ScheduleView, now: datetime) -> str:
    """Says when a schedule posts next."""
    if view.paused:
        return "Paused: nothing is posted until you resume it."
    if not view.next:
        return "No further date within a year."
    first = local(view.next[0], view.spec.zone)
    later = ", ".join(day_words(local(at, view.spec.zone).date()) for at in view.next[1:])
    return f"Next: {day_words(first.date())}, {first:%H:%M} ({wait_words(now, view.next[0])})" + (
        f"; then {later}." if later else "."
    )


def shared(view: ScheduleView) -> str:
    """Names the further channels of a schedule."""
    return joined(*(escape(one.name) for one in view.shared))


def planned_question(day: ScheduleDay) -> str:
    """Describes the planned or posted question of a day."""
    question = day.question
    return joined(question.topic, question.level or "", question.kind) if question else ""


def beyond(found: ScheduleMonth, day: date) -> bool:
    """Returns whether a day is too far ahead to say what it asks."""
    return found.planned_until is not None and day > found.planned_until


def short(markdown: str) -> str:
    """Returns a text on one plain line."""
    return in_brief(markdown, 200)
