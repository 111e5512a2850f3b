"""What several kinds of evidence ask of a run: the starts of one kind and depth that are side by side."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.patterns.candidates import Verdict
from questions.patterns.contents import is_only_link
from questions.wording.imperatives import announces_tasks
from questions.wording.stems import asks_for_questions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.document import Document
    from questions.patterns.starts.start import Start

FEWEST = {"label": 1, "heading": 3, "item": 3, "line": 2}
"""Starts without number and answer from which they are questions, unless a title announces questions."""
SHORTEST = 3
"""Fewest words of a heading that asks without a number."""


def is_told(document: Document, run: list[Start]) -> bool:
    """Returns whether the title of the document or a heading above announces questions."""
    return asks_for_questions((document.title, *(block.text for block in run[0].headings)))


def is_sheet(document: Document, run: list[Start]) -> bool:
    """Returns whether starts are numbered from 1 on without a gap, and the title of the document or a heading above
    announces tasks."""
    if [start.number for start in run] != [str(number) for number in range(1, len(run) + 1)]:
        return False
    return any(map(announces_tasks, (document.title, *(block.text for block in run[0].headings))))


def split_run(run: list[Start], read: set[Start]) -> Verdict:
    """Returns the starts that are read, and the others to be named. One with text whose number lies between those of
    others that are read is read too."""
    numbers = [int(start.number) for start in run if start in read and is_count(start.number)]
    if len(numbers) >= FEWEST["item"] and len(numbers) * 2 > len(run):
        low, high = min(numbers), max(numbers) + 1
        read = set(read)
        for start in run:
            if is_count(start.number) and low <= int(start.number) <= high and has_text(start):
                read.add(start)
                high = max(high, int(start.number) + 1)
    return Verdict(tuple(start for start in run if start in read), tuple(start for start in run if start not in read))


def has_text(start: Start) -> bool:
    """Returns whether a start has text of its own and text below, and is not a link to a place in the document."""
    return bool(start.stem.text and start.text) and not is_only_link(start)


def is_count(number: str) -> bool:
    """Returns whether a number counts: digits only, and at most four."""
    return number.isdecimal() and len(number) < 5


def count_words(text: str) -> int:
    """Returns the number of words; four letters outside ASCII count as one more, as in scripts without spaces."""
    return len(text.split()) + sum(not character.isascii() and character.isalpha() for character in text) // 4


def is_headed(start: Start) -> bool:
    """Returns whether a list item begins with a heading."""
    return start.block is not None and bool(start.block.children) and start.block.children[0].kind == "heading"


def with_rest(document: Document, run: list[Start], items: list[Start]) -> Iterator[Start]:
    """Yields items that begin with a heading, each with what follows up to the next one or the next heading that is not
    deeper: authors rarely indent all of an answer."""
    blocks = document.blocks
    ends = [*(item.first for item in items[1:]), len(document.source.lines) + 1]
    for item, end in zip(items, ends, strict=True):
        level = item.block.children[0].level if item.block else 0
        # Items of the same list, whose numbers start over.
        more = [one.block for one in run if one.block and item.end < one.first < end]
        last = more[-1].last if more else item.end
        for block in blocks[bisect_right(blocks, last, key=lambda block: block.first) :]:
            ends_it = block.first >= end or (block.kind == "heading" and block.level <= level)
            if ends_it or not document.free(block.first, block.last):
                break
            more.append(block)
        yield replace(item, body=(*item.body, *more), end=more[-1].last) if more else item


def without_recurring(starts: list[Start]) -> list[Start]:
    """Returns the starts without lines such as `Why does it matter?` that recur as parts of several answers."""
    counts = Counter(start.stem.text for start in starts)
    return [start for start in starts if counts[start.stem.text] < _FEWEST_RECURRING]


_FEWEST_RECURRING = 3
"""How often the same line recurs that is a part of answers."""
