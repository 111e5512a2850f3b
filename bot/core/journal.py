"""A SQLite journal of events that were received and not yet answered.

An event is written before it is acknowledged. The journal does not use PostgreSQL, so a slow database never delays an
acknowledgement. It holds none of the quiz's data: of an answered event it keeps only the id, to detect duplicates.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from bot.core.events import Added, Command, Event, Press, Sent, Submit, Visited

_KINDS: dict[str, TypeAdapter[Event]] = {
    kind.__name__: TypeAdapter(kind) for kind in (Command, Press, Submit, Sent, Added, Visited)
}
_SCHEMA = """
create table if not exists events (
    number integer primary key,
    event text not null unique,
    at text not null,
    kind text not null,
    content text not null,
    route text not null,
    done integer not null default 0
);
create index if not exists events_unanswered on events (number) where not done;
create index if not exists events_at on events (at) where done;
"""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An event from the journal, and what its chat needs to send the reply."""

    event: Event
    route: Mapping[str, str]


class Journal:
    """The journal. Each call is one short statement; SQLite's lock serializes them across processes."""

    def __init__(self, path: Path | str) -> None:
        if str(path) != ":memory:":
            # Contains tokens and answers until they are processed, so only the owner may read it.
            Path(path).touch(mode=0o600)
            Path(path).chmod(0o600)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma busy_timeout = 1000")
        self._db.execute("pragma journal_mode = wal")
        # Survives a crash of the process without waiting for the disk; a power failure may lose the latest entries.
        self._db.execute("pragma synchronous = normal")
        self._db.execute("pragma secure_delete = on")
        self._db.executescript(_SCHEMA)

    def record(self, event: Event, route: Mapping[str, str]) -> bool:
        """Writes an event before it is acknowledged. Returns False for a duplicate.

        Raises sqlite3.Error if it cannot be written, such as on a full disk.
        """
        kind, content = write_event(event)
        made = self._db.execute(
            "insert into events (event, at, kind, content, route) values (?, ?, ?, ?, ?)"
            " on conflict (event) do nothing",
            (event.id, _instant(event.at), kind, content, json.dumps(dict(route))),
        )
        return made.rowcount == 1

    def mark_answered(self, event_id: str) -> None:
        """Marks an event as answered and deletes everything but its id."""
        self._db.execute("update events set done = 1, content = '', route = '' where event = ?", (event_id,))

    def unanswered(self) -> list[JournalEntry]:
        """Returns the unanswered events, oldest first, to be answered after a crash."""
        rows = self._db.execute("select kind, content, route from events where not done order by number").fetchall()
        return [JournalEntry(read_event(kind, content), json.loads(route)) for kind, content, route in rows]

    def prune(self, before: datetime) -> None:
        """Deletes the ids of answered events before that time; their duplicates would no longer be detected."""
        self._db.execute("delete from events where done and at < ?", (_instant(before),))

    def close(self) -> None:
        self._db.close()


def write_event(event: Event) -> tuple[str, str]:
    """Returns the kind of an event and its content as JSON."""
    kind = type(event).__name__
    return kind, _KINDS[kind].dump_json(event).decode()


def read_event(kind: str, content: str) -> Event:
    """Returns the event that `write_event` wrote."""
    return _KINDS[kind].validate_json(content)


def _instant(at: datetime) -> str:
    """Formats an instant as text that sorts by time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
