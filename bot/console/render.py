"""Renders cards and forms as plain text of a given width. Pure; `chat` handles input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.core.cards import (
    Bar,
    Bars,
    Block,
    Button,
    Card,
    Code,
    Form,
    Link,
    Options,
    PickField,
    Picture,
    Small,
    Table,
    Text,
    TextField,
)
from bot.core.markup import escape, parse, to_plain, to_summary
from bot.core.markup.parser import clean
from bot.core.markup.plain import StyledText, as_text, cells, table_lines, wrap
from bot.core.markup.tree import Align
from bot.core.rendering import reachable
from bot.core.text import console as words
from bot.core.text.words import LETTERS

_BAR_CELLS = 20
"""Width of a full bar, columns."""
_LABEL_CELLS = 36
"""Longest label beside a bar, columns."""


def card_text(card: Card, width: int = 80) -> str:
    """Returns the title, the blocks and the buttons of a card."""
    parts = [
        _title(card.title, width),
        *(_block(block, width) for block in card.blocks),
        buttons_text(card.buttons, width),
        _feedback(card, width),
        _links(card.links, width),
    ]
    return "\n\n".join(part for part in parts if part)


def _feedback(card: Card, width: int) -> str:
    """Returns the question about what the card shows, and its two answers with the keys to type."""
    if card.feedback is None:
        return ""
    keyed = list(zip(button_keys(card.all_buttons), card.all_buttons, strict=True))
    question = as_text(wrap([StyledText(clean(card.feedback.question))], width))
    return f"{question}\n{_button_lines(keyed[len(card.buttons) :], width)}"


def form_text(form: Form, width: int = 80) -> str:
    """Returns the title and the blocks of a form. Its fields are shown one at a time."""
    parts = [_title(form.title, width), *(_block(block, width) for block in form.blocks), _links(form.links, width)]
    return "\n\n".join(part for part in parts if part)


def field_text(field: TextField | PickField, width: int = 80) -> str:
    """Returns a field's label, its current value, and how to fill it in."""
    if isinstance(field, PickField):
        return "\n".join([_flat(field.label, width), *_pick_lines(field, width), _pick_how(field)])
    label = _flat(field.label, width)
    hint = _flat(field.hint, width) if field.hint else ""
    kept = words.current_text(_indented(field.value)) if field.value else ""
    return "\n".join(part for part in (label, hint, kept, _type_how(field)) if part)


def _type_how(field: TextField) -> str:
    if field.lines == 1 and not field.code:
        if field.value:
            return words.ONE_LINE + words.EMPTY_KEEPS
        return words.ONE_LINE if field.required else words.LINE_OR_NONE
    return words.LINES + (words.DOT_KEEPS if field.value else "")


def _pick_lines(field: PickField, width: int) -> list[str]:
    lines = []
    for letter, (value, label) in zip(LETTERS, field.options, strict=False):
        text = label.removeprefix(f"**{letter}** ")
        picked = " (picked)" if value in field.picked else ""
        lines.append(_hanging(f"  {letter}  ", to_plain(parse(text), width - 5) + picked))
    return lines


def _pick_how(field: PickField) -> str:
    how = words.SEVERAL_LETTERS if field.several else words.ONE_LETTER
    return how + (words.EMPTY_KEEPS_PICKED if field.picked else "")


def buttons_text(buttons: Sequence[Button], width: int = 80) -> str:
    """Returns the buttons in a row, each with the key to type."""
    return _button_lines(zip(button_keys(buttons), buttons, strict=True), width)


def _button_lines(keyed: Iterable[tuple[str, Button]], width: int) -> str:
    lines = [""]
    for key, button in keyed:
        label = clean(button.label)
        shown = f"[{key}]" if label == key else f"[{key}] {label.removeprefix(f'{key} ')}"
        if lines[-1] and cells(lines[-1]) + 3 + cells(shown) > width:
            lines.append("")
        lines[-1] += ("   " if lines[-1] else "") + shown
    return "\n".join(lines)


def button_keys(buttons: Sequence[Button]) -> list[str]:
    """Returns the key of each button: the letter its label starts with, or else its number."""
    letters = [button.label.partition(" ")[0] for button in buttons]
    return [
        letter if len(letter) == 1 and letter in LETTERS else str(place)
        for place, letter in enumerate(letters, start=1)
    ]


def _block(block: Block, width: int) -> str:
    match block:
        case Text(markdown) | Small(markdown):
            return to_plain(parse(markdown), width)
        case Code(text):
            return _indented(text)
        case Options(rows):
            return "\n".join(_hanging(f"{row.letter:>3}  ", to_plain(parse(row.markdown), width - 5)) for row in rows)
        case Bars(rows):
            return _bars(rows)
        case Table():
            return _table(block, width)
        case Picture(alt=alt):
            return _flat(escape(f"[Picture: {alt}]"), width)


def _title(plain: str, width: int) -> str:
    return as_text(wrap([StyledText(clean(plain))], width))


def _flat(markdown: str, width: int) -> str:
    return to_plain(parse(markdown), width)


def _links(links: Sequence[Link], width: int) -> str:
    """Returns each link on an unwrapped line of its own, so that terminals recognize the URL."""
    return "\n".join(
        f"{as_text(wrap([StyledText(clean(link.label))], width))}:\n{link.url}" for link in reachable(links)
    )


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in clean(text).rstrip("\n").split("\n"))


def _hanging(first: str, text: str) -> str:
    return first + text.replace("\n", "\n" + " " * len(first))


def _bars(rows: tuple[Bar, ...]) -> str:
    labels = [to_summary(parse(row.label), _LABEL_CELLS) for row in rows]
    widest = max((cells(label) for label in labels), default=0)
    return "\n".join(_bar(label + " " * (widest - cells(label)), row) for label, row in zip(labels, rows, strict=True))


def _bar(label: str, row: Bar) -> str:
    full = round(_BAR_CELLS * min(1.0, max(0.0, row.share)))
    bar = "█" * full + "░" * (_BAR_CELLS - full)
    return f"{label}  {bar} {row.count} ({round(100 * row.share)}%) {row.mark}".rstrip()


def _table(table: Table, width: int) -> str:
    rows = [[[StyledText(clean(cell))] for cell in row] for row in (table.columns, *_marked(table))]
    aligns = [Align.RIGHT if place in table.numeric else Align.LEFT for place in range(len(table.columns))]
    text = as_text(table_lines(rows, aligns, width))
    return f"{clean(table.caption)}\n{text}" if table.caption else text


def _marked(table: Table) -> list[tuple[str, ...]]:
    """Returns the rows; the reader's own row is marked in its first text column."""
    rows = list(table.rows)
    if table.mine is not None:
        place = next((at for at in range(len(table.columns)) if at not in table.numeric), 0)
        mine = list(rows[table.mine])
        mine[place] += " (you)"
        rows[table.mine] = tuple(mine)
    return rows
