"""Reads cards in a LaTeX document, as programs for cards import them: `front; back`, one in each line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.formats.draft import Item, add_open, add_short, add_unanswered
from questions.labels import is_placeholder
from questions.patterns.stems import demands, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.formats.draft import ImportDraft
    from questions.formats.latex_text import Tex

_BODY = re.compile(r"\\begin\{document\}(?P<body>.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_PARTING = re.compile(r";[ \t]+(?=\S)")
_MARK = re.compile(r"\\(?P<sign>.)|(?P<dollar>\$)|(?P<parting>;[ \t]+(?=\S))")
"""Where a formula begins or ends, and a semicolon."""
_FEWEST = 5
"""Fewest cards."""
_REGULAR = 0.9
"""Share of the lines that must be cards."""
_ASK = 1 / 2
"""Share of the fronts that must ask."""
_TO_DO = re.compile(r"(?:\W*\w{1,12}\W+)?TODO\b\W*(?:\w{1,12}\W*)?")
_SHORT = 80


def seem_cards(lines: Sequence[str]) -> bool:
    """Returns whether most lines of a document's body have a semicolon that may part a card."""
    begun = next((at for at, line in enumerate(lines, 1) if "\\begin{document}" in line), len(lines))
    filled = [line for line in lines[begun:] if line.strip() and "\\end{document}" not in line]
    return sum(_PARTING.search(line) is not None for line in filled) >= max(_FEWEST, _REGULAR * len(filled))


def add_cards(draft: ImportDraft, tex: Tex) -> bool:
    """Adds the cards of a document, unless it has none. Returns whether it has cards."""
    cards = [*_cards(tex)]
    read = [(start, end, tex.convert(start, middle).text) for start, middle, end in cards if middle]
    asking = sum(reads_as_question(front) or demands(front) or front.endswith("?") for _, _, front in read)
    if len(read) < max(_FEWEST, _REGULAR * len(cards)) or asking < _ASK * len(read):
        return False
    for start, middle, end in cards:
        lines = tex.line(start), tex.line(end - 1)
        if not middle:
            draft.add_skipped("this line between the cards has no front and back", "write `front; back`", lines)
        elif draft.accepts(*lines, end - start):
            _add(draft, Item(*lines, tex.convert(start, middle).text), tex.convert(middle + 1, end).text)
    return True


def _add(draft: ImportDraft, item: Item, back: str) -> None:
    if not back or is_placeholder(back) or _TO_DO.fullmatch(back):
        add_unanswered(draft, item)
    elif len(back) > _SHORT or "\n" in back:
        add_open(draft, item, back)
    else:
        add_short(draft, item, [back])


def _cards(tex: Tex) -> Iterator[tuple[int, int, int]]:
    """Yields the start of each line of the body, the place of the semicolon behind its front, 0 if it has none, and
    its end."""
    found = _BODY.search(tex.text)
    at = found.start("body") if found else 0
    for line in found["body"].split("\n") if found else ():
        if line.strip():
            partings = (at + one for one in _outside_formulas(line))
            middle = next((one for one in partings if not tex.in_argument(one) and tex.block(one) is None), 0)
            yield at, middle, at + len(line)
        at += len(line) + 1


def _outside_formulas(line: str) -> Iterator[int]:
    """Yields the places of the semicolons that may part a card."""
    inside = False
    for found in _MARK.finditer(line):
        if found["parting"] and not inside:
            yield found.start()
        elif found["dollar"]:
            inside = not inside
        elif found["sign"] in ("(", ")"):
            inside = found["sign"] == "("
