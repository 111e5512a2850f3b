"""Makes a heading of a line such as `Answers` or `参考答案` above nothing but keys, so that they are read as a list.

Keys without such a line get a heading in the blank line above them if they are the end of the document, their numbers
start again at 1, and each is the number of a line above.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs
from questions.wording.labels import announces_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.source import Source

_HEADING = re.compile(r"[ ]{0,3}(?P<marks>#{1,6})[ ]")
_KEY = r"\d{1,4}[ ]?[.):：、．）–—-]?[ ]?[(（]?[A-Ja-j](?:[ ]?[,，、/&]?[ ]?[A-J]){0,5}[)）]?(?![\w'’])[.。]?"
_KEYS = re.compile(rf"[ ]{{0,3}}(?:[-*+][ ]+)?{_KEY}(?:[ ,，;；\u3000\t]{{1,6}}{_KEY}){{0,30}}[ ]*")
_ONE = re.compile(_KEY)
_LONGEST = 60
"""Length of such a line, characters."""
_FEWEST = 2
"""Fewest keys."""


def with_key_headings(source: Source) -> Source:
    """Returns the document with a heading for each such line. Lines keep their numbers."""
    lines = source.lines
    if at := _above_last_keys(lines):
        return replace(source, lines=(*lines[:at], _ADDED, *lines[at + 1 :]))
    found = [at for at, line in enumerate(lines) if _KEYS.fullmatch(line[: 10 * _LONGEST])]
    if not found or sum(len(_ONE.findall(lines[at])) for at in found) < _FEWEST:
        return source
    titles = {at: f"{'#' * level} {lines[at].strip(' *_')}" for at, level in _titles(lines, frozenset(found))}
    return replace(source, lines=tuple(titles.get(at, line) for at, line in enumerate(lines))) if titles else source


_ADDED = "# Answer Key"
"""The heading of keys without a title."""
_NUMBERED = re.compile(
    r"[ ]{0,3}(?:#{1,6}[ ]+|[-*+][ ]+)?[*_]{0,3}(?:[^\W\d]{1,12}[ ]?)?"
    r"(?P<number>\d{1,4})(?:[ ]?[.):：、．）–—-]|[*_ ]|$)"
)
_WITH_TEXT = re.compile(
    r"[ ]{0,3}(?:[-*+][ ]+)?(?P<number>\d{1,4})[ ]?[.):：、．–—-][ ]?(?!.*[ ][B-Jb-j][)）.])[(（*_]{0,3}[A-Ja-j]"
    r"(?:[ ]?[)）.:*_–—-][)）.:*_ –—-]{0,4}.*|[ ]?[(（].*[)）]|[ ]*)"
)
"""A number and a letter, maybe with the text of the option."""
_FEWEST_ALONE = 4
"""Minimum number of keys without a title."""


def _above_last_keys(lines: Sequence[str]) -> int:
    """Returns the index of the blank line above keys without a title at the end of the document; 0 if there are none.

    Their numbers count up from 1, and each is the number of a line above.
    """
    filled = [at for at, line in enumerate(lines) if line.strip()]
    start = len(filled)
    while start and (found := _WITH_TEXT.fullmatch(lines[filled[start - 1]])):
        start -= 1
        if found["number"] == "1":
            break
    keys = filled[start:]
    first = keys[0] if keys else 0
    if len(keys) < _FEWEST_ALONE or first < 1 or lines[first - 1].strip():
        return 0
    numbers = [int(found["number"]) for at in keys if (found := _WITH_TEXT.fullmatch(lines[at]))]
    above = {int(found["number"]) for at in filled[:start] if (found := _NUMBERED.match(lines[at]))}
    announced = start > 0 and announces_keys(lines[filled[start - 1]])
    regular = numbers == list(range(1, len(numbers) + 1)) and above.issuperset(numbers)
    return first - 1 if regular and not announced else 0


def _titles(lines: Sequence[str], keys: frozenset[int]) -> list[tuple[int, int]]:
    """Returns the lines that announce keys, with a level below the heading above them."""
    found: list[tuple[int, int]] = []
    level = 1
    for at, line in lines_outside_programs(lines):
        if heading := _HEADING.match(line):
            level = len(heading["marks"])
        elif _may_announce(lines, at) and _has_only_keys(lines, at + 1, keys):
            found.append((at, min(level + 1, 6)))
    return found


def _may_announce(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    return 0 < len(line) <= _LONGEST and line.strip() != "" and announces_keys(line)


def _has_only_keys(lines: Sequence[str], first: int, keys: frozenset[int]) -> bool:
    """Returns whether several keys and nothing else are between a line and the next heading."""
    count = 0
    for at in range(first, len(lines)):
        if at in keys:
            count += len(_ONE.findall(lines[at]))
        elif _HEADING.match(lines[at]):
            break
        elif lines[at].strip():
            return False
    return count >= _FEWEST
