"""Tables of questions: CSV with commas, semicolons or tabs, and a header in any order. Cells are Markdown."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from questions.foreign.rows import Row, add_row, columns, unknown_columns
from questions.foreign.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.source import Source

NAME = "csv"

_DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR = re.compile(r"sep=(?P<mark>.)")
_NEEDED = "a column `question` and one of `answer`, `options` or `correct`"


def sniff(source: Source) -> bool:
    """Whether the first line names a question and an answer among columns."""
    first = _first(source)
    line = source.line(first)
    return "](" not in line and not line.startswith(("#", "|", "- ")) and _delimiter(source, first) is not None


def read(source: Source) -> Sheet:
    """All questions of a table."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    first = _first(source)
    delimiter = _delimiter(source, first)
    if delimiter is None:
        return sheet.unreadable(f"the first line is no header: {_NEEDED} are needed", "name the columns", first)
    rows = _rows(sheet, delimiter, first)
    names, lines = next(rows)
    roles = columns(names)
    unknown = unknown_columns(names, roles)
    if unknown:
        shown = ", ".join(f"`{name[:40]}`" for name in unknown[:10])
        sheet.say("Q610", f"columns were not kept: {shown}", "rename or remove them", lines, severity="note")
    for cells, lines in rows:
        if len(cells) > len(roles):
            note = f"the header names {len(roles)} columns, the row has {len(cells)} cells"
            sheet.say("Q606", "a row has more cells than columns", "put quotes around it", lines, note=note)
        row = Row(*lines)
        for column, cell in zip(roles, cells, strict=False):
            row.put(column, cell.strip("\n"))
        add_row(sheet, row)
    if not sheet.questions and not sheet.findings:
        sheet.unreadable("the table holds no row below its header", "write a row for each question", first)
    return sheet


def _first(source: Source) -> int:
    """The line of the header."""
    filled = [number for number, line in enumerate(source.lines[:50], 1) if line.strip()]
    if filled and _SEPARATOR.fullmatch(source.line(filled[0]).strip(" \n")):
        filled = filled[1:]
    return filled[0] if filled else 1


def _delimiter(source: Source, first: int) -> str | None:
    """What parts the header into the most columns we know; None where it names no question or no answer."""
    best: tuple[int, str] | None = None
    said = _SEPARATOR.fullmatch(source.line(first - 1).strip(" \n")) if first > 1 else None
    for delimiter in (said["mark"],) if said else _DELIMITERS:
        roles = {column.role for column in columns(_header(source.line(first), delimiter))}
        if "question" in roles and roles & {"answer", "options", "correct", "option"}:
            best = max(best or (0, ""), (len(roles), delimiter))
    return best[1] if best else None


def _header(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _rows(sheet: Sheet, delimiter: str, first: int) -> Iterator[tuple[Sequence[str], tuple[int, int]]]:
    """The rows that hold something, each with its first and last line."""
    lines = sheet.source.lines
    reader = csv.reader((f"{line}\n" for line in lines[first - 1 :]), delimiter=delimiter, skipinitialspace=True)
    start = first
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            last = first + reader.line_num - 1
            sheet.left_out(f"this row cannot be read: {error}", "close its quotes, and shorten it", (start, last))
            start = last + 1
            continue
        last = first + reader.line_num - 1
        if last == len(lines) and last > start and not lines[-1].strip() and _swallowed(cells):
            sheet.say("Q601", "a quote is opened here and never closed", 'close it with `"`', (start, last))
        if any(cell.strip() for cell in cells):
            yield cells, (start, sheet.source.last_filled(start, last))
        start = last + 1


def _swallowed(cells: Sequence[str]) -> bool:
    """Whether the last cell runs on to the end of the document."""
    return bool(cells) and cells[-1].endswith("\n")
