"""Slack's Block Kit as tables: every block, element and object, its fields and their limits.

Written from Slack's reference (docs.slack.dev/reference/block-kit). Where its pages and its libraries differ, the
smaller limit holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.doubles.shapes import (
    Check,
    Fields,
    Rule,
    array,
    either,
    exactly_one,
    flag,
    number,
    one_of,
    ordered,
    shape,
    string,
    typed,
)

ID = string(255)
URL = string(3000, 1)
WORD = string(least=1)
DATE, CLOCK = r"\d{4}-\d\d-\d\d", r"([01]\d|2[0-3]):[0-5]\d"


# Composition objects


def texts(most: int = 3000) -> dict[str, Check]:
    """Returns the checks of the two text objects, of 1 to `most` characters."""
    words = string(most, 1)
    return {
        "plain_text": shape({"text": words}, {"emoji": flag}),
        "mrkdwn": shape({"text": words}, {"verbatim": flag}),
    }


def text(most: int = 3000, *kinds: str) -> Check:
    return typed(texts(most), *kinds)


def plain(most: int = 3000) -> Check:
    return text(most, "plain_text")


def option(*kinds: str) -> Check:
    return shape({"text": text(75, *kinds)}, {"value": string(75), "description": plain(75), "url": URL})


PLAIN_OPTION, ANY_OPTION = option("plain_text"), option()
OPTION_GROUP = shape({"label": plain(75), "options": array(PLAIN_OPTION, 1, 100)})
CONFIRM = shape(
    {"text": text(300)},
    {"title": plain(100), "confirm": plain(30), "deny": plain(30), "style": one_of("primary", "danger")},
)
DISPATCH = shape({}, {"trigger_actions_on": array(one_of("on_enter_pressed", "on_character_entered"), 1, 2)})
FILTER = shape(
    {},
    {
        "include": array(one_of("im", "mpim", "private", "public"), 1, 4),
        "exclude_external_shared_channels": flag,
        "exclude_bot_users": flag,
    },
)
SLACK_FILE = shape({}, {"id": WORD, "url": WORD}, exactly_one("id", "url"))
IMAGE: Fields = {"image_url": URL, "slack_file": SLACK_FILE}
ONE_IMAGE = exactly_one("image_url", "slack_file")


# Elements


def element(required: Fields | None = None, optional: Fields | None = None, *rules: Rule) -> Check:
    return shape(required, {"action_id": ID, **(optional or {})}, *rules)


def _initial(value: dict[str, Any], path: str) -> Iterator[str]:
    """Checks that the initial selection is one of the options."""
    offered = [
        *value.get("options", ()),
        *(one for group in value.get("option_groups", ()) for one in group["options"]),
    ]
    chosen = [value["initial_option"]] if "initial_option" in value else value.get("initial_options", ())
    for one in chosen:
        if one not in offered:
            yield f"{path}: an initial option that is not offered"


FOCUS: Fields = {"focus_on_load": flag}
ASKS: Fields = {"confirm": CONFIRM}
HINT: Fields = {"placeholder": plain(150)}
MANY: Fields = {"max_selected_items": number(1)}
MENU: Fields = {**FOCUS, **ASKS, **HINT}
TYPED: Fields = {**FOCUS, **HINT, "dispatch_action_config": DISPATCH}
OFFERED: Fields = {"options": array(PLAIN_OPTION, 1, 100), "option_groups": array(OPTION_GROUP, 1, 100)}
ONE_OFFER = exactly_one("options", "option_groups")
HERE: Fields = {"default_to_current_conversation": flag, "filter": FILTER}
REPLIES: Fields = {"response_url_enabled": flag}
STYLED: Fields = {"style": one_of("primary", "danger"), "accessibility_label": string(75), **ASKS}
FEEDBACK = shape({"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)})
TRIGGER = shape({"url": URL}, {"customizable_input_parameters": array(shape({"name": WORD, "value": string()}))})

ELEMENTS: dict[str, Check] = {
    "button": element({"text": plain(75)}, {**STYLED, "url": URL, "value": string(2000)}),
    "channels_select": element({}, {**MENU, **REPLIES, "initial_channel": WORD}),
    "checkboxes": element(
        {"options": array(ANY_OPTION, 1, 10)}, {**FOCUS, **ASKS, "initial_options": array(ANY_OPTION, 1, 10)}, _initial
    ),
    "conversations_select": element({}, {**MENU, **REPLIES, **HERE, "initial_conversation": WORD}),
    "datepicker": element({}, {**MENU, "initial_date": string(like=DATE)}),
    "datetimepicker": element({}, {**FOCUS, **ASKS, "initial_date_time": number(10**9, 10**10 - 1)}),
    "email_text_input": element({}, {**TYPED, "initial_value": string()}),
    "external_select": element({}, {**MENU, "initial_option": PLAIN_OPTION, "min_query_length": number(0)}),
    "feedback_buttons": element({"positive_button": FEEDBACK, "negative_button": FEEDBACK}),
    "file_input": element({}, {"filetypes": array(WORD), "max_files": number(1, 10)}),
    "icon_button": element(
        {"icon": one_of("trash"), "text": plain(75)},
        {**ASKS, "value": string(2000), "visible_to_user_ids": array(WORD), "accessibility_label": string(75)},
    ),
    "image": shape({"alt_text": string(2000, 1)}, IMAGE, ONE_IMAGE),
    "multi_channels_select": element({}, {**MENU, **MANY, "initial_channels": array(WORD)}),
    "multi_conversations_select": element({}, {**MENU, **MANY, **HERE, "initial_conversations": array(WORD)}),
    "multi_external_select": element(
        {}, {**MENU, **MANY, "initial_options": array(PLAIN_OPTION, 1, 100), "min_query_length": number(0)}
    ),
    "multi_static_select": element(
        {}, {**MENU, **MANY, **OFFERED, "initial_options": array(PLAIN_OPTION, 1, 100)}, ONE_OFFER, _initial
    ),
    "multi_users_select": element({}, {**MENU, **MANY, "initial_users": array(WORD)}),
    "number_input": element(
        {"is_decimal_allowed": flag},
        {**TYPED, "initial_value": string(), "min_value": string(), "max_value": string()},
    ),
    "overflow": element({"options": array(PLAIN_OPTION, 1, 5)}, ASKS),
    "plain_text_input": element(
        {},
        {
            **TYPED,
            "initial_value": string(3000),
            "multiline": flag,
            "min_length": number(0, 3000),
            "max_length": number(1, 3000),
        },
        ordered("min_length", "max_length"),
    ),
    "radio_buttons": element(
        {"options": array(ANY_OPTION, 1, 10)}, {**FOCUS, **ASKS, "initial_option": ANY_OPTION}, _initial
    ),
    "static_select": element({}, {**MENU, **OFFERED, "initial_option": PLAIN_OPTION}, ONE_OFFER, _initial),
    "timepicker": element({}, {**MENU, "initial_time": string(like=CLOCK), "timezone": WORD}),
    "url_text_input": element({}, {**TYPED, "initial_value": string()}),
    "users_select": element({}, {**MENU, "initial_user": WORD}),
    "workflow_button": element({"text": plain(75), "workflow": shape({"trigger": TRIGGER})}, STYLED),
}

_SELECTS = tuple(name for name in ELEMENTS if name.endswith("_select"))
_PICKERS = ("datepicker", "timepicker", "checkboxes", "radio_buttons", *_SELECTS)
IN_ACTIONS = ("button", "datetimepicker", "overflow", "workflow_button", "rich_text_input", *_PICKERS)
IN_SECTION = ("button", "image", "overflow", "workflow_button", *_PICKERS)
IN_INPUT = (
    *("datetimepicker", "email_text_input", "file_input", "number_input", "plain_text_input"),
    *("rich_text_input", "url_text_input", *_PICKERS),
)


# Rich text

STYLE: Fields = {
    "style": shape({}, dict.fromkeys(("bold", "code", "italic", "strike", "underline"), flag)),
}
SPANS: dict[str, Check] = {
    "broadcast": shape({"range": one_of("here", "channel", "everyone")}, STYLE),
    "channel": shape({"channel_id": WORD}, STYLE),
    "color": shape({"value": WORD}, STYLE),
    "date": shape({"timestamp": number(0), "format": WORD}, {**STYLE, "url": URL, "fallback": WORD}),
    "emoji": shape({"name": WORD}, {**STYLE, "unicode": WORD, "url": URL}),
    "link": shape({"url": URL}, {**STYLE, "text": string(), "unsafe": flag}),
    "team": shape({"team_id": WORD}, STYLE),
    "text": shape({"text": WORD}, STYLE),
    "user": shape({"user_id": WORD}, STYLE),
    "usergroup": shape({"usergroup_id": WORD}, STYLE),
}
RICH: dict[str, Check] = {
    "rich_text_section": shape({"elements": array(typed(SPANS))}),
    "rich_text_quote": shape({"elements": array(typed(SPANS))}, {"border": one_of(0, 1)}),
    # The language is documented on the element's page.
    "rich_text_preformatted": shape(
        {"elements": array(typed(SPANS, "text", "link"))}, {"border": one_of(0, 1), "language": WORD}
    ),
}
RICH["rich_text_list"] = shape(
    {"style": one_of("bullet", "ordered"), "elements": array(typed(RICH, "rich_text_section"))},
    {"border": one_of(0, 1), "indent": number(0, 8), "offset": number(0)},
)


# Blocks


def block(required: Fields | None = None, optional: Fields | None = None, *rules: Rule) -> Check:
    return shape(required, {"block_id": ID, **(optional or {})}, *rules)


RICH_TEXT = block({"elements": array(typed(RICH))})
RICH_OBJECT = typed({"rich_text": RICH_TEXT})
ELEMENTS["rich_text_input"] = element(
    {},
    {**TYPED, "initial_value": RICH_OBJECT, "min_lines": number(1, 100), "max_lines": number(1, 100)},
    ordered("min_lines", "max_lines"),
)
CELLS: dict[str, Check] = {
    "raw_text": shape({"text": WORD}),
    "raw_number": shape({"text": WORD, "value": number(whole=False)}),
    "rich_text": RICH_TEXT,
}
ICON = typed(ELEMENTS, "image")
COLUMN = shape({}, {"align": one_of("left", "center", "right"), "is_wrapped": flag})
TASK = block(
    {"task_id": WORD, "title": WORD, "status": one_of("pending", "in_progress", "complete", "error")},
    {
        "details": RICH_OBJECT,
        "output": RICH_OBJECT,
        "sources": array(typed({"url": shape({"url": URL, "text": WORD})})),
    },
)
CARD = block(
    {},
    {
        "title": text(150, "mrkdwn"),
        "subtitle": text(150, "mrkdwn"),
        "body": text(200, "mrkdwn"),
        "hero_image": ICON,
        "icon": ICON,
        "actions": array(typed(ELEMENTS, "button"), 1),
    },
    either("hero_image", "title", "actions", "body"),
)


def _collapsible(value: dict[str, Any], path: str) -> Iterator[str]:
    if value.get("default_collapsed") and not value.get("is_collapsible"):
        yield f"{path}: collapsed, but not collapsible"
    if value.get("is_collapsible") and value.get("has_header_divider"):
        yield f"{path}: a collapsible container has no header divider"


# Charts

LABEL = string(20, 1)
POINT = shape({"label": LABEL, "value": number(whole=False)})
SERIES = array(shape({"name": LABEL, "data": array(POINT, 1, 20)}), 1, 6)
AXES = shape({"categories": array(LABEL, 1, 20)}, {"x_label": string(50), "y_label": string(50)})


def _series(value: dict[str, Any], path: str) -> Iterator[str]:
    names = [one["name"] for one in value["series"]]
    if len(names) != len(set(names)):
        yield f"{path}: a series name twice: {names}"
    for one in value["series"]:
        if sorted(point["label"] for point in one["data"]) != sorted(value["axis_config"]["categories"]):
            yield f"{path}: the points of {one['name']!r} are not those of the categories"


def _slices(value: dict[str, Any], path: str) -> Iterator[str]:
    if any(one["value"] <= 0 for one in value["segments"]):
        yield f"{path}: a slice that is not larger than 0"


PLOT = shape({"series": SERIES, "axis_config": AXES}, {}, _series)
CHARTS: dict[str, Check] = {
    "pie": shape({"segments": array(POINT, 1, 6)}, {}, _slices),
    **dict.fromkeys(("bar", "area", "line"), PLOT),
}

BLOCKS: dict[str, Check] = {
    "actions": block({"elements": array(typed(ELEMENTS, *IN_ACTIONS), 1, 25)}),
    "alert": block({"text": text()}, {"level": one_of("default", "info", "warning", "error", "success")}),
    "card": CARD,
    "carousel": block({"elements": array(typed({"card": CARD}), 1, 10)}),
    "context": block({"elements": array(typed({**texts(), "image": ELEMENTS["image"]}), 1, 10)}),
    "context_actions": block({"elements": array(typed(ELEMENTS, "feedback_buttons", "icon_button"), 1, 5)}),
    "data_table": block(
        {"caption": WORD, "rows": array(array(typed(CELLS), 1, 20), 1)},
        {"page_size": number(1, 100), "row_header_column_index": number(0)},
    ),
    "data_visualization": block({"title": string(50, 1), "chart": typed(CHARTS)}),
    "divider": block(),
    "file": block({"external_id": WORD, "source": one_of("remote")}),
    "header": block({"text": plain(150)}),
    "image": block({"alt_text": string(2000, 1)}, {**IMAGE, "title": plain(2000)}, ONE_IMAGE),
    "input": block(
        {"label": plain(2000), "element": typed(ELEMENTS, *IN_INPUT)},
        {"hint": plain(2000), "optional": flag, "dispatch_action": flag},
    ),
    "markdown": block({"text": string(12_000, 1)}),
    "plan": block({"title": WORD}, {"tasks": array(typed({"task_card": TASK}))}),
    "rich_text": RICH_TEXT,
    "section": block(
        {},
        {
            "text": text(3000),
            "fields": array(text(2000), 1, 10),
            "accessory": typed(ELEMENTS, *IN_SECTION),
            "expand": flag,
        },
        either("text", "fields"),
    ),
    "table": block({"rows": array(array(typed(CELLS), 1, 20), 1, 100)}, {"column_settings": array(COLUMN, 0, 20)}),
    "task_card": TASK,
    "video": block(
        {"alt_text": WORD, "title": plain(200), "thumbnail_url": URL, "video_url": URL},
        {
            "author_name": string(50),
            "description": plain(200),
            "provider_icon_url": URL,
            "provider_name": WORD,
            "title_url": URL,
        },
    ),
}

IN_CONTAINER = (
    *("actions", "context", "divider", "file", "header", "image", "input", "rich_text", "section", "table", "video"),
)
BLOCKS["container"] = block(
    {"child_blocks": array(typed(BLOCKS, *IN_CONTAINER), 1, 10)},
    {
        "title": plain(150),
        "rich_text_title": RICH_OBJECT,
        "subtitle": text(150),
        "icon": ICON,
        "width": one_of("narrow", "standard", "wide", "full"),
        "is_collapsible": flag,
        "default_collapsed": flag,
        "has_header_divider": flag,
    },
    either("title", "rich_text_title"),
    _collapsible,
)

IN_MESSAGE = tuple(name for name in BLOCKS if name != "alert")
IN_HOME = (*("actions", "context", "divider", "header", "image", "input", "rich_text", "section", "video"),)
IN_MODAL = (*IN_HOME, "alert")

MESSAGE = array(typed(BLOCKS, *IN_MESSAGE), 0, 50)
_VIEW: Fields = {"private_metadata": string(3000), "callback_id": string(255), "external_id": string(255)}


def _asks(view: dict[str, Any], path: str) -> Iterator[str]:
    if "submit" not in view and any(one["type"] == "input" for one in view["blocks"]):
        yield "an input without submit"


VIEWS: dict[str, Check] = {
    "modal": shape(
        {"title": plain(24), "blocks": array(typed(BLOCKS, *IN_MODAL), 0, 100)},
        {
            **_VIEW,
            "submit": plain(24),
            "close": plain(24),
            "clear_on_close": flag,
            "notify_on_close": flag,
            "submit_disabled": flag,
        },
        _asks,
    ),
    "home": shape({"blocks": array(typed(BLOCKS, *IN_HOME), 0, 100)}, _VIEW),
}
