"""Gives the two sides of cards the labels of a question and its answer: `Front: …` above `Back: …`, `P: …` above `S: …`
for a problem and its solution."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_SIDES = {
    "front": "back",
    "front side": "back side",
    "vorderseite": "rückseite",
    "recto": "verso",
    "anverso": "reverso",
    "frente": "verso",
    "fronte": "retro",
    "voorkant": "achterkant",
    "przód": "tył",
    "p": "s",
}
_BACKS = frozenset(_SIDES.values())
_SIDE = re.compile(
    r"(?P<lead>[ \t]*(?:[-*+][ ]+)?)(?P<open>\*\*|__)?(?P<word>[^\W\d_]{4,12}(?:[ ]side)?|[PS](?=[:：*_]))"
    r"(?(open)(?:[:：][ ]?(?P=open)|(?P=open)[:：])|[:：])[ ]*"
)
_FEWEST = 2
"""Fewest pairs."""
_FIRST = 30
"""Characters of a line within which the colon is."""


def with_labeled_sides(source: Source) -> Source:
    """Returns the document with `**Question:**` and `**Answer:**` for the sides of its cards, if each front has its
    back next. Lines keep their numbers."""
    found: list[tuple[int, re.Match[str], str]] = []
    for at, line in lines_outside_programs(source.lines):
        side = _SIDE.match(line) if ":" in line[:_FIRST] or "：" in line[:_FIRST] else None
        word = side["word"].casefold() if side else ""
        if side and (word in _SIDES or word in _BACKS):
            found.append((at, side, word))
    fronts, backs = found[::2], found[1::2]
    pairs = [_SIDES.get(front) == back for (_, _, front), (_, _, back) in zip(fronts, backs, strict=False)]
    fewest = 1 if _has_cards(source) else _FEWEST
    if len(fronts) != len(backs) or len(pairs) < fewest or not all(pairs):
        return source
    words = {id(side): word for sides, word in ((fronts, "Question"), (backs, "Answer")) for _, side, _ in sides}
    lines = source.lines
    return source.with_lines(
        {at: f"{side['lead']}**{words[id(side)]}:** {lines[at][side.end() :]}".rstrip() for at, side, _ in found}
    )


def _has_cards(source: Source) -> bool:
    """Returns whether the document also has a question and an answer with one letter: `Q: …` above `A: …`."""
    return {"Q:", "A:"} <= {line[:2] for line in source.lines}
