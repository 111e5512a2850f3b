"""Finds headings that are parts of the question above by their numbers: `4a. What …` below `4. Confusion matrix`."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.wording.stems import question_line, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Start

_LETTERED = re.compile(
    r"[*_]{0,3}(?P<number>\d{1,4})[ ]?(?P<letter>[a-h])[ ]?(?:[.):]|[ ][-–—])[*_]{0,3}[ ]+(?P<text>\S.*)"
)


def with_lettered_parts(candidate: Candidate, headings: Sequence[Start]) -> Candidate:
    """Returns the headings with the deeper ones below them that ask and have their number and a letter; where several
    do, including those that name a topic. One that does not ask and has no text of its own is only their title.

    `headings`: all headings whose lines are free, in line order.
    """
    if not any(start.number for start in candidate.read):
        return candidate
    found = [_LETTERED.fullmatch(one.block.text.strip()) for one in headings if one.block]
    asking = sum(one is not None and reads_as_question(one["text"]) for one in found)
    firsts = [start.first for start in headings]
    known = {start.first for start in candidate.read}
    read: list[Start] = []
    for start in candidate.read:
        at = bisect_right(firsts, start.first)
        inside = headings[at : bisect_right(firsts, start.end)] if start.number else ()
        parts = list(_parts(start, inside, named=asking >= _FEWEST_ASKING))
        parts = [part for part in parts if part.first not in known]
        known |= {part.first for part in parts}
        document = start.document
        if not parts or start.asks or (document and document.source.text(start.last + 1, parts[0].first - 1)):
            read.append(start)
        read += parts
    if len(read) == len(candidate.read) and all(map(known.__contains__, (one.first for one in candidate.read))):
        return candidate
    return replace(candidate, read=tuple(sorted(read, key=lambda one: one.first)))


_FEWEST_ASKING = 3
"""Fewest headings with a letter that ask, so that others with one are questions too."""


def _parts(start: Start, inside: Sequence[Start], *, named: bool) -> Iterator[Start]:
    """Yields the parts of a question. `named`: whether a part may only name its topic."""
    for one in inside:
        found = _LETTERED.fullmatch(one.block.text.strip()) if one.block and one.depth > start.depth else None
        if found and found["number"] == start.number and (reads_as_question(found["text"]) or (named and one.text)):
            stem = question_line(found["text"])
            yield replace(one, stem=stem._replace(number=f"{found['number']}{found['letter']}"))
