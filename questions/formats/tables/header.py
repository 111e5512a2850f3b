"""Finds the header of a table: its line, its delimiter and what its columns are."""

from __future__ import annotations

import csv
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from questions.formats.tables.column_names import Column, columns
from questions.formats.tables.columns import repeats_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from questions.source import Source

SHEETS = (".csv", ".tsv", ".xlsx")
DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR = re.compile(r"sep=(?P<mark>.)")
_MOST_ADVICE = 20
"""Maximum number of filled lines before the header."""
_MOST_HEADER = 20
"""Most lines of a header, whose names may have line breaks in quotes."""


def header_line(source: Source) -> int:
    """Returns the line of the header: the first that names a question and an answer; templates begin with advice."""
    filled = [number for number, line in enumerate(source.lines[:50], 1) if line.strip()]
    if filled and _SEPARATOR.fullmatch(source.line(filled[0]).strip(" \n")):
        return (filled[1:] or [1])[0]
    most = _MOST_ADVICE if PurePath(source.name).suffix.lower() in SHEETS else 1
    suits = (number for number in filled[:most] if _best_delimiter(source, number, DELIMITERS))
    return next(suits, filled[0] if filled else 1)


def header_delimiter(source: Source, first: int) -> str | None:
    """Returns the delimiter that gives the most known columns; None without a question or an answer column."""
    separator = _SEPARATOR.fullmatch(source.line(first - 1).strip(" \n")) if first > 1 else None
    return _best_delimiter(source, first, (separator["mark"],) if separator else DELIMITERS)


def _best_delimiter(source: Source, number: int, delimiters: tuple[str, ...]) -> str | None:
    best: tuple[int, str] | None = None
    for delimiter in delimiters:
        roles = {column.role for column in header_roles(source, number, delimiter)}
        if "question" in roles and roles & {"answer", "options", "correct", "option", "wrong"}:
            best = max(best or (0, ""), (len(roles), delimiter))
    return best[1] if best else None


def header_cells(line: str, delimiter: str) -> list[str]:
    """Returns the cells of a line; an empty list if it cannot be read."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def header_end(source: Source, first: int) -> int:
    """Returns the last line of the header that begins in a line: where its quotes are closed."""
    quotes = 0
    for number in range(first, min(first + _MOST_HEADER, len(source.lines)) + 1):
        quotes += source.line(number).count('"')
        if quotes % 2 == 0:
            return number
    return first


def header_roles(source: Source, number: int, delimiter: str) -> list[Column]:
    """Returns the roles of the columns that a line names; none if it has the same labels of options as a line next to
    it."""
    last = header_end(source, number) if '"' in source.line(number) else number
    cells = header_cells("\n".join(source.lines[number - 1 : last]), delimiter)
    around = (header_cells(source.line(near), delimiter) for near in (number - 1, number + 1))
    return [] if any(repeats_labels(cells, row) for row in around) else columns(cells)


def unknown_columns(names: Iterable[str], found: Iterable[Column]) -> list[str]:
    """Returns the names of columns that are not recognized."""
    return [name.strip() for name, column in zip(names, found, strict=False) if not column.role and name.strip()]
