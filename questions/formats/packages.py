"""Opens zip packages from strangers: spreadsheets (`.xlsx`) as CSV, QTI packages as XML, Word documents (`.docx`) as
Markdown, H5P (`.h5p`) as JSON. Sizes are limited."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

from questions.formats import h5p
from questions.formats.word import DOCUMENT, NUMBERING, STYLES, word_markdown
from questions.formats.xml import BrokenXml, RefusedXml, XmlElement, parse_xml

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_UNPACKED = 32 * 2**20
"""Maximum size of one file in a package, bytes."""
_MOST_ENTRIES = 2_000
_MOST_COLUMNS = 100
_FEWEST_ROWS = 2
_CELL = re.compile(r"(?P<letters>[A-Z]{1,3})\d+")


class UnreadablePackage(Exception):
    """The package is broken or too large; the message is for its author."""


def is_package(data: bytes) -> bool:
    """Returns whether the bytes begin as a zip file."""
    return data.startswith(b"PK\x03\x04")


class Opened(NamedTuple):
    """What a package holds."""

    text: str
    """CSV of a workbook, XML of tests, Markdown of a Word document, JSON of H5P."""
    suffix: str
    """Suffix of files with such a text."""
    unread: tuple[str, ...] = ()
    """Sheets that were left out, in words."""


def open_package(data: bytes) -> Opened:
    """Returns the text in a package: the sheets of a workbook as CSV, the tests of a QTI package as XML, a Word
    document as Markdown, the content of H5P as JSON.

    Raises UnreadablePackage.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = package.namelist()
            if len(names) > _MOST_ENTRIES:
                raise UnreadablePackage(f"the package has more than {_MOST_ENTRIES:,} files")
            if "xl/workbook.xml" in names:
                return _workbook(package, names)
            if DOCUMENT in names:
                parts = {
                    name: parse_xml(_text(package, name)) for name in (DOCUMENT, STYLES, NUMBERING) if name in names
                }
                return Opened(word_markdown(parts), ".md")
            if {h5p.CONTENT, h5p.MANIFEST} <= set(names):
                return Opened(h5p.content_of(_text(package, h5p.MANIFEST), _text(package, h5p.CONTENT)), ".h5p")
            return Opened(_tests(package, names), ".xml")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise UnreadablePackage(f"the package cannot be opened: {error}") from None
    except (BrokenXml, RefusedXml) as error:
        raise UnreadablePackage(f"the package holds unreadable XML: {error}") from None


def word_text(data: bytes) -> str | None:
    """Returns a Word document as Markdown; None for any other package, and for one that cannot be opened."""
    try:
        opened = open_package(data)
    except UnreadablePackage:
        return None
    return opened.text if opened.suffix == ".md" else None


def _text(package: zipfile.ZipFile, name: str) -> str:
    with package.open(name) as stream:
        data = stream.read(MOST_UNPACKED + 1)
    if len(data) > MOST_UNPACKED:
        raise UnreadablePackage(f"`{name}` is larger than {MOST_UNPACKED >> 20} MiB")
    return data.decode("utf-8-sig", "replace")


_TEST = re.compile(r"<(?:\w+:)?(?:questestinterop|assessmentItem|assessmentTest|qti-assessment-(?:item|test))\b")
_PROLOGUE = re.compile(r"^\s*<\?xml[^>]*\?>\s*|<\?xml-[^>]*\?>\s*")


def _tests(package: zipfile.ZipFile, names: list[str]) -> str:
    left = MOST_UNPACKED
    found: list[str] = []
    for name in names:
        if name.lower().endswith((".xml", ".xml.qti")) and left > 0:
            text = _text(package, name)
            left -= len(text)
            if _TEST.search(text):
                found.append(_PROLOGUE.sub("", text))
    if not found:
        raise UnreadablePackage("the package holds neither a workbook, nor a Word document, nor H5P, nor a QTI test")
    return f"<packages>{''.join(found)}</packages>" if len(found) > 1 else found[0]


# Workbooks: each sheet as rows of texts


def _workbook(package: zipfile.ZipFile, names: list[str]) -> Opened:
    """Returns the rows of the first sheet that has several, and of the others with the same header."""
    shared = _shared(package, names)
    sheets = sorted(
        (name for name in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)),
        key=lambda name: int(re.sub(r"\D", "", name)),
    )
    kept: list[list[str]] = []
    unread: list[str] = []
    size = 0
    for number, name in enumerate(sheets, 1):
        text = _text(package, name)
        size += len(text)
        if size > MOST_UNPACKED:
            raise UnreadablePackage(f"the sheets are larger than {MOST_UNPACKED >> 20} MiB together")
        rows = [row for row in _rows(parse_xml(text), shared) if any(cell.strip() for cell in row)]
        if len(rows) < _FEWEST_ROWS:
            continue
        if not kept or rows[0] == kept[0]:
            kept += rows[1:] if kept else rows
        else:
            unread.append(f"sheet {number} with {len(rows)} rows")
    out = io.StringIO()
    width = len(kept[0]) if kept else 0
    # Empty cells behind the last one are not in the file.
    csv.writer(out, lineterminator="\n").writerows(row + [""] * (width - len(row)) for row in kept)
    return Opened(out.getvalue(), ".csv", tuple(unread))


def _shared(package: zipfile.ZipFile, names: list[str]) -> list[str]:
    if "xl/sharedStrings.xml" not in names:
        return []
    root = parse_xml(_text(package, "xl/sharedStrings.xml"))
    return ["".join(part.all_text() for part in one.walk("t")) for one in root.all("si")]


def _rows(sheet: XmlElement, shared: list[str]) -> Iterator[list[str]]:
    for row in sheet.walk("row"):
        cells: list[str] = []
        for cell in row.all("c"):
            column = _column(cell.attributes.get("r", ""), len(cells))
            if column >= _MOST_COLUMNS:
                break
            cells += [""] * (column - len(cells))
            cells.append(_value(cell, shared))
        yield cells


def _column(name: str, following: int) -> int:
    found = _CELL.fullmatch(name)
    if found is None:
        return following
    number = 0
    for letter in found["letters"]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return max(number - 1, following)


def _value(cell: XmlElement, shared: list[str]) -> str:
    kind = cell.attributes.get("t", "")
    if kind == "inlineStr":
        return "".join(part.all_text() for part in cell.walk("t")).strip()
    text = cell.text_of("v")
    if kind == "s":
        return shared[int(text)].strip() if text.isdigit() and int(text) < len(shared) else ""
    if kind == "b":
        return "true" if text == "1" else "false"
    return text.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", text) else text
