"""Numbers and letters that are emoji, `1️⃣ What is a view?` and `🇦 a view`, written as in Markdown: `1. What is a view?`
and `A) a view`; and headings without an emoji before their number, `## ✅ 1. What is a view?`.

Programs that write notes for people number headings and lines in this way. Lines of programs stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in

if TYPE_CHECKING:
    from questions.source import Source

_SIGN = "\u20e3"
"""The mark around a digit."""
_TEN = "\U0001f51f"
_NUMBER = re.compile(
    rf"(?P<lead>[ ]{{0,3}}(?:#{{1,6}}[ ]+)?(?:\*\*|__)?)(?P<number>(?:[0-9]\ufe0f?{_SIGN}){{1,3}}|{_TEN})"
    r"\ufe0f?[ ]*[.):]?[ ]*(?=\S)"
)
_FIRST_LETTER = 0x1F1E6
_LETTER = re.compile(
    r"(?P<lead>[ ]{0,3}(?:[-*+][ ]+)?(?:\*\*|__)?)(?:(?P<letter>[\U0001f1e6-\U0001f1ef])(?![\U0001f1e6-\U0001f1ff])"
    r"|(?P<square>[\U0001f170\U0001f171]))\ufe0f?[ ]*[.):]?[ ]*(?=\S)"
)
"""A letter of an option: two such letters in a row are the flag of a country."""


_BEFORE_NUMBER = re.compile(
    r"(?P<lead>[ ]{0,3}#{1,6}[ ]+(?:\*\*|__)?)(?:(?![❓❔])[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?){1,3}[ ]?"
    r"(?=\d{1,4}[.)][ ]?\S)"
)
_FEWEST = 3
"""Fewest headings with an emoji before their number."""


def with_bare_numbers(source: Source) -> Source:
    """Returns the document without the emoji before the numbers of headings, if several have one."""
    found = [(at, one) for at, line in enumerate(source.lines) if (one := _BEFORE_NUMBER.match(line))]
    if len(found) < _FEWEST:
        return source
    return source.with_lines({at: one["lead"] + source.lines[at][one.end() :] for at, one in found})


def with_keycap_numbers(source: Source) -> Source:
    """Returns the document with digits and letters for the emoji at the start of headings and lines. Lines keep their
    numbers."""
    if not any(not line.isascii() and (_NUMBER.match(line) or _LETTER.match(line)) for line in source.lines):
        return source
    lines: list[str] = []
    fence = ""
    for line in source.lines:
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        lines.append(line if fence or line.isascii() else _in_letters(_in_digits(line)))
    return source if tuple(lines) == source.lines else replace(source, lines=tuple(lines))


def _in_digits(line: str) -> str:
    found = _NUMBER.match(line)
    if found is None:
        return line
    number = "10" if found["number"] == _TEN else "".join(filter(str.isdecimal, found["number"]))
    return f"{found['lead']}{number}. {line[found.end() :]}"


def _in_letters(line: str) -> str:
    found = _LETTER.match(line)
    if found is None:
        return line
    place = ord(found["letter"]) - _FIRST_LETTER if found["letter"] else ord(found["square"]) - 0x1F170
    return f"{found['lead']}{chr(ord('A') + place)}) {line[found.end() :]}"
