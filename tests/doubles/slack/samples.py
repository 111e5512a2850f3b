"""A valid block of every type with all fields, and views with them."""

from __future__ import annotations

from typing import Any

Block = dict[str, Any]


def plain(words: str = "Words") -> Block:
    return {"type": "plain_text", "text": words, "emoji": True}


def mrkdwn(words: str = "*Words*") -> Block:
    return {"type": "mrkdwn", "text": words, "verbatim": False}


CONFIRM = {"title": plain(), "text": mrkdwn(), "confirm": plain(), "deny": plain(), "style": "danger"}
OPTION = {"text": plain("One"), "value": "1", "description": plain("The first")}
OPTIONS = [OPTION, {"text": plain("Two"), "value": "2"}]
GROUP = {"label": plain(), "options": OPTIONS}
IMAGE = {"type": "image", "image_url": "https://pictures.example/1.png", "alt_text": "A picture"}
WORKFLOW = {
    "trigger": {"url": "https://slack.example/1", "customizable_input_parameters": [{"name": "a", "value": "b"}]}
}
MENU: Block = {"action_id": "a", "placeholder": plain(), "confirm": CONFIRM, "focus_on_load": False}
TYPED: Block = {
    "action_id": "a",
    "placeholder": plain(),
    "focus_on_load": True,
    "dispatch_action_config": {"trigger_actions_on": ["on_enter_pressed"]},
}
HERE: Block = {"default_to_current_conversation": True, "filter": {"include": ["public"], "exclude_bot_users": True}}
FEEDBACK = {"text": plain("Good"), "value": "good", "accessibility_label": "Good answer"}
SPANS: list[Block] = [
    {"type": "text", "text": "words", "style": {"bold": True, "code": False}},
    {"type": "link", "url": "https://example.org", "text": "there", "unsafe": False},
    {"type": "emoji", "name": "wave", "unicode": "1f44b"},
    {"type": "user", "user_id": "U1", "style": {"italic": True}},
    {"type": "usergroup", "usergroup_id": "S1"},
    {"type": "team", "team_id": "T1"},
    {"type": "channel", "channel_id": "C1"},
    {"type": "broadcast", "range": "here"},
    {"type": "color", "value": "#ff0000"},
    {"type": "date", "timestamp": 1_720_710_212, "format": "{date_num}", "fallback": "today"},
]
SECTION: Block = {"type": "rich_text_section", "elements": SPANS}
RICH: Block = {
    "type": "rich_text",
    "block_id": "rich",
    "elements": [
        SECTION,
        {"type": "rich_text_list", "style": "ordered", "indent": 1, "border": 0, "elements": [SECTION]},
        {"type": "rich_text_quote", "border": 1, "elements": SPANS[:2]},
        {"type": "rich_text_preformatted", "border": 0, "language": "python", "elements": SPANS[:2]},
    ],
}
BUTTON: Block = {
    "type": "button",
    "text": plain("Answer"),
    "action_id": "a",
    "value": "1",
    "url": "https://example.org",
    "style": "primary",
    "confirm": CONFIRM,
    "accessibility_label": "Answer the question",
}
ELEMENTS: tuple[Block, ...] = (
    BUTTON,
    {
        "type": "checkboxes",
        "action_id": "a",
        "options": OPTIONS,
        "initial_options": [OPTION],
        "confirm": CONFIRM,
    },
    {
        "type": "radio_buttons",
        "action_id": "a",
        "options": OPTIONS,
        "initial_option": OPTION,
        "confirm": CONFIRM,
    },
    {"type": "overflow", "action_id": "a", "options": OPTIONS, "confirm": CONFIRM},
    {"type": "datepicker", "initial_date": "2026-11-22", **MENU},
    {"type": "timepicker", "initial_time": "09:30", "timezone": "Europe/Berlin", **MENU},
    {"type": "datetimepicker", "action_id": "a", "initial_date_time": 1_628_633_820, "confirm": CONFIRM},
    {"type": "static_select", "options": OPTIONS, "initial_option": OPTION, **MENU},
    {
        "type": "multi_static_select",
        "option_groups": [{"label": plain(), "options": [OPTION]}],
        "max_selected_items": 2,
    },
    {"type": "external_select", "min_query_length": 3, "initial_option": OPTION, **MENU},
    {"type": "multi_external_select", "initial_options": [OPTION], "max_selected_items": 2, **MENU},
    {"type": "users_select", "initial_user": "U1", **MENU},
    {"type": "multi_users_select", "initial_users": ["U1"], "max_selected_items": 2, **MENU},
    {"type": "conversations_select", "initial_conversation": "C1", "response_url_enabled": True, **HERE, **MENU},
    {"type": "multi_conversations_select", "initial_conversations": ["C1"], **HERE, **MENU},
    {"type": "channels_select", "initial_channel": "C1", "response_url_enabled": True, **MENU},
    {"type": "multi_channels_select", "initial_channels": ["C1"], "max_selected_items": 2, **MENU},
    {"type": "workflow_button", "text": plain(), "workflow": WORKFLOW, "action_id": "a", "style": "danger"},
)
INPUTS: tuple[Block, ...] = (
    {"type": "plain_text_input", "multiline": True, "min_length": 1, "max_length": 20, "initial_value": "x", **TYPED},
    {"type": "number_input", "is_decimal_allowed": False, "min_value": "1", "max_value": "9", **TYPED},
    {"type": "email_text_input", "initial_value": "a@example.org", **TYPED},
    {"type": "url_text_input", "initial_value": "https://example.org", **TYPED},
    {"type": "rich_text_input", "initial_value": {**RICH, "elements": [SECTION]}, **TYPED},
    {"type": "file_input", "action_id": "a", "filetypes": ["py"], "max_files": 1},
    {"type": "static_select", "options": [OPTION], "action_id": "a"},
)
CARD: Block = {
    "type": "card",
    "title": mrkdwn(),
    "subtitle": mrkdwn(),
    "body": mrkdwn(),
    "hero_image": IMAGE,
    "icon": IMAGE,
    "actions": [BUTTON],
}
TASK: Block = {
    "type": "task_card",
    "task_id": "1",
    "title": "Judge",
    "status": "complete",
    "details": {"type": "rich_text", "elements": [SECTION]},
    "sources": [{"type": "url", "url": "https://example.org", "text": "A page"}],
}
CELLS = [
    {"type": "raw_text", "text": "a"},
    {"type": "raw_number", "value": 1, "text": "1"},
    {**RICH, "elements": [SECTION]},
]
POINTS = [{"label": "Mon", "value": 3}, {"label": "Tue", "value": 4.5}]
HEADER: Block = {"type": "header", "block_id": "header", "text": plain()}

