"""Slack's documented limits, and a check of bodies against them. Needs no schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.bot.rendering import beyond, shows, units
from tests.doubles.slack import block_kit
from tests.doubles.slack.surfaces import walk

LIMITS = {
    # what: (most, where Slack says so)
    "text of a message": (4000, "docs: chat.postMessage, best kept to 4,000"),
    "blocks of a message": (50, "docs: reference/block-kit/blocks"),
    "bytes of a message's blocks": (13_200, "undocumented: msg_blocks_too_long, bolt-js#2509"),
    "blocks of a view": (100, "@slack/types: ModalView"),
    "tables of a message": (1, "docs: table block"),
    "rows of a table": (100, "@slack/types: TableBlock"),
    "columns of a table": (20, "@slack/types: TableBlock"),
    "header": (150, "@slack/types: HeaderBlock"),
    "plain text": (3000, "@slack/types: PlainTextElement"),
    "elements of a context": (10, "@slack/types: ContextBlock"),
    "charts of a message": (2, "docs: data_visualization"),
    "elements of context actions": (5, "@slack/types: ContextActionsBlock"),
    "elements of actions": (25, "@slack/types: ActionsBlock"),
    "text of a button": (75, "@slack/types: Button"),
    "action_id": (255, "@slack/types: Action"),
    "block_id": (255, "@slack/types: Block"),
    "value of a button": (2000, "@slack/types: Button"),
    "address of a button": (3000, "@slack/types: Button"),
    "alt of a picture": (2000, "@slack/types: ImageBlock"),
    "title of a view": (24, "@slack/types: ModalView"),
    "private_metadata": (3000, "@slack/types: ModalView"),
    "label of an input": (2000, "@slack/types: InputBlock"),
    "typed text": (3000, "docs: plain_text_input"),
    "files of an input": (10, "docs: file_input"),
    "options of a group": (10, "@slack/types: RadioButtons, Checkboxes"),
    "options of a menu": (100, "@slack/types: StaticSelect"),
    "text of an option": (75, "@slack/types: PlainTextOption"),
    "value of an option": (75, "@slack/types: PlainTextOption"),
    "indent of a list": (8, "seen: a deeper one is refused"),
}
_within = partial(beyond, LIMITS)
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;)|[<>]")


def wrong_in_message(body: dict[str, Any]) -> list[str]:
    """Returns everything Slack would reject in a message, and violations of our own rules."""
    blocks, text = body["blocks"], body["text"]
    found = [
        *_within("text of a message", units(text)),
        *_within("blocks of a message", len(blocks)),
        *_within("bytes of a message's blocks", len(json.dumps(blocks, ensure_ascii=False).encode())),
        *_within("charts of a message", sum(block["type"] == "data_visualization" for block in blocks)),
        *_within("tables of a message", sum(block["type"] == "table" for block in blocks)),
    ]
    if not shows(text):
        found.append("no text for those who cannot see the blocks")
    if _ENTITY.search(text):
        found.append(f"an entity that is not escaped: {text!r}")
    if body["unfurl_links"] is not False or body["unfurl_media"] is not False:
        found.append("links are unfurled")
    return found + _wrong_in_blocks(blocks)


def wrong_in_view(view: dict[str, Any]) -> list[str]:
    """Returns everything Slack would reject in a view."""
    found = [
        *_within("title of a view", units(view["title"]["text"]), view["title"]),
        *_within("title of a view", units(view["submit"]["text"]), view["submit"]),
        *_within("private_metadata", units(view["private_metadata"])),
        *_within("blocks of a view", len(view["blocks"])),
    ]
    if any(block["type"] == "table" for block in view["blocks"]):
        found.append("a table in a view")
    return found + _wrong_in_blocks(view["blocks"])


def _wrong_in_blocks(blocks: list[dict[str, Any]]) -> list[str]:
    found = [one for block in blocks for one in _wrong_in_block(block)]
    for part in walk(blocks):
        found += _wrong_in_text(part)
        for key in ("action_id", "block_id"):
            found += _within(key, units(part.get(key, "")))
    ids = [part["action_id"] for part in walk(blocks) if "action_id" in part]
    if len(ids) != len(set(ids)):
        found.append(f"an action_id twice: {ids}")
    return found


def _wrong_in_block(block: dict[str, Any]) -> Iterator[str]:
    match block["type"]:
        case "header":
            yield from _within("header", units(block["text"]["text"]))
        case "context":
            yield from _within("elements of a context", len(block["elements"]))
        case "actions":
            yield from _within("elements of actions", len(block["elements"]))
            for button in block["elements"]:
                yield from _within("text of a button", units(button["text"]["text"]), button)
                yield from _within("value of a button", units(button.get("value", "")), button)
                yield from _within("address of a button", units(button.get("url", "")), button)
        case "context_actions":
            yield from _within("elements of context actions", len(block["elements"]))
            for element in block["elements"]:
                for side in (element["positive_button"], element["negative_button"]):
                    yield from _within("text of a button", units(side["text"]["text"]), side)
                    yield from _within("text of a button", units(side["accessibility_label"]), side)
                    yield from _within("value of a button", units(side["value"]), side)
        case "image":
            yield from _within("alt of a picture", units(block["alt_text"]))
            if not shows(block["alt_text"]):
                yield f"a picture without words: {block}"
        case "data_visualization":
            yield from block_kit.MESSAGE([block], "chart")
        case "table":
            yield from _within("rows of a table", len(block["rows"]))
            yield from _within("columns of a table", max(map(len, block["rows"])))
        case "input":
            yield from _within("label of an input", units(block["label"]["text"]))
            yield from _wrong_in_input(block["element"])


def _wrong_in_input(element: dict[str, Any]) -> Iterator[str]:
    if element["type"] == "plain_text_input":
        yield from _within("typed text", max(element["max_length"], units(element.get("initial_value", ""))))
        return
    if element["type"] == "file_input":
        yield from _within("files of an input", element["max_files"])
        return
    if element["type"] in ("timepicker", "conversations_select", "users_select"):
        return
    group = element["type"] in ("radio_buttons", "checkboxes")
    yield from _within("options of a group" if group else "options of a menu", len(element["options"]))
    for option in element["options"]:
        yield from _within("text of an option", units(option["text"]["text"]), option)
        yield from _within("value of an option", units(option["value"]), option)
    chosen = element.get("initial_options", [element["initial_option"]] if "initial_option" in element else [])
    if not all(option in element["options"] for option in chosen):
        yield f"a picked option that is none: {element}"


def _wrong_in_text(part: dict[str, Any]) -> Iterator[str]:
    kind = part.get("type")
    if kind == "mrkdwn":
        yield f"a text that Slack reads markup in: {part}"
    if kind == "plain_text":
        yield from _within("plain text", units(part["text"]), part)
        if not shows(part["text"]):
            yield f"an empty text: {part}"
    if kind in ("text", "raw_text") and not part["text"]:
        yield f"an empty text: {part}"
    if kind == "rich_text_list":
        yield from _within("indent of a list", part["indent"])
    if str(kind).startswith("rich_text") and not part["elements"]:
        yield f"nothing in it: {part}"
