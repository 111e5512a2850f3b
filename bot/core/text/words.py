"""Formats the parts of sentences: plurals, times in a zone, shares, verdicts. No cards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.core.markup import escape, instant_markdown, member_markdown, parse, to_summary
from bot.core.markup.tree import Paragraph
from service.wire import Confidence, Kind, Platform, Verdict

Words = tuple[str, str]
"""Title and text of a message. Markdown."""

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

KIND_NAMES: Final[dict[Kind, str]] = {
    "choice": "Choice",
    "value": "Value",
    "output": "Output",
    "code": "Code",
    "open": "Open",
}
MEDALS: Final = {1: "🥇", 2: "🥈", 3: "🥉"}
"""By rank."""

VERDICTS: Final[dict[Verdict, str]] = {
    "accepted": "accepted",
    "wrong": "wrong",
    "runtime error": "stopped with an error",
    "time limit": "took too long",
    "memory limit": "took too much memory",
    "output limit": "printed too much",
    "invalid": "could not be run",
    "system error": "could not be judged (our fault)",
    "awaits marking": "awaits marking",
}

_CHATS: Final[dict[Platform, str]] = {
    "discord": "Discord",
    "slack": "Slack",
    "web": "the web chat",
    "console": "the console",
}

CONFIDENCE_WORDS: Final[dict[Confidence, str]] = {"guess": "Guess", "think": "Think so", "sure": "Sure"}


def chat_words(platform: Platform) -> str:
    """Returns the display name of a chat."""
    return _CHATS[platform]


def plural(count: int, one: str, many: str = "") -> str:
    """Formats a count, such as `1 answer` or `2 answers`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def and_list(words: Sequence[str], last: str = "and") -> str:
    """Joins words, such as `a`, `a and b` or `a, b and c`."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def mastery_words(low: float | None, high: float | None) -> str:
    """Returns a range of shares as `55–80%`, or that nothing can be said yet."""
    return "too few answers" if low is None or high is None else f"{round(100 * low)}–{percent(high)}"


def short_day(day: date) -> str:
    """Formats a day as `2 Mar`."""
    return f"{day.day} {MONTHS[day.month - 1][:3]}"


def percent(share: float) -> str:
    """Formats a share as whole percent; 100% and 0% only if exact."""
    whole = round(100 * share)
    if share < 1:
        whole = min(whole, 99)
    if share > 0:
        whole = max(whole, 1)
    return f"{whole}%"


def zone_of(zone: str) -> tzinfo:
    """Returns the zone; UTC if this machine does not know it."""
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def local(instant: datetime, zone: str) -> datetime:
    return instant.astimezone(zone_of(zone))


def day_words(day: date) -> str:
    """Formats a date, such as `Thursday 5 March`."""
    return f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"


def time_words(instant: datetime, zone: str) -> str:
    """Formats a time, such as `17:00 (Europe/Berlin)`."""
    there = local(instant, zone)
    return f"{there:%H:%M} ({getattr(there.tzinfo, 'key', 'UTC')})"


def instant_words(instant: datetime, zone: str) -> str:
    """Formats an instant, such as `Thursday 5 March, 17:00 (Europe/Berlin)`."""
    return f"{day_words(local(instant, zone).date())}, {time_words(instant, zone)}"


def time_markdown(instant: datetime, zone: str) -> str:
    """Formats a time as Markdown: chats show it in the reader's own time zone if they can, else as `time_words`."""
    return instant_markdown(time_words(instant, zone), int(instant.timestamp()))


def seconds_markdown(instant: datetime, zone: str) -> str:
    """Like `time_markdown`, to the second."""
    there = local(instant, zone)
    text = f"{there:%H:%M:%S} ({getattr(there.tzinfo, 'key', 'UTC')})"
    return instant_markdown(text, int(instant.timestamp()), precise=True)


def moment_markdown(instant: datetime, zone: str) -> str:
    """Formats an instant as Markdown: chats show it in the reader's own time zone if they can, else as
    `instant_words`."""
    return instant_markdown(instant_words(instant, zone), int(instant.timestamp()), dated=True)


