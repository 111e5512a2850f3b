"""The correlation id: a chat event's id in every log line, call and job that the event causes.

The handler of an event sets it, the client sends it in a header, the API reads it, and jobs and deliveries carry it on.
`grep ID` in the logs of all processes shows everything that happened because of one event.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote, unquote

import structlog

EVENT_HEADER = "X-Dailygrad-Event"
EVENT_FIELD = "event_id"
"""Name of the log field with the id."""
MAX_EVENT_ID_LENGTH = 200
"""Longest id, characters; the same as in `wire.EventId`."""

_fields: ContextVar[dict[str, object] | None] = ContextVar("fields", default=None)


@contextmanager
def correlate(event_id: str) -> Iterator[None]:
    """Adds the id to every log line and call until the block exits. An empty id changes nothing."""
    if not event_id:
        yield
        return
    with structlog.contextvars.bound_contextvars(**{EVENT_FIELD: event_id[:MAX_EVENT_ID_LENGTH]}):
        yield


def current_event_id() -> str:
    """Returns the current correlation id; empty if there is none."""
    return str(structlog.contextvars.get_contextvars().get(EVENT_FIELD, ""))


def event_header() -> dict[str, str]:
    """Returns the current id as an HTTP header. Ids are untrusted text, so all but plain characters are quoted."""
    event_id = current_event_id()
    return {EVENT_HEADER: quote(event_id, safe=":/", errors="replace")} if event_id else {}


def parse_event_header(value: str) -> str:
    """Returns the id in a header's value. Any value gives an id that is safe to log."""
    return unquote(value)[:MAX_EVENT_ID_LENGTH]


@contextmanager
def collect_fields() -> Iterator[dict[str, object]]:
    """Collects the fields that code in the block adds, for the log line at its end."""
    fields: dict[str, object] = {}
    token = _fields.set(fields)
    try:
        yield fields
    finally:
        _fields.reset(token)


def add_fields(**fields: object) -> None:
    """Adds fields to the log line of the current call: ids, counts and states, never what people wrote."""
    collected = _fields.get()
    if collected is not None:
        collected.update(fields)


def log_event(log: logging.Logger, what: str, *, level: int = logging.INFO, **fields: object) -> None:
    """Logs one step of an event. Uses the standard library, so that a command without a log prints nothing."""
    log.log(level, what, extra={"fields": fields})


def pseudonym(*parts: str) -> str:
    """Returns a stable pseudonym for a member in a log: neither a name nor the platform's id."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:12]
