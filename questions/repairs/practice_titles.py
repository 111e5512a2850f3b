"""Gives lines in emphasis that repeat above each question and its answer, such as `__Practice Question__`, the form of
labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_QUESTION = re.compile(
    r"(?P<mark>\*\*|__)(?:practice|sample|quiz|review|exam|test|mock)[ ]question(?P<number>[ ]\d{1,3})?[:.]?"
    r"(?P=mark)[ ]*",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"(?P<mark>\*\*|__)(?:suggested|correct|sample|model|expected|accepted)[ ]answers?[:.]?(?P=mark)[ ]*", re.IGNORECASE
)
_FEWEST = 2


def with_question_labels(source: Source) -> Source:
    """Returns the document with `**Question:**` and `**Answer:**` for these lines, if the first comes twice or more."""
    changed: dict[int, str] = {}
    questions = 0
    for at, line in lines_outside_programs(source.lines):
        if not line.startswith(("**", "__")):
            continue
        if found := _QUESTION.fullmatch(line):
            changed[at] = f"**Question{found['number'] or ''}:**"
            questions += 1
        elif _ANSWER.fullmatch(line):
            changed[at] = "**Answer:**"
    return source.with_lines(changed) if questions >= _FEWEST else source
