r"""Reads cards in a LaTeX document: lines such as `front; back`, as programs for cards import them, and commands with a
front and a back, `\card{front}{back}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.formats.draft import Item, add_open, add_short, add_unanswered
from questions.wording.labels import is_placeholder
from questions.wording.stems import demands, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.formats.draft import ImportDraft
    from questions.formats.latex.text import Tex

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
_COMMAND = re.compile(r"\\(?:[A-Za-z]{0,12}flash)?[Cc]ard(?=[ \t]{0,3}\{)")
"""A command whose arguments are a front and a back."""
_PICTURE = re.compile(r"\s*(?:\\includegraphics[ ]?(?:\[[^\]]*\])?[ ]?\{[^{}]*\}\s*)+")
_MOST_ARGUMENTS = 6
_OPEN = re.compile(r"[ \t]{0,20}\n?[ \t]{0,20}\{")
_BRACE = re.compile(r"(?<!\\)[{}]")
_MOST_OPEN = 50
"""Arguments that are never closed, from which a document is broken."""
_LONGEST = 20_000
"""Maximum length of an argument, characters."""


def seem_cards(lines: Sequence[str]) -> bool:
    """Returns whether most lines of a document's body have a semicolon that may part a card."""
    begun = next((at for at, line in enumerate(lines, 1) if "\\begin{document}" in line), len(lines))
    filled = [line for line in lines[begun:] if line.strip() and "\\end{document}" not in line]
    if sum(len(_COMMAND.findall(line)) for line in filled) >= _FEWEST:
        return True
    return sum(_PARTING.search(line) is not None for line in filled) >= max(_FEWEST, _REGULAR * len(filled))


def add_cards(draft: ImportDraft, tex: Tex) -> bool:
    """Adds the cards of a document, unless it has none. Returns whether it has cards."""
    commands = [*_commands(tex)]
    if len(commands) >= _FEWEST:
        _add_commands(draft, tex, commands)
        return True
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


def _commands(tex: Tex) -> Iterator[list[tuple[int, int]]]:
    """Yields the places of the arguments of each card, two at least."""
    found = _BODY.search(tex.text)
    at, open_ones = found.start("body") if found else 0, 0
    while open_ones < _MOST_OPEN and (command := _COMMAND.search(tex.text, at)):
        places: list[tuple[int, int]] = []
        at = command.end()
        while len(places) < _MOST_ARGUMENTS and (place := _argument(tex.text, at)):
            places.append(place)
            at = place[1] + 1
        open_ones += not places
        if len(places) > 1:
            yield places


def _argument(text: str, at: int) -> tuple[int, int] | None:
    """Returns where the text in braces at an offset begins and ends; None if no braces begin there."""
    opened = _OPEN.match(text, at)
    depth = 0
    for found in _BRACE.finditer(text, opened.end() - 1, opened.end() + _LONGEST) if opened else ():
        depth += (found[0] == "{") - (found[0] == "}")
        if opened and not depth:
            return opened.end(), found.start()
    return None


def _add_commands(draft: ImportDraft, tex: Tex, cards: list[list[tuple[int, int]]]) -> None:
    """Adds the cards of commands: the first argument is the front, and the others that are texts are the back. The same
    card again, as for the other side of a sheet, is left out."""
    known: set[tuple[str, str]] = set()
    for front, *back in cards:
        asked = tex.convert(*front).text
        texts = (tex.convert(*place).text for place in back)
        answer = "\n\n".join(text for text in texts if text.strip() and not text.strip().isdecimal())
        lines = tex.line(front[0]), tex.line(back[-1][1])
        if (asked, answer) in known:
            draft.add_skipped("this card is there already", "remove it", lines)
        elif not asked.strip() or _PICTURE.fullmatch(asked):
            draft.add_skipped("the front of this card is only a picture", "describe the picture in words", lines)
        elif draft.accepts(*lines, back[-1][1] - front[0]):
            known.add((asked, answer))
            _add(draft, Item(*lines, asked), answer)
