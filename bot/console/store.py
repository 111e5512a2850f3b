"""SQLite store of the console: message references by key, and the members in the order they joined. No quiz data."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self

_TABLES = """
create table if not exists messages (
    ref integer primary key,
    key text not null unique,
    text text not null
);
create table if not exists people (
    place integer primary key,
    name text not null unique
);
"""


class ConsoleStore:
    """Stores data in the file `path`, or in memory without one. Raises OSError if the file cannot be used."""

    def __init__(self, path: Path | None = None) -> None:
        try:
            self._connection = sqlite3.connect(path or ":memory:", isolation_level=None)
            self._connection.executescript(_TABLES)
        except sqlite3.Error as error:
            raise OSError(f"{path}: the console's messages cannot be kept there: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def keep(self, key: str, text: str) -> str:
        """Records a message and returns its reference; the same key always has the same reference."""
        self._connection.execute("insert or ignore into messages (key, text) values (?, ?)", (key, text))
        ref = self.find(key)
        assert ref is not None
        return ref

    def find(self, key: str) -> str | None:
        """Returns the reference of the message recorded under `key`, or None."""
        row = self._connection.execute("select ref from messages where key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def is_first(self, name: str) -> bool:
        """Records a member and returns whether they are the first."""
        self._connection.execute("insert or ignore into people (name) values (?)", (name,))
        place: int = self._connection.execute("select place from people where name = ?", (name,)).fetchone()[0]
        return place == 1
