"""Discord's documented limits, and a check of bodies against them. Needs no schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.bot.rendering import beyond, shows, units

LIMITS = {
    # what: (most, where Discord says so)
    "text of a message": (4000, "docs: components/reference, Components V2: sum of text displays"),
    "components of a message": (40, "docs: components/reference, nested ones counted"),
    "buttons of a row": (5, "OpenAPI: ActionRowComponentForMessageRequest"),
    "pictures of a gallery": (10, "OpenAPI: MediaGalleryComponentForMessageRequest"),
    "attachments": (10, "docs: resources/message, files of a request"),
    "description of a picture": (1024, "OpenAPI: MediaGalleryItemRequest"),
    "address of a button": (512, "OpenAPI: ButtonComponentForMessageRequest"),
    "label of a button": (80, "OpenAPI: ButtonComponentForMessageRequest"),
    "custom_id": (100, "OpenAPI: every component"),
    "title of a modal": (45, "OpenAPI: ModalInteractionCallbackRequestData"),
    "components of a modal": (5, "docs: interactions/receiving-and-responding; the OpenAPI says 40"),
    "label": (45, "OpenAPI: LabelComponentForModalRequest"),
    "description of a label": (100, "OpenAPI: LabelComponentForModalRequest"),
    "typed text": (4000, "OpenAPI: TextInputComponentForModalRequest"),
    "options of a group": (10, "OpenAPI: RadioGroup- and CheckboxGroupComponentForModalRequest"),
    "options of a menu": (25, "OpenAPI: StringSelectComponentForModalRequest"),
    "label of an option": (100, "OpenAPI: RadioGroupOptionForRequest"),
    "value of an option": (100, "OpenAPI: RadioGroupOptionForRequest"),
}

_within = partial(beyond, LIMITS)

_CODE = re.compile(r"```.*?```|(?<!\\)(`+)(?!`).*?[^`]\1(?!`)", re.DOTALL)
_MENTION = re.compile(r"@everyone|@here|(?<!\\)<(?:@|#|/|:|a:|t:(?!\d{1,11}:[tTFR]>)|id:)|<[@#][!&]?\d")


def walk(component: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield component
    inner = [*component.get("components", ()), *([component["component"]] if "component" in component else ())]
    for child in inner:
        yield from walk(child)


def parts_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for component in body["components"] for part in walk(component)]


def texts_of(body: dict[str, Any]) -> list[str]:
    return [part["content"] for part in parts_of(body) if part["type"] == 10]


_AWARDED = "<@&80351110224678912>"
"""The role that the award of a sample names; it notifies nobody."""


def raw_mentions(text: str) -> list[str]:
    """Returns what Discord would treat as a mention; code contains none."""
    return _MENTION.findall(_CODE.sub("", text))


def wrong_in_message(body: dict[str, Any]) -> list[str]:
    """Returns everything Discord would reject in a message, and violations of our own rules."""
    parts, texts = parts_of(body), texts_of(body)
    found = [*_within("text of a message", sum(map(units, texts))), *_within("components of a message", len(parts))]
    if body["allowed_mentions"] != {"parse": []}:
        found.append("mentions are allowed")
    if not body["flags"] & 1 << 15 or {"content", "embeds"} & set(body):
        found.append("not a message of components V2")
    ids = [part["custom_id"] for part in parts if "custom_id" in part]
    if len(ids) != len(set(ids)):
        found.append(f"a custom_id twice: {ids}")
    for text in texts:
        found += _wrong_in_text(text)
    attached = {one["filename"] for one in body.get("attachments", ())}
    found += _within("attachments", len(body.get("attachments", ())))
    for part in parts:
        if part["type"] == 1:
            found += _within("buttons of a row", len(part["components"]))
        if part["type"] == 2:
            found += _wrong_in_button(part)
        if part["type"] == 12:
            found += _wrong_in_gallery(part, attached)
    return found


def _wrong_in_text(text: str) -> list[str]:
    found = [] if shows(text) else [f"an empty text: {text!r}"]
    if text.count("```") % 2 or any("```" in line.lstrip("`") for line in text.split("\n")):
        found.append(f"an open fence: {text!r}")
    if text != _AWARDED:
        found += [f"a raw mention: {mention!r} in {text!r}" for mention in raw_mentions(text)]
    return found


def _wrong_in_gallery(part: dict[str, Any], attached: set[str]) -> list[str]:
    found = [*_within("pictures of a gallery", len(part["items"]))]
    for item in part["items"]:
        found += _within("description of a picture", units(item["description"]))
        if not shows(item["description"]):
            found.append(f"a picture without words: {item}")
        if item["media"]["url"].removeprefix("attachment://") not in attached:
            found.append(f"a picture that is not attached: {item}")
    return found


def _wrong_in_button(part: dict[str, Any]) -> list[str]:
    found = [
        *_within("label of a button", units(part["label"]), part),
        *_within("custom_id", len(part.get("custom_id", ""))),
        *_within("address of a button", len(part.get("url", ""))),
    ]
    if ("url" in part) == ("custom_id" in part):
        found.append(f"a button that neither opens nor does a thing, or both: {part}")
    return found if shows(part["label"]) else [*found, f"a button without a label: {part}"]


def wrong_in_modal(modal: dict[str, Any]) -> list[str]:
    """Returns everything Discord would reject in a modal."""
    found = [
        *_within("title of a modal", units(modal["title"]), modal["title"]),
        *_within("custom_id", len(modal["custom_id"])),
        *_within("components of a modal", len(modal["components"])),
        *_within("text of a message", sum(map(units, texts_of(modal)))),
    ]
    for text in texts_of(modal):
        found += _wrong_in_text(text)
    for part in parts_of(modal):
        if part["type"] == 18:
            found += _within("label", units(part["label"]), part)
            found += _within("description of a label", units(part.get("description", "")), part)
        if part["type"] == 4:
            found += _within("typed text", max(units(part.get("value", "")), part["max_length"]))
        if part["type"] in (3, 21, 22):
            found += _wrong_in_options(part)
    return found


def _wrong_in_options(part: dict[str, Any]) -> list[str]:
    options = part["options"]
    found = [*_within("options of a menu" if part["type"] == 3 else "options of a group", len(options))]
    if part["type"] == 21 and len(options) < 2:
        found.append("a group of fewer than two radio buttons")
    if len({option["value"] for option in options}) != len(options):
        found.append(f"a value twice: {options}")
    for option in options:
        found += _within("label of an option", units(option["label"]), option)
        found += _within("value of an option", units(option["value"]), option)
        if not shows(option["label"]):
            found.append(f"an option without a label: {option}")
    return found
