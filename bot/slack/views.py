"""Renders a form as a Slack view. Pure: plain data, no network. `render` renders cards."""

from __future__ import annotations

from collections.abc import Iterable

from bot.core.cards import Button, ChannelField, Field, Form, MemberField, PickField, RoleField, TextField, TimeField
from bot.core.limits import SLACK
from bot.core.markup.parser import clean
from bot.core.markup.runs import units, visible
from bot.core.rendering import as_typed, line_of, long_options, short
from bot.core.text import forms
from bot.slack.render import (
    Body,
    Part,
    Spoken,
    actions_of,
    byte_size,
    context,
    drawn,
    header,
    parts_of,
    plain,
    text_parts,
)

_MAX_LABEL, _MAX_HINT = 150, 500
"""Limits of our own, well below Slack's: of an input's label and hint, and of a view as JSON."""
_VIEW_BYTES = 40_000
_MESSAGE_BYTES = 11_000
_VIEW_BLOCKS = SLACK.view_blocks - 20
SUBMIT = "submit:"
"""Prefix of the `action_id` of a button that submits the inputs of its message."""
FILE = ":file"
"""Suffix of an upload's name: `code:file` replaces the field `code`."""


def view(form: Form) -> Body:
    """Renders a form as a view. Its action is the `private_metadata`; an extra button's action is its value.

    A question that is too long is cut, with a note: see `fits_view`.
    """
    inputs = [block for field in form.fields for block in _field(field)]
    extras = actions_of(form.extras, form.links, form.blocks)
    long = [field for field in form.fields if isinstance(field, PickField) and long_options(field, SLACK.option_label)]
    listed = [part for field in long for _, label in field.options for part in text_parts(label)]
    above = _fitting([*parts_of(form.blocks), *listed], _VIEW_BLOCKS - len(inputs) - len(extras))
    title = line_of(form.title, SLACK.view_title)
    whole = [] if title == form.title else [header(line_of(form.title, SLACK.header))]
    return {
        "type": "modal",
        "callback_id": "form",
        "private_metadata": form.action,
        "title": plain(title),
        "submit": plain(line_of(form.submit, SLACK.view_title)),
        "close": plain("Cancel"),
        "blocks": [*whole, *above, *inputs, *extras],
    }


def message_form(form: Form) -> Body | None:
    """Renders a form as a message with inputs and a button that submits them; None if it does not fit.

    A message has no inputs for files.
    """
    blocks = [block for block in view(form)["blocks"] if block.get("element", {}).get("type") != "file_input"]
    buttons = actions_of((Button(form.submit, form.action, "primary"), *form.extras), form.links)
    for button in (button for row in buttons for button in row["elements"] if "value" in button):
        button["action_id"] = f"{SUBMIT}{button['value']}"
    blocks = [block for block in blocks if block["type"] != "actions"]
    blocks = [header(line_of(form.title, SLACK.header)), *blocks, *buttons]
    if len(blocks) > SLACK.message_blocks or sum(map(byte_size, blocks)) > _MESSAGE_BYTES:
        return None
    text = line_of(form.title, SLACK.header)
    return {"text": text, "blocks": blocks, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}


def fits_view(form: Form) -> bool:
    """Returns whether the view shows the whole question; if not, show it in a message."""
    return context(forms.MORE_IN_MESSAGE) not in view(form)["blocks"]


def _fitting(parts: Iterable[Part], room: int) -> list[Body]:
    """Returns the blocks that fit in a view, tables as lines, with a note if some do not fit."""
    shown = [block for part in parts for block in drawn(part)]
    blocks = [one.block if isinstance(one, Spoken) else one for one in shown]
    kept: list[Body] = []
    used = 0
    for block in blocks:
        used += byte_size(block)
        if used > _VIEW_BYTES or len(kept) == room - 1:
            return [*kept, context(forms.MORE_IN_MESSAGE)]
        kept.append(block)
    return kept


def _field(field: Field) -> list[Body]:
    match field:
        case TextField():
            return [_text_field(field), *_file_field(field)]
        case PickField():
            return _pick_fields(field)
        case TimeField(name, label, value):
            return [_input(name, label, {"type": "timepicker", "initial_time": value}, False)]
        case ChannelField(name, label, value):
            channels = {"include": ["public", "private"], "exclude_bot_users": True}
            element: Body = {"type": "conversations_select", "filter": channels}
            return [_input(name, label, {**element, **({"initial_conversation": value} if value else {})}, False)]
        case MemberField(name, label, value):
            return [_input(name, label, {"type": "users_select", **({"initial_user": value} if value else {})}, False)]
        case RoleField():
            # Slack has no menu of user groups.
            typed = as_typed(field)
            assert isinstance(typed, TextField)
            return [_text_field(typed)]


def _input(name: str, label: str, element: Body, optional: bool, hint: str = "") -> Body:
    block = {
        "type": "input",
        "block_id": name,
        "label": plain(short(label, _MAX_LABEL)),
        "element": {**element, "action_id": name},
        "optional": optional,
    }
    return {**block, "hint": plain(short(hint, _MAX_HINT))} if visible(hint) else block


def _text_field(field: TextField) -> Body:
    if 0 < len(field.known) <= SLACK.menu_options and all(units(one) <= SLACK.option_label for one in field.known):
        offered = {one: {"text": plain(one), "value": one} for one in field.known}
        chosen = {"initial_option": offered[field.value]} if field.value in offered else {}
        menu = {"type": "static_select", "options": list(offered.values()), **chosen}
        return _input(field.name, field.label, menu, not field.required, field.hint)
    most = min(SLACK.typed_text, field.max_length)
    value, hint = clean(field.value), field.hint
    element: Body = {"type": "plain_text_input", "multiline": field.code or field.lines > 1, "max_length": most}
    if units(value) > most:
        hint = forms.TOO_LONG
    elif value:
        element["initial_value"] = value
    return _input(field.name, field.label, element, field.code or not field.required, hint)


def _file_field(field: TextField) -> list[Body]:
    """Returns the input for a file that takes the place of typed code."""
    if not field.code:
        return []
    element: Body = {"type": "file_input", "filetypes": ["py"], "max_files": 1}
    return [_input(f"{field.name}{FILE}", "Or a .py file", element, True)]


def _pick_fields(field: PickField) -> list[Body]:
    """Renders options as radio buttons or checkboxes, or as menus if there are too many for a group.

    Several menus are named after the field with a number: `options`, `options:2` and so on.
    """
    size = SLACK.group_options if len(field.options) <= SLACK.group_options else SLACK.menu_options
    chunks = [field.options[start : start + size] for start in range(0, len(field.options), size)]
    found = []
    for place, chunk in enumerate(chunks, start=1):
        name = field.name if place == 1 else f"{field.name}:{place}"
        label = field.label if len(chunks) == 1 else f"{place} of {len(chunks)}: {field.label}"
        element = _choice(field, [(value, _option_of(value, text)) for value, text in chunk])
        found.append(_input(name, label, element, field.several or len(chunks) > 1))
    return found


def _choice(field: PickField, options: list[tuple[str, Body]]) -> Body:
    picked = [option for value, option in options if value in field.picked]
    few = len(field.options) <= SLACK.group_options
    several, one = ("checkboxes", "radio_buttons") if few else ("multi_static_select", "static_select")
    element: Body = {"type": several if field.several else one, "options": [option for _, option in options]}
    if not picked:
        return element
    return {**element, **({"initial_options": picked} if field.several else {"initial_option": picked[0]})}


def _option_of(value: str, label: str) -> Body:
    return {"text": plain(short(label, SLACK.option_label)), "value": value}
