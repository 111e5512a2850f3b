"""What people did and were not yet answered, in one SQLite file beside the bot: written before it is acknowledged.

It needs no Postgres, so that a chat hears from us at once whatever the database does. The quiz's own data is not here:
once an event is answered, nothing but its id stays, and that only so that a second delivery of it is known.
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
create table if not exists taken (
    number integer primary key,
    event text not null unique,
    at text not null,
    kind text not null,
    said text not null,
    route text not null,
    done integer not null default 0
);
create index if not exists taken_left on taken (number) where not done;
create index if not exists taken_at on taken (at) where done;
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """An event that was taken, and what its chat needs to send the reply."""

    event: Event
    route: Mapping[str, str]


class Journal:
    """Every call is one short statement; SQLite's own lock orders them, across processes too."""

    def __init__(self, path: Path | str) -> None:
        if str(path) != ":memory:":
            # Tokens and answers lie here for the moment of an answer: for nobody else's eyes.
            Path(path).touch(mode=0o600)
            Path(path).chmod(0o600)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma busy_timeout = 1000")
        self._db.execute("pragma journal_mode = wal")
        # What was written survives the process without waiting for the disk; a power cut may take the last of it.
        self._db.execute("pragma synchronous = normal")
        self._db.execute("pragma secure_delete = on")
        self._db.executescript(_SCHEMA)

    def take(self, event: Event, route: Mapping[str, str]) -> bool:
        """Keep an event before it is acknowledged; False when its id is known, for then it is a duplicate.

        Raises sqlite3.Error when it cannot be written, such as on a full disk.
        """
        kind = type(event).__name__
        said = _KINDS[kind].dump_json(event).decode()
        made = self._db.execute(
            "insert into taken (event, at, kind, said, route) values (?, ?, ?, ?, ?) on conflict (event) do nothing",
            (event.id, _instant(event.at), kind, said, json.dumps(dict(route))),
        )
        return made.rowcount == 1

    def done(self, event_id: str) -> None:
        """It was answered: what it said is forgotten, its id is not."""
        self._db.execute("update taken set done = 1, said = '', route = '' where event = ?", (event_id,))

    def left(self) -> list[Taken]:
        """What was taken and not answered, oldest first: after a crash it is answered again."""
        rows = self._db.execute("select kind, said, route from taken where not done order by number").fetchall()
        return [Taken(_KINDS[kind].validate_json(said), json.loads(route)) for kind, said, route in rows]

    def forget(self, before: datetime) -> None:
        """Forget the ids of what happened before and was answered; a second delivery would then be news."""
        self._db.execute("delete from taken where done and at < ?", (_instant(before),))

    def close(self) -> None:
        self._db.close()


def _instant(at: datetime) -> str:
    """An instant as text that sorts by time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
