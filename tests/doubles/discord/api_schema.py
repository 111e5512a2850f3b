"""A second check of request bodies, against Discord's OpenAPI specification where its file is present."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

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


def _one_of(validator: Any, choices: list[Json], value: Any, schema: Json) -> Iterator[ValidationError]:
    """Checks `oneOf` as jsonschema does, but tries only schemas that allow the value's `type`: most have dozens."""
    kind = value.get("type") if isinstance(value, dict) else None
    possible = [
        one for one in choices if kind is None or kind in _types(one.get("$ref", "")) or not _types(one.get("$ref", ""))
    ]
    yield from Draft202012Validator.VALIDATORS["oneOf"](validator, possible or choices, value, schema)


@cache
def _types(reference: str) -> tuple[Any, ...]:
    """Returns the values of `type` that a component of the specification allows; empty if it does not say."""
    schema = _spec()["components"]["schemas"].get(reference.rpartition("/")[2], {})
    return tuple(schema.get("properties", {}).get("type", {}).get("enum", ()))


_Validator = extend(Draft202012Validator, {"oneOf": _one_of})  # type: ignore[no-untyped-call]


@cache
def validator(route: str) -> Any:
    """Returns the schema of a route's body; None if it has none or the specification is missing."""
    method, path = route.split(" ", 1)
    operation = _spec().get("paths", {}).get(path, {}).get(method.lower())
    content = (operation or {}).get("requestBody", {}).get("content", {}).get("application/json")
    if not content:
        return None
    return _Validator({**content["schema"], "components": _spec()["components"]})


def documented(route: str) -> bool:
    """Returns whether the specification has a route. Raises KeyError if the specification is missing."""
    method, path = route.split(" ", 1)
    return method.lower() in _spec()["paths"].get(path, {})


def wrong(route: str, body: Any) -> list[str]:
    """Returns the violations of the specification; empty if it is missing."""
    return _wrong(route, json.dumps(_tolerated(body))) if validator(route) else []


@lru_cache(maxsize=256)  # every bot that starts sends the same large list of commands
def _wrong(route: str, body: str) -> list[str]:
    problem = next(iter(validator(route).iter_errors(json.loads(body))), None)
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
