"""Finds the lines of records in a document: data has lost its lines when it is loaded."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.source import Source

_IN_VAIN = 20
"""How often a document may be searched to its end for a text that is not in it as it is."""
_NEAR = 500
"""Lines searched in any case."""


def places_of(source: Source, asked: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yields the lines of each record: from the line with its question to the line before the next. The last ends
    before other data that follows it.

    `asked`: the texts of the questions.
    """
    starts: list[int] = []
    at, behind = 1, 0
    left = _IN_VAIN * (len(source.lines) + _NEAR)
    # Several records are in a line only where there are more of them than lines.
    dense = sum(map(bool, map(str.strip, source.lines))) < len(asked)
    needles: tuple[str, ...] = ()
    for text in asked:
        opening = text.strip()[:40].split("\n")[0].split("  ")[0]
        needle = json.dumps(opening, ensure_ascii=False)[1:-1].strip()
        needles = (needle, json.dumps(needle)[1:-1])
        end = min(at + max(left, _NEAR), len(source.lines) + 1)
        places = ((n, _find(source.line(n), needles, behind if n == at else 0)) for n in range(at, end))
        found = next((place for place in places if place[1] >= 0), None)
        if found is None:
            left -= end - at
        at = min(at if found is None else found[0], len(source.lines))
        starts.append(at)
        if not dense:
            at += 1
        elif found is not None:
            behind = found[1] + 1
    for start, following in pairwise(starts):
        yield start, max(following - 1, start)
    for start in starts[-1:]:
        yield start, _end(source, start, needles)


def _find(line: str, needles: Sequence[str], start: int) -> int:
    """Returns where the first of the texts is in a line; -1 if none does."""
    return min((at for one in needles if (at := line.find(one, start)) >= 0), default=-1)


_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}]')
_CLOSING = re.compile(r"[\s\]},]*")
_ITEM = re.compile(r"[ ]*-[ ]")
_JSON = ("{", "[", '"', "/")
"""First characters of JSON, also of some that has slips."""
_MOST_ABOVE = 30
"""Lines above its question in which the item of a record begins."""


def _end(source: Source, start: int, needles: Sequence[str]) -> int:
    """Returns the last line of the last record: of the document, if only closing brackets follow the record."""
    first = next((line for line in source.lines if line.strip()), "").lstrip()[:1]
    suffix = PurePath(source.name).suffix.lower()
    end = len(source.lines)
    if suffix in (".yaml", ".yml"):
        end = _end_in_yaml(source, start)
    elif first in _JSON and suffix != ".toml":
        end = _end_in_json(source, start, needles)
    rest = source.lines[end:]
    return len(source.lines) if all(_CLOSING.fullmatch(line) for line in rest) else end


def _end_in_json(source: Source, start: int, needles: Sequence[str]) -> int:
    """Returns the line in which the bracket closes that is open at the question."""
    asked = _find(source.line(start), needles, 0)
    depth = around = 0
    for number in range(start, len(source.lines) + 1):
        for part in _PART.finditer(source.line(number)):
            depth += (part[0] in "[{") - (part[0] in "]}")
            if number == start and part.start() < asked:
                around = depth
            elif depth < around:
                return number
    return len(source.lines)


def _end_in_yaml(source: Source, start: int) -> int:
    """Returns the last line that is indented more than the dash or the name under which the question is."""
    own = _indent(source.line(start))
    above = (_indent(source.line(number)) for number in range(start - 1, max(start - _MOST_ABOVE, 0), -1))
    around = own if _ITEM.match(source.line(start)) else next((one for one in above if one < own), -1)
    for number in range(start + 1, len(source.lines) + 1):
        if _indent(source.line(number)) <= around:
            return number - 1
    return len(source.lines)


def _indent(line: str) -> int:
    """Returns how far a line is indented; blank ones further than any other."""
    return len(line) - len(line.lstrip()) if line.strip() else _FAR


_FAR = 10**6
