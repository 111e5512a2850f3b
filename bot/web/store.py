"""What the web chat itself must remember: its people and its messages, in one SQLite file. Not the quiz's data.

A message made under a key, or in answer to an event, is made once: posting it again finds the first.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.core.cards import Card, Form, as_data, from_data

# ruff: noqa: S608 - only our own lists of columns are put into statements, never a value


PRIVATE_KEPT = 40
"""Private answers kept per member; older ones go when new ones come. What the courier brought stays."""
BOT_NAME = "Dailygrad"

SCHEMA = """
create table if not exists person (
    id text primary key, name text not null, folded text not null unique, admin integer not null
) strict;
create table if not exists message (
    id integer primary key autoincrement,
    version integer not null unique,
    key text unique,
    event text unique,
    channel text not null,
    member text,
    author text,
    reply_to integer,
    answers integer,
    said text not null,
    at text not null
) strict;
create index if not exists message_of_member on message (member, answers);
create table if not exists secret (name text primary key, value text not null) strict;
"""

COLUMNS = "id, version, channel, member, author, reply_to, answers, key is not null, said, at"
SEEN = f"select {COLUMNS} from message where channel = ? and (member is null or member = ?) and version > ?"
NEXT_VERSION = "(select coalesce(max(version), 0) + 1 from message)"


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
    """Who alone may see it."""
    author: str | None
    """The member who wrote it; None for ours."""
    reply_to: int | None
    answers: int | None
    """The editor whose result this is."""
    delivered: bool
    """Whether the courier brought it."""
    said: Card | Form | str
    at: datetime


class ChatStore:
    """Every call is one short statement or two; SQLite's own lock orders them, across processes too."""

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
        """A new person. Raises NameTaken, also for a name that only looks like another or like ours."""
        folded = _folded(name)
        if folded == _folded(BOT_NAME):
            raise NameTaken
        try:
            rows = self._db.execute(
                "insert into person select ?, ?, ?, not exists (select 1 from person) returning id, name, admin",
                (secrets.token_hex(8), name, folded),
            ).fetchall()
        except sqlite3.IntegrityError:
            raise NameTaken from None
        return _person(rows[0])

    def person(self, member: str) -> Person | None:
        row = self._db.execute("select id, name, admin from person where id = ?", (member,)).fetchone()
        return None if row is None else _person(row)

    def post(
        self,
        channel: str,
        said: Card | Form | str,
        at: datetime,
        *,
        key: str | None = None,
        event: str | None = None,
        member: str | None = None,
        author: str | None = None,
        reply_to: int | None = None,
        answers: int | None = None,
    ) -> int:
        """Make a message and return its id; under a key or for an event that was used before, that message's id."""
        made = self._db.execute(
            "insert into message (version, key, event, channel, member, author, reply_to, answers, said, at)"
            f" values ({NEXT_VERSION}, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing"
            " on conflict (event) do nothing returning id",
            (key, event, channel, member, author, reply_to, answers, _dumped(said), at.isoformat()),
        ).fetchall()
        if not made:
            return self._made_before(key, event)
        if member is not None:
            self._forget_old(channel, member)
        return int(made[0][0])

    def _made_before(self, key: str | None, event: str | None) -> int:
        row = self._db.execute("select id from message where key = ? or event = ?", (key, event)).fetchone()
        return int(row[0])

    def replace(self, message: int, member: str, said: Card | Form) -> bool:
        """Put something else in the place of a member's private message; False when it is not theirs or gone."""
        changed = self._db.execute(
            f"update message set said = ?, version = {NEXT_VERSION} where id = ? and member = ?",
            (_dumped(said), message, member),
        )
        return changed.rowcount == 1

    def find(self, key: str) -> int | None:
        """The message made under `key`."""
        row = self._db.execute("select id from message where key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def message(self, message: int, member: str) -> Message | None:
        """A message, if this member may see it."""
        row = self._db.execute(
            f"select {COLUMNS} from message where id = ? and (member is null or member = ?)", (message, member)
        ).fetchone()
        return None if row is None else _message(row)

    def result(self, editor: int, member: str) -> int | None:
        """The message that holds what came of an editor."""
        row = self._db.execute(
            "select id from message where answers = ? and member = ? order by id desc limit 1", (editor, member)
        ).fetchone()
        return None if row is None else int(row[0])

    def results(self, editor: int, member: str, limit: int = 5) -> list[Message]:
        """What came of an editor and what the courier has brought its member since, newest change first."""
        rows = self._db.execute(
            f"select {COLUMNS} from message where member = ? and (answers = ? or (key is not null and id > ?))"
            " order by version desc limit ?",
            (member, editor, editor, limit),
        ).fetchall()
        return [_message(row) for row in rows]

    def seen_by(self, member: str, channel: str, after: int = 0, limit: int = 200) -> list[Message]:
        """The newest of what this member may see in a channel and what changed after a version, oldest first."""
        rows = self._db.execute(f"{SEEN} order by id desc limit ?", (channel, member, after, limit)).fetchall()
        return [_message(row) for row in reversed(rows)]

    def version(self) -> int:
        """The version of the newest change."""
        return int(self._db.execute("select coalesce(max(version), 0) from message").fetchone()[0])

    def _forget_old(self, channel: str, member: str) -> None:
        self._db.execute(
            "delete from message where key is null and member = ?1 and channel = ?2 and id not in (select id from"
            " message where key is null and member = ?1 and channel = ?2 order by id desc limit ?3)",
            (member, channel, PRIVATE_KEPT),
        )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _person(row: tuple[str, str, int]) -> Person:
    return Person(row[0], row[1], bool(row[2]))


def _dumped(said: Card | Form | str) -> str:
    return json.dumps(as_data(said), ensure_ascii=False)


Row = tuple[int, int, str, str | None, str | None, int | None, int | None, int, str, str]


def _message(row: Row) -> Message:
    number, version, channel, member, author, reply_to, answers, delivered, said, at = row
    return Message(
        number,
        version,
        channel,
        member,
        author,
        reply_to,
        answers,
        bool(delivered),
        from_data(json.loads(said)),
        datetime.fromisoformat(at).astimezone(UTC),
    )
