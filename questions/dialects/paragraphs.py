"""Reads dialects in which a paragraph asks the question."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import Label, plain, text_after
from questions.dialects.building import add_question, find_answer, without_footer, without_rules
from questions.dialects.options import options_in
from questions.dialects.shape import (
    BOLD_LINE,
    QuestionLine,
    ends_asking,
    heading_asks,
    numbered,
    question_line,
    reads_as_question,
    unbold,
)
from questions.document import Document, Draft, Section, Stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block


# `**Q:** …` and `**A:** …`, with or without a numbered heading

QUESTION_LABELS = "question-label"


class _LabelledQuestion(NamedTuple):
    label: Label
    answer: Label | None
    last: int


def sniff_question_labels(document: Document) -> bool:
    """Returns whether a paragraph begins with a question label."""
    return any(
        label.role == "question"
        for block in document.blocks
        if document.free(block.first, block.last)
        for label in document.labels(block)
    )


def read_question_labels(document: Document) -> Draft:
    """Reads one question per question label, with the heading's title if no other question shares it."""
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
    """Yields each heading with its blocks up to the next heading that is not deeper or asks itself."""
    start = next((i for i, block in enumerate(document.blocks) if block.kind == "heading"), None)
    yield None, document.blocks[:start]
    for section in document.sections:
        if document.free(section.heading.first, section.last):
            yield section, _own(document, section)


def _own(document: Document, section: Section) -> tuple[Block, ...]:
    """Returns the section's blocks, up to the first subheading with its own labels."""
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


def _asked(document: Document, body: tuple[Block, ...]) -> Iterator[_LabelledQuestion]:
    labels = [label for block in body for label in document.labels(block)]
    starts = [i for i, label in enumerate(labels) if label.role == "question"]
    for here, following in zip(starts, [*starts[1:], len(labels)], strict=False):
        answers = labels[here + 1 : following]
        end = labels[following].line - 1 if following < len(labels) else body[-1].last
        within = without_rules(tuple(block for block in body if labels[here].line <= block.last and block.first <= end))
        yield _LabelledQuestion(labels[here], answers[0] if answers else None, min(end, within[-1].last))


def _add(document: Document, draft: Draft, section: Section | None, asked: _LabelledQuestion, *, titled: bool) -> None:
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


# Lines of their own: bold, numbered or not, or plain above options or an answer

BOLD_LINES = "bold-line"

_FEWEST = 2


class _Line(NamedTuple):
    """A paragraph that may be a question."""

    nth: int
    """Index of its block within the stretch."""
    stem: QuestionLine
    title: str
    below: str
    """Text of the paragraph after the question."""
    bold: bool


class _BoldQuestion(NamedTuple):
    stretch: Stretch
    line: _Line
    body: tuple[Block, ...]
    sure: bool
    """Whether options, a label or a fold show that it is a question."""


def sniff_bold_lines(document: Document) -> bool:
    """Returns whether the document has lines that read as questions of a list."""
    return bool(_asking(document))


def read_bold_lines(document: Document) -> Draft:
    """Reads one question per such line, up to the next question or heading."""
    draft = Draft()
    for asked in _asking(document):
        _add_bold(document, draft, asked)
    return draft


def _asking(document: Document) -> list[_BoldQuestion]:
    found = [asked for stretch in document.layout.stretches for asked in _in_stretch(document, stretch)]
    numbered = [asked for asked in found if asked.line.stem.number and asked.line.bold]
    asking = sum(asked.sure or _asks(asked.line) for asked in numbered)
    run = len(numbered) >= _FEWEST and asking * 2 > len(numbered)
    bare = [asked for asked in found if asked.line.bold and not asked.line.stem.number and _asks(asked.line)]
    return [
        asked
        for asked in found
        if asked.sure or (asked.line.bold and (run if asked.line.stem.number else len(bare) >= _FEWEST))
    ]


def _asks(line: _Line) -> bool:
    return reads_as_question(line.stem.text)


def _in_stretch(document: Document, stretch: Stretch) -> Iterator[_BoldQuestion]:
    lines = [
        line
        for index, block in enumerate(stretch.blocks)
        if block.kind == "paragraph" and (line := _line(block, index)) and document.free(block.first, block.last)
    ]
    if not lines or (heading_asks(stretch.headings) and lines[0].nth > 0):
        return
    ends = [line.nth for line in lines[1:]] + [len(stretch.blocks)]
    kept: list[tuple[_Line, bool]] = []
    for line, end in zip(lines, ends, strict=True):
        sure = _is_answered(document, line, stretch.blocks[line.nth + 1 : end])
        if sure or (line.bold and (line.stem.number or _asks(line))):
            kept.append((line, sure))
    ends = [*[line.nth for line, _ in kept][1:], len(stretch.blocks)]
    for (line, sure), end in zip(kept, ends, strict=False):
        yield _BoldQuestion(stretch, line, _body(document, line, stretch.blocks[line.nth + 1 : end]), sure)


def _body(document: Document, line: _Line, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns the blocks up to the next question, without closing remarks."""
    end = next((i for i, block in enumerate(blocks) if not document.free(block.first, block.last)), len(blocks))
    return without_footer(without_rules(blocks[:end]), said=bool(line.below))


def _line(block: Block, index: int) -> _Line | None:
    """Returns the question in a paragraph, if it may be one."""
    found = BOLD_LINE.fullmatch(block.text)
    if found is None:
        first, _, below = block.text.partition("\n")
        stem = question_line(first)
        return _Line(index, stem, "", below, bold=False) if ends_asking(first) or stem.number else None
    rest = found["rest"]
    stem = question_line(found["bold"])
    if rest.strip(" .:") and not rest.startswith("\n"):
        first, _, below = rest.lstrip(" .:–—-").partition("\n")
        # `**3) A title**. The question` and `**3.** The question`
        alone = question_line(f"{found['bold']} {first}") if found["bold"].strip().rstrip(".:)").isdecimal() else None
        if alone:
            return _Line(index, alone, "", below, bold=True)
        if ends_asking(found["bold"]):
            return _Line(index, stem, "", rest.strip(), bold=True)
        asked = QuestionLine(stem.number, rest.lstrip(" .:–—-"), stem.links)
        return _Line(index, asked, stem.text.rstrip(".:"), "", bold=True) if stem.number else None
    return _Line(index, stem, "", rest.lstrip(" .:").strip("\n"), bold=True)


def _is_answered(document: Document, line: _Line, body: tuple[Block, ...]) -> bool:
    """Returns whether a label, a fold or options below the line answer it."""
    if not line.stem.number and not _asks(line):
        return False
    if body and find_answer(document, body[:4]) is not None:
        return True
    text = "\n".join(
        (line.below, *(document.source.text(b.first, b.last) for b in body if b.kind in ("list", "paragraph")))
    )
    return bool(body or line.below) and "\n" in text and options_in(text.split("\n")) is not None


def _add_bold(document: Document, draft: Draft, asked: _BoldQuestion) -> None:
    line, block, body = asked.line, asked.stretch.blocks[asked.line.nth], asked.body
    answer = find_answer(document, body)
    last = body[-1].last if body else block.last
    before = document.source.text(block.last + 1, answer.first - 1 if answer else last)
    shown = "\n\n".join(part for part in (line.below, before) if part)
    prompt = "\n\n".join(part for part in (line.stem.text, shown if answer else "") if part)
    add_question(
        document,
        draft,
        block.first,
        last,
        prompt=prompt,
        answer=answer.text if answer else shown,
        section=asked.stretch.path,
        number=line.stem.number,
        title=line.title,
        links=line.stem.links,
        labelled=answer is not None,
    )
