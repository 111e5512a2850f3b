"""Tells asides in brackets behind a question, which belong to it, from answers in brackets.

- What is a stride? (Also known as a step.)
- What does GPU stand for? (Graphics processing unit)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.patterns.starts.start import Start

_BRACKETS = re.compile(
    r"[*_]{0,3}[(（][^()（）]{1,300}(?:\([^()（）]{0,100}\)[^()（）]{0,200})?[)）][*_]{0,3}[ ]?[.。]?"
)
_ASIDE = re.compile(
    r"[*_]{0,3}[(（](?:(?:also|otherwise|sometimes|often) (?:known|called|referred)\b|a\.?k\.?a\b|i\.e\.|e\.g\.|hint\b"
    r"|see\b|cf\.|for (?:example|instance)\b|(?:choose|select|check|pick|mark|tick|name|list|give|mention)\b"
    r"|también (?:conocid|llamad)|tamb[ée]m (?:conhecid|chamad)|auch (?:bekannt|genannt)|aussi (?:appelé|connu)"
    r"|z\.[ ]?b\.|d\.[ ]?h\.|hinweis\b|par exemple|ad esempio|например|также|提示|例如|又称|也称|也叫)",
    re.IGNORECASE,
)
"""How a text begins that is never an answer."""
_SENTENCE = re.compile(r"[.!。！][)）]")
_MANY = 3
"""If one question in this many has brackets, the brackets are answers."""


def with_asides(starts: Sequence[Start]) -> Sequence[Start]:
    """Returns the starts with the asides in brackets behind them as part of what asks. A sentence in brackets answers,
    and so do brackets that many questions have, except for those that say what they are."""
    bracketed = [
        start
        for start in starts
        if _BRACKETS.fullmatch(start.said) and (_ASIDE.match(start.said) or not _SENTENCE.search(start.said))
    ]
    answering = [start for start in bracketed if not _ASIDE.match(start.said)]
    if not bracketed:
        return starts
    asides = set(bracketed)
    if len(answering) * _MANY >= len(starts):
        asides -= set(answering)
    return [_with_aside(start) if start in asides else start for start in starts]


def _with_aside(start: Start) -> Start:
    return replace(start, stem=start.stem._replace(text=f"{start.stem.text} {start.said}"), said="")
