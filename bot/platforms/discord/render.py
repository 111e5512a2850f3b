"""A card as the bodies of Discord messages, a form as a modal. Pure: plain data, no library, no network.

Components V2, for their texts may hold 4,000 characters and code between them; the limits are Discord's own. An
action goes whole into a `custom_id` or a value, so that what was posted last year still works.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

from bot.core.cards import (
    Bar,
    Bars,
    Block,
    Button,
    Card,
    Code,
    Field,
    Form,
    Options,
    PickField,
    Picture,
    Small,
    Table,
    Text,
    TextField,
)
from bot.core.looks import bar_cells, bar_words, distinct, line_of, long_options, short, table_aligns, table_rows
from bot.core.markup import escape, parse
from bot.core.markup.discord import ROOM, escaped, fenced, framed, glued, to_discord
from bot.core.markup.runs import units, visible
from bot.core.markup.safety import clean

Body = dict[str, Any]

ROW, BUTTON, SELECT, INPUT, TEXT, CONTAINER, LABEL, RADIOS, CHECKS = 1, 2, 3, 4, 10, 17, 18, 21, 22
V2, EPHEMERAL = 1 << 15, 1 << 6
ACCENT = 0x4F6BED

_BODY_ROOM = 3950
_MAX_DISPLAYS = 8
_MAX_BUTTONS = 25
_MAX_ROW = 5
_STYLES = {"primary": 1, "plain": 2, "danger": 4}
_BAR_CELLS = 10
_MODAL_PARTS = 5
_MODAL_ROOM = 3000
_MAX_TYPED = 4000
_GROUP, _SELECT = 10, 25
_SHORT, _LONG = 45, 100
_MORE = "-# The rest of the question stands in its message."


def bodies(card: Card, *, private: bool = False) -> list[Body]:
    """The messages that say the card, in order; the last bears the buttons. `private`: seen by one member alone."""
    packs = _packed([part for block in card.blocks for part in _parts(block)])
    buttons = distinct(card.buttons)
    rows = _chunks(buttons, _MAX_BUTTONS) or [[]]
    packs += [[] for _ in rows[1:]]
    beneath = [*([[]] * (len(packs) - len(rows))), *rows]
    return [
        _body([_title(card.title, place, len(packs)), *_displays(pack), *_rows(under)], private)
        for place, (pack, under) in enumerate(zip(packs, beneath, strict=True))
    ]


def modal(form: Form) -> Body:
    """The modal that asks for the form: the `data` of an interaction's answer.

    Discord gives a modal one button of its own; where the form has extras, a choice asks what to do, and its value is
    the action. What of the question is too long is left out and said so: see `fits_modal`.
    """
    parts = [part for part, _ in _form_parts(form)]
    long = [field for field in form.fields if isinstance(field, PickField) and long_options(field, _LONG)]
    parts += [part for field in long for part in _listed(field)]
    fields = [component for field in form.fields for component in _field(field)]
    room = _MODAL_PARTS - len(fields) - bool(form.extras)
    shown = _kept(parts) if room > 0 else []
    text = [_display(glued(shown))] if shown else []
    return {
        "custom_id": form.action,
        "title": line_of(form.title, _SHORT),
        "components": [*text, *fields, *([_what_to_do(form)] if form.extras else [])],
    }


def fits_modal(form: Form) -> bool:
    """Whether the modal shows all of the form; where not, its question must be read in a message."""
    shown = str(modal(form)["components"][0].get("content", ""))
    return not shown.endswith(_MORE)


def _title(title: str, place: int, count: int) -> Body:
    text = escaped(line_of(title, 190))
    return _display(f"-# {text} · {place + 1} of {count}" if place else f"## {text}")


def _body(components: list[Body], private: bool) -> Body:
    return {
        "flags": V2 | (EPHEMERAL if private else 0),
        "components": [{"type": CONTAINER, "accent_color": ACCENT, "components": components}],
        "allowed_mentions": {"parse": []},
    }


def _display(text: str) -> Body:
    return {"type": TEXT, "content": text}


Part = tuple[str, bool]
"""A text, and whether it is quiet."""


def _parts(block: Block) -> list[Part]:
    match block:
        case Text(markdown):
            return [(part, False) for part in to_discord(parse(markdown))]
        case Small(markdown):
            return [(_quiet(part), True) for part in to_discord(parse(markdown), ROOM // 2)]
        case Code(text, language):
            return [(part, False) for part in fenced(text, language)]
        case Options():
            return [(part, False) for part in _options(block)]
        case Bars():
            return [("\n".join(map(_bar, rows)), False) for rows in _chunks(block.rows, 10)]
        case Table():
            return [(part, False) for part in _table(block)]
        case Picture(alt=alt):
            return [(part, False) for part in to_discord(parse(escape(alt)))]


def _quiet(part: str) -> str:
    return part if part.startswith("```") else "\n".join(f"-# {line}" for line in part.split("\n"))


def _options(block: Options) -> list[str]:
    """Options of a line each stand close, longer ones apart."""
    options = [_option(row.letter, row.markdown) for row in block.rows]
    lines = [part for parts in options for part in parts]
    if len(lines) == len(options) and not any("\n" in line for line in lines) and sum(map(units, lines)) <= ROOM // 2:
        return ["\n".join(lines)]
    return lines


def _option(letter: str, markdown: str) -> list[str]:
    first, *rest = to_discord(parse(markdown)) or ["–"]
    apart = "\n" if first.startswith(("```", "- ", "> ", "#", "1. ")) else " "
    return [f"**{escaped(letter)}**{apart}{first}", *rest]


def _bar(row: Bar) -> str:
    numbers, label = bar_words(row)
    return f"`{bar_cells(row)}` {escaped(numbers)} {escaped(label)}"


def _table(table: Table) -> list[str]:
    caption = [f"**{escaped(table.caption)}**"] if visible(table.caption) else []
    return [*caption, *framed(table_rows(table), table_aligns(table))]


def _packed(parts: Iterable[Part]) -> list[list[Part]]:
    """The parts in as few messages as hold them."""
    packs: list[list[Part]] = [[]]
    used = 0
    # The title of a first message is as long as its card's, twice where every character is escaped.
    room = _BODY_ROOM - 410
    for text, quiet in parts:
        if not visible(text):
            continue
        if packs[-1] and used + units(text) + 2 > room:
            packs.append([])
            used = 0
        packs[-1].append((text, quiet))
        used += units(text) + 2
    return packs


def _displays(pack: Sequence[Part]) -> Iterator[Body]:
    """One text for a run of loud parts and one for a run of quiet ones; where these are too many, one for all."""
    groups = [(quiet, [text for text, _ in parts]) for quiet, parts in groupby(pack, key=lambda part: part[1])]
    if len(groups) > _MAX_DISPLAYS:
        yield _display(glued(text for text, _ in pack))
        return
    for quiet, texts in groups:
        yield _display("\n".join(texts) if quiet else glued(texts))


T = TypeVar("T")


def _chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _rows(buttons: Sequence[Button]) -> Iterator[Body]:
    for row in _chunks(buttons, _MAX_ROW):
        yield {"type": ROW, "components": [_button(button) for button in row]}


def _button(button: Button) -> Body:
    # The present answer stands out, and its label says so in words.
    style = 3 if button.pressed else _STYLES[button.style]
    return {"type": BUTTON, "style": style, "label": line_of(button.label, 80), "custom_id": button.action}


def _form_parts(form: Form) -> list[Part]:
    return [part for block in form.blocks for part in _parts(block) if visible(part[0])]


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


def _picks(field: PickField) -> Iterator[Body]:
    """A group of radio buttons or checkboxes, or menus where there are more options than a group takes.

    Several menus bear the field's name with a number: `options`, `options:2` and so on.
    """
    size = _GROUP if len(field.options) <= _GROUP else _SELECT
    chunks = _chunks(field.options, size)
    for place, chunk in enumerate(chunks, start=1):
        name = field.name if place == 1 else f"{field.name}:{place}"
        label = field.label if len(chunks) == 1 else f"{place} of {len(chunks)}: {field.label}"
        options = [_pick(value, said, value in field.picked) for value, said in chunk]
        yield _labelled(label, "", _choice(field, name, options, len(chunks) > 1))


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
