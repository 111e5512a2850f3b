"""The kinds of argument that commands take: how each is read, and which words are offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from difflib import get_close_matches
from functools import cache
from typing import Final, get_args
from zoneinfo import available_timezones

from service import wire


@dataclass(frozen=True, slots=True)
class RelativeDay:
    """A day that is named from the day on which it is typed, such as `tomorrow` or `friday`."""

    days: int = 0
    """Days after that day."""
    weekday: int | None = None
    """From 0 for Monday: the next such day after that day."""

    def seen_from(self, today: date) -> date:
        """Returns the day that is meant on `today`."""
        if self.weekday is None:
            return today + timedelta(days=self.days)
        return today + timedelta(days=(self.weekday - today.weekday() - 1) % 7 + 1)


@dataclass(frozen=True, slots=True)
class NamedChannel:
    """A channel that was picked (`id`, and on some chats its name), or only named."""

    id: str
    name: str


Value = str | int | bool | time | date | RelativeDay | NamedChannel | tuple[str, ...] | tuple[int, ...]

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class BadArgument(Exception):
    """A word that is not of this kind. The message says what would be accepted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of argument. `read` parses a word and raises BadArgument."""

    name: str
    read: Callable[[str], Value]
    example: str
    choices: tuple[str, ...] = ()
    """Words to offer while a member types."""
    own: bool = True
    """Whether words of this kind can be recognized, so that they may come in any order."""
    rest: bool = False
    """Whether it takes the rest of the text, including spaces and line breaks."""
    looks: str = r"(?!)"
    """Pattern of words that are meant as this kind, even if they are not valid."""
    spaced: bool = False
    """Whether it goes on with the words that follow, as long as they fit nothing else."""


def shown(word: str) -> str:
    """Quotes a typed word for an error message."""
    return f"`{word[:60].replace('`', chr(39))}`"


def closest(word: str, known: tuple[str, ...]) -> str | None:
    """Returns the known word most similar to a typed one."""
    found = get_close_matches(word.lower(), known, 1, 0.6)
    return found[0] if found else None


def hint(word: str, known: tuple[str, ...]) -> str:
    """Returns `Did you mean …?` with a leading space; empty if no known word is similar."""
    near = closest(word, known)
    return f" Did you mean `{near}`?" if near else ""


def one_of(name: str, words: Mapping[str, Value]) -> Kind:
    """Returns a kind that accepts one of some words, each standing for a value."""

    def read(word: str) -> Value:
        if word.lower() not in words:
            known = ", ".join(words)
            raise BadArgument(f"{shown(word)} is not one of {known}.{hint(word, tuple(words))}")
        return words[word.lower()]

    return Kind(name, read, next(iter(words)), tuple(words))


def list_of(name: str, known: tuple[str, ...]) -> Kind:
    """Returns a kind that accepts several known words, separated by commas."""

    def read(word: str) -> Value:
        for part in (parts := tuple(word.lower().split(","))):
            if part not in known:
                raise BadArgument(f"{shown(part)} is not one of {', '.join(known)}.{hint(part, known)}")
        return parts

    return Kind(name, read, ",".join(known[:2]), known)


def read_time(word: str) -> time:
    """Reads a time of day, such as `09:00`, `9am` or `5:30 pm`. Raises BadArgument."""
    found = re.fullmatch(r"(\d{1,2})(?:[:.](\d{2}))?\s*(?:([ap])\.?m\.?)?", word.strip().lower())
    if found and (found[2] or found[3]):
        hour, minute = int(found[1]), int(found[2] or 0)
        if found[3]:
            hour = hour % 12 + 12 * (found[3] == "p") if 1 <= hour <= 12 else 24
        if hour <= 23 and minute <= 59:
            return time(hour, minute)
    raise BadArgument(f"{shown(word)} is not a time of day. Write it as `09:00`, `17:30` or `9am`.")


_WEEKDAY_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_WORDS = {"daily": tuple(range(7)), "weekdays": tuple(range(5)), "weekends": (5, 6)}


def _read_weekdays(word: str) -> tuple[int, ...]:
    lowered = word.lower()
    if lowered in _WEEKDAY_WORDS:
        return _WEEKDAY_WORDS[lowered]
    days: set[int] = set()
    for part in lowered.split(","):
        first, dash, last = part.partition("-")
        begin = _weekday(first, word)
        end = _weekday(last, word) if dash else begin
        # A range may cross the weekend: fri-mon.
        days.update((begin + step) % 7 for step in range((end - begin) % 7 + 1))
    return tuple(sorted(days))


def _find_weekday(word: str) -> int | None:
    return next((at for at, day in enumerate(_WEEKDAY_NAMES) if len(word) >= 3 and day.startswith(word)), None)


def _weekday(part: str, word: str) -> int:
    if (found := _find_weekday(part)) is not None:
        return found
    raise BadArgument(f"{shown(word)} names no weekdays. Write `mon-fri`, `mon,wed,fri`, `weekdays` or `daily`.")


@cache
def _zones() -> dict[str, str]:
    return {zone.lower(): zone for zone in sorted(available_timezones())}


def _read_zone(word: str) -> str:
    zone = _zones().get(word.lower())
    if zone:
        return zone
    cities = [known for low, known in _zones().items() if low.rpartition("/")[2] == word.lower()]
    near = cities[0] if cities else _zones().get(closest(word, tuple(_zones())) or "")
    meant = f" Did you mean `{near}`?" if near else " Write it as `Europe/Berlin` or `America/New_York`."
    raise BadArgument(f"{shown(word)} is not a time zone we know.{meant}")


_MINUTES = {"d": 24 * 60, "h": 60, "m": 1}


def _read_duration(word: str) -> int:
    if not re.fullmatch(r"(\d{1,5}[dhm])+", word.lower()):
        raise BadArgument(f"{shown(word)} is not a length of time. Write it as `8h`, `90m`, `1h30m` or `2d`.")
    return sum(int(count) * _MINUTES[unit] for count, unit in re.findall(r"(\d+)([dhm])", word.lower()))


def _read_number(word: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,9}", word.lstrip("#")):
        raise BadArgument(f"{shown(word)} is not a number. Write it in digits, such as `3`.")
    return int(word.lstrip("#"))


def _read_every(word: str) -> int:
    found = re.fullmatch(r"(\d{1,3})d?", word.lower())
    if not found or not 1 <= int(found[1]) <= 365:
        raise BadArgument(f"{shown(word)} is not a number of days from 1 to 365. Write it as `3`.")
    return int(found[1])


def _read_month_days(word: str) -> tuple[int, ...]:
    parts = word.lower().split(",")
    days = {31 if part == "last" else int(part) if re.fullmatch(r"\d{1,2}", part) else 0 for part in parts}
    if not days <= set(range(1, 32)):
        raise BadArgument(f"{shown(word)} names no days of the month. Write `1`, `1,15` or `last`.")
    return tuple(sorted(days))


def _read_code(word: str) -> str:
    code = word.upper().replace("-", "")
    if not re.fullmatch(r"[0-9A-Z]{8}", code):
        raise BadArgument(f"{shown(word)} is not a code. A code has eight letters and digits, such as `K7QM2RXN`.")
    return code


_NEAR_DAYS: Final = {"today": 0, "tomorrow": 1, "yesterday": -1}


def _read_past_day(word: str) -> date | RelativeDay:
    if (days := _NEAR_DAYS.get(word.lower())) is not None:
        return RelativeDay(days)
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise BadArgument(
            f"{shown(word)} is not a date. Write it as year-month-day, such as `2026-03-02`, or `yesterday`."
        ) from None


def _read_date(word: str) -> date | RelativeDay:
    if (weekday := _find_weekday(word.lower())) is not None:
        return RelativeDay(weekday=weekday)
    try:
        return _read_past_day(word)
    except BadArgument:
        raise BadArgument(
            f"{shown(word)} is not a date. Write it as year-month-day, such as `2026-03-02`, or as `tomorrow` or "
            "`friday`."
        ) from None


WORD: Final = Kind("word", str, "autograd", own=False)
TOPIC: Final = Kind("topic", str, "autograd", own=False, spaced=True)
"""A topic, or the rest of a name with spaces before it and a topic. `WORD` is one word."""
QUESTION: Final = Kind("id", str, "transpose-strides", own=False)
BANK: Final = Kind("bank", str, "tensors", own=False, spaced=True)
TITLE: Final = Kind("title", str, "Spring cup", own=False, spaced=True)
PERSON: Final = Kind("name", str, "Ada", own=False, spaced=True)
"""The name of a member, who may be in no chat any more. `MEMBER` is one whom Discord lets an admin pick."""
WORDS: Final = Kind(
    "words", lambda word: tuple(part for part in word.split(",") if part), "autograd,tensors", own=False
)
REST: Final = Kind("text", str, "…", own=False, rest=True)
TIME: Final = Kind("time", read_time, "09:00", looks=r"\d+[:.]?\d*([ap]\.?m\.?)?")
WEEKDAYS: Final = Kind(
    "weekdays",
    _read_weekdays,
    "mon-fri",
    ("mon-fri", "daily", "weekdays", "mon,wed,fri"),
    looks=r"(mon|tue|wed|thu|fri|sat|sun|week|dai).*",
)
ZONE: Final = Kind(
    "time zone",
    _read_zone,
    "Europe/Berlin",
    ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"),
    looks=r"[A-Za-z_]{4,}(/.*)?",
)
COUNTRY: Final = Kind("country", lambda word: word.upper(), "DE")
DURATION: Final = Kind("length of time", _read_duration, "8h", ("8h", "4h", "1d"))
EVERY: Final = Kind("number of days", _read_every, "3", ("2", "3", "7", "14"))
MONTH_DAYS: Final = Kind("days of the month", _read_month_days, "1,15", ("1", "1,15", "last"))
NUMBER: Final = Kind("number", _read_number, "3", looks=r"[+-]?\d+[A-Za-z%]*")
DAYS_BEFORE: Final = Kind("number of days", _read_number, "365")
CODE: Final = Kind("code", _read_code, "K7QM2RXN", own=False)
DATE: Final = Kind("date", _read_date, "2026-03-02")
PAST_DAY: Final = Kind("date", _read_past_day, "2026-03-02", looks=r"\d.*|(mon|tues|wednes|thurs|fri|satur|sun)day")
"""Without weekdays, which mean coming days, and which may be the name of a member."""
LEVEL: Final = one_of("level", {word: word for word in get_args(wire.Level)})
LEVELS: Final = list_of("levels", get_args(wire.Level))
KIND: Final = replace(one_of("kind of question", {word: word for word in get_args(wire.Kind)}), example="code")
KINDS: Final = list_of("kinds", get_args(wire.Kind))
SWITCH: Final = one_of("switch", {"on": True, "off": False, "yes": True, "no": False})
PERIOD: Final = one_of("period", {"day": "day", "week": "week", "month": "month", "season": "season", "ever": "all"})
CONTEST: Final = one_of(
    "contest",
    {
        "everybody": "points",
        "rookies": "rookies",
        "improved": "improved",
        "ladder": "ladder",
        "tournament": "tournament",
    },
)
GENERATED: Final = one_of("use", {word: word for word in ("use", "hold", "none")})


def _read_member(word: str) -> str:
    if not re.fullmatch(r"<@!?[^<>]+>|@?[^<>@]+", word):
        raise BadArgument(f"{shown(word)} names no member. Write it as `@Ada`, or as the name on the board.")
    return word


def _read_role(word: str) -> str:
    if word.lower() in ("none", "off"):
        return ""
    found = re.fullmatch(
        r"<@&(\d{1,20})>|(\d{1,20})|<!subteam\^(S[A-Z0-9]{1,30})(?:\|[^<>]*)?>|(S[A-Z0-9]{1,30})", word
    )
    if not found:
        raise BadArgument(
            f"{shown(word)} is neither a role (Discord) nor the id of a user group (Slack). Write `none` for none."
        )
    return next(id for id in found.groups() if id)


ROLE: Final = Kind("role or user group", _read_role, "S0ABC123", own=False)


def _read_channel(word: str) -> NamedChannel:
    found = re.fullmatch(r"<#([0-9A-Za-z]{1,30})(?:\|([^<>]{0,100}))?>|#?([^<>#\s]{1,100})", word)
    if not found:
        raise BadArgument(f"{shown(word)} is not a channel. Write it as `#general`.")
    return NamedChannel(found[1] or "", found[2] or found[3] or "")


CHANNEL: Final = Kind("channel", _read_channel, "#general", own=False, looks=r"<?#.*")
MEMBER: Final = Kind("member", _read_member, "@Ada", looks=r"<?@.*", spaced=True)
MINE: Final = one_of("list", {"mine": True})
EVERYONE: Final = one_of("scope", {"all": True})
TOURNAMENT: Final = one_of("action", {word: word for word in ("see", "join", "leave", "pick")})
FORM: Final = one_of("form", {word: word for word in ("table", "bracket")})
TEAMS: Final = one_of("way to make teams", {word: word for word in ("random", "captains", "chats")})
BALANCE: Final = one_of("measure", {word: word for word in ("points", "rating")})


def _read_numbers(word: str) -> tuple[int, ...]:
    return tuple(_read_number(part) for part in word.split(",") if part)


NUMBERS: Final = Kind("numbers", _read_numbers, "1,2")
MEASURE: Final = one_of("measure", {"time": "time", "memory": "memory"})
NOTIFICATION: Final = one_of("kind of message", {word: word for word in ("reminders", "results")})
PRIVACY: Final = one_of("action", {word: word for word in ("see", "export", "csv", "hide", "show", "forget")})
