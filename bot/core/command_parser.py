"""Parses the text after `/quiz` or `/quiz-admin` into a command and its arguments, and completes it.

Runs nothing. Errors say what to type instead.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from difflib import get_close_matches
from typing import TypeVar

from bot.core.argument_kinds import BadArgument, RelativeDay, Value, closest, hint, shown
from bot.core.cards import Content
from bot.core.command_spec import Argument, Spec, specs_of
from bot.core.events import Command

V = TypeVar("V")

_WORD = re.compile(r'(?:[A-Za-z-]+:)?["“”][^"“”]*["“”]|\S+')
_NAMED = re.compile(r"([A-Za-z][A-Za-z-]*):(.*)", re.DOTALL)
_ALONE = {("review",): "list", ("schedule",): "list", ("bank",): "list", ("season",): "list"}
"""The command that a group's name runs when typed alone; none of them changes anything."""

_WITH_ARGUMENTS = {"sprint": "start"}
"""The command that a group's name runs when arguments follow: `sprint 5 20` is `sprint start 5 20`."""

UNKNOWN = "Unknown command"


class CommandError(Exception):
    """A command that cannot be run as typed. The message (Markdown) says why and what to type instead."""

    def __init__(self, message: str, title: str = "Check what you typed") -> None:
        super().__init__(message)
        self.title = title

    @classmethod
    def of(cls, words: tuple[str, str]) -> CommandError:
        """Returns the error of these words, a title and a text."""
        title, text = words
        return cls(text, title)


@dataclass(frozen=True, slots=True)
class Typed:
    """A parsed command. Arguments that were not given have no value."""

    spec: Spec
    values: Mapping[str, Value] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        return self._of(str, name, default)

    def number(self, name: str, default: int = 0) -> int:
        return self._of(int, name, default)

    def day(self, name: str) -> date:
        """Returns a day; `dated` must have said which one `tomorrow` is."""
        return self._of(date, name, None)

    @property
    def has_relative_days(self) -> bool:
        return any(isinstance(value, RelativeDay) for value in self.values.values())

    def dated(self, today: date) -> Typed:
        """Returns the same with dates in place of words such as `tomorrow`."""
        values = {
            name: value.seen_from(today) if isinstance(value, RelativeDay) else value
            for name, value in self.values.items()
        }
        return replace(self, values=values)

    def clock(self, name: str, default: time) -> time:
        return self._of(time, name, default)

    def _of(self, kind: type[V], name: str, default: V | None) -> V:
        value = self.values.get(name, default)
        if not isinstance(value, kind):
            raise CommandError(f"`{self.spec.words}` needs {name}.")
        return value


Handler = Callable[[Command, Typed], Awaitable[Content]]
"""Runs a parsed command and returns the reply."""

_ALL_TIME = re.compile(r"\ball[ -]?time\b", re.IGNORECASE)


def read_command(name: str, text: str) -> Typed:
    """Parses the text after `/name`; empty text is `help`. Raises CommandError."""
    spec, rest = _find(name, text)
    if spec.path == ("board",):
        # The board is titled so, and members type what they read.
        rest = _ALL_TIME.sub("ever", rest)
    return Typed(spec, _Values(spec).read(rest))


def _find(name: str, text: str) -> tuple[Spec, str]:
    name = name.lower()
    specs = {spec.path: spec for spec in specs_of(name)}
    if not specs:
        raise CommandError("The commands are `/quiz` and `/quiz-admin`.", UNKNOWN)
    words = [(match[0].lower(), match.end()) for match in re.finditer(r"\S+", text)][:2]
    typed = tuple(word for word, _ in words)
    if not typed:
        return specs[("help",)], ""
    for length in (2, 1):
        if len(typed) >= length and typed[:length] in specs:
            return specs[typed[:length]], text[words[length - 1][1] :].strip()
    if typed in _ALONE and (*typed, _ALONE[typed]) in specs:
        return specs[(*typed, _ALONE[typed])], ""
    if typed[0] in _WITH_ARGUMENTS and (len(typed) == 1 or not closest(typed[1], _words_after(typed[0], specs))):
        return specs[(typed[0], _WITH_ARGUMENTS[typed[0]])], text[words[0][1] :].strip()
    raise CommandError(_no_such(name, typed, tuple(specs)), UNKNOWN)


