"""`## Question 5` with the question below it (or behind it), then a heading or label `Answer`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.dialects.building import Answer, add_question, find_answer, separate
from questions.dialects.shape import unbold
from questions.document import Document, Draft, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block

NAME = "question-heading"

_HEADING = re.compile(
    r"(?:question|problem|exercise|q)[ ]?#?(?P<number>\d+)(?:[ ]?[:.)–—-][ ]*(?P<rest>.*))?", re.IGNORECASE
)


def sniff(document: Document) -> bool:
    """Whether a heading says `Question` and a number."""
    return any(True for _ in _asking(document))


def read(document: Document) -> Draft:
    """One question for each such heading; the headings inside its answer are part of it."""
    draft = Draft()
    for section in separate(_asking(document)):
        _add(document, draft, section)
    return draft


def _asking(document: Document) -> Iterator[Section]:
    for section in document.sections:
        if _HEADING.fullmatch(section.heading.text.strip()) and document.free(section.heading.first, section.last):
            yield section


def _first_paragraph_asks(document: Document, body: tuple[Block, ...], rest: str) -> Answer | None:
    """Without any label: the first block asks (unless the heading did), the others answer."""
    blocks = body if rest else body[1:]
    if not blocks:
        return None
    return Answer(document.source.text(blocks[0].first, blocks[-1].last), blocks[0].first)


def _add(document: Document, draft: Draft, section: Section) -> None:
    heading = section.heading
    found = _HEADING.fullmatch(heading.text.strip())
    number, rest = (found["number"], found["rest"] or "") if found else ("", "")
    labelled = find_answer(document, section.body)
    answer = labelled or _first_paragraph_asks(document, section.body, rest)
    asked = document.source.text(heading.last + 1, answer.first - 1 if answer else section.last)
    add_question(
        document,
        draft,
        heading.first,
        section.last,
        prompt="\n\n".join(part for part in (unbold(rest), _unbold_first(asked)) if part),
        answer=answer.text if answer else "",
        section=section.path,
        number=number,
        labelled=labelled is not None,
        asked=(heading.first, heading.last),
    )


def _unbold_first(asked: str) -> str:
    """The asked text with its first paragraph freed of the bold marks around all of it."""
    first, gap, others = asked.partition("\n\n")
    return unbold(first) + gap + others
