"""Finds questions and answers in the elements of a page by their classes, as lists of frequent questions have them:
`<div class="faq-question">` beside `<div class="faq-answer">`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

QUESTION_CLASS = (
    r"(?:faq|qa|accordion)[-_]*(?:item[-_]*)?(?:q|question|title|header|heading|head|toggle|button|trigger|summary)"
    r"|question(?:[-_]*text)?"
)
"""Class of an element that is a question, in small letters."""
_QUESTION = re.compile(QUESTION_CLASS)
_ANSWER = re.compile(
    r"(?:faq|qa|accordion)[-_]*(?:item[-_]*)?(?:a|ans|answer|body|content|panel|collapse|text)"
    r"|answer(?:[-_]*(?:text|content))?"
)
_ELEMENTS = ("div", "p", "section", "button", "a", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
_HOLDS_MORE = ("ul", "ol", "table", "pre", "input", "details")
"""Elements that are in no question of one line."""
_FEWEST = 3
_MARKS = ("?", "？", "؟")
_SYMBOLS = re.compile(r"[^\w?？)\"'”’»。.!]+$")
"""What stands behind a question to open its answer, such as an arrow."""
ASKED, ANSWERED = "asked", "answered"
"""Names that the elements of questions and answers get."""


def mark_questions(soup: BeautifulSoup) -> None:
    """Renames the elements of a page that are questions and answers by their classes: each question is followed by its
    answer, and most end with a question mark."""
    pairs: list[tuple[Tag, Tag]] = []
    asked: Tag | None = None
    alone = 0
    inside: set[int] = set()
    for tag in soup.find_all(_ELEMENTS):
        if tag.parent is not None and id(tag.parent) in inside:
            inside.add(id(tag))
            continue
        classes = str(tag.get("class", "")).lower().split()
        if any(map(_QUESTION.fullmatch, classes)) and tag.find(_HOLDS_MORE) is None:
            alone += asked is not None
            asked = tag
            inside.add(id(tag))
        elif asked is not None and any(map(_ANSWER.fullmatch, classes)):
            pairs.append((asked, tag))
            asked = None
            inside.add(id(tag))
    asking = sum(question_text(tag.get_text()).endswith(_MARKS) for tag, _ in pairs)
    if len(pairs) < _FEWEST or alone * 10 > len(pairs) or asking * 3 < len(pairs) * 2:
        return
    for one, other in pairs:
        one.name, other.name = ASKED, ANSWERED


def question_text(text: str) -> str:
    """Returns the text of an element in one line, without emphasis and the symbols behind it."""
    return _SYMBOLS.sub("", " ".join(text.replace("**", "").split()))