def _words_after(first: str, paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(path[1] for path in paths if len(path) == 2 and path[0] == first)


def _no_such(name: str, typed: tuple[str, ...], paths: tuple[tuple[str, ...], ...]) -> str:
    group = _words_after(typed[0], paths)
    if group:
        if len(typed) == 1:
            return f"`/{name} {typed[0]}` needs one of {', '.join(group)}."
        return f"`/{name} {typed[0]}` has no {shown(typed[1])}. It has {', '.join(group)}.{hint(typed[1], group)}"
    missing = shown(f"/{name} {typed[0]}")
    near = closest(" ".join(typed), tuple(" ".join(path) for path in paths)) or closest(
        typed[0], tuple(path[0] for path in paths)
    )
    if near is None and (other := _elsewhere(name, typed[0])):
        near, name = typed[0], other
    meant = f" Did you mean `/{name} {near}`?" if near else ""
    return f"There is no command {missing}.{meant} `/{name} help` lists them all."


def _elsewhere(name: str, word: str) -> str:
    """Returns the other of `/quiz` and `/quiz-admin` if it has a command that starts with the word."""
    other = "quiz" if name == "quiz-admin" else "quiz-admin"
    return other if any(spec.path[0] == word for spec in specs_of(other)) else ""


class _Values:
    """Assigns words to a command's arguments: by name if given, then by kind, then in order."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.values: dict[str, Value] = {}
        self._last: tuple[Argument, str] | None = None
        """The argument that the word before was taken for, with its words, if it may have more."""

    def read(self, text: str) -> Mapping[str, Value]:
        position = 0
        while found := _WORD.search(text, position):
            open_slots = self._open()
            if open_slots and open_slots[0].kind.rest:
                self.values[open_slots[0].name] = text[found.start() :]
                break
            if named_rest := self._rest_named(text[found.start() :]):
                self.values[named_rest[0]] = named_rest[1]
                break
            self._take(found[0])
            position = found.end()
        for argument in self.spec.arguments:
            if argument.required and argument.name not in self.values:
                after = f" after {shown(self._last[1])}" if self._last and " " in self._last[1] else ""
                what = argument.help[:1].lower() + argument.help[1:]
                raise CommandError(f"`{argument.name.upper()}` is missing{after}: {what} {self._usage()}")
        return self.values

    def _rest_named(self, text: str) -> tuple[str, str] | None:
        """Parses `name: text` where the argument takes the rest of the line; earlier ones may be left out."""
        name, colon, rest = text.partition(":")
        takes = [one for one in self._open() if one.kind.rest and colon and one.name == name.lower()]
        return (takes[0].name, rest.strip()) if takes and rest.strip() else None

    def _open(self) -> list[Argument]:
        return [one for one in self.spec.arguments if not one.named and one.name not in self.values]

    def _usage(self) -> str:
        if len(self.spec.arguments) > 4:
            return f"`/{self.spec.name} help {' '.join(self.spec.path)}` says more."
        return f"Type `{self.spec.usage}`."

    def _take(self, word: str) -> None:
        last, self._last = self._last, None
        named = _NAMED.fullmatch(word)
        if named and not _quoted(word):
            self._set(self._called(named[1]), named[2])
            return
        # An argument that takes the rest of the line comes last; it does not get a word that fits nothing else.
        slots = [one for one in self._open() if not one.kind.rest]
        for argument in sorted(slots, key=lambda one: not one.kind.own):
            try:
                value = argument.kind.read(_bare(word))
            except BadArgument:
                continue
            if not argument.kind.own:
                self._check_slip(word, argument, slots)
            self.values[argument.name] = value
            if argument.kind.spaced and not _quoted(word):
                self._last = argument, word
            return
        meant = any(re.fullmatch(one.kind.looks, word, re.IGNORECASE) for one in slots)
        if last is None or meant or _quoted(word):
            raise CommandError(self._misfit(word, slots))
        self._go_on(*last, word)

    def _go_on(self, argument: Argument, before: str, word: str) -> None:
        """Adds a word to the name that the words before began."""
        whole = f"{before} {word}"
        try:
            self.values[argument.name] = argument.kind.read(whole)
        except BadArgument as error:
            raise CommandError(str(error)) from None
        self._last = argument, whole

    def _check_slip(self, word: str, argument: Argument, slots: list[Argument]) -> None:
        """Rejects likely typos: `board weak` more probably means `week` than a topic named `weak`."""
        choices = {choice: one.name for one in slots if one.kind.own for choice in one.kind.choices}
        near = get_close_matches(word.lower(), choices, 1, 0.74)
        if near and len(word) > 2 and not _quoted(word):
            other = shown(f'"{word}"')
            raise CommandError(
                f"There is no {choices[near[0]]} {shown(word)}. Did you mean `{near[0]}`? If you mean the "
                f"{argument.name} {shown(word)}, type {other}."
            )

    def _misfit(self, word: str, slots: list[Argument]) -> str:
        if not slots:
            return f"{shown(word)} is one word too many. {self._usage()}{self._quotes()}"
        meant = [one for one in slots if re.fullmatch(one.kind.looks, word, re.IGNORECASE)]
        if len(slots) == 1 or meant:
            try:
                (meant or slots)[0].kind.read(_bare(word))
            except BadArgument as error:
                return str(error)
        kinds = " or ".join(f"{one.name} (such as `{one.kind.example}`)" for one in slots)
        choices = tuple(choice for one in slots for choice in one.kind.choices)
        return f"{shown(word)} does not fit. Expected {kinds}.{hint(word, choices)} {self._usage()}{self._quotes()}"

    def _quotes(self) -> str:
        """Returns the way to type a value with spaces, if the command takes one."""
        free = any(not one.named and not one.kind.rest and not one.kind.own for one in self.spec.arguments)
        return " Put a value that has spaces in quotes." if free else ""

    def _called(self, name: str) -> Argument:
        names = {argument.name: argument for argument in self.spec.arguments}
        if name.lower() not in names:
            known = f"It takes {', '.join(names)}." if names else "It takes none."
            raise CommandError(f"`{self.spec.words}` has no {shown(name + chr(58))}. {known}{hint(name, tuple(names))}")
        return names[name.lower()]

    def _set(self, argument: Argument, word: str) -> None:
        if not _bare(word):
            raise CommandError(f"`{argument.name}:` is empty. Write it as `{argument.name}:{argument.kind.example}`.")
        try:
            self.values[argument.name] = argument.kind.read(_bare(word))
        except BadArgument as error:
            raise CommandError(f"{argument.name.capitalize()}: {error}") from None


def _quoted(word: str) -> bool:
    return word.startswith(('"', "“", "”"))


def _bare(word: str) -> str:
    return word.strip('"“”')


# Completion

_MOST = 25
"""Completions that are returned at most."""
_MOST_OFFERED = 100
"""Commands that a command bar shows at most: all of them, before anything is typed."""


def complete(name: str, text: str) -> list[str]:
    """Completes the text after `/quiz` or `/quiz-admin`, with at most 25 results."""
    lowered = text.lower().lstrip()
    found = [
        words for spec in specs_of(name) if (words := " ".join(spec.path)).startswith(lowered) and words != lowered
    ]
    for spec in specs_of(name):
        words = " ".join(spec.path)
        if lowered.startswith(words + " "):
            found = _arguments(spec, text.lstrip())
    return found[:_MOST]


def suggest(line: str, admin: bool) -> list[str]:
    """Completes a whole line such as `/quiz board week`. Admin commands are suggested to admins only."""
    name, space, rest = line.removeprefix("/").partition(" ")
    names = ("quiz", "quiz-admin") if admin else ("quiz",)
    if space:
        return [f"/{name} {text}" for text in complete(name, rest)] if name in names else []
    return [f"/{one} {text}" for one in names if one.startswith(name) for text in complete(one, "")][:_MOST]


@dataclass(frozen=True, slots=True)
class Offer:
    """A command that a command bar offers."""

    text: str
    """The command as typed so far and completed."""
    about: str
    """What it does."""
    usage: str
    """The command with its arguments."""
    runs: bool
    """Whether it can be run as it is; otherwise it needs an argument."""


def offer(typed: str, admin: bool) -> list[Offer]:
    """Returns the commands that begin with a line such as `/quiz board`, or that have all of its words, best first."""
    specs = [*specs_of("quiz"), *(specs_of("quiz-admin") if admin else ())]
    typed = typed.lstrip()
    if typed.startswith("/"):
        whole = [spec.words for spec in specs if spec.words == typed.rstrip().lower()]
        return [_offered(line, specs) for line in (*whole, *suggest(typed, admin))]
    words = typed.lower().split()
    begun = [spec for spec in specs if words and " ".join(spec.path).startswith(" ".join(words))]
    about = [spec for spec in specs if all(word in f"{spec.words} {spec.help}".lower() for word in words)]
    found = dict.fromkeys((*begun, *about))
    return [_offered(spec.words, [spec]) for spec in found][:_MOST_OFFERED]


def _offered(line: str, specs: Sequence[Spec]) -> Offer:
    """Returns a completed line with what the command does."""
    spec = max((one for one in specs if f"{line} ".startswith(f"{one.words} ")), key=lambda one: len(one.words))
    given = line.removeprefix(spec.words).split()
    missing = any(argument.required for argument in spec.arguments) and not given
    return Offer(line, spec.help, spec.usage, runs=not missing and not line.endswith(":"))


def _arguments(spec: Spec, text: str) -> list[str]:
    before, _, last = text.rpartition(" ")
    given = {word.partition(":")[0] for word in before.split()}
    offers = [offer for argument in spec.arguments if argument.name not in given for offer in _offers(argument)]
    return [f"{before} {offer}" for offer in offers if offer.startswith(last.lower()) and offer != last]


def _offers(argument: Argument) -> tuple[str, ...]:
    if argument.kind.rest:
        return ()
    prefix = f"{argument.name}:"
    if argument.named:
        return (prefix, *(prefix + choice for choice in argument.kind.choices))
    return argument.kind.choices or (() if argument.required else (prefix,))
