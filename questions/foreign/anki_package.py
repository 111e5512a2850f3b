"""Anki packages: a zip from a stranger with a SQLite collection in it. Caps every size before anything is opened."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

import zstandard

from questions.foreign.anki_collection import Unreadable, read_notes
from questions.foreign.anki_notes import add_note
from questions.foreign.sheet import Sheet
from questions.source import Source

if TYPE_CHECKING:
    from typing import IO

NAME = "anki"
SUFFIXES = (".apkg", ".colpkg")

MOST_PACKAGE = 256 * 2**20
MOST_COLLECTION = 128 * 2**20
MOST_RATIO = 400
"""How many times its size a compressed collection may grow to; real ones stay below 20."""
_MOST_ENTRIES = 100_000
_WINDOW = 2**27
_COLLECTIONS = ("collection.anki21b", "collection.anki21", "collection.anki2")
"""The newest form first: beside a newer one, the oldest holds nothing but a request to update Anki."""


def sniff(data: bytes) -> bool:
    """Whether the bytes are a zip with a collection in it."""
    return data.startswith(b"PK\x03\x04") and any(name.encode() in data for name in _COLLECTIONS)


def read(data: bytes, name: str) -> Sheet:
    """All questions of a package; a line of its source is a note."""
    empty = Sheet(Source(name, ("",)), NAME)
    empty.title = empty.stem
    try:
        collection = _collection(data)
        notes = read_notes(collection)
    except _Refused as error:
        return empty.refused(str(error), "export the deck again, without media; split it where it is large")
    except Unreadable as error:
        return empty.unreadable(str(error), "export the deck again as .apkg")
    sheet = Sheet(Source(name, tuple(_line(note.fields) for note in notes) or ("",)), NAME)
    sheet.title = sheet.stem
    for note in notes:
        add_note(sheet, note)
    if not sheet.questions and not sheet.findings:
        sheet.unreadable("the package holds no notes", "export a deck with notes in it")
    return sheet


class _Refused(Exception):
    """The package is larger than anything we open."""


def _line(fields: list[tuple[str, str]]) -> str:
    return "\t".join(" ".join(text.split()) for _, text in fields)


def _collection(data: bytes) -> bytes:
    """The SQLite file in a package. Raises _Refused or Unreadable."""
    if len(data) > MOST_PACKAGE:
        raise _Refused(f"the package is larger than {MOST_PACKAGE >> 20} MiB")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            return _member(package)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise Unreadable(f"the package cannot be opened: {error}") from None


def _member(package: zipfile.ZipFile) -> bytes:
    entries = package.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise _Refused(f"the package holds more than {_MOST_ENTRIES:,} files")
    named = {entry.filename: entry for entry in entries}
    name = next((name for name in _COLLECTIONS if name in named), None)
    if name is None:
        raise Unreadable("the package holds no collection")
    entry = named[name]
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Refused("the collection is compressed in a way Anki does not use")
    _check_ratio(entry.compress_size, entry.file_size)
    with package.open(entry) as stream:
        found = _capped(stream)
    if not name.endswith("b"):
        return found
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(io.BytesIO(found)) as stream:
            unpacked = _capped(stream)
    except zstandard.ZstdError as error:
        raise Unreadable(f"the collection cannot be unpacked: {error}") from None
    _check_ratio(len(found), len(unpacked))
    return unpacked


def _capped(stream: IO[bytes]) -> bytes:
    """All of a stream, or none where it does not end in time: what a header says of its size is not believed."""
    found = bytearray()
    while chunk := stream.read(2**20):
        found += chunk
        if len(found) > MOST_COLLECTION:
            raise _Refused(f"the collection is larger than {MOST_COLLECTION >> 20} MiB")
    return bytes(found)


def _check_ratio(packed: int, unpacked: int) -> None:
    if unpacked > MOST_COLLECTION:
        raise _Refused(f"the collection is larger than {MOST_COLLECTION >> 20} MiB")
    if unpacked > 2**22 and unpacked > MOST_RATIO * max(packed, 1):
        raise _Refused(f"the collection unpacks to more than {MOST_RATIO} times its size")
