"""Decides which options the keys of a table name: letters, texts or numbers, the same way in all rows.

A number can be the place of an option or its text (`Which is odd: 8, 3, 1 or 5?`), and places can start at 0 or 1. The
header or the other rows show which; otherwise the question stays unanswered.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING

from questions.blocks import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Options = list[tuple[int, str]]
"""Index and text of each option."""

_LETTER = re.compile(r"[(\[]?[A-Za-z][)\].:]?")
"""A letter, which is always the label of an option."""
_LETTER_BEFORE = re.compile(r"[(\[]?(?P<letter>[A-Za-z])(?:[)\].:]|[ ]?[-–])\s+(?P<text>\S.*)", re.DOTALL)
"""A letter before the text of the option, as in `b. a copy` and `b - a copy`."""
_NUMBERS = re.compile(r"\d{1,2}(?:[\s,;|]+\d{1,2})*")
_REGULAR = 0.95
"""Share of the keys that are numbers where the header shows that these are places."""
UNKNOWN_BASE = "nothing shows whether the right option is counted from 0 or from 1"
"""Message of the finding for a number that could be the place of one of two options."""


def is_place(key: str, count: int) -> bool:
    """Returns whether a key is made of numbers that are places of options, counted from 0 or from 1."""
    return _NUMBERS.fullmatch(key.strip()) is not None and all(int(one) <= count for one in re.findall(r"\d+", key))


@dataclass(frozen=True, slots=True)
class KeyStyle:
    """How the keys of a table are written."""

    base: int | None = None
    """Number of the first option, 0 or 1; None if numbers are not places, or the document does not show which."""
    only_places: bool = False
    """Whether all keys are numbers that are places, so that none is the text of an option."""


def key_style(rows: Iterable[tuple[Options, str]], base: int | None) -> KeyStyle:
    """Returns how keys are written. `base`: the number of the first option, if the header shows it."""
    keyed = [(options, key.strip()) for options, key in rows if options and key.strip()]
    counted = [(options, key) for options, key in keyed if _NUMBERS.fullmatch(key)]
    if not keyed or len(counted) < (len(keyed) if base is None else len(keyed) * _REGULAR):
        return KeyStyle()
    if len(counted) < len(keyed):
        # The header shows what numbers are; a few cells hold something else.
        fits = all(max(map(int, re.findall(r"\d+", key))) <= len(options) for options, key in counted)
        return KeyStyle(base if fits else None)
    numbers = [(len(options), [int(one) for one in re.findall(r"\d+", key)]) for options, key in keyed]
    lowest = any(0 in key for _, key in numbers)
    highest = any(count in key for count, key in numbers)
    if any(max(key) > count for count, key in numbers) or (lowest and highest):
        return KeyStyle()
    found = 0 if lowest else 1 if highest else base
    texts = sum(key in {text for _, text in options} for options, key in keyed)
    return KeyStyle(found, only_places=found is not None and texts < len(keyed))


def right_options(options: Options, key: str, style: KeyStyle, *, texts_first: bool) -> set[int] | None:
    """Returns the indices of the options that a key names; None if it names none, or one of two."""
    key = _unlisted(key.strip())
    numbers = {str(index + style.base): index for index, _ in options} if style.base is not None else {}
    if style.only_places:
        return _named(key, numbers)
    letters = {ascii_lowercase[index]: index for index, _ in options if index < len(ascii_lowercase)}
    if _LETTER.fullmatch(key) and (found := _named(key, letters)) is not None:
        return found
    texts = {" ".join(plain(text).casefold().split()): index for index, text in options}
    if " ".join(plain(key).casefold().split()) not in texts and (lettered := _lettered(options, key)) is not None:
        # Not to be split at its space: `a. has` is one key, even where `a` is the text of another option.
        return lettered or None
    for names in (texts, letters) if texts_first else (letters, texts):
        found = _named(key, names)
        if found is not None:
            place = _named(key, numbers)
            return found if place in (None, found) else None
    return _named(key, numbers)


def _lettered(options: Options, key: str) -> set[int] | None:
    """Returns the option whose letter and text a key gives together, an empty set where these are of two options; None
    for other keys."""
    found = _LETTER_BEFORE.fullmatch(key)
    shown = plain(found["text"]).casefold() if found else ""
    same = [index for index, text in options if plain(text).casefold() == shown]
    if not found or not same:
        return None
    place = ascii_lowercase.index(found["letter"].lower())
    return {place} if same == [place] else set()


def _unlisted(key: str) -> str:
    """Returns a key that is a list in JSON with a line for each part; others as they are."""
    if not key.startswith("[") or not key.endswith("]"):
        return key
    try:
        parts = json.loads(key)
    except (ValueError, RecursionError):
        return key
    return "\n".join(map(str, parts)) if isinstance(parts, list) else key


def _named(key: str, names: dict[str, int]) -> set[int] | None:
    """Returns the options that a key names; None if a part of it names none."""
    for parts in ([key], *(key.split(mark) for mark in ("\n", "|", ";", ",", " "))):
        shown: Sequence[str] = [" ".join(plain(part).casefold().split()) for part in parts if part.strip()]
        shown = [part.removeprefix("option ").strip("().") if part not in names else part for part in shown]
        if shown and all(part in names for part in shown):
            return {names[part] for part in shown}
    return None
