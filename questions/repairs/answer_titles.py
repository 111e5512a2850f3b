"""Gives headings such as `#### Answer` below lines such as `Q1:` the form of a label: `**Answer:**`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs
from questions.wording.labels import ANSWER_WORDS, QUESTION_WORDS

if TYPE_CHECKING:
    from questions.source import Source

_QUESTION = re.compile(
    rf"[*_]{{0,3}}(?:{QUESTION_WORDS})[ ]?#?\d{{1,4}}[*_]{{0,3}}[ ]?[.:：)]?[*_]{{0,3}}(?:[ ].*)?", re.IGNORECASE
)
_TITLE = re.compile(rf"#{{2,6}}[ ]+[*_]{{0,3}}(?P<word>{ANSWER_WORDS})[ ]?[:：]?[*_]{{0,3}}[ \t]*", re.IGNORECASE)
_FEWEST = 3
"""Fewest headings above answers."""
_LONGEST = 400
"""Length of a line with a question, characters."""


def with_answer_labels(source: Source) -> Source:
    """Returns the document with labels instead of headings above answers, if each stands below a question that begins
    with a word and a number and has no heading. Programs stay as they are."""
    titles: dict[int, str] = {}
    asked = False
    for at, line in lines_outside_programs(source.lines):
        if not line.strip() or len(line) > _LONGEST:
            continue
        if title := _TITLE.fullmatch(line):
            if not asked:
                return source
            titles[at], asked = title["word"], False
        elif line.startswith("#"):
            asked = False
        elif _QUESTION.fullmatch(line):
            asked = True
    if len(titles) < _FEWEST:
        return source
    return source.with_lines({at: f"**{title}:**" for at, title in titles.items()})
