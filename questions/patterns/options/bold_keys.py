"""Reads several bold options as right, in a document where bold type marks the right option of most questions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.document import Draft
from questions.source import Finding

if TYPE_CHECKING:
    from questions.document import Document
    from questions.model import Question

_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<text>(?:(?!(?P=mark)).){1,2000})(?P=mark)", re.DOTALL)
_FEWEST = 5
"""Minimum number of questions with one bold option."""
_MOST = 2
"""At least one choice in this many must have one bold option."""


def with_bold_keys(document: Document, draft: Draft) -> Draft:
    """Returns the draft with several bold options of a question as its key, and a finding for each such question. A
    question whose options are all bold stays unanswered."""
    choices = [question for question in draft.questions if question.kind == "choice"]
    alone = sum(finding.code == "Q107" for finding in draft.findings)
    if alone < _FEWEST or alone * _MOST < len(choices):
        return draft
    keyed = {question.place.line: _marked(question) for question in choices if _some_are_bold(question)}
    findings = [one for one in draft.findings if not (one.code == "Q101" and one.span.line in keyed)]
    findings += [_assumed(document, question) for question in keyed.values()]
    return Draft([keyed.get(one.place.line, one) for one in draft.questions], findings)


def _some_are_bold(question: Question) -> bool:
    bold = [_BOLD.fullmatch(option.text) is not None for option in question.options]
    return not any(option.right for option in question.options) and 1 < sum(bold) < len(bold)


def _marked(question: Question) -> Question:
    options = (
        replace(option, text=found["text"].strip(), right=True) if (found := _BOLD.fullmatch(option.text)) else option
        for option in question.options
    )
    return replace(question, options=tuple(options))


def _assumed(document: Document, question: Question) -> Finding:
    right = [option for option in question.options if option.right]
    names = ", ".join(option.id for option in right)
    place = question.place
    return Finding(
        "Q107",
        "note",
        "the bold options were read as the correct ones",
        document.source.span_of(place.line, place.end_line, right[0].text),
        help=f"add the key below: `Answer: {names}`",
    )
