"""Checks messages and views by the tables in `block_kit` and the rules here.

Slack's own types are a second check where their file is present.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.doubles.shapes import typed
from tests.doubles.slack import block_kit, types_schema
from tests.doubles.slack.surfaces import Body, walk

MESSAGE_TEXT = 40_000
BLOCKS_LENGTH = 13_200
"""Limit of the blocks as JSON, characters; undocumented, but widely reported (msg_blocks_too_long)."""
MARKDOWN_LENGTH = 12_000
"""Limit of all markdown blocks of a message together, characters."""
VIEW_LENGTH = 250_000
METADATA_LENGTH = 8_000
MOST = {"table": 1, "data_visualization": 2}
"""Limits of blocks per type in a message."""


def wrong_in_message(args: Body, *, second: bool = True) -> tuple[str, list[str]]:
    """Returns the API's error for a message and the reasons; both empty if it is valid.

    `second` also checks it against Slack's types, which takes some milliseconds.
    """
    text, blocks = str(args.get("text") or ""), args.get("blocks") or []
    if not text and not blocks:
        return "no_text", ["neither text nor blocks"]
    if len(text) > MESSAGE_TEXT:
        return "msg_too_long", [f"text of {len(text)} characters"]
    if len(json.dumps(blocks, separators=(",", ":"), ensure_ascii=False)) > BLOCKS_LENGTH:
        return "msg_blocks_too_long", [f"blocks of {len(json.dumps(blocks))} characters"]
    if wrong := wrong_in_blocks(blocks):
        return "invalid_blocks", wrong
    if second and (wrong := types_schema.wrong("MessageBlocks", blocks)):
        return "invalid_blocks", wrong
    return _wrong_metadata(args.get("metadata"))


def wrong_in_blocks(blocks: Any) -> list[str]:
    """Returns the errors of a message's blocks by our own tables."""
    return list(block_kit.MESSAGE(blocks, "blocks")) or [*_too_many(blocks), *_twice(blocks)]


def wrong_in_view(view: Any) -> tuple[str, list[str]]:
    """Returns the API's error for a view and the reasons; both empty if it is valid."""
    if len(json.dumps(view)) > VIEW_LENGTH:
        return "view_too_large", [f"view of {len(json.dumps(view))} characters"]
    if wrong := list(typed(block_kit.VIEWS)(view, "view")) or list(_twice(view["blocks"])):
        return "invalid_arguments", wrong
    wrong = types_schema.wrong("ModalView" if view["type"] == "modal" else "HomeView", view)
    return ("invalid_arguments", wrong) if wrong else ("", [])


def _too_many(blocks: list[Body]) -> Iterator[str]:
    count = Counter(block["type"] for block in blocks)
    for kind, most in MOST.items():
        if count[kind] > most:
            yield f"{count[kind]} blocks of type {kind}, at most {most} in a message"
    if sum(len(block["text"]) for block in blocks if block["type"] == "markdown") > MARKDOWN_LENGTH:
        yield f"markdown of more than {MARKDOWN_LENGTH} characters"


def _twice(blocks: list[Body]) -> Iterator[str]:
    """Yields duplicate ids: of actions within a block, and of blocks."""
    yield from _more_than_once("block_id", (str(block["block_id"]) for block in blocks if block.get("block_id")))
    for block in blocks:
        yield from _more_than_once("action_id", (str(part["action_id"]) for part in walk(block) if "action_id" in part))


def _more_than_once(what: str, ids: Iterator[str]) -> Iterator[str]:
    for id_, times in Counter(ids).items():
        if times > 1:
            yield f"{what} {id_!r} {times} times"


def _wrong_metadata(metadata: Any) -> tuple[str, list[str]]:
    if metadata is None:
        return "", []
    whole = isinstance(metadata, dict) and isinstance(metadata.get("event_type"), str)
    if not whole or not isinstance(metadata.get("event_payload"), dict):
        return "invalid_metadata_format", [f"metadata: {metadata!r}"[:300]]
    if len(json.dumps(metadata)) > METADATA_LENGTH:
        return "metadata_too_large", ["metadata of more than 8,000 characters"]
    return "", []
