"""Indents what is below items with two digits as far as Markdown needs it: `10. Which one?` and its bullets.

Authors indent all bullets by three spaces, as `1.` needs; below `10.` they would be a list of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_ITEM = re.compile(r"(?P<number>\d{1,2})[.)][ ]\S")
_BULLET = re.compile(r"[ ]{3}[-*+][ ]+\S")


def with_deeper_bullets(source: Source) -> Source:
    """Returns the document with a space more before bullets that follow an item with two digits, if such bullets follow
    one with a single digit. Lines keep their numbers."""
    short = False
    deeper: dict[int, str] = {}
    digits = 0
    for at, line in lines_outside_programs(source.lines):
        if not line.strip():
            continue
        if item := _ITEM.match(line):
            digits = len(item["number"])
        elif not line.startswith("   "):
            digits = 0
        elif digits and _BULLET.match(line):
            short = short or digits == 1
            if digits > 1:
                deeper[at] = f" {line}"
    return source.with_lines(deeper) if short and deeper else source
