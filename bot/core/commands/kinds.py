"""The kinds of argument: how each is read from one typed word, and what is said when it cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from difflib import get_close_matches
from functools import cache
from typing import Final
from zoneinfo import available_timezones

Value = str | int | bool | time | date | tuple[str, ...] | tuple[int, ...]

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Unreadable(Exception):
    """A word that is not of this kind; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How an argument is read. `read` raises Unreadable."""

    name: str
    read: Callable[[str], Value]
    example: str
    choices: tuple[str, ...] = ()
    """Words worth offering while somebody types."""
    own: bool = True
    """Whether a word of this kind is known by its looks, so that it may stand anywhere."""
    rest: bool = False
    """Takes all that is left, spaces and lines included."""
    looks: str = r"(?!)"
    """A pattern of words that were surely meant to be of this kind, though they may not be readable."""


def shown(word: str) -> str:
    """A typed word as an error shows it, whatever it holds."""
    return f"`{word[:60].replace('`', chr(39))}`"


def closest(word: str, known: tuple[str, ...]) -> str | None:
    """The known word that was probably meant."""
    found = get_close_matches(word.lower(), known, 1, 0.6)
    return found[0] if found else None


def hint(word: str, known: tuple[str, ...]) -> str:
    """`did you mean …?` with a leading space, or nothing."""
    near = closest(word, known)
    return f" Did you mean `{near}`?" if near else ""


def one_of(name: str, words: Mapping[str, Value]) -> Kind:
    """One of a few words, each standing for a value."""

    def read(word: str) -> Value:
        if word.lower() not in words:
            known = ", ".join(words)
            raise Unreadable(f"{shown(word)} is none of {known}.{hint(word, tuple(words))}")
        return words[word.lower()]

    return Kind(name, read, next(iter(words)), tuple(words))


def list_of(name: str, known: tuple[str, ...]) -> Kind:
    """Words of a few, parted by commas."""

    def read(word: str) -> Value:
        for part in (parts := tuple(word.lower().split(","))):
            if part not in known:
                raise Unreadable(f"{shown(part)} is none of {', '.join(known)}.{hint(part, known)}")
        return parts

    return Kind(name, read, ",".join(known[:2]), known)


def _read_time(word: str) -> time:
    found = re.fullmatch(r"(\d{1,2})[:.](\d{2})", word)
    if not found or int(found[1]) > 23 or int(found[2]) > 59:
        raise Unreadable(f"{shown(word)} is no time of day. Write it as `09:00` or `17:30`.")
    return time(int(found[1]), int(found[2]))


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
        # A range may run over the weekend: fri-mon.
        days.update((begin + step) % 7 for step in range((end - begin) % 7 + 1))
    return tuple(sorted(days))


def _weekday(part: str, word: str) -> int:
    if len(part) >= 3:
        for number, day in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")):
            if day.startswith(part):
                return number
    raise Unreadable(f"{shown(word)} names no weekdays. Write `mon-fri`, `mon,wed,fri`, `weekdays` or `daily`.")


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
    raise Unreadable(f"{shown(word)} is no time zone we know.{meant}")


_MINUTES = {"d": 24 * 60, "h": 60, "m": 1}


def _read_duration(word: str) -> int:
    if not re.fullmatch(r"(\d{1,5}[dhm])+", word.lower()):
        raise Unreadable(f"{shown(word)} is no length of time. Write it as `8h`, `90m`, `1h30m` or `2d`.")
    return sum(int(count) * _MINUTES[unit] for count, unit in re.findall(r"(\d+)([dhm])", word.lower()))


def _read_number(word: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,9}", word.lstrip("#")):
        raise Unreadable(f"{shown(word)} is no number. Write it in digits, such as `3`.")
    return int(word.lstrip("#"))


def _read_code(word: str) -> str:
    code = word.upper().replace("-", "")
    if not re.fullmatch(r"[0-9A-Z]{8}", code):
        raise Unreadable(f"{shown(word)} is no code. A code has eight letters and digits, such as `K7QM2RXN`.")
    return code


def _read_date(word: str) -> date:
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise Unreadable(f"{shown(word)} is no date. Write it as year-month-day, such as `2026-03-02`.") from None


WORD: Final = Kind("word", str, "autograd", own=False)
WORDS: Final = Kind(
    "words", lambda word: tuple(part for part in word.split(",") if part), "autograd,tensors", own=False
)
REST: Final = Kind("text", str, "…", own=False, rest=True)
TIME: Final = Kind("time", _read_time, "09:00", looks=r"\d+[:.]?\d*")
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
NUMBER: Final = Kind("number", _read_number, "3")
DAYS_BEFORE: Final = Kind("number of days", _read_number, "365")
CODE: Final = Kind("code", _read_code, "K7QM2RXN", own=False)
DATE: Final = Kind("date", _read_date, "2026-03-02")
LEVEL: Final = one_of("level", {word: word for word in ("mid", "senior", "principal")})
LEVELS: Final = list_of("levels", ("mid", "senior", "principal"))
_KINDS: Final = ("choice", "value", "output", "code", "open")
KIND: Final = replace(one_of("kind of question", {word: word for word in _KINDS}), example="code")
KINDS: Final = list_of("kinds", _KINDS)
SWITCH: Final = one_of("switch", {"on": True, "off": False, "yes": True, "no": False})
PERIOD: Final = one_of("period", {"day": "day", "week": "week", "month": "month", "season": "season", "ever": "all"})
CONTEST: Final = one_of("contest", {"everybody": "points", "rookies": "rookies", "improved": "improved"})
GENERATED: Final = one_of("use", {word: word for word in ("use", "hold", "none")})
EVERYONE: Final = one_of("scope", {"all": True})
PRIVACY: Final = one_of("action", {word: word for word in ("see", "export", "csv", "hide", "show", "forget")})
