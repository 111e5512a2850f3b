"""What Slack refuses of a message or a view: by its own types where they are at hand, and by what these leave out."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft7Validator

from tests.doubles.slack.shown import Body, walk
from tests.external import SLACK_TYPES

MESSAGE_TEXT = 40_000
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
# Undocumented; seen by many as msg_blocks_too_long.
BLOCKS_LENGTH = 13_200
VIEW_LENGTH = 250_000
METADATA_LENGTH = 8_000
_MOST = re.compile(r"(?i)\bmax\w*(?: length)?[^.\d]*?(\d[\d,]*)")
_BY_HAND = {
    "header": ("text", 150),
    "button": ("text", 75),
}


def wrong_in_message(args: Body, types: bool = True) -> tuple[str, list[str]]:
    """The API's error for a message and the reasons; both empty where it is well. `types` takes some milliseconds."""
    text, blocks = str(args.get("text") or ""), args.get("blocks") or []
    if not text and not blocks:
        return "no_text", ["neither text nor blocks"]
    if len(text) > MESSAGE_TEXT:
        return "msg_too_long", [f"text of {len(text)} characters"]
    if len(json.dumps(blocks, separators=(",", ":"), ensure_ascii=False)) > BLOCKS_LENGTH:
        return "msg_blocks_too_long", [f"blocks of {len(json.dumps(blocks))} characters"]
    wrong = [*_counted(blocks, MESSAGE_BLOCKS), *_tables(blocks), *_by_hand(blocks), *_twice(blocks)]
    if wrong := wrong + (_by_types("MessageBlocks", blocks) if types else []):
        return "invalid_blocks", wrong
    return _wrong_metadata(args.get("metadata"))


def wrong_in_view(view: Any) -> tuple[str, list[str]]:
    """The API's error for a view and the reasons; both empty where it is well."""
    if not isinstance(view, dict) or view.get("type") not in ("modal", "home"):
        return "invalid_arguments", [f"no view: {view!r}"]
    if len(json.dumps(view)) > VIEW_LENGTH:
        return "view_too_large", [f"view of {len(json.dumps(view))} characters"]
    blocks = view.get("blocks", [])
    modal = view["type"] == "modal"
    wrong = [*_counted(blocks, VIEW_BLOCKS), *_long(view, "private_metadata", 3000), *_long(view, "callback_id", 255)]
    for name in ("title", "submit", "close") if modal else ():
        wrong += _long(view.get(name, {}), "text", 24)
    if modal and "submit" not in view and any(block.get("type") == "input" for block in blocks):
        wrong.append("an input without submit")
    if any(block.get("type") in ("table", "markdown") for block in blocks):
        wrong.append("a block that stands in messages alone")
    wrong += [*_by_hand(blocks), *_twice(blocks), *_by_types("ModalView" if modal else "HomeView", view)]
    return ("invalid_arguments", wrong) if wrong else ("", [])


def _counted(blocks: list[Body], most: int) -> Iterator[str]:
    if len(blocks) > most:
        yield f"{len(blocks)} blocks, at most {most}"


def _tables(blocks: list[Body]) -> Iterator[str]:
    if sum(block.get("type") == "table" for block in blocks) > 1:
        yield "only one table in a message"


def _long(data: Body, name: str, most: int) -> Iterator[str]:
    if len(str(data.get(name, ""))) > most:
        yield f"{name}: more than {most} characters"


def _by_hand(blocks: list[Body]) -> Iterator[str]:
    """What must hold without the types at hand."""
    for part in walk(blocks):
        kind = part.get("type")
        if kind in _BY_HAND and isinstance(part.get("text"), dict):
            yield from _long(part["text"], "text", _BY_HAND[kind][1])
        if kind in ("plain_text", "mrkdwn") and not 1 <= len(part.get("text", "")) <= 3000:
            yield f"a text of {len(part.get('text', ''))} characters"
        if kind in ("text", "raw_text") and not part.get("text"):
            yield f"an empty text: {part}"
        if kind == "image" and not part.get("alt_text"):
            yield "an image without alt_text"
        yield from _long(part, "action_id", 255)
        yield from _long(part, "block_id", 255)
        if kind == "button":
            yield from _long(part, "value", 2000)


def _twice(blocks: list[Body]) -> Iterator[str]:
    """Ids that must be different: actions within a block, blocks within the whole."""
    yield from _more_than_once("block_id", (str(block["block_id"]) for block in blocks if block.get("block_id")))
    for block in blocks:
        yield from _more_than_once("action_id", (str(part["action_id"]) for part in walk(block) if "action_id" in part))


def _more_than_once(what: str, ids: Iterator[str]) -> Iterator[str]:
    for id_, times in Counter(ids).items():
        if times > 1:
            yield f"{what} {id_!r} {times} times"


def _by_types(schema: str, whole: Any) -> list[str]:
    if not SLACK_TYPES.is_file():
        return []
    errors = validator(schema).iter_errors(whole)
    return [f"{'/'.join(map(str, error.absolute_path))}: {_deepest(error)}"[:600] for error in errors]


def _deepest(error: Any) -> str:
    """The message of the alternative that came nearest."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return f"{'/'.join(map(str, error.absolute_path))}: {error.message}"


@cache
def validator(schema: str) -> Draft7Validator:
    """Slack's types as a schema, with the limits that stand in their comments."""
    definitions = json.loads(SLACK_TYPES.read_text(encoding="utf-8"))["definitions"]
    # Documented on Slack's page of the element, and not yet in its types.
    definitions["RichTextPreformatted"]["properties"]["language"] = {"type": "string"}
    for definition in definitions.values():
        for name, property_ in definition.get("properties", {}).items():
            definition["properties"][name] = _limited(property_)
    return Draft7Validator({"$ref": f"#/definitions/{schema}", "definitions": definitions})


def _limited(property_: Body) -> Body:
    """The property with the limit its comment states."""
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


def _wrong_metadata(metadata: Any) -> tuple[str, list[str]]:
    if metadata is None:
        return "", []
    whole = isinstance(metadata, dict) and isinstance(metadata.get("event_type"), str)
    if not whole or not isinstance(metadata.get("event_payload"), dict):
        return "invalid_metadata_format", [f"metadata: {metadata!r}"[:300]]
    if len(json.dumps(metadata)) > METADATA_LENGTH:
        return "metadata_too_large", ["metadata of more than 8,000 characters"]
    return "", []
