"""`### 7. Question?` followed by `**Answer:**` (or a deeper heading `Answer`) and the answer."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from questions.diagnostics import Finding
from questions.dialects.building import Answer, find_answer, from_heading, separate, sibling_runs
from questions.dialects.shape import ends_asking, is_bold_question, numbered, stem_of
from questions.document import Document, Draft, Section
from questions.labels import is_answer_heading

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "labelled-heading"


def sniff(document: Document) -> bool:
    """Whether some headings of the document are questions with a labelled answer."""
    return any(True for _ in _asking(document))


def read(document: Document) -> Draft:
    """The questions of all runs of headings in which most have a labelled answer."""
    draft = Draft()
    for section in separate(_asking(document)):
        answer = find_answer(document, section.body)
        from_heading(document, draft, section, answer)
        if answer is None and section.body:
            draft.findings.append(_unlabelled(document, section))
    return draft


def _asking(document: Document) -> Iterator[Section]:
    free = tuple(s for s in document.sections if document.free(s.heading.first, s.last))
    for run in sibling_runs(free):
        answers = {s.heading.first: answer for s in run if (answer := _answer(document, s))}
        members = [s for s in run if s.heading.first in answers or numbered(s.heading.text)[0]]
        # A label deep in the text of one may belong to the prose; one right below the heading does not.
        sure = any(s.body[0].first == answers[s.heading.first].first for s in run if s.heading.first in answers)
        if sure or (answers and len(answers) * 2 >= len(members)):
            yield from members


def _answer(document: Document, section: Section) -> Answer | None:
    if is_answer_heading(section.heading):
        return None
    answer = find_answer(document, section.body)
    return None if answer and _only_holds(document, section, answer) else answer


def _only_holds(document: Document, section: Section, answer: Answer) -> bool:
    """Whether the heading is a title over questions of another dialect, the first of which has this answer."""
    if ends_asking(stem_of(section.heading.text).text):
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
        "the answer is not labelled as the others are",
        document.source.span(section.heading.first, section.heading.last),
        note="everything below the heading was taken as the answer",
        help="write `**Answer:**` before it",
    )
