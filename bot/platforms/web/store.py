"""What the web chat itself must remember: its people and its messages, in one SQLite file. Not the quiz's data.

A message made under a key is made once: the key is unique, and posting it again finds the first.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.core.card_data import as_data, from_data
from bot.core.cards import Card, Form

PRIVATE_KEPT = 40
"""Private messages kept per member; older ones go when new ones come."""

SCHEMA = """
create table if not exists person (
    id text primary key, name text not null, folded text not null unique, admin integer not null
) strict;
create table if not exists message (
    id integer primary key autoincrement,
    version integer not null unique,
    key text unique,
    channel text not null,
    member text,
    author text,
    reply_to integer,
    said text not null,
    at text not null
) strict;
create table if not exists secret (name text primary key, value text not null) strict;
"""

MESSAGE = "select id, version, channel, member, author, reply_to, said, at from message"


class NameTaken(Exception):
    """Somebody else goes by this name here; pick another."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who chats here. The first to come is the admin."""

    id: str
    name: str
    admin: bool


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `version` grows with every change to any message, so a reader can ask for what is new."""

    id: int
    version: int
    channel: str
    member: str | None
    author: str | None
    reply_to: int | None
    said: Card | Form | str
    at: datetime


class ChatStore:
    """Every call is one short transaction; SQLite's own lock orders them, across processes too."""

    def __init__(self, path: Path | str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma busy_timeout = 5000")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        self._db.close()

    def secret(self, name: str) -> str:
        """A random secret, made at first use and kept."""
        kept = self._db.execute("select value from secret where name = ?", (name,)).fetchone()
        if kept is None:
            self._db.execute("insert or ignore into secret values (?, ?)", (name, secrets.token_urlsafe(32)))
            return self.secret(name)
        return str(kept[0])

    def join(self, name: str) -> Person:
        """A new person. Raises NameTaken."""
        try:
            self._db.execute(
                "insert into person select ?, ?, ?, not exists (select 1 from person)",
                (secrets.token_hex(6), name, name.casefold()),
            )
        except sqlite3.IntegrityError:
            raise NameTaken from None
        row = self._db.execute("select id, name, admin from person where folded = ?", (name.casefold(),)).fetchone()
        return _person(row)

    def person(self, member: str) -> Person | None:
        row = self._db.execute("select id, name, admin from person where id = ?", (member,)).fetchone()
        return row and _person(row)

    def post(
        self,
        channel: str,
        said: Card | Form | str,
        at: datetime,
        *,
        key: str | None = None,
        member: str | None = None,
        author: str | None = None,
        reply_to: int | None = None,
    ) -> int:
        """Make a message and return its id; under a key that was used before, return that message's id."""
        self._db.execute(
            "insert into message (version, key, channel, member, author, reply_to, said, at)"
            " values ((select coalesce(max(version), 0) + 1 from message), ?, ?, ?, ?, ?, ?, ?)"
            " on conflict (key) do nothing",
            (key, channel, member, author, reply_to, _dumped(said), at.isoformat()),
        )
        if key is not None:
            found = self.find(key)
            assert found is not None
            return found
        posted = self._db.execute("select last_insert_rowid()").fetchone()[0]
        if member is not None:
            self._forget_old(channel, member)
        return int(posted)

    def replace(self, message: int, member: str, said: Card | Form) -> bool:
        """Put something else in the place of a member's private message; False when it is not theirs or gone."""
        changed = self._db.execute(
            "update message set said = ?, version = (select max(version) + 1 from message) where id = ? and member = ?",
            (_dumped(said), message, member),
        )
        return changed.rowcount == 1

    def find(self, key: str) -> int | None:
        row = self._db.execute("select id from message where key = ?", (key,)).fetchone()
        return row and int(row[0])

    def message(self, message: int, member: str) -> Message | None:
        """A message, if this member may see it."""
        row = self._db.execute(
            f"{MESSAGE} where id = ? and (member is null or member = ?)", (message, member)
        ).fetchone()
        return row and _message(row)

    def seen_by(self, member: str, channel: str, after: int = 0, limit: int = 200) -> list[Message]:
        """The newest of what this member may see in a channel and what changed after a version, oldest first."""
        rows = self._db.execute(
            f"{MESSAGE} where channel = ? and (member is null or member = ?) and version > ? order by id desc limit ?",
            (channel, member, after, limit),
        ).fetchall()
        return [_message(row) for row in reversed(rows)]

    def version(self) -> int:
        """The version of the newest change."""
        return int(self._db.execute("select coalesce(max(version), 0) from message").fetchone()[0])

    def _forget_old(self, channel: str, member: str) -> None:
        self._db.execute(
            "delete from message where key is null and member = ?1 and channel = ?2 and id not in"
            " (select id from message where member = ?1 and channel = ?2 order by id desc limit ?3)",
            (member, channel, PRIVATE_KEPT),
        )


def _person(row: tuple[str, str, int]) -> Person:
    return Person(row[0], row[1], bool(row[2]))


def _dumped(said: Card | Form | str) -> str:
    return json.dumps(as_data(said), ensure_ascii=False)


def _message(row: tuple[int, int, str, str | None, str | None, int | None, str, str]) -> Message:
    at = datetime.fromisoformat(row[7]).astimezone(UTC)
    return Message(row[0], row[1], row[2], row[3], row[4], row[5], from_data(json.loads(row[6])), at)
