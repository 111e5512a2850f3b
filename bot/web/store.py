"""SQLite store of the web chat: people and messages, without the quiz's data.

A message with a key, or in answer to an event, is stored once: posting it again returns the first.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.core.cards import Card, Form, as_data, from_data

# ruff: noqa: S608 - only constant column names are formatted into statements, never values


PRIVATE_KEPT = 40
"""Replies kept per member; older ones are deleted. Delivered messages are kept."""
BOT_NAME = "Dailygrad"
LAST_ID = 2**62
"""Above every id of a message."""

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
    content text not null,
    at text not null
) strict;
create index if not exists message_of_member on message (member, answers);
create table if not exists sign_in (code text primary key, person text not null, until text not null) strict;
create table if not exists session (
    id integer primary key autoincrement, hash text not null unique, person text not null, agent text not null,
    began text not null, used text not null
) strict;
create table if not exists secret (name text primary key, value text not null) strict;
"""

COLUMNS = "id, version, channel, member, author, reply_to, answers, key is not null, content, at"
SESSIONS = (
    "select session.id, session.agent, session.began, session.used, person.id, person.name, person.admin, session.hash"
    " from session join person on person.id = session.person"
)
SEEN = f"select {COLUMNS} from message where channel = ? and (member is null or member = ?) and version > ?"
NEXT_VERSION = "(select coalesce(max(version), 0) + 1 from message)"


SESSION_LIFETIME = timedelta(days=365)
"""How long a browser stays signed in without being used."""
USED_EVERY = timedelta(hours=1)
"""How exactly the last use of a session is known."""


class NameTaken(Exception):
    """Another person already uses this name."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person in the chat. The first one to join is the admin."""

    id: str
    name: str
    admin: bool


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that may act as a person. Its secret is in the browser's cookie; only a hash is kept."""

    id: int
    person: Person
    agent: str
    """What the browser calls itself."""
    began: datetime
    used: datetime
    """When it was last used, to the hour."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message. Every change to any message gives it the next `version`, so that readers can ask for changes."""

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
    content: Card | Form | str
    at: datetime


