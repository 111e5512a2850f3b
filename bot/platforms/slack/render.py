"""A card as the bodies of Slack messages, a form as a view. Pure: plain data, no library, no network.

Texts are rich text or plain and never `mrkdwn`, so that a member's words are shown as they are. An action goes whole
into a button's `action_id` and `value`, and into a view's `private_metadata`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

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
from bot.core.markup import escape, parse, to_plain
from bot.core.markup.layout import Style
from bot.core.markup.runs import Run, code_parts, units, visible
from bot.core.markup.safety import clean
from bot.core.markup.slack import Element, Grid, escaped, preformatted, section, table_block, table_lines, to_slack
from bot.platforms.slack.fallback import plain_of

Body = dict[str, Any]
Part = Body | Grid

_MAX_BLOCKS = 45
_MAX_BYTES = 11_000
_RICH_BYTES = 6_000
_MAX_TEXT = 3_900
_HEADER, _LABEL, _TITLE, _OPTION = 150, 75, 24, 75
_MAX_ACTIONS = 20
_GROUP, _SELECT = 10, 100
_MAX_TYPED, _MAX_HINT = 3_000, 500
_VIEW_BLOCKS, _VIEW_BYTES = 80, 40_000
_CONTEXT = 2_800
_MORE = "The rest of the question stands in its message."
_ELSEWHERE = " … The rest stands in the message itself."


def bodies(card: Card) -> list[Body]:
    """The messages that say the card, in order; the last bears the buttons."""
    packs = _packed([*_parts(card.blocks), *_actions(card.buttons)])
    title = line_of(card.title, _HEADER)
    heads = [_header(title), *(_context(f"{title} · {place} of {len(packs)}") for place in range(2, len(packs) + 1))]
    return [
        _body([head, *pack], "" if place else card.summary)
        for place, (head, pack) in enumerate(zip(heads, packs, strict=True))
    ]


def view(form: Form) -> Body:
    """The view that asks for the form; its action is the view's `private_metadata`, an extra's its button's value.

    What of the question is too long is left out and said so: see `fits_view`.
    """
    inputs = [block for field in form.fields for block in _field(field)]
    extras = _actions(form.extras)
    long = [field for field in form.fields if isinstance(field, PickField) and long_options(field, _OPTION)]
    listed = [part for field in long for _, label in field.options for part in _text(label)]
    above = _kept([*_parts(form.blocks), *listed], _VIEW_BLOCKS - len(inputs) - len(extras))
    title = line_of(form.title, _TITLE)
    whole = [] if title == form.title else [_header(line_of(form.title, _HEADER))]
    return {
        "type": "modal",
        "callback_id": "form",
        "private_metadata": form.action,
        "title": _plain(title),
        "submit": _plain(line_of(form.submit, _TITLE)),
        "close": _plain("Cancel"),
        "blocks": [*whole, *above, *inputs, *extras],
    }


def fits_view(form: Form) -> bool:
    """Whether the view shows all of the form; where not, its question must be read in a message."""
    return _context(_MORE) not in view(form)["blocks"]


def _body(blocks: list[Body], summary: str) -> Body:
    said = plain_of(blocks)
    return {
        "text": _fallback(f"{summary}\n\n{said}" if visible(summary) else said),
        "blocks": blocks,
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _fallback(plain: str) -> str:
    text = escaped(plain)
    if units(text) <= _MAX_TEXT:
        return text
    first = code_parts(clean(plain), lambda part: units(escaped(part)), _MAX_TEXT - len(_ELSEWHERE))[0]
    return escaped(first) + _ELSEWHERE


def _plain(text: str) -> Body:
    return {"type": "plain_text", "text": text, "emoji": False}


def _header(title: str) -> Body:
    return {"type": "header", "text": _plain(title)}


def _context(text: str) -> Body:
    return {"type": "context", "elements": [_plain(text)]}


def _parts(blocks: Iterable[Block]) -> list[Part]:
    found: list[Part] = []
    for block in blocks:
        found += _part(block)
    return found


def _part(block: Block) -> list[Part]:
    match block:
        case Text(markdown):
            return _text(markdown)
        case Small(markdown):
            return _quiet(markdown)
        case Code(text, language):
            return [*_rich(preformatted(text, language))]
        case Options(rows):
            return [part for row in rows for part in _option(row.letter, row.markdown)]
        case Bars(rows):
            return [*_rich([_bar(row) for row in rows])]
        case Table():
            return _table(block)
        case Picture(alt=alt):
            return _text(escape(alt))


def _text(markdown: str) -> list[Part]:
    return _mixed(to_slack(parse(markdown)))


def _mixed(elements: Iterable[Element | Grid]) -> list[Part]:
    """Elements in blocks, tables between them."""
    found: list[Part] = []
    held: list[Element] = []
    for element in elements:
        if isinstance(element, Grid):
            found += [*_rich(held), element]
            held = []
        else:
            held.append(element)
    return [*found, *_rich(held)]


def _rich(elements: Sequence[Element]) -> list[Body]:
    """Elements in as few blocks as hold them; a line between two paragraphs."""
    blocks: list[list[Element]] = [[]]
    used = 0
    for element in elements:
        size = _bytes(element)
        if blocks[-1] and used + size > _RICH_BYTES:
            blocks.append([])
            used = 0
        if blocks[-1] and blocks[-1][-1]["type"] == element["type"] == "rich_text_section":
            blocks[-1][-1] = _ended(blocks[-1][-1])
        blocks[-1].append(element)
        used += size
    return [{"type": "rich_text", "elements": found} for found in blocks if found]


def _ended(paragraph: Element) -> Element:
    return {**paragraph, "elements": [*paragraph["elements"], {"type": "text", "text": "\n"}]}


def _quiet(markdown: str) -> list[Part]:
    """A context block shows its text small; one with a link is rich text, for a plain text holds none."""
    elements = to_slack(parse(markdown))
    if any(isinstance(element, Grid) or '"link"' in json.dumps(element) for element in elements):
        return _mixed(elements)
    said = to_plain(parse(markdown), 10_000)
    return [_context(part) for part in code_parts(said, units, _CONTEXT) if visible(part)]


def _option(letter: str, markdown: str) -> list[Part]:
    first, *rest = to_slack(parse(markdown)) or [section([Run("–")])]
    named = section([Run(line_of(letter, 10), Style.BOLD), Run("  ")])
    if isinstance(first, dict) and first["type"] == "rich_text_section":
        return _mixed([{**named, "elements": [*named["elements"], *first["elements"]]}, *rest])
    return _mixed([named, first, *rest])


def _bar(row: Bar) -> Element:
    numbers, label = bar_words(row)
    return section([Run(f"{bar_cells(row)} {numbers} {label}")])


def _table(table: Table) -> list[Part]:
    caption = _rich([section([Run(clean(table.caption), Style.BOLD)])]) if visible(table.caption) else []
    return [*caption, Grid(table_rows(table), table_aligns(table))]


def _packed(parts: Iterable[Part]) -> list[list[Body]]:
    """The blocks in as few messages as hold them, one table of Slack's own in each."""
    packs: list[list[Body]] = [[]]
    used = 0
    for part in parts:
        for block in _resolved(part, packs[-1]):
            size = _bytes(block)
            if packs[-1] and (used + size > _MAX_BYTES or len(packs[-1]) >= _MAX_BLOCKS):
                packs.append([])
                used = 0
            packs[-1].append(block)
            used += size
    return packs


