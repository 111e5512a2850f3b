"""Reads Anki notes from packages (`.apkg`), collections and text exports. Collections and packages are untrusted."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import tempfile
import zipfile
import zlib
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

from questions.formats.draft import ImportDraft, Item, add_short, topic_of
from questions.formats.markdown import from_html, from_plain
from questions.formats.tables.column_names import Column, columns
from questions.formats.tables.columns import holds_texts
from questions.formats.tables.rows import Row, add_row
from questions.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO


# Notes: named fields as a table row, cloze deletions as one question per card

_GAP = re.compile(
    r"\{\{c(?P<number>\d{1,3})::(?P<text>(?:[^{}:]|:(?!:)|\{(?!\{)|\}(?!\}))*)(?:::(?P<hint>[^{}]*))?\}\}"
)
_MEDIA = re.compile(r"\[sound:[^\]]*\]|<(?:img|audio|video|object)\b", re.IGNORECASE)
_ITEM = re.compile(r"<li\b[^<>]*>", re.IGNORECASE)
_GAPS = 40
_TEMPLATE_TAGS = frozenset({"leech", "marked"})


@dataclass(slots=True)
class Note:
    """An Anki note."""

    first: int
    last: int
    html: bool = True
    """Whether its fields are HTML."""
    markdown: bool = False
    """Whether its fields are Markdown."""
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Names and texts; names are empty if unknown."""
    tags: list[str] = field(default_factory=list)
    deck: str = ""
    """Deck path, joined by `::`."""

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line."""
        return self.first, self.last

    def words(self, text: str) -> str:
        """Returns a field as Markdown."""
        if self.markdown:
            return text.strip()
        return from_html(text) if self.html else from_plain(text)


def add_notes(draft: ImportDraft, notes: Iterable[Note]) -> None:
    """Adds the questions of notes, and one finding about all fields that are not imported."""
    unused: dict[str, list[tuple[int, int]]] = {}
    for note in notes:
        for name in _add_note(draft, note):
            unused.setdefault(name, []).append(note.lines)
    if not unused:
        return
    shown = ", ".join(_with_count(name, len(places)) for name, places in list(unused.items())[:_MOST_UNUSED])
    cure = "merge them into other fields"
    number = next((name.split()[1] for name in unused if name.endswith(_NAMELESS)), "")
    if number and draft.dialect == ANKI_TEXT:
        cure += f", or write what the column holds above the notes, such as `#tags column:{number}`"
    draft.add("Q610", f"fields not imported: {shown}", cure, min(map(min, unused.values())), severity="note")


_NAMELESS = " (no name)"
_MOST_UNUSED = 10
"""Most fields that a finding names."""


def _with_count(name: str, count: int) -> str:
    return f"{name} in {count} notes" if count > 1 else name


def _add_note(draft: ImportDraft, note: Note) -> list[str]:
    """Adds the questions of a note, and returns the names of the fields that are not imported."""
    texts = [text for _, text in note.fields]
    if not draft.accepts(*note.lines, sum(map(len, texts))):
        return []
    if not note.markdown and any(_MEDIA.search(text) for text in texts):
        cure = "describe the picture or sound"
        draft.add(
            "Q609", "pictures and sounds are not imported", cure, note.lines, note="their names are kept in the text"
        )
    if texts and _GAP.search(texts[0]):
        _add_gaps(draft, note)
        return []
    if sum(bool(text.strip()) for text in texts) < 2:
        draft.add_skipped("this note has fewer than two fields", "add a question and an answer", note.lines)
        return []
    return _add_fields(draft, note)


def _roles(note: Note) -> list[Column]:
    """Returns the roles of the fields by name; without known names the first asks and the second answers."""
    roles = columns([name for name, _ in note.fields])
    known = {column.role for column in roles}
    if "question" in known and known & {"answer", "options", "option", "correct"}:
        return roles
    filled = [index for index, (_, text) in enumerate(note.fields) if text.strip()]
    wanted = {filled[0]: "question", filled[1]: "answer"}
    kept = {"why", "tags", "topic", "level", "links"}
    return [
        Column(wanted.get(index) or (column.role if column.role in kept else "")) for index, column in enumerate(roles)
    ]


def _add_fields(draft: ImportDraft, note: Note) -> list[str]:
    row = Row(*note.lines)
    unused: list[str] = []
    roles = _roles(note)
    exact = any(
        column.role == "kind" and text in ("value", "output")
        for column, (_, text) in zip(roles, note.fields, strict=True)
    )
    for number, (column, (name, text)) in enumerate(zip(roles, note.fields, strict=True), 1):
        if column.role == "options" and note.html and _ITEM.search(text):
            row.options.update(enumerate(map(note.words, _ITEM.split(text)[1:])))
        elif column.role == "reasons" and note.html:
            row.reasons.update(enumerate(map(note.words, _ITEM.split(text)[1:])))
        elif column.role in ("id", "kind", "level", "topic", "correct"):
            row.put(column, _bare(text) if note.html else text)
        elif column.role == "program" or (column.role == "answer" and exact):
            row.put(column, _program(note.words(text)))
        elif column.role:
            row.put(column, note.words(text))
        elif text.strip():
            unused.append(name or f"field {number}{_NAMELESS}")
    row.cells["tags"] = ",".join([*_tags(note), row.cells.get("tags", "")])
    row.cells.setdefault("topic", note.deck)
    add_row(draft, row)
    return unused


def _bare(text: str) -> str:
    return re.sub(r"<[^<>]*>", " ", text).replace("&nbsp;", " ").replace("&amp;", "&").strip()


def _program(markdown: str) -> str:
    """Returns a program without its fence."""
    lines = markdown.split("\n")
    return "\n".join(lines[1:-1]) if len(lines) > 2 and lines[0].startswith("```") else markdown


def _tags(note: Note) -> list[str]:
    return [tag for tag in note.tags if tag not in _TEMPLATE_TAGS]


def gap_cards(text: str) -> list[tuple[str, str]]:
    """Returns prompt and hidden text of each card of a text with gaps (`{{c1::…}}`); none if it has too many."""
    found = list(_GAP.finditer(text))
    if len(found) > _GAPS:
        return []
    return [
        (
            _GAP.sub(lambda gap, number=number: _shown(gap, number), text),  # type: ignore[misc]
            "; ".join(gap["text"] for gap in found if gap["number"] == number),
        )
        for number in dict.fromkeys(gap["number"] for gap in found)
    ]


def _add_gaps(draft: ImportDraft, note: Note) -> None:
    """Adds one question per cloze number: its own gaps are hidden, the others show their text."""
    text = note.fields[0][1]
    found = list(_GAP.finditer(text))
    if len(found) > _GAPS:
        draft.add_skipped(f"this note has more than {_GAPS} gaps", "split it", note.lines)
        return
    extra = "\n\n".join(note.words(more) for _, more in note.fields[1:] if more.strip())
    for number in dict.fromkeys(gap["number"] for gap in found):
        hidden = [note.words(gap["text"]) for gap in found if gap["number"] == number]
        prompt = note.words(_GAP.sub(lambda gap, number=number: _shown(gap, number), text))  # type: ignore[misc]
        item = Item(*note.lines, prompt, why=extra, topic=topic_of(note.deck), number=number)
        item.section = tuple(part for part in note.deck.split("::") if part)
        item.tag(_tags(note))
        # Several gaps with one number are one answer with several parts.
        add_short(draft, item, ["; ".join(hidden)])


def _shown(gap: re.Match[str], number: str) -> str:
    if gap["number"] != number:
        return gap["text"]
    return f"[{gap['hint'] or '…'}]"


# Collections: untrusted SQLite files of any schema, read with a few fixed statements

_TABLES = frozenset({"sqlite_master", "notes", "cards", "col", "decks", "fields"})
_MOST_NOTES = 50_000
_MOST_TEXT = 8 * 2**20
"""Maximum length of one value, bytes; `col` stores all note types in one."""
_STEP = 10_000
_STEPS = 20_000
"""Limit of progress-handler calls: 200 million SQLite steps, a few seconds."""
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 50),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 2),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 25_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
)


class UnreadableCollection(Exception):
    """Raised when no notes can be read; the message is for the user."""


def read_notes(data: bytes) -> list[Note]:
    """Returns the notes of a collection in order; the line of each is its number. Raises UnreadableCollection."""
    if not data.startswith(b"SQLite format 3\0"):
        raise UnreadableCollection("the collection is not an SQLite file")
    with tempfile.TemporaryDirectory(prefix="dailygrad-anki-") as folder:
        path = Path(folder) / "collection"
        path.write_bytes(data)
        try:
            url = f"{path.as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(url, uri=True, isolation_level=None)) as connection:
                _restrict(connection)
                return _notes(connection)
        except (sqlite3.Error, OverflowError, ValueError, RecursionError, MemoryError) as error:
            raise UnreadableCollection(f"the collection cannot be read: {error}") from None


def _restrict(connection: sqlite3.Connection) -> None:
    """Limits what reading a collection from elsewhere may do and take."""
    for limit, value in _LIMITS:
        connection.setlimit(limit, value)
    for statement in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {statement}")
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    left = _STEPS

    def tired() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(tired, _STEP)
    connection.set_authorizer(_authorized)


def _authorized(action: int, first: str | None, _second: str | None, _base: str | None, inner: str | None) -> int:
    """Allows reading known tables, except from within a view or a trigger."""
    if action == sqlite3.SQLITE_SELECT and inner is None:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and inner is None and first in _TABLES:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _notes(connection: sqlite3.Connection) -> list[Note]:
    plain_tables = {
        name
        for name, root, sql in connection.execute(
            "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' LIMIT 1000"
        )
        if isinstance(name, str) and root and not str(sql).upper().startswith("CREATE VIRTUAL")
    }
    if "notes" not in plain_tables:
        raise UnreadableCollection("the collection has no notes")
    names = _field_names(connection, plain_tables)
    decks = _decks(connection, plain_tables)
    notes: list[Note] = []
    rows = connection.execute("SELECT id, mid, tags, flds FROM notes LIMIT ?", (_MOST_NOTES + 1,))
    for number, (key, kind, tags, fields) in enumerate(rows, 1):
        if number > _MOST_NOTES:
            raise UnreadableCollection(f"the collection has more than {_MOST_NOTES:,} notes")
        texts = str(fields or "").split("\x1f")[:100]
        known = names.get(_key(kind), [])
        note = Note(number, number, tags=str(tags or "").split()[:100], deck=decks.get(_key(key), ""))
        note.fields = [(known[index] if index < len(known) else "", text) for index, text in enumerate(texts)]
        notes.append(note)
    return notes


def _key(value: Any) -> str:
    return str(value)


_MODELS = "SELECT models FROM col LIMIT 1"
_DECKS = "SELECT decks FROM col LIMIT 1"


def _column(connection: sqlite3.Connection, statement: str) -> dict[str, Any]:
    """Returns what older schemas store as JSON in the only row of `col`."""
    row = connection.execute(statement).fetchone()
    try:
        found = json.loads(row[0]) if row and isinstance(row[0], str) and row[0] else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _field_names(connection: sqlite3.Connection, tables: set[str]) -> dict[str, list[str]]:
    """Returns the field names of each note type."""
    found: dict[str, list[str]] = {}
    if "fields" in tables:
        rows = connection.execute("SELECT ntid, ord, name FROM fields LIMIT 100000").fetchall()
        for kind, _, name in sorted(rows, key=lambda row: (_key(row[0]), row[1] if isinstance(row[1], int) else 0)):
            found.setdefault(_key(kind), []).append(_key(name))
    elif "col" in tables:
        for kind, model in _column(connection, _MODELS).items():
            fields = model.get("flds") if isinstance(model, dict) else None
            named = [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
            found[kind] = [_key(one.get("name", "")) for one in named]
    return found


def _decks(connection: sqlite3.Connection, tables: set[str]) -> dict[str, str]:
    """Returns the deck of each note's first card."""
    names: dict[str, str] = {}
    if "decks" in tables:
        for key, name in connection.execute("SELECT id, name FROM decks LIMIT 100000"):
            names[_key(key)] = _key(name).replace("\x1f", "::")
    elif "col" in tables:
        for key, deck in _column(connection, _DECKS).items():
            names[key] = _key(deck.get("name", "")) if isinstance(deck, dict) else ""
    found: dict[str, str] = {}
    if "cards" in tables:
        for note, deck in connection.execute("SELECT nid, did FROM cards LIMIT 500000"):
            found.setdefault(_key(note), names.get(_key(deck), ""))
    # Anki's default deck says nothing about the topic.
    return {note: "" if deck == "Default" else deck for note, deck in found.items()}


