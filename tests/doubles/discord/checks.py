"""Checks request bodies by the tables in `bodies` and the rules here, which apply to whole messages.

Discord's OpenAPI specification is a second check where its file is present.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.doubles.discord import api_schema
from tests.doubles.discord.bodies import BODIES, CONTAINER, EMBEDS, PARTS, TEXT, TEXTS
from tests.doubles.discord.world import EPHEMERAL, LOADING, V2, Json, nested
from tests.doubles.shapes import utf16

ROWS = 5
"""Limit of rows in a message without Components V2."""
REQUEST_BYTES, FILE_BYTES = 25 * 1024 * 1024, 10 * 1024 * 1024
COMMAND_LENGTH = 8000
_NAME = re.compile(r"[-_'\w]{1,32}")
_SUPPRESS_EMBEDS, _SILENT = 1 << 2, 1 << 12
_OURS = EPHEMERAL | V2 | _SUPPRESS_EMBEDS | _SILENT
"""Message flags that a bot may set."""
V2_ONLY = range(9, CONTAINER + 1)


def wrong_in_body(route: str, body: Any, *, second: bool = True) -> list[str]:
    """Returns the errors in the body of a request. `second` also checks it against the OpenAPI specification."""
    check = BODIES.get(route)
    if check is None:
        return [f"{route} takes no body"]
    return list(check(body, route)) or (api_schema.wrong(route, body) if second else [])


def wrong_in_message(body: Json, *, files: dict[str, bytes], was_v2: bool = False) -> list[str]:
    """Returns the errors of a message as a whole. `wrong_in_body` checks its fields."""
    flags = int(body.get("flags") or 0)
    v2 = bool(flags & V2) or was_v2
    return [
        *_wrong_in_flags(flags),
        *_wrong_in_kind(body, v2),
        *_wrong_in_parts(body, v2),
        *_wrong_in_files(body, files),
    ]


def _wrong_in_flags(flags: int) -> Iterator[str]:
    if flags & ~_OURS & ~LOADING:
        yield f"flags {flags} that no bot sets"


def _wrong_in_kind(body: Json, v2: bool) -> Iterator[str]:
    if v2 and any(body.get(name) for name in ("content", "embeds", "poll", "sticker_ids")):
        yield "content, embeds, poll or stickers beside components V2"
    if sum(map(utf16, (text for embed in body.get("embeds") or () for text in _embedded(embed)))) > EMBEDS:
        yield f"embeds of more than {EMBEDS} characters"


def _embedded(embed: Json) -> Iterator[str]:
    """Yields the texts that count against the limit of an embed."""
    yield from (embed.get(name) or "" for name in ("title", "description"))
    yield (embed.get("footer") or {}).get("text", "")
    yield (embed.get("author") or {}).get("name", "")
    for field in embed.get("fields") or ():
        yield from (field["name"], field["value"])


def _wrong_in_parts(body: Json, v2: bool) -> Iterator[str]:
    components = body.get("components") or []
    parts = [part for component in components for part in nested(component)]
    if not v2 and any(part["type"] in V2_ONLY for part in parts):
        yield "components V2 without their flag"
    if not v2 and len(components) > ROWS:
        yield f"more than {ROWS} rows"
    if len(parts) > PARTS:
        yield f"{len(parts)} components, more than {PARTS}"
    if sum(utf16(part["content"]) for part in parts if part["type"] == TEXT) > TEXTS:
        yield f"texts of more than {TEXTS} characters"
    yield from _wrong_twice(parts)


def _wrong_twice(parts: list[Json]) -> Iterator[str]:
    for name in ("custom_id", "id"):
        found = [part[name] for part in parts if part.get(name)]
        if len(found) != len(set(found)):
            yield f"a {name} twice: {found}"


def _wrong_in_files(body: Json, files: dict[str, bytes]) -> Iterator[str]:
    if any(len(content) > FILE_BYTES for content in files.values()) or sum(map(len, files.values())) > REQUEST_BYTES:
        yield "a file or a request that is too large"
    for name in re.findall(r"attachment://([^\"]+)", json.dumps(body)):
        named = {str(item.get("filename")) for item in body.get("attachments") or ()}
        if name not in named | set(files):
            yield f"attachment://{name} names no file of the message"


def wrong_in_modal(data: Json) -> list[str]:
    """Returns the errors of a modal as a whole."""
    return list(_wrong_twice([part for component in data["components"] for part in nested(component)]))


def wrong_in_commands(commands: list[Json]) -> list[str]:
    """Returns the errors of an application's commands as a whole."""
    found = [f"{command['name']!r} is no name" for command in commands if not _is_name(command)]
    for kind, most in ((1, 100), (2, 15), (3, 15)):
        names = [command["name"] for command in commands if command.get("type", 1) == kind]
        if len(names) > most or len(names) != len(set(names)):
            found.append(f"{len(names)} commands of type {kind}, more than {most}, or one twice")
    return found + [
        f"{command['name']} has more than {COMMAND_LENGTH} characters"
        for command in commands
        if _said(command) > COMMAND_LENGTH
    ]


def _is_name(command: Json) -> bool:
    if command.get("type", 1) != 1:
        return 1 <= len(command["name"]) <= 32
    named = [command, *(command.get("options") or ())]
    return all(_NAME.fullmatch(each["name"]) and each["name"] == each["name"].lower() for each in named)


def _said(command: Json) -> int:
    """Counts the characters of names, descriptions and values, as Discord does."""
    own = len(command.get("name", "")) + len(command.get("description", "")) + len(str(command.get("value", "")))
    inner = [*(command.get("options") or ()), *(command.get("choices") or ())]
    return own + sum(map(_said, inner))
