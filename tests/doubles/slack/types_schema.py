"""A second check of messages and views, against Slack's published types where their file is present."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft7Validator, ValidationError
from jsonschema.validators import extend

from tests.doubles.slack.surfaces import Body
from tests.external import SLACK_TYPES

NEWER = ("data_visualization",)
"""Blocks newer than the published types."""
_MOST = re.compile(r"(?i)\bmax\w*(?: length)?[^.\d]*?(\d[\d,]*)")


def wrong(schema: str, whole: Any) -> list[str]:
    """Returns the violations of the types; empty if their file is missing."""
    if not SLACK_TYPES.is_file():
        return []
    errors = validator(schema).iter_errors(_known(whole))
    return [f"{'/'.join(map(str, error.absolute_path))}: {_deepest(error)}"[:600] for error in errors]


def _known(whole: Any) -> Any:
    """Returns the message or view without the blocks that the types lack."""
    if isinstance(whole, list):
        return [block for block in whole if block.get("type") not in NEWER]
    return {**whole, "blocks": _known(whole["blocks"])}


def _deepest(error: Any) -> str:
    """Returns the error of the closest alternative."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return f"{'/'.join(map(str, error.absolute_path))}: {error.message}"


def _any_of(validator: Any, choices: list[Body], value: Any, schema: Body) -> Iterator[ValidationError]:
    """Checks `anyOf` as jsonschema does, but tries only types that allow the value's `type`: most have dozens."""
    kind = value.get("type") if isinstance(value, dict) else None
    possible = [one for one in choices if kind is None or kind in (_kinds(one.get("$ref", "")) or {kind})]
    yield from Draft7Validator.VALIDATORS["anyOf"](validator, possible or choices, value, schema)


@cache
def _kinds(reference: str) -> frozenset[str]:
    """Returns the values of `type` that a definition allows; empty if one of its alternatives does not say."""
    definition = _definitions().get(reference.rpartition("/")[2], {})
    kinds = [_kinds(one.get("$ref", "")) for one in definition.get("anyOf", ())]
    if kinds:
        return frozenset[str]().union(*kinds) if all(kinds) else frozenset()
    constant = definition.get("properties", {}).get("type", {}).get("const")
    return frozenset() if constant is None else frozenset({constant})


_Validator = extend(Draft7Validator, {"anyOf": _any_of})  # type: ignore[no-untyped-call]


@cache
def validator(schema: str) -> Any:
    """Returns the schema of one of Slack's types."""
    return _Validator({"$ref": f"#/definitions/{schema}", "definitions": _definitions()})


@cache
def named(kind: str) -> str:
    """Returns the name of the type for blocks or elements with this `type`."""
    found = []
    for name, definition in _definitions().items():
        shapes = definition.get("anyOf", [definition])
        if any(one.get("properties", {}).get("type", {}).get("const") == kind for one in shapes):
            found.append(name)
    return found[0]


@cache
def _definitions() -> dict[str, Body]:
    """Returns Slack's types with the limits stated in their comments."""
    definitions: dict[str, Body] = json.loads(SLACK_TYPES.read_text(encoding="utf-8"))["definitions"]
    # Documented on the element's page, but missing in the types.
    definitions["RichTextPreformatted"]["properties"]["language"] = {"type": "string"}
    for definition in definitions.values():
        for name, property_ in definition.get("properties", {}).items():
            definition["properties"][name] = _limited(property_)
    return definitions


def _limited(property_: Body) -> Body:
    """Returns a property with the limit stated in its comment."""
    found = _MOST.search(str(property_.get("description", "")))
    if not found:
        return property_
    most = int(found[1].replace(",", ""))
    match property_.get("type"):
        case "string":
            return {**property_, "maxLength": most}
        case "array":
            return {**property_, "maxItems": most}
        case None:
            return {"allOf": [property_, {"properties": {"text": {"maxLength": most}}}]}
    return property_