# Packages: untrusted zip files with a collection; every size is limited before decompressing

ANKI_PACKAGE = "anki"
SUFFIXES = (".apkg", ".colpkg")

MOST_PACKAGE = 256 * 2**20
MOST_COLLECTION = 128 * 2**20
MOST_RATIO = 400
"""Maximum compression ratio of a collection; real ones stay below 20."""
_MOST_ENTRIES = 100_000
_WINDOW = 2**27
_COLLECTIONS = ("collection.anki21b", "collection.anki21", "collection.anki2")
"""Newest format first: next to a newer collection, the oldest only contains a request to update Anki."""


def sniff_anki_package(data: bytes) -> bool:
    """Returns whether the bytes are a zip file with a collection."""
    return data.startswith(b"PK\x03\x04") and any(name.encode() in data for name in _COLLECTIONS)


def read_anki_package(data: bytes, name: str) -> ImportDraft:
    """Reads all questions of a package; each note is a line of its source."""
    empty = ImportDraft(Source(name, ("",)), ANKI_PACKAGE)
    empty.title = empty.stem
    try:
        collection = _collection(data)
        notes = read_notes(collection)
    except _PackageTooLarge as error:
        return empty.refused(str(error), "export the deck again without media, or in smaller parts")
    except UnreadableCollection as error:
        return empty.unreadable(str(error), "export the deck again as .apkg")
    draft = ImportDraft(Source(name, tuple(_line(note.fields) for note in notes) or ("",)), ANKI_PACKAGE)
    draft.title = draft.stem
    add_notes(draft, notes)
    if not draft.questions and not draft.findings:
        draft.unreadable("the package has no notes", "export a deck that contains notes")
    return draft


