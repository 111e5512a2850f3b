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


Event = Command | Press | Submit
