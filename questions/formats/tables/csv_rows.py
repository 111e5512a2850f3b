"""Reads the rows of CSV, each with its first and last line, also where cells are in single quotes."""

from __future__ import annotations

import csv
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.formats.draft import ImportDraft

_MOST_LOOKED_AT = 300
"""Rows looked at."""


def rows_with_lines(draft: ImportDraft, delimiter: str, first: int) -> Iterator[tuple[Sequence[str], tuple[int, int]]]:
    """Yields the non-empty rows, each with its first and last line."""
    lines = draft.source.lines
    mark = _quote_of(lines[first - 1 :], delimiter)
    written = (f"{line}\n" for line in lines[first - 1 :])
    reader = csv.reader(written, delimiter=delimiter, skipinitialspace=True, quotechar=mark)
    start = first
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            last = first + reader.line_num - 1
            draft.add_skipped(f"this row cannot be read: {error}", "close its quotes, or shorten it", (start, last))
            start = last + 1
            continue
        last = first + reader.line_num - 1
        to_the_end = last == len(lines) and last > start and not lines[-1].strip()
        if to_the_end and cells and cells[-1].endswith("\n"):
            draft.add("Q601", "this quote is never closed", 'close it with `"`', (start, last))
        if any(cell.strip() for cell in cells):
            yield cells, (start, draft.source.last_filled(start, last))
        start = last + 1


def _quote_of(lines: Sequence[str], delimiter: str) -> str:
    """Returns the mark around cells that contain the delimiter: a single one only if each row then has as many cells
    as the first, and several have not otherwise."""
    if not any(f"{delimiter}'" in line for line in lines[:_MOST_LOOKED_AT]):
        return '"'
    counts = {mark: _widths(lines, delimiter, mark) for mark in ("'", '"')}
    single, double = counts["'"], counts['"']
    uneven = sum(count != double[0] for count in double) if double else 0
    return "'" if single and len(set(single)) == 1 and uneven >= _FEWEST_UNEVEN else '"'


_FEWEST_UNEVEN = 2


def _widths(lines: Sequence[str], delimiter: str, mark: str) -> list[int]:
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, skipinitialspace=True, quotechar=mark)
    try:
        return [len(row) for row in islice(reader, _MOST_LOOKED_AT) if any(cell.strip() for cell in row)]
    except csv.Error:
        return []
