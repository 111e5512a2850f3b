"""Notes out of a collection of any schema: a SQLite file from a stranger, opened so that it can do nothing.

It is a private copy, opened read-only; only plain tables are read, by a few fixed statements; an authorizer
refuses everything else, views and triggers among it; and a progress handler ends a statement that takes too long.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from questions.foreign.anki_notes import Note

_TABLES = frozenset({"sqlite_master", "notes", "cards", "col", "decks", "fields"})
_MOST_NOTES = 50_000
_MOST_TEXT = 8 * 2**20
"""Of one value; `col` keeps all note types in one."""
_STEP = 10_000
_STEPS = 20_000
"""Two hundred million steps of SQLite's machine: some seconds."""
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, _MOST_TEXT),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 50),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 2),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 25_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
)


class Unreadable(Exception):
    """Why no notes can be read; said to whoever sent the file."""


def read_notes(data: bytes) -> list[Note]:
    """The notes of a collection in its own order; the line of each is its number. Raises Unreadable."""
    if not data.startswith(b"SQLite format 3\0"):
        raise Unreadable("the collection is no SQLite file")
    with tempfile.TemporaryDirectory(prefix="dailygrad-anki-") as folder:
        path = Path(folder) / "collection"
        path.write_bytes(data)
        try:
            with closing(_opened(path)) as connection:
                return _notes(connection)
        except (sqlite3.Error, OverflowError, ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(f"the collection cannot be read: {error}") from None


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
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
    return connection


def _authorized(action: int, first: str | None, _second: str | None, _base: str | None, inner: str | None) -> int:
    """Reading the tables we know, and nothing from within a view or a trigger."""
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
        raise Unreadable("the collection has no notes")
    names = _field_names(connection, plain_tables)
    decks = _decks(connection, plain_tables)
    notes: list[Note] = []
    rows = connection.execute("SELECT id, mid, tags, flds FROM notes LIMIT ?", (_MOST_NOTES + 1,))
    for number, (key, kind, tags, fields) in enumerate(rows, 1):
        if number > _MOST_NOTES:
            raise Unreadable(f"the collection holds more than {_MOST_NOTES:,} notes")
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
    """What older schemas keep as JSON in the one row of `col`."""
    row = connection.execute(statement).fetchone()
    try:
        found = json.loads(row[0]) if row and isinstance(row[0], str) and row[0] else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _field_names(connection: sqlite3.Connection, tables: set[str]) -> dict[str, list[str]]:
    """The names of the fields of each note type."""
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
    """The deck of each note: that of its first card."""
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
    # Anki's own deck says nothing about what is asked.
    return {note: "" if deck == "Default" else deck for note, deck in found.items()}
