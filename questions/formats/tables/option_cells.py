"""Reads the cells of a table that hold options: several in one cell, and words that stand for no option."""

from __future__ import annotations

import ast
import json
import re
from string import ascii_lowercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARKS = ("\n", "|", ";", ",")
"""Marks between options, the clearest first."""
_MARKER = re.compile(r"(?:[-*•]|\(?[A-Za-z0-9]{1,2}[.)])\s+")
_LABEL = re.compile(r"(?P<letter>[A-Za-z])[ ]?:(?:[ ]+(?=\S)|(?=\S.))")
_START = re.compile(r"[(]?(?P<letter>[A-Za-z])(?:[ ]?:|[.)])[ ]{0,9}(?=\S)")
_PLACEHOLDER = re.compile(r"n[/.]a\.?|[-–—]{1,3}", re.IGNORECASE)
_FEWEST_ROWS = 2
"""Fewest rows in which a word can stand for no option."""
_FEWEST_OPTIONS = 2


def parts_of(cell: str) -> list[str]:
    """Returns the options in a cell, between the clearest mark that parts it: line breaks, bars, semicolons or
    commas. Where letters from A on stand before options, only these begin one, and they are in the order of their
    letters, which keys name."""
    if (listed := _written_list(cell.strip())) is not None:
        return listed
    cell = _BREAK.sub("\n", cell)
    split = {mark: [text.strip() for text in cell.strip().split(mark) if text.strip()] for mark in _MARKS}
    lettered = [_by_letters(parts, mark) for mark, parts in split.items()]
    if best := max(lettered, key=len):
        return best
    return next((parts for parts in split.values() if len(parts) > 1), split[_MARKS[-1]])


def _written_list(cell: str) -> list[str] | None:
    """Returns the options of a list, or of a mapping by their letters, as programs write it into a cell, such as
    `["a view", "a copy"]` or `{"A": "a view", "B": "a copy"}`; None for other cells."""
    if cell[:1] + cell[-1:] not in ("[]", "{}") or len(cell) > _LONGEST_LIST:
        return None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return None
    if isinstance(found, dict):
        letters = [str(name).strip().lower() for name in found]
        found = [*found.values()] if ascii_lowercase.startswith("".join(letters)) else None
    if not isinstance(found, list) or len(found) == 1 or not all(isinstance(o, str | int | float) for o in found):
        return None
    return [str(one).strip() for one in found]


_BREAK = re.compile(r"[ ]?<br[ ]?/?>[ ]?", re.IGNORECASE)
_LONGEST_LIST = 20_000
"""Length of a cell with a list, characters."""


def _by_letters(parts: list[str], mark: str) -> list[str]:
    """Returns the parts of a cell in the order of the letters before them; one without a letter continues the one
    before it: `a: one, b: two, or so`. Empty unless the letters are the first of the alphabet, each once."""
    found: dict[str, list[str]] = {}
    last = ""
    for part in parts:
        start = _START.match(part)
        letter = start["letter"].lower() if start else ""
        if letter and letter not in found:
            found[letter] = [part]
            last = letter
        elif not last:
            return []
        else:
            found[last].append(part)
    letters = "".join(sorted(found))
    if len(letters) < _FEWEST_OPTIONS or not ascii_lowercase.startswith(letters):
        return []
    between = mark if mark == _MARKS[0] else f"{mark} "
    return [between.join(found[letter]) for letter in letters]


def without_labels(texts: list[str]) -> list[str]:
    """Returns options without the markers before them, and letters before colons where these continue from A."""
    if all(_MARKER.match(text) for text in texts):
        return [_MARKER.sub("", text, count=1) for text in texts]
    labels = [_LABEL.match(text) for text in texts]
    letters = "".join(label["letter"].lower() for label in labels if label)
    if len(texts) >= _FEWEST_OPTIONS and len(letters) == len(texts) and ascii_lowercase.startswith(letters):
        return [_LABEL.sub("", text, count=1) for text in texts]
    return texts


_LETTER = re.compile(r"(?:\((?P<in>[A-Za-z])\)|(?P<letter>[A-Za-z])[.)])\s{0,9}(?=\S)")
_REFERS = re.compile(r"\b(?:[A-H]|[a-h])\)?[ ]*(?:and|or|&|und|oder|et|ou|y|o|e|и|или)[ ]*\(?(?:[A-H]|[a-h])\b")
"""A text that names other options by their letters."""


def without_letters(texts: list[str]) -> list[str]:
    """Returns options without the letters before them, where these continue from A in the same form and no option names
    others by them: they would be beside the letters that are shown, and in another order."""
    found = [_LETTER.match(text) for text in texts]
    forms = [one[0].strip().replace(one["in"] or one["letter"], "") for one in found if one]
    letters = "".join((one["in"] or one["letter"]).lower() for one in found if one)
    regular = len(texts) >= _FEWEST_OPTIONS and len(letters) == len(texts) and len(set(forms)) == 1
    if not regular or not ascii_lowercase.startswith(letters):
        return texts
    bare = [_LETTER.sub("", text, count=1) for text in texts]
    return texts if any(map(_REFERS.search, bare)) else bare


def without_placeholders(rows: Sequence[tuple[Mapping[int, str], str]]) -> list[dict[int, str]]:
    """Returns the options of each row without those that stand for no option, such as `N/A`. `rows`: the options of a
    row by their places, and its key.

    They are after all others, in several rows, and no key names one.
    """
    ends = [_first_placeholder(options) for options, _ in rows]
    filled = [(end, key) for end, (_, key) in zip(ends, rows, strict=True) if end is not None]
    if len(filled) < _FEWEST_ROWS or any(_may_name(key, end) for end, key in filled):
        return [dict(options) for options, _ in rows]
    return [
        {place: text for place, text in options.items() if end is None or place < end}
        for end, (options, _) in zip(ends, rows, strict=True)
    ]


def _first_placeholder(options: Mapping[int, str]) -> int | None:
    """Returns the place of the first of the placeholders at the end; None if there is none, or fewer than two other
    options."""
    places = [place for place, text in sorted(options.items()) if text.strip()]
    kept = len(places)
    while kept and _PLACEHOLDER.fullmatch(options[places[kept - 1]].strip()):
        kept -= 1
    return places[kept] if _FEWEST_OPTIONS <= kept < len(places) else None


def _may_name(key: str, end: int) -> bool:
    """Returns whether a key may name an option from this place on: by its letter, its number or its text."""
    if _PLACEHOLDER.fullmatch(key.strip()):
        return True
    named = re.findall(r"\b(?:[A-Za-z]|\d{1,2})\b", key) if len(key) <= _LONGEST_KEY else []
    return any(int(one) > end if one.isdecimal() else ascii_lowercase.index(one.lower()) >= end for one in named)


_LONGEST_KEY = 12
"""Longest key made of letters or numbers, characters."""