class _PackageTooLarge(Exception):
    """The package exceeds a limit."""


def _line(fields: list[tuple[str, str]]) -> str:
    return "\t".join(" ".join(text.split()) for _, text in fields)


def _collection(data: bytes) -> bytes:
    """Returns the SQLite file of a package. Raises _PackageTooLarge or UnreadableCollection."""
    if len(data) > MOST_PACKAGE:
        raise _PackageTooLarge(f"the package is larger than {MOST_PACKAGE >> 20} MiB")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            return _member(package)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise UnreadableCollection(f"the package cannot be opened: {error}") from None


def _member(package: zipfile.ZipFile) -> bytes:
    entries = package.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise _PackageTooLarge(f"the package has more than {_MOST_ENTRIES:,} files")
    named = {entry.filename: entry for entry in entries}
    name = next((name for name in _COLLECTIONS if name in named), None)
    if name is None:
        raise UnreadableCollection("the package has no collection")
    entry = named[name]
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _PackageTooLarge("the collection is compressed in a way Anki does not use")
    _check_ratio(entry.compress_size, entry.file_size)
    with package.open(entry) as stream:
        found = _capped(stream)
    if not name.endswith("b"):
        return found
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(io.BytesIO(found)) as stream:
            unpacked = _capped(stream)
    except zstandard.ZstdError as error:
        raise UnreadableCollection(f"the collection cannot be unpacked: {error}") from None
    _check_ratio(len(found), len(unpacked))
    return unpacked


