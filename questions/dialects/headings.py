"""Reads dialects in which a heading asks the question."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from questions.blocks import is_answer_heading
from questions.dialects.building import (
    FoundAnswer,
    add_heading_question,
    add_question,
    find_answer,
    separate_sections,
    sibling_runs,
)
from questions.dialects.options import may_hold_options, options_in
from questions.dialects.shape import (
    asks_for_questions,
    ends_asking,
    is_advertisement,
    is_bold_question,
    is_marked,
    numbered,
    question_line,
    reads_as_question,
    unbold,
)
from questions.document import Document, Draft, Section
from questions.source import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block


# `## Question 5` with the question below or after it, then a heading or label `Answer`

QUESTION_HEADINGS = "question-heading"

_HEADING = re.compile(
    r"(?:question|problem|exercise|q)[ ]?#?(?P<number>\d+)(?:[ ]?[:.)–—-][ ]*(?P<rest>.*))?", re.IGNORECASE
)


def sniff_question_headings(document: Document) -> bool:
    """Returns whether a heading is `Question` with a number."""
    return any(True for _ in _asking(document))


def read_question_headings(document: Document) -> Draft:
    """Reads one question per such heading; headings inside its answer are part of it."""
    draft = Draft()
    for section in separate_sections(_asking(document)):
        _add(document, draft, section)
    return draft


def _asking(document: Document) -> Iterator[Section]:
    for section in document.sections:
        if _HEADING.fullmatch(section.heading.text.strip()) and document.free(section.heading.first, section.last):
            yield section


def _first_paragraph_asks(document: Document, body: tuple[Block, ...], rest: str) -> FoundAnswer | None:
    """Returns the answer without a label: the first block asks (unless the heading did), the rest answers."""
    blocks = body if rest else body[1:]
    if not blocks:
        return None
    return FoundAnswer(document.source.text(blocks[0].first, blocks[-1].last), blocks[0].first)


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
    """Returns the text with its first paragraph freed from bold marks around all of it."""
    first, gap, others = asked.partition("\n\n")
    return unbold(first) + gap + others


# `### 7. Question?` or `### Question?` with prose up to the next heading, without labels

HEADING_PROSE = "heading-prose"

_FEWEST = 3
"""Minimum number of asking headings in a run that no title announces as questions, and minimum words of each."""


def sniff_heading_prose(document: Document) -> bool:
    """Returns whether most headings of some run ask something."""
    return any(True for _ in _asking_heading_prose(document))


def read_heading_prose(document: Document) -> Draft:
    """Reads all numbered headings of such a run, or the asking ones if there are no numbers, with the text below."""
    draft = Draft()
    for section in separate_sections(_asking_heading_prose(document)):
        add_heading_question(document, draft, section, None)
    if draft.questions and not any(ends_asking(question.prompt.partition("\n")[0]) for question in draft.questions):
        draft.findings.append(_unsure(document, draft))
    return draft


def _asking_heading_prose(document: Document) -> Iterator[Section]:
    free = [
        section
        for section in document.sections
        if document.free(section.heading.first, section.last) and document.layout.depths[section.heading.first] < 7
    ]
    yield from _numbered(tuple(section for section in free if _number(section)))
    yield from _bare(document, tuple(section for section in free if not _number(section)))


def _number(section: Section) -> str:
    """Returns what marks a heading as part of a list: its number, or a `Q.` before it."""
    return question_line(section.heading.text).number or ("Q" if is_marked(section.heading.text) else "")


def _numbered(sections: tuple[Section, ...]) -> Iterator[Section]:
    for run in sibling_runs(sections):
        # A run of study headings may contain one that asks, and a run of questions one that does not,
        # so the majority decides.
        asking = sum(_asks(section) for section in run)
        if asking * 2 > len(run):
            yield from run


def _bare(document: Document, sections: tuple[Section, ...]) -> Iterator[Section]:
    for run in sibling_runs(sections):
        asking = [section for section in run if _asks_itself(section)]
        told = asks_for_questions((document.title, *(block.text for block in run[0].above)))
        if len(asking) >= (1 if told else _FEWEST) and (told or len(asking) * 3 >= len(run) * 2):
            yield from asking
        else:
            yield from (section for section in asking if _offers(document, section))


def _asks(section: Section) -> bool:
    return reads_as_question(question_line(section.heading.text).text)


def _asks_itself(section: Section) -> bool:
    """Returns whether a heading asks and is answered by text, not by subheadings or a link."""
    own = [*takewhile(lambda block: block.kind != "heading", section.body)]
    text = question_line(section.heading.text).text
    if not own or not ends_asking(text) or len(text.split()) < _FEWEST:
        return False
    return not is_bold_question(own[0].text) and not is_advertisement(section.heading, own)


def _offers(document: Document, section: Section) -> bool:
    """Returns whether there are options below a heading, which always makes it a question."""
    text = document.source.text(section.heading.last + 1, section.last)
    return may_hold_options(text) and options_in(text.split("\n")) is not None


def _unsure(document: Document, draft: Draft) -> Finding:
    place = draft.questions[0].place
    return Finding(
        "Q104",
        "note",
        "these headings were read as questions, although none ends with a question mark",
        document.source.span(place.line),
        note=f"{len(draft.questions)} headings; this is the first",
        help="add question marks, or remove the numbers from headings that are not questions",
    )


# `### 7. Question?` followed by `**Answer:**` (or a deeper heading `Answer`) and the answer

LABELLED_HEADINGS = "labelled-heading"


def sniff_labelled_headings(document: Document) -> bool:
    """Returns whether some headings are questions with a labeled answer."""
    return any(True for _ in _asking_labelled_headings(document))


def read_labelled_headings(document: Document) -> Draft:
    """Reads the questions of all runs of headings in which most have a labeled answer."""
    draft = Draft()
    for section in separate_sections(_asking_labelled_headings(document)):
        answer = find_answer(document, section.body)
        add_heading_question(document, draft, section, answer)
        if answer is None and section.body:
            draft.findings.append(_unlabelled(document, section))
    return draft


def _asking_labelled_headings(document: Document) -> Iterator[Section]:
    free = tuple(s for s in document.sections if document.free(s.heading.first, s.last))
    for run in sibling_runs(free):
        answers = {s.heading.first: answer for s in run if (answer := _answer(document, s))}
        members = [s for s in run if s.heading.first in answers or numbered(s.heading.text)[0]]
        # A label deep inside the text may be part of the prose; a label right below the heading is not.
        sure = any(s.body[0].first == answers[s.heading.first].first for s in run if s.heading.first in answers)
        if sure or (answers and len(answers) * 2 >= len(members)):
            yield from members


def _answer(document: Document, section: Section) -> FoundAnswer | None:
    if is_answer_heading(section.heading):
        return None
    answer = find_answer(document, section.body)
    return None if answer and _only_holds(document, section, answer) else answer


def _only_holds(document: Document, section: Section, answer: FoundAnswer) -> bool:
    """Returns whether the heading is only a title above questions of another dialect."""
    if ends_asking(question_line(section.heading.text).text):
        return False
    own = list(takewhile(lambda block: block.kind != "heading", section.body))
    before = [block for block in own if block.first < answer.first and block.kind == "paragraph"]
    if any(is_bold_question(block.text) for block in before):
        return True
    answers = [label for block in own for label in document.labels(block) if label.word in ("answer", "a", "ans")]
    return len(answers) > 1 and answers[0].line > own[0].first


def _unlabelled(document: Document, section: Section) -> Finding:
    return Finding(
        "Q102",
        "warning",
        "the answer has no label, unlike the others",
        document.source.span(section.heading.first, section.heading.last),
        note="everything below the heading was read as the answer",
        help="write `**Answer:**` before it",
    )
