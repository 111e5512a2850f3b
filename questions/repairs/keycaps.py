"""Numbers that are keycap emoji, `1️⃣ What is a view?`, written as numbers of Markdown: `1. What is a view?`.

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


def with_keycap_numbers(source: Source) -> Source:
    """Returns the document with digits for the keycaps at the start of headings and lines. Lines keep their numbers."""
    if not any(_SIGN in line or _TEN in line for line in source.lines):
        return source
    lines: list[str] = []
    fence = ""
    for line in source.lines:
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        lines.append(line if fence or line.isascii() else _in_digits(line))
    return source if tuple(lines) == source.lines else replace(source, lines=tuple(lines))


def _in_digits(line: str) -> str:
    found = _NUMBER.match(line)
    if found is None:
        return line
    number = "10" if found["number"] == _TEN else "".join(filter(str.isdecimal, found["number"]))
    return f"{found['lead']}{number}. {line[found.end() :]}"
