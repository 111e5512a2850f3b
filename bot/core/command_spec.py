"""Definitions of all commands and of the kinds of argument: how each is parsed, completed and described."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from difflib import get_close_matches
from functools import cache
from typing import Final
from zoneinfo import available_timezones


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
    """Words worth offering while somebody types."""
    own: bool = True
    """Whether words of this kind can be recognized, so that they may come in any order."""
    rest: bool = False
    """Whether it takes the rest of the text, including spaces and line breaks."""
    looks: str = r"(?!)"
    """Pattern of words that are meant as this kind, even if they are not valid."""


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
    raise BadArgument(f"{shown(word)} is no time of day. Write it as `09:00`, `17:30` or `9am`.")


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
    raise BadArgument(f"{shown(word)} is no time zone we know.{meant}")


_MINUTES = {"d": 24 * 60, "h": 60, "m": 1}


def _read_duration(word: str) -> int:
    if not re.fullmatch(r"(\d{1,5}[dhm])+", word.lower()):
        raise BadArgument(f"{shown(word)} is no length of time. Write it as `8h`, `90m`, `1h30m` or `2d`.")
    return sum(int(count) * _MINUTES[unit] for count, unit in re.findall(r"(\d+)([dhm])", word.lower()))


def _read_number(word: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,9}", word.lstrip("#")):
        raise BadArgument(f"{shown(word)} is no number. Write it in digits, such as `3`.")
    return int(word.lstrip("#"))


def _read_every(word: str) -> int:
    found = re.fullmatch(r"(\d{1,3})d?", word.lower())
    if not found or not 1 <= int(found[1]) <= 365:
        raise BadArgument(f"{shown(word)} is no number of days from 1 to 365. Write it as `3`.")
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
        raise BadArgument(f"{shown(word)} is no code. A code has eight letters and digits, such as `K7QM2RXN`.")
    return code


_NEAR_DAYS: Final = {"today": 0, "tomorrow": 1, "yesterday": -1}


def _read_past_day(word: str) -> date | RelativeDay:
    if (days := _NEAR_DAYS.get(word.lower())) is not None:
        return RelativeDay(days)
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise BadArgument(
            f"{shown(word)} is no date. Write it as year-month-day, such as `2026-03-02`, or `yesterday`."
        ) from None


def _read_date(word: str) -> date | RelativeDay:
    if (weekday := _find_weekday(word.lower())) is not None:
        return RelativeDay(weekday=weekday)
    try:
        return _read_past_day(word)
    except BadArgument:
        raise BadArgument(
            f"{shown(word)} is no date. Write it as year-month-day, such as `2026-03-02`, or as `tomorrow` or `friday`."
        ) from None


WORD: Final = Kind("word", str, "autograd", own=False)
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
NUMBER: Final = Kind("number", _read_number, "3")
DAYS_BEFORE: Final = Kind("number of days", _read_number, "365")
CODE: Final = Kind("code", _read_code, "K7QM2RXN", own=False)
DATE: Final = Kind("date", _read_date, "2026-03-02")
PAST_DAY: Final = Kind("date", _read_past_day, "2026-03-02")
"""Without weekdays, which mean coming days, and which may be the name of a member."""
LEVEL: Final = one_of("level", {word: word for word in ("mid", "senior", "principal")})
LEVELS: Final = list_of("levels", ("mid", "senior", "principal"))
_KINDS: Final = ("choice", "value", "output", "code", "open")
KIND: Final = replace(one_of("kind of question", {word: word for word in _KINDS}), example="code")
KINDS: Final = list_of("kinds", _KINDS)
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
            f"{shown(word)} is no role (Discord) and no id of a user group (Slack). Write `none` for none."
        )
    return next(id for id in found.groups() if id)


ROLE: Final = Kind("role or user group", _read_role, "S0ABC123", own=False)


def _read_channel(word: str) -> NamedChannel:
    found = re.fullmatch(r"<#([0-9A-Za-z]{1,30})(?:\|([^<>]{0,100}))?>|#?([^<>#\s]{1,100})", word)
    if not found:
        raise BadArgument(f"{shown(word)} is no channel. Write it as `#general`.")
    return NamedChannel(found[1] or "", found[2] or found[3] or "")


CHANNEL: Final = Kind("channel", _read_channel, "#general", own=False, looks=r"<?#.*")
MEMBER: Final = Kind("member", _read_member, "@Ada", looks=r"<?@.*")
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

# The commands: names, arguments and help


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument. It may always be given as `name:value`; with `named` it must be."""

    name: str
    kind: Kind
    help: str
    required: bool = False
    named: bool = False

    @property
    def shown(self) -> str:
        """The argument as shown in a usage line."""
        text = f"{self.name}:{self.kind.example}" if self.named else self.name.upper()
        if self.kind in (EVERYONE, MINE):
            text = self.kind.choices[0]
        return text if self.required else f"[{text}]"