def _capped(stream: IO[bytes]) -> bytes:
    """Returns the whole stream, or raises if it exceeds the limit; sizes in headers are not trusted."""
    found = bytearray()
    while chunk := stream.read(2**20):
        found += chunk
        if len(found) > MOST_COLLECTION:
            raise _PackageTooLarge(f"the collection is larger than {MOST_COLLECTION >> 20} MiB")
    return bytes(found)


def _check_ratio(packed: int, unpacked: int) -> None:
    if unpacked > MOST_COLLECTION:
        raise _PackageTooLarge(f"the collection is larger than {MOST_COLLECTION >> 20} MiB")
    if unpacked > 2**22 and unpacked > MOST_RATIO * max(packed, 1):
        raise _PackageTooLarge(f"the collection unpacks to more than {MOST_RATIO} times its size")


# Notes exported as text: headers such as `#separator:`, then one note per line

ANKI_TEXT = "anki-text"

_HEADER = re.compile(
    r"#(?P<name>separator|html|tags|columns|notetype|deck|guid|notetype column|deck column|tags column|guid column)"
    r":(?P<value>.*)",
    re.IGNORECASE,
)
_SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|", "colon": ":"}


@dataclass(slots=True)
class _Headers:
    """The headers of the file."""

    separator: str = "\t"
    html: bool = True
    names: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    end: int = 0
    """Line of the last header."""

    def column(self, name: str) -> int | None:
        """Returns the index, from 0, of a column that is not a field."""
        value = self.values.get(f"{name} column", "").strip()
        return int(value) - 1 if value.isdecimal() and 0 < int(value[:4]) < 1000 else None


