"""Titles of LaTeX sections that ask: `\\section{Why …?}`, `\\section{Q1.2 Explain …}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.wording.imperatives import sets_task
from questions.wording.stems import demands, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FEWEST = 3
"""Fewest titles, most of them asking."""
_FEWEST_WORDS = 4
_ASKING = re.compile(r"\\(?:chapter|(?:sub){0,2}section)\*?\{(?:[^?]{0,300}\?|Q[ ]?\d{1,3}(?:\.\d{1,3}){0,3}[.:)]?\s)")
"""A command for a title that asks."""
_SECTION = re.compile(r"(?m)^[ \t]*\\section\*?\{(?P<title>[^{}\n]{1,300})\}")
_NUMBERED = re.compile(r"Q[ ]?\d{1,3}(?:\.\d{1,3}){0,3}[.:)]?\s{1,9}(?=\S)")
"""Start of a title that is a question by its number."""
_POINTS = re.compile(r"\s{1,9}\[\d{1,3}(?:[ ]?(?:points?|pts?|p|marks?))?\]$")


def lines_ask(lines: Iterable[str]) -> bool:
    """Returns whether several lines of a document begin sections that ask."""
    return sum(_ASKING.search(line) is not None for line in lines) >= _FEWEST


def mostly_ask(titles: Sequence[str]) -> bool:
    """Returns whether at least half of the titles of one level end in a question mark or have numbers of questions, or
    one does and with it at least half ask or set a task."""
    asking = [title for title in titles if "?" in title or _NUMBERED.match(title)]
    others = sum(demands(title) or sets_task(title) for title in titles if title not in asking)
    return len(titles) >= _FEWEST and bool(asking) and (len(asking) + others) * 2 >= len(titles)


def sections_ask(text: str) -> bool:
    """Returns whether the sections of a file that a document includes mostly ask."""
    return mostly_ask([found["title"] for found in _SECTION.finditer(text)])


def have_numbers(titles: Sequence[str]) -> bool:
    """Returns whether several titles begin with numbers of questions."""
    return sum(_NUMBERED.match(title) is not None for title in titles) >= _FEWEST


def question_of(title: str, *, numbered: bool) -> str:
    """Returns the question in a title, without its number and points; empty if it does not ask. `numbered`: whether the
    titles of the document have numbers of questions."""
    found = _NUMBERED.match(title) if numbered else None
    if found:
        return _POINTS.sub("", title[found.end() :])
    return title if "?" in title or reads_as_question(title) or demands(title) or sets_task(title) else ""


def seems_question(title: str, *, numbered: bool) -> bool:
    """Returns whether a title that is not a question has to be named. Among titles with numbers, short ones
    (`Disclaimer`) do not."""
    return not numbered or len(title.split()) >= _FEWEST_WORDS
