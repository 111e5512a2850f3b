"""The double's Block Kit tables accept what Slack documents and reject the rest, without Slack's types."""

from __future__ import annotations

from typing import Any

import pytest

from tests.doubles.mutations import mutations_of
from tests.doubles.shapes import Check, typed
from tests.doubles.slack import block_kit, types_schema
from tests.doubles.slack.rules import wrong_in_blocks, wrong_in_message, wrong_in_view
from tests.doubles.slack.samples import (
    BUTTON,
    CARD,
    CELLS,
    ELEMENTS,
    HEADER,
    HOME,
    INPUTS,
    MESSAGE,
    MODAL,
    NEWER,
    OPTION,
    POINTS,
    RICH,
    SHORT,
    SPANS,
    TYPED,
    mrkdwn,
    plain,
)
from tests.external import needs_schemas

Body = dict[str, Any]


def actions(*elements: Body) -> list[Body]:
    return [{"type": "actions", "elements": list(elements)}]


def table(rows: int, columns: int) -> Body:
    return {"type": "table", "rows": [[CELLS[0]] * columns] * rows}


def chart(**changed: Any) -> list[Body]:
    return [{**NEWER[1], "chart": {**NEWER[1]["chart"], **changed}}]


REFUSED: dict[str, list[Body]] = {
    "an unknown block": [{"type": "fireworks"}],
    "an unknown element": actions({"type": "dial", "action_id": "a"}),
    "a block without a type": [{"text": plain()}],
    "an unknown field": [{**HEADER, "color": "red"}],
    "an image among actions": actions({"type": "image", "image_url": "https://example.org", "alt_text": "x"}),
    "an input among actions": actions({"type": "plain_text_input", **TYPED}),
    "mrkdwn in a header": [{"type": "header", "text": mrkdwn()}],
    "mrkdwn on a button": actions({**BUTTON, "text": mrkdwn()}),
    "a header of 151 characters": [{"type": "header", "text": plain("x" * 151)}],
    "a section of 3,001 characters": [{"type": "section", "text": mrkdwn("x" * 3001)}],
    "an empty section": [{"type": "section"}],
    "an empty text": [{"type": "section", "text": mrkdwn("")}],
    "11 fields": [{"type": "section", "fields": [mrkdwn()] * 11}],
    "a field of 2,001 characters": [{"type": "section", "fields": [mrkdwn("x" * 2001)]}],
    "no actions": actions(),
    "26 actions": actions(*({**BUTTON, "action_id": str(place)} for place in range(26))),
    "an action twice": actions(BUTTON, BUTTON),
    "a block id twice": [HEADER, HEADER],
    "a label of 76 characters": actions({**BUTTON, "text": plain("x" * 76)}),
    "a spoken label of 76 characters": actions({**BUTTON, "accessibility_label": "x" * 76}),
    "a value of 2,001 characters": actions({**BUTTON, "value": "x" * 2001}),
    "an address of 3,001 characters": actions({**BUTTON, "url": "x" * 3001}),
    "an action id of 256 characters": actions({**BUTTON, "action_id": "x" * 256}),
    "a block id of 256 characters": [{"type": "divider", "block_id": "x" * 256}],
    "a green button": actions({**BUTTON, "style": "green"}),
    "11 in a context": [{"type": "context", "elements": [mrkdwn()] * 11}],
    "a button in a context": [{"type": "context", "elements": [BUTTON]}],
    "an image without alt text": [{"type": "image", "image_url": "https://example.org"}],
    "an empty alt text": [{"type": "image", "image_url": "https://example.org", "alt_text": ""}],
    "an alt text of 2,001 characters": [{"type": "image", "image_url": "https://example.org", "alt_text": "x" * 2001}],
    "an image from nowhere": [{"type": "image", "alt_text": "x"}],
    "101 options": actions({"type": "static_select", "options": [OPTION] * 101}),
    "11 radio buttons": actions({"type": "radio_buttons", "options": [OPTION] * 11}),
    "6 in an overflow": actions({"type": "overflow", "options": [OPTION] * 6}),
    "an option of 76 characters": actions({"type": "overflow", "options": [{"text": plain("x" * 76)}]}),
    "an option nobody offers": actions(
        {"type": "static_select", "options": [OPTION], "initial_option": {"text": plain("Other")}}
    ),
    "no options": actions({"type": "static_select"}),
    "an alert in a message": [{"type": "alert", "text": plain()}],
    "two tables": [table(1, 1), table(1, 1)],
    "101 rows": [table(101, 1)],
    "21 columns": [table(1, 21)],
    "an empty cell": [{"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}],
    "a mention in a program": [
        {
            "type": "rich_text",
            "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U1"}]}],
        }
    ],
    "a section in rich text": [{"type": "rich_text", "elements": [{"type": "section", "text": mrkdwn()}]}],
    "a language by another name": [
        {"type": "rich_text", "elements": [{"type": "rich_text_preformatted", "elements": [], "lang": "python"}]}
    ],
    "markdown of 12,001 characters": [
        {"type": "markdown", "text": "x" * 6001},
        {"type": "markdown", "text": "x" * 6000},
    ],
    "11 cards": [{"type": "carousel", "elements": [CARD] * 11}],
    "a card of nothing": [{"type": "card"}],
    "11 blocks in a container": [{"type": "container", "title": plain(), "child_blocks": [{"type": "divider"}] * 11}],
    "51 blocks": [{"type": "divider"}] * 51,
    "three charts": [NEWER[0]] * 3,
    "a title of 51 characters": [{**NEWER[0], "title": "x" * 51}],
    "seven slices": [{**NEWER[0], "chart": {"type": "pie", "segments": [POINTS[0]] * 7}}],
    "a slice of nothing": [{**NEWER[0], "chart": {"type": "pie", "segments": [{"label": "x", "value": 0}]}}],
    "a point without a category": chart(axis_config={"categories": ["Mon"]}),
    "a chart of no kind": chart(type="radar"),
    "a series twice": chart(series=[{"name": "Points", "data": POINTS}] * 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_message_is_refused(name: str) -> None:
    assert wrong_in_blocks(REFUSED[name])
    assert wrong_in_message({"text": "x", "blocks": REFUSED[name]}, second=False)[0] in (
        "invalid_blocks",
        "msg_blocks_too_long",
    )


def _field(**changed: Any) -> Body:
    return {**MODAL, "blocks": [{"type": "input", "label": plain(), "element": {**TYPED, **changed}}]}


REFUSED_VIEWS: dict[str, Any] = {
    "no object": [],
    "no type": {},
    "an unknown type": {**HOME, "type": "window"},
    "a title of 25 characters": {**MODAL, "title": plain("x" * 25)},
    "no title": {name: part for name, part in MODAL.items() if name != "title"},
    "a button of 25 characters": {**MODAL, "submit": plain("x" * 25)},
    "an input without submit": {name: part for name, part in MODAL.items() if name != "submit"},
    "101 blocks": {**MODAL, "blocks": [{"type": "divider"}] * 101},
    "metadata of 3,001 characters": {**MODAL, "private_metadata": "x" * 3001},
    "a callback id of 256 characters": {**MODAL, "callback_id": "x" * 256},
    "a table": {**MODAL, "blocks": [table(1, 1)]},
    "markdown": {**HOME, "blocks": [{"type": "markdown", "text": "x"}]},
    "an alert at home": {**HOME, "blocks": [{"type": "alert", "text": plain()}]},
    "an unknown block": {**MODAL, "blocks": [{"type": "fireworks"}]},
    "a block id twice": {**HOME, "blocks": [HEADER, HEADER]},
    "a field of 3,001 characters": _field(type="plain_text_input", max_length=3001),
    "a field of less than nothing": _field(type="plain_text_input", min_length=9, max_length=8),
    "a hint of 151 characters": _field(type="plain_text_input", placeholder=plain("x" * 151)),
    "a button as a field": {**MODAL, "blocks": [{"type": "input", "label": plain(), "element": BUTTON}]},
    "a label in mrkdwn": {**MODAL, "blocks": [{**MODAL["blocks"][1], "label": mrkdwn()}]},
    "11 files": _field(type="file_input", max_files=11),
}


@pytest.mark.parametrize("name", REFUSED_VIEWS)
def test_a_view_is_refused(name: str) -> None:
    assert wrong_in_view(REFUSED_VIEWS[name])[0] == "invalid_arguments"


def test_what_is_documented_is_taken() -> None:
    for block in (*MESSAGE, *NEWER):
        assert wrong_in_message({"text": "x", "blocks": [block]}) == ("", [])
    assert wrong_in_view(MODAL) == wrong_in_view(HOME) == ("", [])
    assert {block["type"] for block in (*MESSAGE, *NEWER)} == set(block_kit.IN_MESSAGE) - {"input"}
    samples = repr((MESSAGE, MODAL))
    assert [name for name in block_kit.ELEMENTS if f"'{name}'" not in samples] == []


def _checked(sample: Body) -> Check:
    """Returns the table's row for a block, an element or a view."""
    kind = sample["type"]
    for table in (block_kit.VIEWS, block_kit.BLOCKS, block_kit.ELEMENTS, block_kit.SPANS, block_kit.RICH):
        if kind in table:
            return typed(table, kind)
    raise AssertionError(kind)


@pytest.mark.slow
@needs_schemas
def test_what_slacks_own_types_refuse_the_tables_refuse() -> None:
    """Mutates an object of every type: the tables reject everything that Slack's types reject."""
    missed = []
    for sample in (*MESSAGE[-22:], *ELEMENTS, *INPUTS, *SPANS, *RICH["elements"], SHORT, HOME):
        check, validator = _checked(sample), types_schema.validator(types_schema.named(sample["type"]))
        assert validator.is_valid(sample)
        for what, body in mutations_of(sample):
            if not list(check(body, "")) and not validator.is_valid(body):
                missed.append(f"{sample['type']}: {what}")
    assert missed == []
