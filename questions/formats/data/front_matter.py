"""Reads questions in the front matter of a document in Markdown: cards or a FAQ as a list of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.document import Draft
from questions.formats.data.loading import load_data
from questions.formats.data.records import NAME, holds_records, read_data
from questions.formats.draft import ImportDraft
from questions.source import Source

if TYPE_CHECKING:
    from questions.document import Document


def read_front_records(document: Document) -> Draft:
    """Reads the records of the front matter; empty if it has none with an answer or options."""
    front = next(iter(document.blocks[:1]), None)
    if front is None or front.kind != "front_matter" or document.front is None:
        return Draft()
    # Without the lines of dashes, which would begin other documents; all lines keep their numbers.
    source = Source(f"{document.source.name}.yaml", ("", *document.source.lines[front.first : front.last - 1]))
    data = load_data(source)
    if isinstance(data, dict):
        # Other lists are usual there, as of tags and sources, and the title may ask too.
        data = {name: value for name, value in data.items() if holds_records(value)} or data
    if not holds_records(data):
        return Draft()
    draft = read_data(ImportDraft(Source(document.source.name, source.lines), NAME), data)
    return Draft(draft.questions, draft.findings)