def until_markdown(instant: datetime, zone: str, now: datetime | None) -> str:
    """Formats the time alone if it is today, otherwise with the day; as Markdown."""
    if now is not None and local(now, zone).date() == local(instant, zone).date():
        return time_markdown(instant, zone)
    return moment_markdown(instant, zone)


def minutes_words(minutes: int) -> str:
    """Formats a duration, such as `8 hours`, `1 hour 30 minutes` or `2 days`."""
    days, rest = divmod(max(0, minutes), 24 * 60)
    hours, left = divmod(rest, 60)
    parts = [(days, "day"), (hours, "hour"), (left, "minute")]
    return " ".join(plural(count, unit) for count, unit in parts if count) or "0 minutes"


def countdown_words(left: timedelta) -> str:
    """Formats the time left in short, such as `3 h 12 min`, `12 min` or `2 days`; rounded up."""
    minutes = max(0, -(-int(left.total_seconds()) // 60))
    hours, rest = divmod(minutes, 60)
    if hours >= 48:
        return plural(hours // 24, "day")
    return " ".join(
        part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest or not hours else "") if part
    )


def seconds_words(seconds: float) -> str:
    """Formats an estimate, such as `5 seconds`, `20 seconds` or `3 minutes`."""
    if seconds < 8:
        return plural(max(1, round(seconds)), "second")
    if seconds < 90:
        return f"{round(seconds / 5) * 5} seconds"
    return plural(max(2, round(seconds / 60)), "minute")


def wait_words(now: datetime, then: datetime) -> str:
    """Formats a wait in its largest unit, rounded: `in 3 days`, `in 2 hours`, `now`."""
    seconds = (then - now).total_seconds()
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 0.95 * size:
            return f"in {plural(round(seconds / size), unit)}"
    return "now"


def weekdays_words(days: Sequence[int]) -> str:
    """Formats weekdays, such as `every day`, `Monday to Friday` or `Monday, Wednesday and Friday`."""
    if tuple(days) == tuple(range(7)):
        return "every day"
    if len(days) > 2 and tuple(days) == tuple(range(days[0], days[0] + len(days))):
        return f"{WEEKDAYS[days[0]]} to {WEEKDAYS[days[-1]]}"
    return and_list([WEEKDAYS[day] for day in days])


def in_brief(markdown: str, limit: int = 60) -> str:
    """Shortens a text to one plain line, for titles, summaries and tables."""
    return to_summary(parse(markdown), limit)


def brief_markdown(markdown: str, limit: int = 60) -> str:
    """Like `in_brief`, as Markdown, for the label of a bar."""
    return escape(in_brief(markdown, limit))


def led(head: str, markdown: str) -> str:
    """Puts a label before a text: on the same line, or above it if the text begins with a table, list or program."""
    first = parse(markdown).blocks[:1]
    return f"{head} {markdown}" if isinstance(next(iter(first), None), Paragraph) else f"{head}\n\n{markdown}"


def code_words(name: str) -> str:
    """Formats a name as code, such as a channel's."""
    return f"`{name.replace('`', '')}`"


def joined(*parts: str) -> str:
    """Joins the non-empty parts with middle dots."""
    return " · ".join(part for part in parts if part)


def stopped(text: str) -> str:
    """Returns the text with a period at its end, unless it ends like a sentence."""
    text = text.strip()
    return text + ("" if text.endswith((".", "!", "?", "…", "`")) or not text else ".")


def sentence(text: str) -> str:
    """Returns the text capitalized and with a period at its end."""
    text = stopped(text)
    return text[:1].upper() + text[1:]


class Mentioned(Protocol):
    """A member who may have an id on Discord."""

    @property
    def name(self) -> str: ...

    @property
    def discord(self) -> str: ...


def mentions_of(people: Iterable[Mentioned]) -> tuple[str, ...]:
    """Returns a mention of each member, for `Table.members`."""
    return tuple(person_markdown(person) if person.discord else "" for person in people)


def person_markdown(person: Mentioned) -> str:
    """Returns a member's name as Markdown; Discord shows a mention of them, which notifies nobody."""
    return member_markdown(person.name, "discord", person.discord)
