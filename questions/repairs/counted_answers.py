"""Gives answers with the number of their question the form of a label: `A1. It shares memory.` below `Q1. What …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_QUESTION = re.compile(r"[*_]{0,3}Q[ ]?(?P<number>\d{1,4})[.:)]")
_ANSWER = re.compile(r"(?P<mark>\*{0,3})A[ ]?(?P<number>\d{1,4})[.)](?P=mark)(?:[ ]+|$)")
_FEWEST = 3
_SLIPS = 10
"""One answer in this many may have another number than its question."""


def with_answers_labeled(source: Source) -> Source:
    """Returns the document with `**Answer 1:**` for `A1.`, if nearly each of these follows the question with its
    number."""
    found: dict[int, str] = {}
    asked, slips = "", 0
    for at, line in lines_outside_programs(source.lines):
        if line[:8].lstrip("*_").startswith("Q") and (question := _QUESTION.match(line)):
            asked = question["number"]
        elif line[:4].lstrip("*").startswith("A") and (answer := _ANSWER.match(line)):
            slips += answer["number"] != asked
            if asked:
                found[at] = f"**Answer {asked}:** {line[answer.end() :]}".rstrip()
            asked = ""
    return source.with_lines(found) if len(found) >= _FEWEST and slips * _SLIPS <= len(found) else source
