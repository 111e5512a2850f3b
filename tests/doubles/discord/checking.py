"""Every body the bot sends, held against Discord's OpenAPI where that is at hand, and against what it does not say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from bot.core.markup.runs import units
from tests.doubles.discord.world import EPHEMERAL, LOADING, V2, Json, nested
from tests.external import DISCORD_API

MOST_TEXT, MOST_PARTS, MOST_CONTENT, MOST_EMBEDS, MOST_MODAL = 4000, 40, 2000, 6000, 5
MOST_REQUEST, MOST_FILE = 25 * 1024 * 1024, 10 * 1024 * 1024
_NAME = re.compile(r"[-_'\w]{1,32}")
_MADE_BY_US = EPHEMERAL | V2 | 1 << 2 | 1 << 12
MODAL_PARTS = {1, 10, 18}
_IDS = ("attachments", "recipient_id")
"""Where discord.py sends numbers for the texts of the specification, which Discord takes."""


@cache
def _spec() -> Json:
    """The specification, or nothing where it is not beside this repository."""
    if not DISCORD_API.is_file():
        return {}
    found: Json = json.loads(DISCORD_API.read_text(encoding="utf-8"))
    return found


@cache
def _validator(route: str) -> Draft202012Validator | None:
    method, path = route.split(" ", 1)
    operation = _spec().get("paths", {}).get(path, {}).get(method.lower())
    content = (operation or {}).get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return None
    return Draft202012Validator({**content["schema"], "components": _spec()["components"]})


def documented(route: str) -> bool:
    """Whether the specification has such a route; True where it is not at hand."""
    method, path = route.split(" ", 1)
    return not _spec() or method.lower() in _spec()["paths"].get(path, {})


def wrong_by_schema(route: str, body: Any) -> list[str]:
    """What the specification says against a body, some ids as numbers apart."""
    validator = _validator(route)
    if validator is None:
        return []
    problem = next(iter(validator.iter_errors(_tolerated(body))), None)
    return [] if problem is None else [f"{route}: {problem.json_path}: {problem.message[:300]}"]


def _tolerated(body: Any) -> Any:
    match body:
        case dict():
            return {name: _text_id(value) if name in _IDS else _tolerated(value) for name, value in body.items()}
        case list():
            return [_tolerated(each) for each in body]
        case _:
            return body


def _text_id(value: Any) -> Any:
    """Ids as the specification spells them; those of attachments stand within a list."""
    match value:
        case int():
            return str(value)
        case list():
            return [{**each, "id": _text_id(each["id"])} if "id" in each else each for each in value]
        case _:
            return value


def wrong_in_message(body: Json, *, files: dict[str, bytes], was_v2: bool = False) -> list[str]:
    """What Discord refuses of a message and its specification does not say."""
    flags = int(body.get("flags") or 0)
    v2 = bool(flags & V2) or was_v2
    return [
        *_wrong_in_flags(flags),
        *_wrong_in_kind(body, v2),
        *_wrong_in_parts(body, v2),
        *_wrong_in_files(body, files),
    ]


def _wrong_in_flags(flags: int) -> Iterator[str]:
    if flags & ~_MADE_BY_US & ~LOADING:
        yield f"flags {flags} that no bot sets"


def _wrong_in_kind(body: Json, v2: bool) -> Iterator[str]:
    if units(body.get("content") or "") > MOST_CONTENT:
        yield f"content of more than {MOST_CONTENT} characters"
    if v2 and any(body.get(name) for name in ("content", "embeds", "poll", "sticker_ids")):
        yield "content, embeds, poll or stickers beside components V2"
    texts = [embed.get(name) or "" for embed in body.get("embeds") or () for name in ("title", "description")]
    if sum(map(units, texts)) > MOST_EMBEDS:
        yield f"embeds of more than {MOST_EMBEDS} characters"


def _wrong_in_parts(body: Json, v2: bool) -> Iterator[str]:
    components = body.get("components") or []
    parts = [part for component in components for part in nested(component)]
    if not v2 and any(part["type"] > 8 for part in parts):
        yield "components V2 without their flag"
    if not v2 and len(components) > 5:
        yield "more than five rows"
    if len(parts) > MOST_PARTS:
        yield f"{len(parts)} components, more than {MOST_PARTS}"
    if sum(units(part["content"]) for part in parts if part["type"] == 10) > MOST_TEXT:
        yield f"texts of more than {MOST_TEXT} characters"
    yield from _wrong_twice(parts)


def _wrong_twice(parts: list[Json]) -> Iterator[str]:
    for name in ("custom_id", "id"):
        found = [part[name] for part in parts if part.get(name)]
        if len(found) != len(set(found)):
            yield f"a {name} twice: {found}"


def _wrong_in_files(body: Json, files: dict[str, bytes]) -> Iterator[str]:
    if any(len(content) > MOST_FILE for content in files.values()) or sum(map(len, files.values())) > MOST_REQUEST:
        yield "a file or a request that is too large"
    for name in re.findall(r"attachment://([^\"]+)", json.dumps(body)):
        named = {str(item.get("filename")) for item in body.get("attachments") or ()}
        if name not in named | set(files):
            yield f"attachment://{name} names no file of the message"


def wrong_in_modal(data: Json) -> list[str]:
    """What Discord refuses of a modal and its specification does not say."""
    components = data.get("components") or []
    parts = [part for component in components for part in nested(component)]
    found = list(_wrong_twice(parts))
    if not 1 <= len(components) <= MOST_MODAL:
        found.append(f"a modal of {len(components)} components, more than {MOST_MODAL}")
    if any(component["type"] not in MODAL_PARTS for component in components):
        found.append("a component no modal takes at its top")
    return found


def wrong_in_commands(commands: list[Json]) -> list[str]:
    """What Discord refuses of an application's commands and its specification does not say."""
    found = [f"{command['name']!r} is no name" for command in commands if not _is_name(command)]
    for kind, most in ((1, 100), (2, 15), (3, 15)):
        names = [command["name"] for command in commands if command.get("type", 1) == kind]
        if len(names) > most or len(names) != len(set(names)):
            found.append(f"{len(names)} commands of type {kind}, more than {most}, or one twice")
    return found + [f"{command['name']} has more than 8000 characters" for command in commands if _said(command) > 8000]


def _is_name(command: Json) -> bool:
    if command.get("type", 1) != 1:
        return 1 <= len(command["name"]) <= 32
    named = [command, *(command.get("options") or ())]
    return all(_NAME.fullmatch(each["name"]) and each["name"] == each["name"].lower() for each in named)


def _said(command: Json) -> int:
    """Characters of names, descriptions and values, as Discord counts them."""
    own = len(command.get("name", "")) + len(command.get("description", "")) + len(str(command.get("value", "")))
    inner = [*(command.get("options") or ()), *(command.get("choices") or ())]
    return own + sum(map(_said, inner))
