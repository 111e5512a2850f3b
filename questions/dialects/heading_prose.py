"""`### 7. Question?` and prose up to the next heading, without any label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.dialects.building import from_heading, separate, sibling_runs
from questions.dialects.shape import numbered, reads_as_question
from questions.document import Document, Draft, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "heading-prose"


def sniff(document: Document) -> bool:
    """Whether there is a run of numbered headings most of which ask something."""
    return any(True for _ in _asking(document))


def read(document: Document) -> Draft:
    """Every numbered heading of such a run, with all that stands below it."""
    draft = Draft()
    for section in separate(_asking(document)):
        from_heading(document, draft, section, None)
    return draft


def _asking(document: Document) -> Iterator[Section]:
    free = tuple(
        section
        for section in document.sections
        if numbered(section.heading.text)[0] and document.free(section.heading.first, section.last)
    )
    for run in sibling_runs(free):
        # A run of study headings may hold one that asks, and a run of questions one that does not:
        # the majority says what the run is.
        asking = sum(reads_as_question(numbered(section.heading.text)[1]) for section in run)
        if asking * 2 > len(run):
            yield from run
