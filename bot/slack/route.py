"""What must be known to answer a Slack event later: where it came from and by which means a reply can still go."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.events import Event

_METADATA_LENGTH = 3_000


@dataclass(frozen=True, slots=True)
class Route:
    """All texts, empty where there is none, so that the journal can keep it."""

    team: str = ""
    enterprise: str = ""
    user: str = ""
    channel: str = ""
    channel_name: str = ""
    thread: str = ""
    """The `ts` of the message beneath which it happened."""
    response_url: str = ""
    trigger: str = ""
    """Opens a view within three seconds, once."""
    view: str = ""
    window: str = ""
    """What kind of view it happened in: form, card, home."""
    own: str = ""
    """Set where it came from a card that only this member sees, which a reply may replace."""
    direct: str = ""
    """Set in the member's conversation with the bot."""
    files: str = ""
    """The Python files that came along, see `read_files`."""

    def as_dict(self) -> dict[str, str]:
        """What there is, for the journal."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event and the way back."""

    event: Event
    route: Route


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file of a message, not fetched yet."""

    name: str
    url: str
    size: int


def route_from(data: Mapping[str, str]) -> Route:
    """The inverse of `as_dict`; what an older version knew and we do not is left out."""
    known = {field.name for field in dataclasses.fields(Route)}
    return Route(**{name: value for name, value in data.items() if name in known})


def write_files(files: list[FileRef]) -> str:
    """Files as a route's text."""
    return json.dumps([dataclasses.astuple(file) for file in files]) if files else ""


def read_files(text: str) -> list[FileRef]:
    """The inverse of `write_files`."""
    return [FileRef(*file) for file in json.loads(text)] if text else []


# A view carries its action and the way back in `private_metadata`, so that it works after a restart.
_CARRIED = {
    "c": "channel",
    "n": "channel_name",
    "t": "thread",
    "u": "response_url",
    "o": "own",
    "d": "direct",
}


def write_metadata(action: str, route: Route) -> str:
    """The `private_metadata` of a view opened from `route`."""
    carried = {short: value for short, name in _CARRIED.items() if (value := getattr(route, name))}
    text = json.dumps({"a": action, **carried}, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= _METADATA_LENGTH else json.dumps({"a": action})


def read_metadata(text: str) -> tuple[str, dict[str, str]]:
    """The action of a view, and the fields of the route it was opened from."""
    try:
        data = json.loads(text)
    except ValueError:
        return text, {}
    if not isinstance(data, dict):
        return text, {}
    return str(data.get("a", "")), {name: str(data[short]) for short, name in _CARRIED.items() if short in data}
