"""A form as a Discord modal. Pure: plain data, no library, no network; a card is `render`'s business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.core.cards import Field, Form, PickField, TextField
from bot.core.markup import parse
from bot.core.markup.discord import glued, linked, to_discord
from bot.core.markup.parser import clean
from bot.core.markup.runs import units, visible
from bot.core.rendering import line_of, long_options, reachable, short
from bot.discord.render import CHECKS, INPUT, LABEL, RADIOS, SELECT, UPLOAD, Body, chunks, display, parts_of

_MODAL_PARTS = 5
_MODAL_ROOM = 3000
_MAX_TYPED = 4000
_GROUP, _SELECT = 10, 25
_SHORT, _LONG = 45, 100
FILE = ":file"
"""What the name of an upload ends with: `code:file` is given for the field `code`."""
_MORE = "-# The rest of the question stands in its message."


def modal(form: Form) -> Body:
    """The modal that asks for the form: the `data` of an interaction's answer.

    Discord gives a modal one button of its own; where the form has extras, a choice asks what to do, and its value is
    the action. What of the question is too long is left out and said so: see `fits_modal`.
    """
    parts = _form_parts(form)
    long = [field for field in form.fields if isinstance(field, PickField) and long_options(field, _LONG)]
    parts += [part for field in long for part in _listed(field)]
    fields = [component for field in form.fields for component in _field(field)]
    if (upload := _upload(form)) and len(fields) + bool(form.extras) < _MODAL_PARTS - 1:
        fields = [*map(_optional, fields), upload]
    room = _MODAL_PARTS - len(fields) - bool(form.extras)
    shown = _kept(parts) if room > 0 else []
    text = [display(glued(shown))] if shown else []
    return {
        "custom_id": form.action,
        "title": line_of(form.title, _SHORT),
        "components": [*text, *fields, *([_what_to_do(form)] if form.extras else [])],
    }


def fits_modal(form: Form) -> bool:
    """Whether the modal shows all of the form; where not, its question must be read in a message."""
    shown = str(modal(form)["components"][0].get("content", ""))
    return not shown.endswith(_MORE)


def _form_parts(form: Form) -> list[str]:
    """What is asked. A modal has no buttons and no pictures, so pages are linked to in words, and alts are said."""
    links = [f"-# {linked(link.label, link.url)}" for link in reachable(form.links)]
    parts = [part.text for block in form.blocks for part in parts_of(block) if visible(part.text)]
    return [*links, *parts]


def _kept(parts: Sequence[str]) -> list[str]:
    """The parts that a modal has room for, and a word where some are left out."""
    kept: list[str] = []
    for part in parts:
        if units(glued([*kept, part])) > _MODAL_ROOM:
            return [*kept, _MORE]
        kept.append(part)
    return kept


def _field(field: Field) -> list[Body]:
    return [_typed(field)] if isinstance(field, TextField) else list(_picks(field))


def _labelled(label: str, hint: str, component: Body) -> Body:
    described = {"description": hint} if visible(hint) else {}
    return {"type": LABEL, "label": short(label, _SHORT), **described, "component": component}


def _typed(field: TextField) -> Body:
    most = min(_MAX_TYPED, field.max_length)
    component: Body = {
        "type": INPUT,
        "custom_id": field.name,
        "style": 2 if field.code or field.lines > 1 else 1,
        "required": field.required,
        "max_length": most,
    }
    hint = short(field.hint, _LONG) if field.hint else ""
    value = clean(field.value)
    if units(value) > most:
        hint = "What you have is longer than this window holds: send it as a file, or type it anew."
    elif value:
        component["value"] = value
    return _labelled(field.label, hint, component)


def _upload(form: Form) -> Body | None:
    """A file in the place of what would be typed: of a program, or of more text than a window takes."""
    for field in form.fields:
        if isinstance(field, TextField) and (field.code or field.max_length > _MAX_TYPED):
            said = "A .py file in the place of what is typed above." if field.code else "In the place of what is above."
            upload = {"type": UPLOAD, "custom_id": f"{field.name}{FILE}", "required": False, "max_values": 1}
            return _labelled("Or a file", said, upload)
    return None


def _optional(labelled: Body) -> Body:
    """A field of a form that takes a file instead: which of them is given is seen when it is sent."""
    component = labelled["component"]
    return {**labelled, "component": {**component, "required": False}} if component["type"] == INPUT else labelled


def _picks(field: PickField) -> Iterator[Body]:
    """A group of radio buttons or checkboxes, or menus where there are more options than a group takes.

    Several menus bear the field's name with a number: `options`, `options:2` and so on.
    """
    size = _GROUP if len(field.options) <= _GROUP else _SELECT
    parted = chunks(field.options, size)
    for place, chunk in enumerate(parted, start=1):
        name = field.name if place == 1 else f"{field.name}:{place}"
        label = field.label if len(parted) == 1 else f"{place} of {len(parted)}: {field.label}"
        options = [_pick(value, said, value in field.picked) for value, said in chunk]
        yield _labelled(label, "", _choice(field, name, options, len(parted) > 1))


def _choice(field: PickField, name: str, options: list[Body], parted: bool) -> Body:
    base: Body = {"custom_id": name, "options": options, "required": not (field.several or parted)}
    if len(options) <= _GROUP and len(field.options) <= _GROUP:
        if field.several:
            return {"type": CHECKS, **base, "min_values": 0, "max_values": len(options)}
        # A group of one is none; a menu of one is a menu.
        return {"type": RADIOS, **base} if len(options) > 1 else {"type": SELECT, **base}
    most = len(options) if field.several else 1
    return {"type": SELECT, **base, "min_values": 0 if field.several or parted else 1, "max_values": most}


def _pick(value: str, label: str, picked: bool) -> Body:
    return {"label": short(label, _LONG), "value": value, **({"default": True} if picked else {})}


def _listed(field: PickField) -> list[str]:
    return [part for _, label in field.options for part in to_discord(parse(label))]


def _what_to_do(form: Form) -> Body:
    first: Body = {"label": line_of(form.submit, _LONG), "value": form.action, "default": True}
    rest = [{"label": line_of(button.label, _LONG), "value": button.action} for button in form.extras]
    group: Body = {"type": RADIOS, "custom_id": "action", "options": [first, *rest], "required": True}
    return _labelled("What to do", "", group)
