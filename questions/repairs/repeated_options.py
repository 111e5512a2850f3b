"""Gives lines below lists that repeat one item, and nothing else, the form of a key: `**Answer:** blue`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in

if TYPE_CHECKING:
    from questions.source import Source

_ITEM = re.compile(r"[ \t]{0,4}[-*+][ ]+(?P<text>\S.*)")
_FEWEST = 3
"""Fewest lists with such a line below."""
_REGULAR = 0.9
"""Share of the lists below which one item must be repeated."""
_MOST = 8
"""Most options of a question."""
_LONGEST = 300
"""Length of an option, characters."""


def with_repeated_options(source: Source) -> Source:
    """Returns the document with a label before the line right below a list that is exactly one of its items, if nearly
    each list has one. Programs stay as they are."""
    keys: list[int] = []
    lists = 0
    fence = ""
    items: list[str] = []
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        if fence or not line.strip():
            continue
        if item := _ITEM.fullmatch(line):
            items.append(_said(item["text"]))
            continue
        if len(items) > 1:
            lists += 1
            keys += [at] if _repeats(source.lines, at, items) else []
        items = []
    lists += len(items) > 1
    if len(keys) < max(_FEWEST, _REGULAR * lists):
        return source
    chosen = set(keys)
    lines = (f"**Answer:** {line.strip()}" if at in chosen else line for at, line in enumerate(source.lines))
    return replace(source, lines=tuple(lines))


def _repeats(lines: tuple[str, ...], at: int, items: list[str]) -> bool:
    """Returns whether a line with nothing right below it is exactly one of the items above."""
    ends = at + 1 == len(lines) or not lines[at + 1].strip()
    line = lines[at]
    return ends and len(items) <= _MOST and len(line) <= _LONGEST and items.count(_said(line)) == 1


def _said(text: str) -> str:
    return text.strip().strip("*_").strip()
