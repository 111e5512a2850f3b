"""Recognizes labels of one letter that only a language explains: `S: …` and `C: …` for *soru* and *cevap*.

One such letter says nothing; that a document has many of them, each with the other in the next line, does.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_PAIRS = (
    # Turkish, Spanish and Portuguese, French, Italian, German, Dutch, Polish, Russian, Ukrainian, Vietnamese, Korean
    ("s", "c"),
    ("p", "r"),
    ("q", "r"),
    ("d", "r"),
    ("f", "a"),
    ("v", "a"),
    ("p", "o"),
    ("в", "о"),
    ("п", "в"),
    ("h", "đ"),
    ("문", "답"),
)
_LABEL = re.compile(r"(?P<open>\*\*|__)?(?P<letter>[^\W\d_])(?P<number>[ ]?\d{1,3})?[ ]?(?P<colon>[:：])")
_FEWEST = 3
_REGULAR = 0.9
"""Share of the first letters with the second in the next line with text."""


def with_label_letters(source: Source) -> Source:
    """Returns the document with `Q:` and `Answer:` for the letters of such a pair. Lines keep their numbers."""
    found: dict[int, re.Match[str]] = {}
    for at, line in lines_outside_programs(source.lines):
        if (":" in line[:_FIRST] or "：" in line[:_FIRST]) and (label := _LABEL.match(line)):
            found[at] = label
    if len(found) < 2 * _FEWEST:
        return source
    pair = next((pair for pair in _PAIRS if _are_pairs(source, found, *pair)), None)
    if pair is None:
        return source
    words = dict(zip(pair, ("Q", "Answer"), strict=True))
    lines = list(source.lines)
    for at, label in found.items():
        if word := words.get(label["letter"].casefold()):
            lines[at] = f"{label['open'] or ''}{word}{label['number'] or ''}:{lines[at][label.end() :]}"
    return replace(source, lines=tuple(lines))


_FIRST = 10
"""Characters of a line within which the colon is."""


def _are_pairs(source: Source, found: dict[int, re.Match[str]], asks: str, says: str) -> bool:
    """Returns whether nearly each line with the first letter is followed by one with the second, and the second
    stands nowhere else."""
    letters = {at: str(label["letter"]).casefold() for at, label in found.items()}
    asking = [at for at, letter in letters.items() if letter == asks]
    saying = [at for at, letter in letters.items() if letter == says]
    if len(saying) > len(asking):
        return False
    followed = sum(letters.get(source.next_filled(at + 2) - 1) == says for at in asking)
    return followed >= _FEWEST and followed >= _REGULAR * len(asking)