_FEWEST_CARDS = 5
_REGULAR = 0.9
"""Minimum share of lines with a front, a tab and a back in a file without a header."""


def sniff_anki_text(source: Source) -> bool:
    """Returns whether the first line is an Anki header, or a comment above lines of a front, a tab and a back."""
    if _HEADER.match(source.line(1)) is not None:
        return True
    lines = [line for line in source.lines if line.strip()]
    if not lines or not lines[0].startswith("# "):
        return False
    lines = [line for line in lines if not line.startswith("#")]
    pairs = [line.split("\t") for line in lines if line.count("\t") == 1 and line.strip().count("\t")]
    enough = len(pairs) >= _FEWEST_CARDS and len(pairs) >= _REGULAR * len(lines)
    return enough and all(holds_texts([pair[side] for pair in pairs]) for side in (0, 1))


def read_anki_text(source: Source) -> ImportDraft:
    """Reads all questions of exported notes or cards."""
    draft = ImportDraft(source, ANKI_TEXT)
    draft.title = draft.stem
    add_notes(draft, _text_notes(draft, _headers(source)))
    if not draft.questions and not draft.findings:
        draft.unreadable("the file has no notes", "export notes with at least two fields")
    return draft


def _text_notes(draft: ImportDraft, headers: _Headers) -> Iterator[Note]:
    apart = {headers.column(name): name for name in ("guid", "notetype", "deck", "tags")}
    for cells, lines in _rows(draft, headers):
        note = Note(*lines, html=headers.html, tags=headers.values.get("tags", "").split())
        # A file without a header was written by hand.
        note.markdown = not headers.values
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
        yield note


def _headers(source: Source) -> _Headers:
    headers = _Headers()
    for number, line in enumerate(source.lines, 1):
        found = _HEADER.fullmatch(line)
        if found is None:
            break
        headers.values[found["name"].lower()] = found["value"]
        headers.end = number
    separator = headers.values.get("separator", "tab").strip(" ").lower() or "\t"
    headers.separator = _SEPARATORS.get(separator, separator[:1])
    headers.html = headers.values.get("html", "true").strip().lower() != "false"
    headers.names = headers.values.get("columns", "").split(headers.separator) if "columns" in headers.values else []
    return headers


def _rows(draft: ImportDraft, headers: _Headers) -> Iterator[tuple[list[str], tuple[int, int]]]:
    lines = draft.source.lines
    try:
        reader = csv.reader((f"{line}\n" for line in lines[headers.end :]), delimiter=headers.separator)
    except (TypeError, ValueError):
        draft.unreadable("this separator is not allowed", "write `#separator:tab`")
        return
    start = headers.end + 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            last = headers.end + reader.line_num
            draft.add_skipped(f"this note cannot be read: {error}", "close its quotes, or shorten it", (start, last))
            start = last + 1
            continue
        if cells is None:
            return
        last = headers.end + reader.line_num
        if any(cell.strip() for cell in cells) and not cells[0].startswith("#"):
            yield cells, (start, draft.source.last_filled(start, last))
        start = last + 1
