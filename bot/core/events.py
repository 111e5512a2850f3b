"""What people do in a chat, as data. A platform turns its own events into these; `core.quiz` answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from service.wire import Where, Who


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: `/quiz board week` is name `quiz`, text `board week`."""

    id: str
    """The platform's event id; the same id twice is answered once."""
    at: datetime
    who: Who
    where: Where
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """A button of one of our cards. `action` carries all there is to know, so it works after a restart."""

    id: str
    at: datetime
    who: Who
    where: Where
    action: str


@dataclass(frozen=True, slots=True)
class Submit:
    """A filled form. `action` is the form's own, `values` by field name; a checkbox group gives several values."""

    id: str
    at: datetime
    who: Who
    where: Where
    action: str
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """A message meant for us: written to the bot, beneath one of its posts, or picked with "answer with this"."""

    id: str
    at: datetime
    who: Who
    where: Where
    text: str
    files: tuple[tuple[str, str], ...] = ()
    """Name and text of each Python file that came with it."""


@dataclass(frozen=True, slots=True)
class Added:
    """The bot was added to a workspace by `who`; `where` is a channel it may post to, else empty."""

    id: str
    at: datetime
    who: Who
    where: Where


@dataclass(frozen=True, slots=True)
class Visited:
    """`who` opened the bot's own page (Slack's home tab)."""

    id: str
    at: datetime
    who: Who
    where: Where


Event = Command | Press | Submit | Sent | Added | Visited
