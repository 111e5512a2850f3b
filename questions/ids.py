"""Generates ids for questions without one. An id depends only on the prompt, so edits elsewhere do not change it."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

from questions.blocks import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from questions.model import Question


VALID_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""An id as an author may choose it: words in lower case, joined by hyphens."""
_LENGTH = 60
"""Longest id, characters."""
_COMMAND = re.compile(r"\\[a-z]+")
_WORD = re.compile(r"[^\W_]+")


def slug(prompt: str) -> str:
    """Returns lower-case words joined by hyphens, cut at a word boundary; `question` if the prompt has no words."""
    # LaTeX commands are markup, not words.
    text = plain(prompt)
    if text.isascii():
        text = _COMMAND.sub(" ", text.lower())
    else:
        text = _COMMAND.sub(" ", unicodedata.normalize("NFKD", text).lower())
        text = "".join(c for c in text if not unicodedata.combining(c))
    kept = ""
    for found in _WORD.finditer(text):
        word = found[0]
        longer = f"{kept}-{word}" if kept else word[:_LENGTH]
        if len(longer) > _LENGTH:
            break
        kept = longer
    return kept or "question"


def with_ids(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Returns the questions with ids for those that have none. An author's id is never changed."""
    given = tuple(questions)
    used = {question.id for question in given if question.id}
    counts: dict[str, int] = {}
    result: list[Question] = []
    for question in given:
        if not question.id:
            question = dataclasses.replace(question, id=_fresh(question, used, counts))
            used.add(question.id)
        result.append(question)
    return tuple(result)


def _fresh(question: Question, used: set[str], counts: dict[str, int]) -> str:
    """Returns the prompt's slug; if it is taken, adds a hash of the prompt and its position.

    `counts` holds how often each slug was requested, so that many equal prompts take linear time.
    """
    wanted = slug(question.prompt)
    if wanted in used:
        known = "\n".join((question.prompt, *question.section, question.number))
        wanted = f"{wanted}-{hashlib.sha256(known.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
    result, count = wanted, counts.get(wanted, 2)
    while result in used:
        result, count = f"{wanted}-{count}", count + 1
    counts[wanted] = count
    return result


def nth_letter(index: int) -> str:
    """Returns the id of an option by its place from 0."""
    return chr(ord("a") + index) if index < 26 else f"o{index + 1}"
