"""Gives items with Roman numbers decimal ones: `iv. Given a list, …` becomes `4. Given a list, …`.

Markdown reads such lines as one paragraph.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in

if TYPE_CHECKING:
    from questions.source import Source

_ROMAN = (
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    *("xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx"),
)
_ITEM = re.compile(r"(?P<number>[ivx]{1,5})(?P<mark>[.)])[ ]+(?P<text>\S.*)", re.IGNORECASE)
_FEWEST = 5
"""Fewest items of a list with Roman numbers."""
_WORDS = 4
"""Fewest words of each item."""


def with_decimal_numbers(source: Source) -> Source:
    """Returns the document with decimal numbers before items right below a heading that have Roman ones in order, with
    nothing but blank lines between them, if such items are most of the document. Lists below a text stay as they are:
    they may be parts or options of it."""
    lines: dict[int, str] = {}
    run: dict[int, str] = {}
    fence, headed = "", False
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        if fence or not line.strip():
            continue
        item = _ITEM.fullmatch(line) if line[0] in "ivxIVX" else None
        if item and (run or headed) and _follows(item, len(run)):
            run[at] = f"{len(run) + 1}{item['mark']} {item['text']}"
        else:
            lines |= run if len(run) >= _FEWEST else {}
            run = {}
        headed = line.startswith("#")
    lines |= run if len(run) >= _FEWEST else {}
    if not lines or len(lines) * 2 < sum(bool(line.strip()) for line in source.lines):
        return source
    return source.with_lines(lines)


def _follows(item: re.Match[str], count: int) -> bool:
    """Returns whether an item of several words has the number after `count`."""
    wordy = len(item["text"].split()) >= _WORDS
    return wordy and count < len(_ROMAN) and item["number"].casefold() == _ROMAN[count]
