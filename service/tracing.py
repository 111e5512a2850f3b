"""One id from what somebody did in a chat to all that comes of it: in log lines, on calls, in jobs. It decides nothing.

Whoever handles an event follows its id; the client sends it along in a header, the API takes it up again, a deferred
job carries it to the verdict, and the verdict to its delivery. `grep ID` in the logs of all processes tells the road.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote, unquote

import structlog

HEADER = "X-Dailygrad-Event"
KEY = "event_id"
"""The id's name in a log line."""
LONGEST = 200
"""Characters of an id, as of `wire.EventId`."""

_notes: ContextVar[dict[str, object] | None] = ContextVar("notes", default=None)


@contextmanager
def following(event_id: str) -> Iterator[None]:
    """Until the block ends every log line bears the id, and every call takes it along; an empty one changes nothing."""
    if not event_id:
        yield
        return
    with structlog.contextvars.bound_contextvars(**{KEY: event_id[:LONGEST]}):
        yield


def followed() -> str:
    """The id that is followed here; empty where there is none."""
    return str(structlog.contextvars.get_contextvars().get(KEY, ""))


def as_header() -> dict[str, str]:
    """The id that is followed, as a header of a call. Ids are anybody's text, so all but plain characters is quoted."""
    event_id = followed()
    return {HEADER: quote(event_id, safe=":/", errors="replace")} if event_id else {}


def from_header(value: str) -> str:
    """The id in a header's value; any value gives one that may stand in a log."""
    return unquote(value)[:LONGEST]


@contextmanager
def noting() -> Iterator[dict[str, object]]:
    """What is noted inside the block, for the one line that its end is told by."""
    notes: dict[str, object] = {}
    before = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(before)


def note(**fields: object) -> None:
    """Have the line that tells of this call say these too: ids, counts and states, nothing that anybody wrote."""
    notes = _notes.get()
    if notes is not None:
        notes.update(fields)


def mark(log: logging.Logger, what: str, *, level: int = logging.INFO, **fields: object) -> None:
    """One line for one station of the road. Through the standard library, so that a command that keeps no log prints
    none of it."""
    log.log(level, what, extra={"fields": fields})


def opaque(*parts: str) -> str:
    """A member in a log: the same person, the same word, and neither a name nor the chat's own id."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:12]
