"""Anki's notes as text: `#separator:` and other headers, then a note a line. Notes are read by anki_notes."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.foreign.anki_notes import Note, add_note
from questions.foreign.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "anki-text"

_HEADER = re.compile(
    r"#(?P<name>separator|html|tags|columns|notetype|deck|guid|notetype column|deck column|tags column|guid column)"
    r":(?P<value>.*)",
    re.IGNORECASE,
)
_SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|", "colon": ":"}


@dataclass(slots=True)
class _Headers:
    """What the lines at the top say."""

    separator: str = "\t"
    html: bool = True
    names: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    end: int = 0
    """The last line of them."""

    def column(self, name: str) -> int | None:
        """The place of a column that is no field, from 0."""
        value = self.values.get(f"{name} column", "").strip()
        return int(value) - 1 if value.isdecimal() and 0 < int(value[:4]) < 1000 else None


def sniff(source: Source) -> bool:
    """Whether the first line is one of Anki's headers."""
    return _HEADER.match(source.line(1)) is not None


def read(source: Source) -> Sheet:
    """All questions of exported notes or cards."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    headers = _headers(source)
    apart = {headers.column(name): name for name in ("guid", "notetype", "deck", "tags")}
    for cells, lines in _rows(sheet, headers):
        note = Note(*lines, html=headers.html, tags=headers.values.get("tags", "").split())
        note.deck = headers.values.get("deck", "").strip()
        for index, cell in enumerate(cells):
            name = apart.get(index, "")
            if name == "deck":
                note.deck = cell.strip()
            elif name == "tags":
                note.tags += cell.split()
            elif not name:
                label = headers.names[index].strip() if index < len(headers.names) else ""
                note.fields.append((label, cell))
        add_note(sheet, note)
    if not sheet.questions and not sheet.findings:
        sheet.unreadable("the file holds no notes", "export notes with at least two fields")
    return sheet


def _headers(source: Source) -> _Headers:
    headers = _Headers()
    for number, line in enumerate(source.lines, 1):
        found = _HEADER.fullmatch(line)
        if found is None:
            break
        headers.values[found["name"].lower()] = found["value"]
        headers.end = number
    said = headers.values.get("separator", "tab").strip(" ").lower() or "\t"
    headers.separator = _SEPARATORS.get(said, said[:1])
    headers.html = headers.values.get("html", "true").strip().lower() != "false"
    headers.names = headers.values.get("columns", "").split(headers.separator) if "columns" in headers.values else []
    return headers


def _rows(sheet: Sheet, headers: _Headers) -> Iterator[tuple[list[str], tuple[int, int]]]:
    lines = sheet.source.lines
    try:
        reader = csv.reader((f"{line}\n" for line in lines[headers.end :]), delimiter=headers.separator)
    except (TypeError, ValueError):
        sheet.unreadable("the separator cannot part fields", "write `#separator:tab`")
        return
    start = headers.end + 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            last = headers.end + reader.line_num
            sheet.left_out(f"this note cannot be read: {error}", "close its quotes, and shorten it", (start, last))
            start = last + 1
            continue
        if cells is None:
            return
        last = headers.end + reader.line_num
        if any(cell.strip() for cell in cells) and not cells[0].startswith("#"):
            yield cells, (start, sheet.source.last_filled(start, last))
        start = last + 1
