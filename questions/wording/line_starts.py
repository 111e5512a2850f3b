"""Finds the lines that begin a paragraph wherever they are, because a label, a number or an answer shows it.

Markdown joins a line with the one right above it; authors rarely leave the blank line that would part them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.wording.labels import QUESTION_WORDS, label_of

if TYPE_CHECKING:
    from questions.source import Source

_BEGINS_QUESTION = re.compile(rf"(?:{QUESTION_WORDS})(?P<colon>[ ]?[:：]|[ ]?#?\d{{1,4}}[ ]*$)", re.IGNORECASE)


def labeled_lines(source: Source) -> frozenset[int]:
    """Returns the lines at the margin with a label such as `Question:`, and those with `Question 5` alone, in a
    document with several of the former: none of them continues the text above."""
    words = ((number, line) for number, line in enumerate(source.lines, 1) if line[:1].isalpha())
    found = {number: match for number, line in words if (match := _BEGINS_QUESTION.match(line))}
    colons = sum(match["colon"].endswith((":", "：")) for match in found.values())
    return frozenset(found) if colons >= _FEWEST_LABELED else frozenset()


_STARTS_QUESTION = re.compile(
    rf"(?P<open>\*\*|__)\d{{1,4}}\\?[.)][ ](?:{QUESTION_WORDS})[ ]?(?:[:：](?P=open)|(?P=open)[:：])"
    rf"|(?:{QUESTION_WORDS})[ ]#?\d{{1,4}}[ ]*$",
    re.IGNORECASE,
)
"""A number with a word for a question in bold, `**5. Question:** …`, or such a word with a number alone."""


def starting_lines(source: Source) -> frozenset[int]:
    """Returns the lines at the margin that begin questions by a number and a word for them, in a document with several:
    they begin a paragraph, also right below a line of text, if a blank line or the next one ends their question soon.
    In a text without blank lines, the answer would belong to the question. So do lines that ask right below a labeled
    answer, if the next one has a label too, and bold lines with a number right below an option."""
    found = [
        number
        for number, line in enumerate(source.lines, 1)
        if (line[:2] in ("**", "__") or (line[:1].isalpha() and line.rstrip()[-1:].isdigit()))
        and _STARTS_QUESTION.match(line)
        and _ends_soon(source, number)
    ]
    lines = enumerate(source.lines, 1)
    asked = [
        at for at, line in lines if line[:1].isalpha() and line.rstrip().endswith(("?", "？")) and _glued(source, at)
    ]
    counted = _counted_below_options(source)
    return frozenset(one for group in (found, asked, counted) if len(group) >= _FEWEST_LABELED for one in group)


_BOLD_NUMBER = re.compile(r"\*\*\d{1,3}[.)][ ]?\S")
_OPTION = re.compile(r"[ ]{0,3}[(]?[B-Jb-j][.)][ ]+\S")


def _counted_below_options(source: Source) -> list[int]:
    """Returns the lines in bold with a number whose line above is an option from the second on."""
    return [
        at
        for at, line in enumerate(source.lines, 1)
        if line[:2] == "**" and at > 1 and _BOLD_NUMBER.match(line) and _OPTION.match(source.line(at - 1))
    ]


def _glued(source: Source, at: int) -> bool:
    """Returns whether a line is right below a labeled answer, and above a blank line and another one."""
    first = next((n for n in range(at - 1, max(at - _NEAR, 0), -1) if n == 1 or not source.line(n - 1).strip()), at)
    below = source.next_filled(at + 1)
    labels = (label_of(source.line(first)), label_of(source.line(below))) if first < at and below > at + 1 else (None,)
    return all(label is not None and label.role == "answer" for label in labels)


def _ends_soon(source: Source, start: int) -> bool:
    below = map(source.line, range(start + 1, start + _LONGEST_QUESTION + 2))
    return any(not line.strip() or _STARTS_QUESTION.match(line) for line in below)


_NEAR = 20
"""Lines above one that asks within which the answer it is glued to begins."""
_LONGEST_QUESTION = 4
"""Most lines of a question below a word with its number."""
_FEWEST_LABELED = 3
"""Fewest such lines in a document."""
