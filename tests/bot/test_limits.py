"""The bot's table of limits says what the doubles say, which were written from the documentation on their own: for each
limit, they accept what reaches it and reject what exceeds it by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from bot.core.limits import ACTION_ID, BUTTON_LABEL, DISCORD, SLACK
from tests.doubles.discord import checks
from tests.doubles.slack import rules

Json = dict[str, Any]
Wrong = Callable[[int], object]
"""Returns what a double rejects in a body that reaches a length or number; nothing if it accepts it."""


def of_message(*components: Json) -> object:
    body = {"flags": 1 << 15, "components": list(components)}
    return checks.wrong_in_body("POST /channels/{channel_id}/messages", body, second=False) or checks.wrong_in_message(
        body, files={"a.png": b""}
    )


def of_modal(component: Json, title: str = "title", label: str = "label", hint: str = "hint") -> object:
    field = {"type": 18, "label": label, "description": hint, "component": component}
    return of_response(9, {"custom_id": "form", "title": title, "components": [field]})


def of_response(kind: int, data: Json) -> object:
    route = "POST /interactions/{interaction_id}/{interaction_token}/callback"
    return checks.wrong_in_body(route, {"type": kind, "data": data}, second=False)


def button(**more: Any) -> Json:
    return {"type": 2, "style": 1, "label": "label", "custom_id": "id", **more}


def row(*buttons: Json) -> Json:
    return {"type": 1, "components": list(buttons)}


def options(count: int, label: str = "label") -> list[Json]:
    return [{"label": label, "value": str(number)} for number in range(count)]


def typing(**more: Any) -> Json:
    return {"type": 4, "custom_id": "text", "style": 2, **more}


def of_posted(route: str, body: Json) -> object:
    return checks.wrong_in_body(route, body, second=False)


def of_command(description: str) -> object:
    command = {"name": "quiz", "description": description}
    return checks.wrong_in_body("PUT /applications/{application_id}/commands", [command], second=False)


def picture(alt: str) -> Json:
    return {"type": 12, "items": [{"media": {"url": "attachment://a.png"}, "description": alt}]}


def link(length: int) -> Json:
    return {"type": 2, "style": 5, "label": "label", "url": "https://x.y/".ljust(length, "z")}


MESSAGES, THREADS = "/channels/{channel_id}/messages", "/channels/{channel_id}/messages/{message_id}/threads"
ON_DISCORD: dict[str, Wrong] = {
    "message_text": lambda n: of_message({"type": 10, "content": "x" * (n - 1)}, {"type": 10, "content": "y"}),
    "row_buttons": lambda n: of_message(row(*(button(custom_id=str(each)) for each in range(n)))),
    "button_label": lambda n: of_message(row(button(label="x" * n))),
    "button_url": lambda n: of_message(row(link(n))),
    "custom_id": lambda n: of_message(row(button(custom_id="x" * n))),
    "alt_text": lambda n: of_message(picture("x" * n)),
    "nonce": lambda n: of_posted(f"POST {MESSAGES}", {"content": "x", "nonce": "x" * n}),
    "thread_name": lambda n: of_posted(f"POST {THREADS}", {"name": "x" * n}),
    "modal_title": lambda n: of_modal(typing(), title="x" * n),
    "modal_components": lambda n: of_response(
        9, {"custom_id": "form", "title": "title", "components": [{"type": 10, "content": "x"}] * n}
    ),
    "field_label": lambda n: of_modal(typing(), label="x" * n),
    "field_hint": lambda n: of_modal(typing(), hint="x" * n),
    "typed_text": lambda n: of_modal(typing(max_length=n)) or of_modal(typing(value="x" * n)),
    "group_options": lambda n: (
        of_modal({"type": 21, "custom_id": "one", "options": options(n)})
        or of_modal({"type": 22, "custom_id": "some", "options": options(n)})
    ),
    "menu_options": lambda n: of_modal({"type": 3, "custom_id": "menu", "options": options(n)}),
    "option_label": lambda n: of_modal({"type": 21, "custom_id": "one", "options": options(2, "x" * n)}),
    "command_description": lambda n: of_command("x" * n),
    "suggestions": lambda n: of_response(8, {"choices": [{"name": "x", "value": "x"}] * n}),
    "suggestion": lambda n: of_response(8, {"choices": [{"name": "x" * n, "value": "x"}]}),
}


def plain(length: int) -> Json:
    return {"type": "plain_text", "text": "x" * length}


def of_blocks(*blocks: Json) -> object:
    return rules.wrong_in_blocks(list(blocks))


def of_view(*blocks: Json, title: int = 5) -> object:
    view = {"type": "modal", "title": plain(title), "submit": plain(1), "blocks": list(blocks)}
    return rules.wrong_in_view(view)[1]


def pressed(**more: Any) -> Json:
    return {"type": "button", "text": plain(1), **more}


def field(element: Json) -> Json:
    return {"type": "input", "label": plain(1), "element": element}


def choices(count: int, label: int = 1) -> list[Json]:
    return [{"text": plain(label), "value": str(number)} for number in range(count)]


def table(rows: int, columns: int) -> Json:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * columns] * rows}


def chart(label: int = 1, title: int = 1, series: int = 1, categories: int = 1) -> Json:
    names = [str(each).rjust(label, "x") for each in range(categories)]
    data = [{"label": name, "value": 1} for name in names]
    drawn = [{"name": str(each), "data": data} for each in range(series)]
    plot = {"type": "bar", "series": drawn, "axis_config": {"categories": names}}
    return {"type": "data_visualization", "title": "x" * title, "chart": plot}


ON_SLACK: dict[str, Wrong] = {
    "message_blocks": lambda n: of_blocks(*[{"type": "divider"}] * n),
    "context_text": lambda n: of_blocks({"type": "context", "elements": [plain(n)]}),
    "header": lambda n: of_blocks({"type": "header", "text": plain(n)}),
    "alt_text": lambda n: of_blocks({"type": "image", "alt_text": "x" * n, "image_url": "https://x.y"}),
    "row_buttons": lambda n: of_blocks(
        {"type": "actions", "elements": [pressed(action_id=str(each)) for each in range(n)]}
    ),
    "button_label": lambda n: of_blocks({"type": "actions", "elements": [pressed(text=plain(n))]}),
    "action_id": lambda n: of_blocks({"type": "actions", "elements": [pressed(action_id="x" * n)]}),
    "table_rows": lambda n: of_blocks(table(n, 1)),
    "table_columns": lambda n: of_blocks(table(1, n)),
    "message_charts": lambda n: of_blocks(*[chart()] * n),
    "chart_title": lambda n: of_blocks(chart(title=n)),
    "chart_label": lambda n: of_blocks(chart(label=n)),
    "chart_series": lambda n: of_blocks(chart(series=n)),
    "chart_categories": lambda n: of_blocks(chart(categories=n)),
    "view_title": lambda n: of_view({"type": "divider"}, title=n),
    "view_blocks": lambda n: of_view(*[{"type": "divider"}] * n),
    "typed_text": lambda n: of_view(field({"type": "plain_text_input", "initial_value": "x" * n})),
    "group_options": lambda n: (
        of_view(field({"type": "radio_buttons", "options": choices(n)}))
        or of_view(field({"type": "checkboxes", "options": choices(n)}))
    ),
    "menu_options": lambda n: of_view(field({"type": "static_select", "options": choices(n)})),
    "option_label": lambda n: of_view(field({"type": "static_select", "options": choices(1, n)})),
}
ADVICE = {"message_text", "responses"}
"""What is no property of a body: the length that Slack advises, and replies to one click."""


@pytest.mark.parametrize("name", ON_DISCORD)
def test_a_limit_of_discord_is_the_doubles(name: str) -> None:
    most = getattr(DISCORD, name)
    assert not ON_DISCORD[name](most)
    assert ON_DISCORD[name](most + 1)


@pytest.mark.parametrize("name", ON_SLACK)
def test_a_limit_of_slack_is_the_doubles(name: str) -> None:
    most = getattr(SLACK, name)
    assert not ON_SLACK[name](most)
    assert ON_SLACK[name](most + 1)


def test_every_limit_is_compared() -> None:
    assert {field.name for field in fields(DISCORD)} == set(ON_DISCORD)
    assert {field.name for field in fields(SLACK)} == set(ON_SLACK) | ADVICE


def test_what_every_chat_accepts_is_the_smallest_limit() -> None:
    assert (BUTTON_LABEL, ACTION_ID) == (75, 100)
