"""What a reply needs to know about the event it answers: where it came from and which ways back are open."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.events import Event

_METADATA_LENGTH = 3_000
"""Longest private metadata of a view, characters: Slack's limit."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where an event came from and how to reply. All fields are strings, for the journal; empty means none."""

    team: str = ""
    enterprise: str = ""
    user: str = ""
    channel: str = ""
    channel_name: str = ""
    thread: str = ""
    """The `ts` of the thread."""
    response_url: str = ""
    trigger: str = ""
    """Trigger id: opens one view within three seconds."""
    view: str = ""
    window: str = ""
    """Kind of the view: form, card or home."""
    own: str = ""
    """Set if it came from a card that only this member sees, which a reply may replace."""
    direct: str = ""
    """Set in direct messages with the bot."""
    files: str = ""
    """The message's Python files, see `read_files`."""

    def as_dict(self) -> dict[str, str]:
        """Returns the fields that are set, for the journal."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """An event and the route for its reply."""

    event: Event
    route: Route


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file of a message, not yet downloaded."""

    name: str
    url: str
    size: int


def route_from(data: Mapping[str, str]) -> Route:
    """Restores a route from `as_dict`, ignoring unknown fields of another version."""
    known = {field.name for field in dataclasses.fields(Route)}
    return Route(**{name: value for name, value in data.items() if name in known})


def write_files(files: list[FileRef]) -> str:
    """Serializes files for a route."""
    return json.dumps([dataclasses.astuple(file) for file in files]) if files else ""


def read_files(text: str) -> list[FileRef]:
    """Restores files from a route."""
    return [FileRef(*file) for file in json.loads(text)] if text else []


_CARRIED = {
    "c": "channel",
    "n": "channel_name",
    "t": "thread",
    "u": "response_url",
    "o": "own",
    "d": "direct",
}
"""Route fields that a view carries in `private_metadata`, so that it still works after a restart."""


def write_metadata(action: str, route: Route) -> str:
    """Returns the `private_metadata` of a view opened from `route`."""
    carried = {short: value for short, name in _CARRIED.items() if (value := getattr(route, name))}
    text = json.dumps({"a": action, **carried}, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= _METADATA_LENGTH else json.dumps({"a": action})


def read_metadata(text: str) -> tuple[str, dict[str, str]]:
    """Returns the action of a view, and the fields of the route it was opened from."""
    try:
        data = json.loads(text)
    except ValueError:
        return text, {}
    if not isinstance(data, dict):
        return text, {}
    return str(data.get("a", "")), {name: str(data[short]) for short, name in _CARRIED.items() if short in data}
