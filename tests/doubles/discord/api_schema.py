"""A second check of request bodies, against Discord's OpenAPI specification where its file is present."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.doubles.discord.world import Json
from tests.external import DISCORD_API

_IDS = ("attachments", "recipient_id")
"""Fields for which discord.py sends numbers instead of the specified strings; Discord accepts both."""


@cache
def _spec() -> Json:
    if not DISCORD_API.is_file():
        return {}
    found: Json = json.loads(DISCORD_API.read_text(encoding="utf-8"))
    return found


@cache
def validator(route: str) -> Draft202012Validator | None:
    """Returns the schema of a route's body; None if it has none or the specification is missing."""
    method, path = route.split(" ", 1)
    operation = _spec().get("paths", {}).get(path, {}).get(method.lower())
    content = (operation or {}).get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return None
    return Draft202012Validator({**content["schema"], "components": _spec()["components"]})


def documented(route: str) -> bool:
    """Returns whether the specification has a route. Raises KeyError if the specification is missing."""
    method, path = route.split(" ", 1)
    return method.lower() in _spec()["paths"].get(path, {})


def wrong(route: str, body: Any) -> list[str]:
    """Returns the violations of the specification; empty if it is missing."""
    schema = validator(route)
    if schema is None:
        return []
    problem = next(iter(schema.iter_errors(_tolerated(body))), None)
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
    """Converts ids to the specified type; those of attachments are within a list."""
    match value:
        case int():
            return str(value)
        case list():
            return [{**each, "id": _text_id(each["id"])} if "id" in each else each for each in value]
        case _:
            return value
