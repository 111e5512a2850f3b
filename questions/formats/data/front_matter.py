"""Reads questions in the front matter of a document in Markdown: cards or a FAQ as a list of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.document import Draft
from questions.formats.data.loading import load_data
from questions.formats.data.records import NAME, holds_records, read_data
from questions.formats.data.roles import role_of
from questions.formats.draft import ImportDraft
from questions.source import Source
from questions.wording.stems import ends_asking

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
        return _read_text_below(document, data)
    draft = read_data(ImportDraft(Source(document.source.name, source.lines), NAME), data)
    return Draft(draft.questions, draft.findings)


def _read_text_below(document: Document, data: object) -> Draft:
    """Reads the text of a document as the question whose options and key are in the front matter; empty if it asks
    nothing, or if the front matter does not have both."""
    body = document.blocks[1:]
    if not isinstance(data, dict) or not body or any(role_of(str(name)) == "question" for name in data):
        return Draft()
    asks = any(block.kind == "paragraph" and ends_asking(block.text) for block in body)
    whole = {**data, "question": document.source.text(body[0].first, body[-1].last)}
    roles = {role_of(str(name)) for name in data}
    if not asks or "options" not in roles or not roles & {"correct", "index"} or not holds_records(whole):
        return Draft()
    lines = (document.blocks[0].first, body[-1].last)
    draft = read_data(ImportDraft(document.source, NAME), whole, [lines])
    return Draft(draft.questions, draft.findings)