class ChatStore:
    """The store. Each call is one or two short statements; SQLite's lock serializes them across processes."""

    def __init__(self, path: Path | str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma busy_timeout = 5000")
        self._db.executescript(SCHEMA)

    def close(self) -> None:
        self._db.close()

    def secret(self, name: str) -> str:
        """Returns a secret, created randomly on first use."""
        kept = self._db.execute("select value from secret where name = ?", (name,)).fetchone()
        if kept is None:
            self._db.execute("insert or ignore into secret values (?, ?)", (name, secrets.token_urlsafe(32)))
            return self.secret(name)
        return str(kept[0])

    def join(self, name: str) -> Person:
        """Adds a person. Raises NameTaken, also for names that look like another or like the bot's."""
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

    def called(self, name: str) -> Person | None:
        """Returns the person of this name, in whatever case it is written."""
        row = self._db.execute("select id, name, admin from person where folded = ?", (_folded(name),)).fetchone()
        return None if row is None else _person(row)

    def make_admin(self, member: str, admin: bool = True) -> None:
        self._db.execute("update person set admin = ? where id = ?", (int(admin), member))

    # Sessions

    def begin_session(self, member: str, agent: str, now: datetime) -> str:
        """Returns the secret of a new session."""
        code, at = secrets.token_urlsafe(18), _instant(now)
        self._db.execute(
            "insert into session (hash, person, agent, began, used) values (?, ?, ?, ?, ?)",
            (_hashed(code), member, agent[:300], at, at),
        )
        self._db.execute("delete from session where used <= ?", (_instant(now - SESSION_LIFETIME),))
        return code

    def use_sessions(self, codes: Sequence[str], now: datetime) -> dict[str, Session]:
        """Returns the sessions with these secrets that have not ended, by secret and in this order."""
        by_hash = {_hashed(code): code for code in codes}
        marks = ", ".join("?" * len(by_hash))
        condition = f"session.hash in ({marks}) and used > ?"
        rows = self._db.execute(
            f"{SESSIONS} where {condition}", (*by_hash, _instant(now - SESSION_LIFETIME))
        ).fetchall()
        found = {by_hash[row[-1]]: _session(row) for row in rows}
        if stale := [session.id for session in found.values() if session.used < now - USED_EVERY]:
            marks = ", ".join("?" * len(stale))
            self._db.execute(f"update session set used = ? where id in ({marks})", (_instant(now), *stale))
        return {code: found[code] for code in codes if code in found}

    def list_sessions(self, member: str | None, now: datetime, limit: int = 200) -> list[Session]:
        """Returns the sessions of a person, or of everybody, the last used first."""
        rows = self._db.execute(
            f"{SESSIONS} where used > ? and ? in ('', person) order by used desc, session.id desc limit ?",
            (_instant(now - SESSION_LIFETIME), member or "", limit),
        ).fetchall()
        return [_session(row) for row in rows]

    def end_sessions(self, sessions: Sequence[int], member: str | None = None) -> int:
        """Ends sessions, of that person only if one is given. Returns how many there were."""
        marks = ", ".join("?" * len(sessions))
        statement = f"delete from session where id in ({marks}) and ? in ('', person)"
        return self._db.execute(statement, (*sessions, member or "")).rowcount

    # Sign-in links

    def make_sign_in(self, member: str, until: datetime) -> str:
        """Returns the code of a new link that signs in a person, once before `until`. Only its hash is kept."""
        code = secrets.token_urlsafe(24)
        self._db.execute("insert into sign_in values (?, ?, ?)", (_hashed(code), member, _instant(until)))
        return code

    def find_sign_in(self, code: str, now: datetime) -> Person | None:
        """Returns whom the link signs in, or None if it was used, is too old or never existed."""
        row = self._db.execute(
            "select person from sign_in where code = ? and until > ?", (_hashed(code), _instant(now))
        ).fetchone()
        return None if row is None else self.person(row[0])

    def use_sign_in(self, code: str, now: datetime) -> Person | None:
        """Like `find_sign_in`, and deletes the link and all that are too old."""
        rows = self._db.execute(
            "delete from sign_in where code = ? returning person, until", (_hashed(code),)
        ).fetchall()
        self._db.execute("delete from sign_in where until <= ?", (_instant(now),))
        return self.person(rows[0][0]) if rows and rows[0][1] > _instant(now) else None

    def person(self, member: str) -> Person | None:
        row = self._db.execute("select id, name, admin from person where id = ?", (member,)).fetchone()
        return None if row is None else _person(row)

    def post(
        self,
        channel: str,
        content: Card | Form | str,
        at: datetime,
        *,
        key: str | None = None,
        event: str | None = None,
        member: str | None = None,
        author: str | None = None,
        reply_to: int | None = None,
        answers: int | None = None,
    ) -> int:
        """Stores a message and returns its id; returns the existing id if the key or event is known."""
        made = self._db.execute(
            "insert into message (version, key, event, channel, member, author, reply_to, answers, content, at)"
            f" values ({NEXT_VERSION}, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing"
            " on conflict (event) do nothing returning id",
            (key, event, channel, member, author, reply_to, answers, _dumped(content), at.isoformat()),
        ).fetchall()
        if not made:
            return self._made_before(key, event)
        if member is not None:
            self._forget_old(channel, member)
        return int(made[0][0])

    def _made_before(self, key: str | None, event: str | None) -> int:
        row = self._db.execute("select id from message where key = ? or event = ?", (key, event)).fetchone()
        return int(row[0])

    def replace(self, message: int, member: str, content: Card | Form) -> bool:
        """Replaces the content of a member's private message. Returns False if it is not theirs or no longer exists."""
        changed = self._db.execute(
            f"update message set content = ?, version = {NEXT_VERSION} where id = ? and member = ?",
            (_dumped(content), message, member),
        )
        return changed.rowcount == 1

    def edit(self, message: int, content: Card) -> bool:
        """Replaces the content of a delivered message. Returns False if it does not exist."""
        changed = self._db.execute(
            f"update message set content = ?, version = {NEXT_VERSION} where id = ? and key is not null",
            (_dumped(content), message),
        )
        return changed.rowcount == 1

    def find(self, key: str) -> int | None:
        """Returns the id of the message stored under `key`, or None."""
        row = self._db.execute("select id from message where key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def message(self, message: int, member: str) -> Message | None:
        """Returns a message if the member may see it."""
        row = self._db.execute(
            f"select {COLUMNS} from message where id = ? and (member is null or member = ?)", (message, member)
        ).fetchone()
        return None if row is None else _message(row)

    def result(self, editor: int, member: str) -> int | None:
        """Returns the id of an editor's result message, or None."""
        row = self._db.execute(
            "select id from message where answers = ? and member = ? order by id desc limit 1", (editor, member)
        ).fetchone()
        return None if row is None else int(row[0])

    def results(self, editor: int, member: str, limit: int = 5) -> list[Message]:
        """Returns an editor's result and later private deliveries, the latest change first."""
        rows = self._db.execute(
            f"select {COLUMNS} from message where member = ? and (answers = ? or (key is not null and id > ?))"
            " order by version desc limit ?",
            (member, editor, editor, limit),
        ).fetchall()
        return [_message(row) for row in rows]

    def seen_by(
        self, member: str, channel: str, after: int = 0, limit: int = 200, before: int = LAST_ID
    ) -> list[Message]:
        """Returns the newest messages the member may see in the channel, or those changed since a version, oldest
        first. `before` is the id of a message: only older ones."""
        query = f"{SEEN} and id < ? order by id desc limit ?"
        rows = self._db.execute(query, (channel, member, after, before, limit)).fetchall()
        return [_message(row) for row in reversed(rows)]

    def version(self) -> int:
        """Returns the version of the latest change."""
        return int(self._db.execute("select coalesce(max(version), 0) from message").fetchone()[0])

    def _forget_old(self, channel: str, member: str) -> None:
        self._db.execute(
            "delete from message where key is null and member = ?1 and channel = ?2 and id not in (select id from"
            " message where key is null and member = ?1 and channel = ?2 order by id desc limit ?3)",
            (member, channel, PRIVATE_KEPT),
        )


def _hashed(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _instant(at: datetime) -> str:
    """Formats an instant as text that sorts by time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _session(row: tuple[int, str, str, str, str, str, int, str]) -> Session:
    number, agent, began, used, member, name, admin, _ = row
    person = _person((member, name, admin))
    return Session(number, person, agent, datetime.fromisoformat(began), datetime.fromisoformat(used))


def _person(row: tuple[str, str, int]) -> Person:
    return Person(row[0], row[1], bool(row[2]))


def _dumped(content: Card | Form | str) -> str:
    return json.dumps(as_data(content), ensure_ascii=False)


Row = tuple[int, int, str, str | None, str | None, int | None, int | None, int, str, str]


def _message(row: Row) -> Message:
    number, version, channel, member, author, reply_to, answers, delivered, content, at = row
    return Message(
        number,
        version,
        channel,
        member,
        author,
        reply_to,
        answers,
        bool(delivered),
        from_data(json.loads(content)),
        datetime.fromisoformat(at).astimezone(UTC),
    )
