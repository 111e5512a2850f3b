"""Reads questions in the front matter: `questions:` as a list, or as lists by level, and documents that are one
question because their title asks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from questions.document import Document, Draft, entries, scalar
from questions.patterns.found_questions import FoundQuestion, add_question, make_question
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import QUESTION_WORDS
from questions.wording.stems import ends_asking, level_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.model import Level

FRONT_MATTER = "front-matter"


def read_front_matter(document: Document) -> Draft:
    """Reads one unanswered question per entry, at the entry's line."""
    draft = Draft()
    for node, level in _asked(document.front):
        # The front matter starts on the document's second line; node lines start from 0.
        # YAML has more line endings than Markdown, hence the bounds.
        end = document.blocks[0].last - 1
        first = min(node.start_mark.line + 2, end)
        last = min(max(first, node.end_mark.line + 2 - (node.end_mark.column == 0)), end)
        prompt = str(node.value).strip()
        found = FoundQuestion(first=first, last=last, prompt=prompt, level=level)
        draft.questions.append(make_question(document, found))
    return draft


def read_asking_title(document: Document) -> Draft:
    """Reads a document whose title in the front matter asks, and whose text answers it, as one question."""
    draft = Draft()
    title = scalar(document.front, "title").strip()
    if len(document.blocks) < 2 or not ends_asking(title):
        return draft
    front, *body = document.blocks
    first = front.first if document.free(front.first, front.last) else body[0].first
    level = next((one for key in ("level", "difficulty") if (one := level_of(scalar(document.front, key)))), None)
    answer = document.source.text(body[0].first, body[-1].last)
    found = FoundQuestion(first=first, last=body[-1].last, prompt=title, answer=answer, labeled=False, level=level)
    add_question(document, draft, found)
    return draft


_QUESTION_TITLE = re.compile(
    rf"(?:[\w#+. ]{{1,40}}?[ ]?[-–—:|][ ]?)?(?:{QUESTION_WORDS})[ ]?#?(?P<number>\d{{1,4}})[ ]?[-–—:|.)][ ]?"
    r"(?P<text>\S.*)",
    re.IGNORECASE,
)
"""A title that is a question of a collection with a file for each: `AI - Question 17 - How …?`"""


def read_counted_title(document: Document) -> Draft:
    """Reads a document whose title is a question with a word and a number, and whose text answers it."""
    draft = Draft()
    section = document.sections[0] if document.sections else None
    found = _QUESTION_TITLE.fullmatch(section.heading.text.strip()) if section else None
    if section is None or found is None or not asks_or_demands(found["text"]) or not section.body:
        return draft
    source = document.source
    first, last = section.heading.first, section.body[-1].last
    if source.next_filled(1) != first or source.next_filled(last + 1) <= len(source.lines):
        return draft
    answer = source.text(section.heading.last + 1, last)
    one = FoundQuestion(first=first, last=last, prompt=found["text"], answer=answer, number=found["number"])
    add_question(document, draft, one)
    return draft


def _asked(front: yaml.Node | None) -> Iterator[tuple[yaml.ScalarNode, Level | None]]:
    for key, value in entries(front):
        if key != "questions":
            continue
        yield from ((node, None) for node in _scalars(value))
        for level, nodes in entries(value):
            yield from ((node, level_of(level)) for node in _scalars(nodes))


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    for one in node.value if isinstance(node, yaml.SequenceNode) else ():
        if isinstance(one, yaml.ScalarNode) and str(one.value).strip():
            yield one
