"""Reads plain text in which questions and answers take turns, told apart by nothing but their places.

    Call that copies:            What is a view?             view*shares memory
    clone()                                                  clone*copies
                                 It shares memory.
    Call that shares memory:

Blocks of two lines, paragraphs in pairs with wider gaps between the pairs, or lines with the same sign between both
sides, if the name of the file says that it holds cards.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from questions.formats.draft import ImportDraft
from questions.formats.markdown import from_tagged
from questions.formats.tables.column_names import Column
from questions.formats.tables.table import add_rows
from questions.wording.labels import label_of
from questions.wording.stems import ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "paired-texts"

_FEWEST = 10
"""Fewest pairs."""
_REGULAR = 0.9
"""Share of blocks that must be pairs, and of their first sides that must announce the second."""
_ASKING = 0.2
"""Share of first sides that must ask; the others may only end in a colon: `Call that copies:`."""


class _Pair(NamedTuple):
    front: str
    back: str
    first: int
    last: int


class _Found(NamedTuple):
    """The pairs of a text, and the places of what is none."""

    pairs: list[_Pair]
    others: list[tuple[int, int]]


def sniff(source: Source) -> bool:
    """Returns whether a text consists of such pairs."""
    return _found(source) is not None


def read(source: Source) -> ImportDraft:
    """Reads each pair as a question and its answer."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    found = _found(source)
    if found is None:
        return draft.unreadable(
            "the text does not consist of questions and answers in turn", "write one below the other"
        )
    for place in found.others:
        draft.add("Q603", "this is no pair of a question and an answer", "write it like the others", place)
    rows = [
        ((from_tagged(one.front), from_tagged(_without_label(one.back))), (one.first, one.last)) for one in found.pairs
    ]
    add_rows(draft, [Column("question"), Column("answer")], rows, base=None)
    return draft


def _without_label(back: str) -> str:
    """Returns an answer without a label such as `Answer:` at its start; as it is if nothing follows the label."""
    label = label_of(back)
    return back[label.end :].strip() or back if label and label.role == "answer" else back


def _found(source: Source) -> _Found | None:
    for ways in (_lines, _paragraphs):
        found = ways(source)
        if len(found.pairs) >= _FEWEST and _take_turns(found):
            return found
    return _cards(source)


def _take_turns(found: _Found) -> bool:
    """Returns whether nearly all of a text is pairs whose first sides announce the second ones."""
    pairs = found.pairs
    if len(pairs) < _REGULAR * (len(pairs) + len(found.others)):
        return False
    announcing = sum(_announces(one.front) for one in pairs)
    asking = sum(reads_as_question(one.front) or _GAP.search(one.front) is not None for one in pairs)
    turned = sum(ends_asking(one.back) for one in pairs)
    return announcing >= _REGULAR * len(pairs) and asking >= _ASKING * len(pairs) and turned * 10 <= len(pairs)


_GAP = re.compile(r"\[(?:\.{2,3}|…|[^\[\]\n]{1,60}\?)\]|_{3,}")
"""A gap, or a question for what fills it: `[what kind?]`."""


def _announces(text: str) -> bool:
    return ends_asking(text) or text.rstrip().endswith((":", "：")) or _GAP.search(text) is not None


_MARKED = re.compile(r"[ \t]*(?:[-*+•>#|]|\(?\d{1,3}[.):]|\(?[a-hA-H][.)])[ \t]|```|---|===")
"""A line that Markdown or a list marks."""


def _lines(source: Source) -> _Found:
    """Returns the blocks of two lines without labels, lists or headings."""
    found = _Found([], [])
    for first, lines in _blocks(source.lines):
        if len(lines) == 2 and not (label_of(lines[0]) or any(map(_MARKED.match, lines))):
            found.pairs.append(_Pair(lines[0].strip(), lines[1].strip(), first, first + 1))
        else:
            found.others.append((first, first + len(lines) - 1))
    return found


def _blocks(lines: tuple[str, ...] | list[str], first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yields the lines between blank ones, with the number of the first."""
    block: list[str] = []
    for number, line in enumerate((*lines, ""), first):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _paragraphs(source: Source) -> _Found:
    """Returns what is between gaps of two blank lines or more, if it is two paragraphs, or one whose first line
    announces the others."""
    found = _Found([], [])
    for first, lines in _between_gaps(source.lines):
        parts = ["\n".join(block) for _, block in _blocks(lines)]
        head, _, rest = parts[0].partition("\n")
        last = first + len(lines) - 1
        if label_of(head) or _MARKED.match(head):
            found.others.append((first, last))
        elif len(parts) == 2:
            found.pairs.append(_Pair(parts[0], parts[1], first, last))
        elif len(parts) == 1 and rest and _announces(head):
            found.pairs.append(_Pair(head, rest, first, last))
        else:
            found.others.append((first, last))
    return found


def _between_gaps(lines: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    part: list[str] = []
    blank = 0
    for number, line in enumerate((*lines, "", ""), 1):
        blank = 0 if line.strip() else blank + 1
        if not blank and not part:
            part = [line]
        elif part and blank < 2:
            part.append(line)
        elif part:
            # The blank line before this one is not part of it.
            yield number - len(part), part[:-1]
            part = []


_CARDS = re.compile(r"(?:^|[\W_])(?:flash|anki|cards?|karten|lernkarten|tarjetas|cartes|cartões)", re.IGNORECASE)
_SIGNS = ("::", "=>", "->", "*", "|", "=", "~", "^", "@", "#", "\\", "/")
_FEWEST_CARDS = 5


def _cards(source: Source) -> _Found | None:
    """Returns the lines that have the same sign between two sides, if the name of the file says cards."""
    if not _CARDS.search(PurePath(source.name).stem):
        return None
    lines = [(number, line.strip()) for number, line in enumerate(source.lines, 1) if line.strip()]
    for sign in _SIGNS:
        sides = [(number, line.partition(sign)) for number, line in lines]
        sided = [_Pair(front.strip(), back.strip(), number, number) for number, (front, _, back) in sides]
        pairs = [pair for pair in sided if pair.front and pair.back]
        once = sum(line.count(sign) == 1 for _, line in lines)
        if len(pairs) >= _FEWEST_CARDS and min(len(pairs), once) >= _REGULAR * len(lines) and _differ(pairs):
            taken = {one.first for one in pairs}
            return _Found(pairs, [(number, number) for number, _ in lines if number not in taken])
    return None


def _differ(pairs: list[_Pair]) -> bool:
    """Returns whether nearly all fronts and backs are texts of their own."""
    return min(len({one.front for one in pairs}), len({one.back for one in pairs})) >= _REGULAR * len(pairs)
