"""Removes what ExamView and the like add to keys: `ANS: B  PTS: 1  DIF: Easy  REF: p. 12`, also in lines below."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from questions.source import Source

_NAMES = "PTS|DIF|REF|OBJ|NAT|STA|LOC|TOP|KEY|MSC|NOT|BLM"
_BEHIND = re.compile(rf"(?P<key>[ \t]*ANS:[ \t]*\S[^\t\n]{{0,200}}?)[ \t]+(?=(?:{_NAMES}):)")
_POINTS = re.compile(r"(?:[ \t]*|.*[ \t])PTS:[ \t]*\d")
_LINE = re.compile(rf"[ \t]*(?:{_NAMES}):[ \t]*\S.*")
_FEWEST = 2
"""Fewest questions with points."""


def with_bare_keys(source: Source) -> Source:
    """Returns a test bank with nothing but keys behind their labels. Lines keep their numbers. Any other document is
    returned as it is."""
    if sum("PTS:" in line and _POINTS.match(line) is not None for line in source.lines) < _FEWEST:
        return source
    lines: list[str] = []
    below = False
    for line in source.lines:
        found = _BEHIND.match(line)
        known = below and _LINE.fullmatch(line) is not None
        lines.append(found["key"] if found else "" if known else line)
        below = line.lstrip(" \t").startswith("ANS:") or (below and (known or not line.strip()))
    return replace(source, lines=tuple(lines))
