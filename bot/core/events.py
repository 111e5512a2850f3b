"""What people do in a chat, as data. Each platform converts its own events to these; `core.quiz` answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from service.wire import Where, Who


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: `/quiz board week` has name `quiz` and text `board week`."""

    id: str
    """The platform's event id; the same id twice is answered once."""
    at: datetime
    who: Who
    where: Where
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button. `action` contains everything needed to answer it, so it works after a restart."""

    id: str
    at: datetime
    who: Who
    where: Where
    action: str


@dataclass(frozen=True, slots=True)
class Submit:
    """A submitted form. `action` is the form's action; `values` are keyed by field name, several per checkbox group."""

    id: str
    at: datetime
    who: Who
    where: Where
    action: str
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """A message to the bot: a direct message, a reply to a post, or one picked with "Answer with this"."""

    id: str
    at: datetime
    who: Who
    where: Where
    text: str
    files: tuple[tuple[str, str], ...] = ()
    """Name and text of each Python file that came with it."""


@dataclass(frozen=True, slots=True)
class Added:
    """`who` added the bot to a workspace; `where` is a channel it may post in, or empty."""

    id: str
    at: datetime
    who: Who
    where: Where


@dataclass(frozen=True, slots=True)
class Visited:
    """`who` opened the bot's Home tab (Slack)."""

    id: str
    at: datetime
    who: Who
    where: Where


Event = Command | Press | Submit | Sent | Added | Visited
