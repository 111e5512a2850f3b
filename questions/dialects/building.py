"""From the pieces a Markdown dialect found to a Question, and runs of sibling headings. Recognises nothing."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from questions.diagnostics import Finding
from questions.dialects.shape import level_under, numbered
from questions.keypoints import key_points_of
from questions.labels import is_answer_heading, text_after
from questions.model import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.blocks import Block
    from questions.document import Document, Section
    from questions.model import Level


_FOOTER = 4
"""A rule and this many blocks or more behind it are no farewell."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Where an answer was found."""

    text: str
    first: int
    """The line of its label or heading; everything of the question before it is the prompt."""


def trimmed(body: tuple[Block, ...]) -> tuple[Block, ...]:
    """A question's blocks without the rules that part it from the next one."""
    end = len(body)
    while end and body[end - 1].kind == "rule":
        end -= 1
    return body[:end]


def separate(sections: Iterable[Section]) -> Iterator[Section]:
    """Sections that ask, in order, each ended where the next begins and standing under no other of them."""
    asking = sorted(sections, key=lambda section: section.heading.first)
    headings = {section.heading.first for section in asking}
    for section, following in zip(asking, [*asking[1:], None], strict=False):
        body = trimmed(section.body)
        if following is None:
            body = _without_footer(body)
        elif following.heading.first <= section.last:
            body = trimmed(tuple(block for block in body if block.first < following.heading.first))
        above = tuple(heading for heading in section.above if heading.first not in headings)
        yield dataclasses.replace(section, body=body, above=above)


def _without_footer(body: tuple[Block, ...]) -> tuple[Block, ...]:
    """The last question's blocks without what stands behind a rule: a document's farewell is no answer."""
    rules = [index for index, block in enumerate(body) if block.kind == "rule"]
    if not rules or len(body) - rules[-1] > _FOOTER or not trimmed(body[: rules[-1]]):
        return body
    footer = body[rules[-1] + 1 :]
    return trimmed(body[: rules[-1]]) if all(block.kind == "paragraph" for block in footer) else body


def find_answer(document: Document, body: tuple[Block, ...]) -> Answer | None:
    """The answer in a question's blocks, behind the first answer label or answer heading.

    A heading of any other kind ends the search: what follows it belongs to no label above it.
    """
    last = body[-1].last if body else 0
    for block in body:
        if is_answer_heading(block):
            return Answer(document.source.text(block.last + 1, last), block.first)
        if block.kind == "heading":
            return None
        for label in document.labels(block):
            if label.role == "answer":
                return Answer(text_after(document.source, label, last), label.line)
    return None


def sibling_runs(sections: tuple[Section, ...]) -> Iterator[list[Section]]:
    """The sections of equal depth under the same headings, together and in order."""

    def family(section: Section) -> tuple[int, int]:
        return (section.above[-1].first if section.above else 0, section.heading.level)

    for _, run in groupby(sorted(sections, key=family), key=family):
        yield list(run)


def make_question(
    document: Document,
    first: int,
    last: int,
    *,
    prompt: str,
    answer: str,
    section: tuple[str, ...],
    number: str = "",
    title: str = "",
    level: Level | None = None,
) -> Question:
    """A foreign question: prose asked and answered, with no id yet."""
    return Question(
        id="",
        kind="open",
        prompt=prompt,
        place=document.place(first, last),
        answer=answer or None,
        key_points=key_points_of(answer),
        code_blocks=document.code_between(first, last),
        level=level or level_under(section),
        section=section,
        number=number,
        title=title,
    )


def from_heading(document: Document, section: Section, answer: Answer | None) -> tuple[Question, list[Finding]]:
    """The question a heading asks: its text is the prompt, with whatever stands before the answer."""
    source = document.source
    heading = section.heading
    number, prompt = numbered(heading.text)
    text = answer.text if answer else source.text(heading.last + 1, section.last)
    more = source.text(heading.last + 1, answer.first - 1) if answer else ""
    question = make_question(
        document,
        heading.first,
        section.last,
        prompt=f"{prompt}\n\n{more}" if more else prompt,
        answer=text,
        section=section.path,
        number=number,
    )
    return question, [] if text else [no_answer(document, heading.first, heading.last)]


def no_answer(document: Document, first: int, last: int) -> Finding:
    """Says that a question is kept but will never be asked."""
    return Finding(
        "Q101",
        "warning",
        "the question has no answer",
        document.source.span(first, last),
        label="asked here",
        note="it is kept and never put to anyone",
        help="write the answer below the question",
    )