MESSAGE: tuple[Block, ...] = (
    *({"type": "actions", "block_id": "b", "elements": [element]} for element in ELEMENTS),
    *({"type": "section", "text": mrkdwn(), "accessory": element} for element in (BUTTON, IMAGE, *ELEMENTS[7:9])),
    {"type": "section", "fields": [mrkdwn(), plain()], "expand": True},
    {"type": "context", "elements": [mrkdwn(), plain(), IMAGE]},
    {
        "type": "context_actions",
        "elements": [
            {"type": "feedback_buttons", "action_id": "a", "positive_button": FEEDBACK, "negative_button": FEEDBACK},
            {
                "type": "icon_button",
                "action_id": "b",
                "icon": "trash",
                "text": plain(),
                "value": "1",
                "confirm": CONFIRM,
            },
        ],
    },
    {"type": "divider", "block_id": "d"},
    {"type": "file", "external_id": "ABC", "source": "remote"},
    HEADER,
    {**IMAGE, "title": plain(), "block_id": "i"},
    {"type": "image", "slack_file": {"id": "F1"}, "alt_text": "A picture"},
    {"type": "markdown", "text": "**Words**"},
    RICH,
    {"type": "table", "rows": [CELLS, CELLS], "column_settings": [{"align": "right", "is_wrapped": True}]},
    {"type": "data_table", "caption": "Board", "rows": [CELLS, CELLS], "page_size": 10, "row_header_column_index": 0},
    CARD,
    {"type": "carousel", "elements": [CARD, {"type": "card", "title": mrkdwn()}]},
    TASK,
    {"type": "plan", "title": "Judging", "tasks": [TASK]},
    {
        "type": "container",
        "title": plain(),
        "subtitle": mrkdwn(),
        "icon": IMAGE,
        "width": "wide",
        "is_collapsible": True,
        "default_collapsed": True,
        "child_blocks": [HEADER, {"type": "divider"}],
    },
    {
        "type": "video",
        "alt_text": "A film",
        "title": plain(),
        "title_url": "https://example.org",
        "description": plain(),
        "thumbnail_url": "https://example.org/1.png",
        "video_url": "https://example.org/1",
        "author_name": "Ada",
        "provider_name": "Films",
        "provider_icon_url": "https://example.org/2.png",
    },
)
NEWER: tuple[Block, ...] = (
    {"type": "data_visualization", "title": "Week", "chart": {"type": "pie", "segments": POINTS}},
    {
        "type": "data_visualization",
        "title": "Week",
        "chart": {
            "type": "bar",
            "series": [{"name": "Points", "data": POINTS}],
            "axis_config": {"categories": ["Mon", "Tue"], "x_label": "Day", "y_label": "Points"},
        },
    },
)
MODAL: Block = {
    "type": "modal",
    "callback_id": "form",
    "private_metadata": "m",
    "external_id": "e",
    "title": plain("Answer"),
    "submit": plain("Send"),
    "close": plain("Not now"),
    "clear_on_close": False,
    "notify_on_close": True,
    "blocks": [
        {"type": "alert", "text": mrkdwn(), "level": "warning"},
        *(
            {
                "type": "input",
                "block_id": f"{place}",
                "label": plain(),
                "hint": plain(),
                "optional": True,
                "element": one,
            }
            for place, one in enumerate(INPUTS)
        ),
    ],
}
SHORT: Block = {
    **MODAL,
    "blocks": [HEADER, {"type": "input", "label": plain(), "optional": True, "element": INPUTS[0]}],
}
HOME: Block = {"type": "home", "callback_id": "home", "private_metadata": "m", "blocks": [HEADER]}
