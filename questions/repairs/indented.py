"""Takes the indentation from lines that ask and are above folded answers.

Markdown reads a line with a tab before it as a program, so that the question would be in none.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.wording.stems import demands, reads_as_question

if TYPE_CHECKING:
    from questions.document import Document
    from questions.source import Source

_FEWEST = 3
"""Fewest lines above folds, most of them asking."""


def with_indented_questions(document: Document) -> Source:
    """Returns the source; where several folded answers are below an indented line each, and most of these lines ask,
    they lose their indentation. Lines keep their numbers."""
    source = document.source
    if len(document.layout.answer_folds) < _FEWEST:
        return source
    places = [
        block.first
        for block, below in pairwise(document.blocks)
        if block.kind == "code" and "\n" not in block.text.strip() and document.answer_fold(below) is not None
    ]
    asking = sum(reads_as_question(line) or demands(line) for line in map(source.line, places))
    if len(places) < _FEWEST or asking * 2 < len(places):
        return source
    lines = list(source.lines)
    for place in places:
        lines[place - 1] = lines[place - 1].lstrip()
    return replace(source, lines=tuple(lines))