@dataclass(frozen=True, slots=True)
class Spec:
    """A command: `name` is quiz or quiz-admin, `path` the words after it."""

    name: str
    path: tuple[str, ...]
    help: str
    arguments: tuple[Argument, ...] = ()
    admin: bool = False

    @property
    def words(self) -> str:
        """The command as typed, without arguments."""
        return " ".join((f"/{self.name}", *self.path))

    @property
    def usage(self) -> str:
        """The command with its arguments, optional ones in brackets."""
        named = [argument.shown for argument in self.arguments if argument.named]
        shown = [argument.shown for argument in self.arguments if not argument.named]
        return " ".join((self.words, *shown, *(named if len(named) < 3 else ["[NAME:VALUE …]"])))


def _quiz(path: str, help: str, *arguments: Argument) -> Spec:
    return Spec("quiz", tuple(path.split()), help, arguments)


def _admin(path: str, help: str, *arguments: Argument) -> Spec:
    return Spec("quiz-admin", tuple(path.split()), help, arguments, admin=True)


_PLAN: Final = (
    Argument("at", TIME, "Time of day, in the schedule's zone."),
    Argument("days", WEEKDAYS, "Weekdays."),
    Argument("zone", ZONE, "Time zone."),
    Argument("every", EVERY, "Only every so many days, such as 3.", named=True),
    Argument("first", DATE, "The day from which `every` counts; else the next one.", named=True),
    Argument("month-days", MONTH_DAYS, "Only these days of the month; `last` is the last.", named=True),
    Argument("open", DURATION, "How long a round stays open.", named=True),
    Argument("level", LEVELS, "Only these levels.", named=True),
    Argument("topic", WORDS, "Only these topics.", named=True),
    Argument("kind", KINDS, "Only these kinds of question.", named=True),
    Argument("holidays", COUNTRY, "Country whose public holidays are kept, such as DE or US-CA.", named=True),
    Argument("speed", SWITCH, "Whether fast answers earn a bonus.", named=True),
    Argument("confidence", SWITCH, "Whether members say how sure they are, for points.", named=True),
    Argument("measure", SWITCH, "Whether code that passed is measured: time and memory.", named=True),
    Argument("contestant", SWITCH, "Whether a model answers too, unranked, if the operator named one.", named=True),
    Argument("variants", SWITCH, "Whether each member gets their own variant of a family.", named=True),
    Argument("ping", ROLE, "Role (Discord), or id of a user group (Slack), that a question notifies.", named=True),
    Argument("memory", DAYS_BEFORE, "Days before a question may come again.", named=True),
    Argument("catch-up", DURATION, "How late a missed question is still posted.", named=True),
)
_CHANNEL: Final = Argument("channel", CHANNEL, "Another channel than this one.", named=True)
_SCHEDULE: Final = Argument("schedule", NUMBER, "Number of the schedule; may be left out when there is one.")
_THIS_SCHEDULE: Final = Argument("schedule", NUMBER, "Number of the schedule.", required=True)
_QUESTION: Final = Argument("id", WORD, "Id of the question, as its card shows it.", required=True)
_BANK: Final = Argument("name", WORD, "Name of the bank; in quotes if it has spaces.", required=True)
_CODE: Final = Argument("code", CODE, "The code from the other chat; without it you get one.")
_REPORT: Final = Argument("report", NUMBER, "Number of the report.", required=True)
_REASON: Final = Argument("reason", REST, "What to tell the member who reported it; without it, a form asks.")
_ROLE: Final = Argument("role", ROLE, "The role, or `none`; without it, the present one.")
_MEMBER: Final = Argument("name", WORD, "Name of the member; in quotes if it has spaces.", required=True)