def _resolved(part: Part, pack: Sequence[Body]) -> list[Body]:
    if not isinstance(part, Grid):
        return [part]
    table = None if any(block["type"] == "table" for block in pack) else table_block(part)
    return _rich(table_lines(part)) if table is None else [table]


def _kept(parts: Iterable[Part], room: int) -> list[Body]:
    """The blocks a view has room for, tables in lines, and a word where some are left out."""
    blocks = [block for part in parts for block in (_rich(table_lines(part)) if isinstance(part, Grid) else [part])]
    kept: list[Body] = []
    used = 0
    for block in blocks:
        used += _bytes(block)
        if used > _VIEW_BYTES or len(kept) == room - 1:
            return [*kept, _context(_MORE)]
        kept.append(block)
    return kept


def _bytes(data: Body) -> int:
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _actions(buttons: Iterable[Button]) -> list[Body]:
    elements = [_button(button) for button in distinct(buttons)]
    return [
        {"type": "actions", "elements": elements[start : start + _MAX_ACTIONS]}
        for start in range(0, len(elements), _MAX_ACTIONS)
    ]


def _button(button: Button) -> Body:
    # The present answer stands out, and its label says so in words.
    style = "primary" if button.pressed else button.style
    return {
        "type": "button",
        "text": _plain(line_of(button.label, _LABEL)),
        "action_id": button.action,
        "value": button.action,
        **({} if style == "plain" else {"style": style}),
    }


def _field(field: Field) -> list[Body]:
    return [_typed(field)] if isinstance(field, TextField) else _picks(field)


def _input(name: str, label: str, element: Body, optional: bool, hint: str = "") -> Body:
    block = {
        "type": "input",
        "block_id": name,
        "label": _plain(short(label, _HEADER)),
        "element": {**element, "action_id": name},
        "optional": optional,
    }
    return {**block, "hint": _plain(short(hint, _MAX_HINT))} if visible(hint) else block


def _typed(field: TextField) -> Body:
    most = min(_MAX_TYPED, field.max_length)
    value, hint = clean(field.value), field.hint
    element: Body = {"type": "plain_text_input", "multiline": field.code or field.lines > 1, "max_length": most}
    if units(value) > most:
        hint = "What you have is longer than this window holds: send it as a file, or type it anew."
    elif value:
        element["initial_value"] = value
    return _input(field.name, field.label, element, not field.required, hint)


def _picks(field: PickField) -> list[Body]:
    """Radio buttons or checkboxes, or menus where there are more options than those take.

    Several menus bear the field's name with a number: `options`, `options:2` and so on.
    """
    size = _GROUP if len(field.options) <= _GROUP else _SELECT
    chunks = [field.options[start : start + size] for start in range(0, len(field.options), size)]
    found = []
    for place, chunk in enumerate(chunks, start=1):
        name = field.name if place == 1 else f"{field.name}:{place}"
        label = field.label if len(chunks) == 1 else f"{place} of {len(chunks)}: {field.label}"
        element = _choice(field, [(value, _option_of(value, said)) for value, said in chunk])
        found.append(_input(name, label, element, field.several or len(chunks) > 1))
    return found


def _choice(field: PickField, options: list[tuple[str, Body]]) -> Body:
    picked = [option for value, option in options if value in field.picked]
    few = len(field.options) <= _GROUP
    several, one = ("checkboxes", "radio_buttons") if few else ("multi_static_select", "static_select")
    element: Body = {"type": several if field.several else one, "options": [option for _, option in options]}
    if not picked:
        return element
    return {**element, **({"initial_options": picked} if field.several else {"initial_option": picked[0]})}


def _option_of(value: str, label: str) -> Body:
    return {"text": _plain(short(label, _OPTION)), "value": value}
