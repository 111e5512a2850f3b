"""`### 7. Question?` or `### Question?` and prose up to the next heading, without any label."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from questions.diagnostics import Finding
from questions.dialects.building import from_heading, separate, sibling_runs
from questions.dialects.optioning import may_hold_options, options_in
from questions.dialects.shape import (
    asks_for_questions,
    ends_asking,
    is_bold_question,
    is_marked,
    is_promotion,
    reads_as_question,
    stem_of,
)
from questions.document import Document, Draft, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "heading-prose"

_FEWEST = 3
"""So many headings side by side must ask, where no title says that they are questions; each in so many words."""


def sniff(document: Document) -> bool:
    """Whether there is a run of headings most of which ask something."""
    return any(True for _ in _asking(document))


def read(document: Document) -> Draft:
    """Every numbered heading of such a run, of one without numbers those that ask, with all that stands below."""
    draft = Draft()
    for section in separate(_asking(document)):
        from_heading(document, draft, section, None)
    if draft.questions and not any(ends_asking(question.prompt.partition("\n")[0]) for question in draft.questions):
        draft.findings.append(_unsure(document, draft))
    return draft


def _asking(document: Document) -> Iterator[Section]:
    free = [
        section
        for section in document.sections
        if document.free(section.heading.first, section.last) and document.layout.depths[section.heading.first] < 7
    ]
    yield from _numbered(tuple(section for section in free if _number(section)))
    yield from _bare(document, tuple(section for section in free if not _number(section)))


def _number(section: Section) -> str:
    """What says that a heading is one of a list: its number, or a `Q.` before it."""
    return stem_of(section.heading.text).number or ("Q" if is_marked(section.heading.text) else "")


def _numbered(sections: tuple[Section, ...]) -> Iterator[Section]:
    for run in sibling_runs(sections):
        # A run of study headings may hold one that asks, and a run of questions one that does not:
        # the majority says what the run is.
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
    return reads_as_question(stem_of(section.heading.text).text)


def _asks_itself(section: Section) -> bool:
    """Whether a heading asks and is answered below it, rather than by headings of its own or by an address."""
    own = [*takewhile(lambda block: block.kind != "heading", section.body)]
    text = stem_of(section.heading.text).text
    if not own or not ends_asking(text) or len(text.split()) < _FEWEST:
        return False
    return not is_bold_question(own[0].text) and not is_promotion(section.heading, own)


def _offers(document: Document, section: Section) -> bool:
    """Whether there are options below a heading, which makes it a question wherever it stands."""
    text = document.source.text(section.heading.last + 1, section.last)
    return may_hold_options(text) and options_in(text.split("\n")) is not None


def _unsure(document: Document, draft: Draft) -> Finding:
    place = draft.questions[0].place
    return Finding(
        "Q104",
        "note",
        "these headings were taken for questions, though none ends in a question mark",
        document.source.span(place.line),
        note=f"there are {len(draft.questions)} of them, this is the first",
        help="end the questions in question marks, or take the numbers from headings that are none",
    )