COMMANDS: Final[tuple[Spec, ...]] = (
    _quiz("today", "Today's question and whether you have answered it."),
    _quiz("answer", "Answer today's question, or change your answer."),
    _quiz(
        "practice",
        "Practice: due cards, then weak topics, then new ones.",
        Argument("topic", WORD, "Only this topic."),
        Argument("level", LEVEL, "Only this level."),
        Argument("kind", KIND, "Only this kind of question.", named=True),
    ),
    _quiz("run", "Run a snippet of Python with torch.", Argument("code", REST, "The program.")),
    _quiz(
        "board",
        "Who has gathered the most points.",
        Argument("period", PERIOD, "day, week, month, season or ever; else week."),
        Argument("topic", WORD, "Only this topic."),
        Argument(
            "contest",
            CONTEST,
            "rookies, improved (who gets more right than before), ladder (of duels) or tournament.",
        ),
        Argument("all", EVERYONE, "The whole workspace, not only this channel."),
    ),
    _quiz(
        "speed",
        "Time and memory of the latest code that was measured.",
        Argument("by", MEASURE, "time or memory; else time."),
    ),
    _quiz(
        "duel",
        "Challenge a member, or see your duels and rating.",
        Argument("member", MEMBER, "Whom to challenge; without it, your duels."),
        Argument("topic", WORD, "Only this topic."),
    ),
    _quiz(
        "tournament",
        "The tournament: teams, table, joining and leaving.",
        Argument("action", TOURNAMENT, "see, join, leave, or pick for captains; else see."),
        Argument("member", MEMBER, "Whom a captain picks."),
    ),
    _quiz("me", "Your points, streak, cards and weak topics."),
    _quiz("topics", "The topics, and what you and your team know of each."),
    _quiz("explain", "The answer to a past question, and why.", _QUESTION),
    _quiz(
        "report",
        "Say that a question is wrong.",
        Argument("id", WORD, "Id of the question; else today's."),
        Argument("text", REST, "What is wrong."),
    ),
    _quiz(
        "suggest",
        "Suggest a question for the bank, or see yours.",
        Argument("mine", MINE, "Your suggestions, and what was decided about them."),
    ),
    _quiz("link", "Be one member in two chats.", _CODE),
    _quiz("rules", "How points and streaks are counted."),
    _quiz(
        "notify",
        "Private messages: reminders and your results.",
        Argument("what", NOTIFICATION, "reminders or results; else your settings."),
        Argument("switch", SWITCH, "on or off; else on."),
    ),
    _quiz(
        "privacy",
        "See, export, hide or delete your data.",
        Argument("action", PRIVACY, "see, export, csv, hide, show or forget; else see."),
    ),
    _quiz("help", "This list, or more on one command.", Argument("command", REST, "A command.")),
    _admin("setup", "A first schedule here, in three clicks."),
    _admin("schedule add", "Post a question here on a schedule.", *_PLAN, _CHANNEL),
    _admin("schedule list", "The schedules and their next questions."),
    _admin("schedule edit", "Change a schedule; what is not named stays.", _THIS_SCHEDULE, *_PLAN),
    _admin("schedule pause", "Stop posting until resumed; streaks do not break.", _SCHEDULE),
    _admin("schedule resume", "Post again.", _SCHEDULE),
    _admin(
        "schedule skip",
        "Post nothing on one day; streaks do not break.",
        _SCHEDULE,
        Argument("date", DATE, "The day, such as 2026-03-02 or tomorrow.", required=True),
    ),
    _admin("schedule share", "Have a schedule post to this channel too.", _THIS_SCHEDULE, _CHANNEL),
    _admin("schedule unshare", "Have a schedule no longer post to this channel.", _THIS_SCHEDULE),
    _admin(
        "schedule preview",
        "The question that would come next, or on a day.",
        _SCHEDULE,
        Argument("date", DATE, "The day, such as 2026-03-02 or friday; else the next one."),
    ),
    _admin("schedule post-now", "Post today's question at once.", _SCHEDULE),
    _admin("schedule remove", "Remove a schedule; its rounds and points stay.", _THIS_SCHEDULE),
    _admin(
        "ask",
        "Post an extra question here now.",
        Argument("topic", WORDS, "Only these topics."),
        Argument("level", LEVELS, "Only these levels."),
        Argument("kind", KINDS, "Only these kinds of question.", named=True),
        Argument("closes-in", DURATION, "How long it stays open; else as on the schedule.", named=True),
        _CHANNEL,
    ),
    _admin("close-now", "Close this channel's open round and reveal it."),
    _admin(
        "sprint start",
        "Start a live quiz in this channel, now or later.",
        Argument("questions", NUMBER, "How many questions, 1 to 20; else 5."),
        Argument("seconds", NUMBER, "Seconds for each question, 10 to 120; else 20."),
        Argument("topic", WORD, "Only this topic."),
        Argument("at", TIME, "When it starts, such as 18:00, in the schedules' zone; else now.", named=True),
        Argument("date", DATE, "The day, such as 2026-03-02 or friday; else when that time is next.", named=True),
    ),
    _admin("sprint cancel", "Cancel the next planned sprint of this channel."),
    _admin("sprint list", "The planned sprints."),
    _admin("sprint stop", "End this channel's sprint early, with its podium."),
    _admin("sprint role", "The role that a sprint's winner is given on Discord.", _ROLE),
    _admin(
        "tournament new",
        "Plan a tournament of teams, and let members join.",
        Argument("name", WORD, "What it is called; in quotes if it has spaces.", required=True),
        Argument("first", DATE, "Its first day, after today; else the next Monday.", named=True),
        Argument("days", DAYS_BEFORE, "How many days, 1 to 31; else 7.", named=True),
        Argument("teams", TEAMS, "random, captains (who pick) or chats (one team each); else random.", named=True),
        Argument("count", NUMBER, "How many teams, 2 to 16, if they are random; else 2.", named=True),
        Argument("form", FORM, "table (all meet every day) or bracket (winners go on); else table.", named=True),
        Argument("best", NUMBER, "Most members of a team that count; else the smallest team's size.", named=True),
        Argument("schedules", NUMBERS, "Whose daily rounds count; else those of this channel.", named=True),
        Argument("late", SWITCH, "Whether members can join after the start; else on.", named=True),
        Argument("balance", BALANCE, "Teams are even by recent points, or by rating.", named=True),
    ),
    _admin(
        "tournament captain",
        "Give a member a team to pick.",
        Argument("member", MEMBER, "Who it is.", required=True),
    ),
    _admin("tournament cancel", "End the tournament without a result."),
    _admin("tournament role", "The role that a tournament's winners are given on Discord.", _ROLE),
    _admin(
        "season start",
        "Start a season; a running one is archived.",
        Argument("name", REST, "What it is called.", required=True),
    ),
    _admin("season end", "End the season and archive its board."),
    _admin("season list", "The seasons and their winners."),
    _admin("season role", "The role that a season's winner is given on Discord.", _ROLE),
    _admin("bank import", "Import a document of questions, or check it first."),
    _admin("bank log", "What was imported into a bank, and when.", _BANK),
    _admin("bank undo", "Take back the latest import into a bank of your own.", _BANK),
    _admin("bank list", "The banks and how many questions each has."),
    _admin("bank retire", "Never choose a question again.", _QUESTION),
    _admin("bank restore", "Let a retired question be chosen again.", _QUESTION),
    _admin(
        "bank approve",
        "Have questions made of a document's own prose be asked.",
        Argument("id", WORD, "Id of such a question, or `all` that wait."),
        Argument("next", GENERATED, "What imports do with such from now on: `use`, `hold` or `none`."),
    ),
    _admin("bank low", "How many questions each schedule has left."),
    _admin(
        "bank stats",
        "How the questions did: which need work, or one of them.",
        Argument("id", WORD, "A question's id; else the lists of the bank."),
    ),
    _admin("review list", "Reported questions."),
    _admin("review show", "A report beside its question, with the key.", _REPORT),
    _admin("review dismiss", "Settle a report: the question is right.", _REPORT, _REASON),
    _admin("review fixed", "Settle a report: the question was fixed.", _REPORT, _REASON),
    _admin(
        "review suggestions",
        "Questions that members suggest.",
        Argument("suggestion", NUMBER, "Number of the suggestion; else those that wait."),
    ),
    _admin("review here", "Have new reports shown in this channel."),
    _admin("review me", "Have new reports sent to you, privately."),
    _admin(
        "digest",
        "Last week in numbers, also sent on Mondays.",
        Argument("switch", SWITCH, "on or off: whether it is sent; else only shown."),
    ),
    _admin("review answers", "Open answers that wait for a credit."),
    _admin("review similarity", "Pairs whose wrong answers agree, and very fast answers."),
    _admin(
        "review credit",
        "Set how much of an open answer is right.",
        Argument("answer", NUMBER, "The answer's number, as listed.", required=True),
        Argument("percent", NUMBER, "Credit, from 0 to 100.", required=True),
    ),
    _admin(
        "member restore",
        "Let a missed day break no streak.",
        _MEMBER,
        Argument("date", PAST_DAY, "The day, such as 2026-03-02 or yesterday.", required=True),
    ),
    _admin(
        "member adjust",
        "Give or take points, with a reason.",
        _MEMBER,
        Argument("points", NUMBER, "Points, such as 5 or -5.", required=True),
        Argument("reason", REST, "Why; everyone who reads the audit sees it.", required=True),
    ),
    _admin("link", "Have two chats share one board.", _CODE),
    _admin("audit", "What admins did lately."),
    _admin("doctor", "Check that everything works."),
    _admin("help", "This list, or more on one command.", Argument("command", REST, "A command.")),
)


def specs_of(name: str) -> tuple[Spec, ...]:
    """Returns the commands under `/name`, in display order."""
    return tuple(spec for spec in COMMANDS if spec.name == name)
