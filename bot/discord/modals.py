"""Renders a form as a Discord modal. Pure: plain data, no network. `render` renders cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.core.cards import ChannelField, Field, Form, MemberField, PickField, RoleField, TextField
from bot.core.limits import DISCORD
from bot.core.markup import parse
from bot.core.markup.discord import join_parts, linked, to_discord
from bot.core.markup.parser import clean
from bot.core.markup.runs import units, visible
from bot.core.rendering import as_typed, line_of, long_options, reachable, short
from bot.core.text import forms
from bot.discord.render import (
    CHANNELS,
    CHECKS,
    INPUT,
    LABEL,
    POSTED_TO,
    RADIOS,
    ROLES,
    SELECT,
    UPLOAD,
    USERS,
    Body,
    chunks,
    display,
    parts_of,
)

_MODAL_ROOM = 3000
"""Longest question in a modal, UTF-16 units."""
FILE = ":file"
"""Suffix of an upload's name: `code:file` replaces the field `code`."""
_MORE = "-# The rest of the question is in its message."


def modal(form: Form) -> Body:
    """Renders a form as a modal, the `data` of an interaction response.

    A modal has one button only, so a form with extra buttons gets a choice whose value is the action. A question that
    is too long is cut, with a note: see `fits_modal`.
    """
    parts = _form_parts(form)
    long = [
        field for field in form.fields if isinstance(field, PickField) and long_options(field, DISCORD.option_label)
    ]
    parts += [part for field in long for part in _long_options(field)]
    fields = [component for field in form.fields for component in _field(field)]
    # The upload leaves room for the question, if there is one.
    if (upload := _upload(form)) and len(fields) + bool(form.extras) < DISCORD.modal_components - bool(parts):
        fields = [*map(_optional, fields), upload]
    room = DISCORD.modal_components - len(fields) - bool(form.extras)
    shown = _kept(parts) if room > 0 else []
    text = [display(join_parts(shown))] if shown else []
    return {
        "custom_id": form.action,
        "title": line_of(form.title, DISCORD.modal_title),
        "components": [*text, *fields, *([_action_field(form)] if form.extras else [])],
    }


def fits_modal(form: Form) -> bool:
    """Returns whether the modal shows the whole question; if not, show it in a message."""
    shown = str(modal(form)["components"][0].get("content", ""))
    return not shown.endswith(_MORE)


def _form_parts(form: Form) -> list[str]:
    """Renders the question. A modal has no link buttons and no pictures, so both become text."""
    links = [f"-# {linked(link.label, link.url)}" for link in reachable(form.links)]
    parts = [part.text for block in form.blocks for part in parts_of(block) if visible(part.text)]
    return [*links, *parts]


def _kept(parts: Sequence[str]) -> list[str]:
    """Returns the parts that fit in a modal, with a note if some do not."""
    kept: list[str] = []
    for part in parts:
        if units(join_parts([*kept, part])) > _MODAL_ROOM:
            return [*kept, _MORE]
        kept.append(part)
    return kept


def _field(field: Field) -> list[Body]:
    if isinstance(field, ChannelField | MemberField | RoleField):
        return [_labeled(field.label, "", _entity_menu(field))]
    known = as_typed(field)
    return [_typed(known)] if isinstance(known, TextField) else list(_pick_field(known))


def _entity_menu(field: ChannelField | MemberField | RoleField) -> Body:
    """Returns Discord's own menu of channels, members or roles."""
    match field:
        case ChannelField():
            kind, menu = "channel", {"type": CHANNELS, "channel_types": list(POSTED_TO)}
        case MemberField():
            kind, menu = "user", {"type": USERS}
        case RoleField():
            kind, menu = "role", {"type": ROLES}
    required = not isinstance(field, RoleField)
    menu |= {"custom_id": field.name, "required": required, "min_values": int(required), "max_values": 1}
    return {**menu, **({"default_values": [{"id": field.value, "type": kind}]} if field.value.isdecimal() else {})}


def _labeled(label: str, hint: str, component: Body) -> Body:
    described = {"description": hint} if visible(hint) else {}
    return {"type": LABEL, "label": short(label, DISCORD.field_label), **described, "component": component}


def _typed(field: TextField) -> Body:
    most = min(DISCORD.typed_text, field.max_length)
    component: Body = {
        "type": INPUT,
        "custom_id": field.name,
        "style": 2 if field.code or field.lines > 1 else 1,
        "required": field.required,
        "max_length": most,
    }
    hint = short(field.hint, DISCORD.field_hint) if field.hint else ""
    value = clean(field.value)
    if units(value) > most:
        hint = forms.TOO_LONG
    elif value:
        component["value"] = value
    return _labeled(field.label, hint, component)


def _upload(form: Form) -> Body | None:
    """Returns an upload field for a program, or for a text that a file may replace."""
    for field in form.fields:
        if isinstance(field, TextField) and (field.code or field.upload):
            hint = forms.OR_CODE_FILE if field.code else forms.OR_FILE
            upload = {"type": UPLOAD, "custom_id": f"{field.name}{FILE}", "required": False, "max_values": 1}
            return _labeled("Or a file", hint, upload)
    return None


def _optional(labeled: Body) -> Body:
    """Makes a text field optional, because a file may replace it."""
    component = labeled["component"]
    return {**labeled, "component": {**component, "required": False}} if component["type"] == INPUT else labeled


def _pick_field(field: PickField) -> Iterator[Body]:
    """Renders options as radio buttons or checkboxes, or as menus if there are too many for a group.

    Several menus are named after the field with a number: `options`, `options:2` and so on.
    """
    size = DISCORD.group_options if len(field.options) <= DISCORD.group_options else DISCORD.menu_options
    numbered = chunks(field.options, size)
    for place, chunk in enumerate(numbered, start=1):
        name = field.name if place == 1 else f"{field.name}:{place}"
        label = field.label if len(numbered) == 1 else f"{place} of {len(numbered)}: {field.label}"
        options = [_pick(value, text, value in field.picked) for value, text in chunk]
        yield _labeled(label, "", _choice(field, name, options, len(numbered) > 1))


def _choice(field: PickField, name: str, options: list[Body], numbered: bool) -> Body:
    base: Body = {"custom_id": name, "options": options, "required": not (field.several or numbered)}
    if len(options) <= DISCORD.group_options and len(field.options) <= DISCORD.group_options:
        if field.several:
            return {"type": CHECKS, **base, "min_values": 0, "max_values": len(options)}
        # A radio group needs two options; a select works with one.
        return {"type": RADIOS, **base} if len(options) > 1 else {"type": SELECT, **base}
    most = len(options) if field.several else 1
    return {"type": SELECT, **base, "min_values": 0 if field.several or numbered else 1, "max_values": most}


def _pick(value: str, label: str, picked: bool) -> Body:
    return {"label": short(label, DISCORD.option_label), "value": value, **({"default": True} if picked else {})}


def _long_options(field: PickField) -> list[str]:
    return [part for _, label in field.options for part in to_discord(parse(label))]


def _action_field(form: Form) -> Body:
    first: Body = {"label": line_of(form.submit, DISCORD.option_label), "value": form.action, "default": True}
    rest = [{"label": line_of(button.label, DISCORD.option_label), "value": button.action} for button in form.extras]
    group: Body = {"type": RADIOS, "custom_id": "action", "options": [first, *rest], "required": True}
    return _labeled("What to do", "", group)
