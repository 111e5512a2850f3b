"""Reads tables of HTML in Markdown that have a column of questions and one of answers."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from questions.document import Document, Draft
from questions.formats.markdown import from_html
from questions.patterns.found_questions import FoundQuestion, add_question
from questions.patterns.tables import named_columns
from questions.source import Finding
from questions.wording.stems import question_line, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAG = re.compile(r"<(?P<close>/?)(?P<name>table|tr|td|th)\b[^<>]{0,500}>", re.IGNORECASE)
_FEWEST = 2
"""Fewest rows below the header."""


class _Row(NamedTuple):
    first: int
    last: int
    cells: tuple[str, ...]
    """Their HTML."""


def read_html_tables(document: Document) -> Draft:
    """Reads one question per row of such tables."""
    draft = Draft()
    if not any("<table" in line or "<TABLE" in line for line in document.source.lines):
        return draft
    for rows in _tables(document):
        header = [from_html(cell) for cell in rows[0].cells]
        columns = named_columns(header)
        if columns is None or columns.says is None or columns.options or len(rows) <= _FEWEST:
            continue
        for row in rows[1:]:
            texts = [from_html(cell).replace("\N{NO-BREAK SPACE}", " ").strip() for cell in row.cells]
            if len(texts) != len(header) and any(map(reads_as_question, texts)):
                draft.findings.append(_skipped(document, row))
            if len(texts) != len(header) or not document.free(row.first, row.last):
                continue
            stem = question_line(_unmarked(" ".join(texts[columns.asks].split())))
            number = texts[columns.number].strip(".") if columns.number is not None else ""
            if stem.text:
                found = FoundQuestion(
                    first=row.first,
                    last=row.last,
                    prompt=stem.text,
                    answer=texts[columns.says],
                    number=stem.number or number,
                    links=stem.links,
                )
                add_question(document, draft, found)
    return draft


def _skipped(document: Document, row: _Row) -> Finding:
    return Finding(
        "Q006",
        "warning",
        "this looks like a question but was not read as one",
        document.source.span(row.first, row.last),
        note="the row has another number of cells than the header",
        help="write one cell for each column",
        skipped=True,
    )


def _unmarked(text: str) -> str:
    """Returns a text without bold, if it is bold as a whole, in one piece or in several."""
    return text.replace("**", "") if text.startswith("**") and text.endswith("**") else text


def _tables(document: Document) -> Iterator[list[_Row]]:
    """Yields the rows of each table that is in no program; a table in a cell belongs to the cell."""
    lines = document.source.lines
    fenced = {number for block in document.layout.fences for number in range(block.first, block.last + 1)}
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    rows: list[_Row] = []
    cells: list[str] = []
    depth = row_at = cell_at = 0

    def line_of(at: int) -> int:
        return bisect_right(starts, at)

    for tag in _TAG.finditer(text):
        if line_of(tag.start()) in fenced:
            continue
        name, closes = tag["name"].lower(), bool(tag["close"])
        if name == "table":
            depth += -1 if closes else 1
            if not depth and rows:
                yield rows
            if depth <= 0 or (depth == 1 and not closes):
                rows, cells, depth = [], [], max(depth, 0)
        elif depth != 1:
            continue
        elif name == "tr" and not closes:
            cells, row_at = [], tag.start()
        elif name == "tr":
            rows.append(_Row(line_of(row_at), line_of(tag.end() - 1), tuple(cells)))
        elif closes:
            cells.append(text[cell_at : tag.start()])
        else:
            cell_at = tag.end()
