"""Slack's own types as a second check, where their schema lies beside the repository."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft7Validator

from tests.doubles.slack.shown import Body
from tests.external import SLACK_TYPES

NEWER = ("data_visualization",)
"""Blocks documented after the types were published."""
_MOST = re.compile(r"(?i)\bmax\w*(?: length)?[^.\d]*?(\d[\d,]*)")


def wrong(schema: str, whole: Any) -> list[str]:
    """Returns what the types refuse, nothing where they are not present."""
    if not SLACK_TYPES.is_file():
        return []
    errors = validator(schema).iter_errors(_known(whole))
    return [f"{'/'.join(map(str, error.absolute_path))}: {_deepest(error)}"[:600] for error in errors]


def _known(whole: Any) -> Any:
    """Returns the message or view without the blocks that the types do not know yet."""
    if isinstance(whole, list):
        return [block for block in whole if block.get("type") not in NEWER]
    return {**whole, "blocks": _known(whole["blocks"])}


def _deepest(error: Any) -> str:
    """Returns the message of the alternative that came nearest."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return f"{'/'.join(map(str, error.absolute_path))}: {error.message}"


@cache
def validator(schema: str) -> Draft7Validator:
    """Returns one of Slack's types as a schema."""
    return Draft7Validator({"$ref": f"#/definitions/{schema}", "definitions": _definitions()})


@cache
def named(kind: str) -> str:
    """Returns the name of the type of blocks or elements whose `type` is `kind`."""
    found = []
    for name, definition in _definitions().items():
        shapes = definition.get("anyOf", [definition])
        if any(one.get("properties", {}).get("type", {}).get("const") == kind for one in shapes):
            found.append(name)
    return found[0]


@cache
def _definitions() -> dict[str, Body]:
    """Returns Slack's types with the limits that their comments state."""
    definitions: dict[str, Body] = json.loads(SLACK_TYPES.read_text(encoding="utf-8"))["definitions"]
    # Documented on Slack's page of the element, and not yet in its types.
    definitions["RichTextPreformatted"]["properties"]["language"] = {"type": "string"}
    for definition in definitions.values():
        for name, property_ in definition.get("properties", {}).items():
            definition["properties"][name] = _limited(property_)
    return definitions


def _limited(property_: Body) -> Body:
    """Returns the property with the limit its comment states."""
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
