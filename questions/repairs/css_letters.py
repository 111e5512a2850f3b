"""Gives the items of numbered lists the letters that a style sheet shows instead of their numbers.

In `<div class="upper-alpha" markdown>`, the list `1. … 2. …` is shown as `A. … B. …`, and the key names a letter.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_OPENS = re.compile(
    r"[ ]{0,3}<(?P<tag>div|section)[ ](?=[^<>]{0,200}\b(?:upper|lower)-(?:alpha|latin)\b)[^<>]{1,300}>[ ]*",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?P<indent>[ ]{0,3})(?P<number>\d{1,2})[.)][ \t]+(?=\S)")
_LONGEST = 100
"""Most lines of such a list."""
_LETTERS = "ABCDEFGHIJ"


def with_css_letters(source: Source) -> Source:
    """Returns the document with letters before the items of such lists, and without the tags around them. Lines keep
    their numbers."""
    if not any("-alpha" in line or "-latin" in line for line in source.lines):
        return source
    lines = list(source.lines)
    done = -1
    for at, line in lines_outside_programs(source.lines):
        if at > done and (found := _OPENS.fullmatch(line)):
            ahead = range(at + 1, min(at + 1 + _LONGEST, len(lines)))
            last = next((n for n in ahead if lines[n].strip().lower() == f"</{found['tag'].lower()}>"), None)
            done = last if last is not None and _letter(lines, at, last) else at
    return replace(source, lines=tuple(lines))


def _letter(lines: list[str], first: int, last: int) -> bool:
    """Writes the letters between two tags; returns whether the numbers are 1, 2, …, or all 1."""
    items = [(at, found) for at in range(first + 1, last) if (found := _ITEM.match(lines[at]))]
    numbers = [int(found["number"]) for _, found in items]
    counted = [*range(1, len(items) + 1)]
    if not 2 <= len(items) <= len(_LETTERS) or numbers not in (counted, [1] * len(items)):
        return False
    for letter, (at, found) in zip(_LETTERS, items, strict=False):
        lines[at] = f"{found['indent']}{letter}. {lines[at][found.end() :]}"
    lines[first] = lines[last] = ""
    return True
