"""Gives headings such as `#### Answer` below lines such as `Q1:` the form of a label: `**Answer:**`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.labels import ANSWER_WORDS, QUESTION_WORDS
from questions.patterns.options import fence_after, fence_in

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
    fence, asked = "", False
    for at, line in enumerate(source.lines):
        if ("```" in line or "~~~" in line) and (mark := fence_in(line)):
            fence = fence_after(fence, mark["mark"])
        elif fence or not line.strip() or len(line) > _LONGEST:
            continue
        elif title := _TITLE.fullmatch(line):
            if not asked:
                return source
            titles[at], asked = title["word"], False
        elif line.startswith("#"):
            asked = False
        elif _QUESTION.fullmatch(line):
            asked = True
    if len(titles) < _FEWEST:
        return source
    lines = (f"**{titles[at]}:**" if at in titles else line for at, line in enumerate(source.lines))
    return replace(source, lines=tuple(lines))
