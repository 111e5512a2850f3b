"""Takes back what was read as a question or an answer and cannot be one: templates, text in which the options of a
second question begin, and a list that continues the sentence of a question."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.document import Draft
from questions.patterns.found_questions import no_answer_finding
from questions.source import Finding

if TYPE_CHECKING:
    from questions.document import Document
    from questions.model import Question

_TEMPLATE = re.compile(r"(?:\d{1,4}\s{1,4})?[*_]{0,3}\[[^\[\]]{2,200}\](?!\()[*_]{0,3}[?？:.]?")
"""A text that is nothing but a place for one: `[Question about the definition]`."""
_LETTERED = re.compile(r"[ \t]*(?:[-*+][ ]+)?[*_]{0,3}\(?(?P<letter>[A-Ja-j])[).][*_]{0,3}[ \t]+\S")
_LETTER = re.compile(r"[ \t]*(?:[-*+][ ]+)?\(?[A-Ja-j][).][ \t]+")
_FEWEST_OPTIONS = 3
"""Fewest lettered lines in a row that are options."""


def without_unclear(document: Document, draft: Draft) -> Draft:
    """Returns what was read without templates; a question with the options of two in its answer has none, where most
    questions are choices, and a finding names the second."""
    left_out = [question.place for question in draft.questions if _is_template(question)]
    kept = [question for question in draft.questions if question.place not in left_out]
    findings = [
        one for one in draft.findings if not any(place.line <= one.span.line <= place.end_line for place in left_out)
    ]
    choices = sum(bool(question.options) for question in kept)
    for at, question in enumerate(kept):
        if _goes_on(question):
            asked = f"{question.prompt}\n\n{question.answer}"
            kept[at] = replace(question, prompt=asked, answer=None, key_points=())
            findings.append(no_answer_finding(document, question.place.line, question.place.line))
            continue
        second = _second_options(document, question) if choices * 2 > len(kept) and not question.options else 0
        if second:
            kept[at] = replace(question, answer=None, key_points=(), code_blocks=())
            findings.append(_inside(document, second, question.place.line))
    return Draft(kept, findings)


def _is_template(question: Question) -> bool:
    """Returns whether all that a question and its options or answer say are places for texts."""
    prompt = question.prompt.strip()
    is_place = _TEMPLATE.fullmatch(prompt) is not None
    if not is_place and not prompt.isdecimal():
        return False
    texts = [option.text for option in question.options] or (question.answer or "").split("\n")
    texts = [_LETTER.sub("", text).strip() for text in texts if text.strip()]
    return all(map(_TEMPLATE.fullmatch, texts)) and (is_place or bool(texts))


_OPEN_END = re.compile(
    r"(?<!\w)(?:with|using|for|of|to|from|and|or|between|mit|für|von|und|oder|zwischen|con|para|por|entre|avec|pour|et"
    r"|com|tra|per|met|voor|с|для|из|и)$"
)
"""The last word of a line that a list below it continues."""
_LIST = re.compile(r"[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]")


def _goes_on(question: Question) -> bool:
    """Returns whether a list that was read as an answer continues the sentence of the question: `Train an MLP with`."""
    open_end = not question.options and _OPEN_END.search(question.prompt.rstrip(" *_")) is not None
    return open_end and question.answer is not None and _LIST.match(question.answer) is not None


def _second_options(document: Document, question: Question) -> int:
    """Returns the line at which a second list of options begins in a question, from its first letter; 0 if none."""
    count, lists = 0, 0
    for line in range(question.place.line, question.place.end_line + 1):
        found = _LETTERED.match(document.source.line(line))
        if found is None:
            continue
        if found["letter"].lower() == "a":
            count = 0
            start = line
        if ord(found["letter"].lower()) - ord("a") != count:
            return 0
        count += 1
        if count == _FEWEST_OPTIONS:
            lists += 1
            if lists > 1:
                return start
    return 0


def _inside(document: Document, line: int, over: int) -> Finding:
    return Finding(
        "Q006",
        "warning",
        "these look like the options of a second question",
        document.source.span(line),
        note=f"the question in line {over} has no answer, because two lists of options are below it",
        help="start each question as the others do",
    )
