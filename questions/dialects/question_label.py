"""`**Q:** …` and `**A:** …`, under a titled number or under none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.dialects.building import add_question, trimmed
from questions.dialects.shape import numbered, unbold
from questions.document import Document, Draft, Section
from questions.labels import Label, text_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block

NAME = "question-label"


class _Asked(NamedTuple):
    label: Label
    answer: Label | None
    last: int


def sniff(document: Document) -> bool:
    """Whether a paragraph of the document begins with a question label."""
    return any(
        label.role == "question"
        for block in document.blocks
        if document.free(block.first, block.last)
        for label in document.labels(block)
    )


def read(document: Document) -> Draft:
    """One question for each question label, with the title of its heading where that is its alone."""
    draft = Draft()
    for section, body in _stretches(document):
        asked = list(_asked(document, body))
        alone = section is not None and len(asked) == 1 and _right_below(document, section, asked[0].label)
        for one in asked:
            _add(document, draft, section, one, titled=alone)
    return draft


def _right_below(document: Document, section: Section, label: Label) -> bool:
    return not document.source.text(section.heading.last + 1, label.line - 1)


def _stretches(document: Document) -> Iterator[tuple[Section | None, tuple[Block, ...]]]:
    """Each heading with its blocks up to the next heading that is no deeper or asks itself."""
    start = next((i for i, block in enumerate(document.blocks) if block.kind == "heading"), None)
    yield None, document.blocks[:start]
    for section in document.sections:
        if document.free(section.heading.first, section.last):
            yield section, _own(document, section)


def _own(document: Document, section: Section) -> tuple[Block, ...]:
    """The section's blocks; where a deeper heading has labels of its own, only those before the first."""
    asking = any(label.role == "question" for block in _until_heading(section.body) for label in document.labels(block))
    if not asking:
        return ()
    start = 0
    for index, block in enumerate(section.body):
        if block.kind == "heading":
            start = index
        elif start and document.labels(block):
            return section.body[:start]
    return section.body


def _until_heading(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        if block.kind == "heading":
            return
        yield block


def _asked(document: Document, body: tuple[Block, ...]) -> Iterator[_Asked]:
    labels = [label for block in body for label in document.labels(block)]
    starts = [i for i, label in enumerate(labels) if label.role == "question"]
    for here, following in zip(starts, [*starts[1:], len(labels)], strict=False):
        answers = labels[here + 1 : following]
        end = labels[following].line - 1 if following < len(labels) else body[-1].last
        within = trimmed(tuple(block for block in body if labels[here].line <= block.last and block.first <= end))
        yield _Asked(labels[here], answers[0] if answers else None, min(end, within[-1].last))


def _add(document: Document, draft: Draft, section: Section | None, asked: _Asked, *, titled: bool) -> None:
    path = section.path if section else ()
    number, title = numbered(section.heading.text) if section and titled else ("", "")
    first = section.heading.first if section and titled else asked.label.line
    if section and not titled:
        path = (*path, plain(section.heading.text))
    answer = text_after(document.source, asked.answer, asked.last) if asked.answer else ""
    before = asked.answer.line - 1 if asked.answer else asked.last
    add_question(
        document,
        draft,
        first,
        asked.last,
        prompt=unbold(text_after(document.source, asked.label, before)),
        answer=answer,
        section=path,
        number=number or asked.label.number,
        title=title,
        asked=(asked.label.line, asked.label.line),
    )
