"""Helpers for the renderers of several chats: bars, table rows, short labels. Pure: no platform objects."""

from __future__ import annotations

from collections.abc import Iterable

from wcwidth import iter_graphemes

from bot.core.cards import (
    Bar,
    Button,
    ChannelField,
    Field,
    Link,
    MemberField,
    PickField,
    RoleField,
    Table,
    TextField,
    TimeField,
)
from bot.core.markup import parse, to_summary
from bot.core.markup.parser import clean, link_allowed
from bot.core.markup.runs import units, visible
from bot.core.markup.tree import Align
from bot.core.text import forms

_BAR_CELLS = 10
"""Width of a full bar, characters."""
EMPTY = "…"


def short(markdown: str, limit: int) -> str:
    """Renders Markdown as one plain line of at most `limit` UTF-16 units, never empty."""
    document = parse(markdown)
    room = limit
    line = to_summary(document, room)
    while units(line) > limit:
        room -= units(line) - limit
        line = to_summary(document, room)
    return line if visible(line) else EMPTY


def shortened(markdown: str, limit: int) -> bool:
    """Returns whether `short` would leave something out."""
    line = to_summary(parse(markdown), 4 * limit)
    return units(line) > limit or "[code]" in line or "[table]" in line


def line_of(plain: str, limit: int) -> str:
    """Returns plain text as one line of at most `limit` UTF-16 units, never empty."""
    line = " ".join(clean(plain).split())
    if units(line) > limit:
        kept, used = "", 1
        for character in iter_graphemes(line[:limit]):
            used += units(character)
            if used > limit:
                break
            kept += character
        line = kept.rstrip() + EMPTY
    return line if visible(line) else EMPTY


def distinct(buttons: Iterable[Button]) -> list[Button]:
    """Returns the buttons without duplicate actions, which chats reject."""
    found: dict[str, Button] = {}
    for button in buttons:
        found.setdefault(button.action, button)
    return list(found.values())


def reachable(links: Iterable[Link]) -> list[Link]:
    """Returns the links that a chat can open, without duplicates."""
    found: dict[str, Link] = {}
    for link in links:
        if link_allowed(link.url) and not link.url.startswith("mailto:"):
            found.setdefault(link.url, link)
    return list(found.values())


def bar_cells(bar: Bar) -> str:
    """Draws a share as a bar of ten cells."""
    full = round(_BAR_CELLS * min(1.0, max(0.0, bar.share)))
    return "█" * full + "░" * (_BAR_CELLS - full)


def bar_words(bar: Bar) -> tuple[str, str]:
    """Returns the texts after a bar: its numbers with the mark, then the label.

    The label comes last, so that a right-to-left label does not reorder the numbers.
    """
    mark = f" {bar.mark}:" if bar.mark else ""
    return f"{bar.count} ({round(100 * bar.share)}%){mark}", short(bar.label, 100)


def table_rows(table: Table) -> tuple[tuple[str, ...], ...]:
    """Returns header and rows. The reader's own row is marked in its first text column."""
    place = next((at for at in range(len(table.columns)) if at not in table.numeric), 0)
    rows = [
        (*row[:place], f"{row[place]} (you)", *row[place + 1 :]) if at == table.mine else row
        for at, row in enumerate(table.rows)
    ]
    return (table.columns, *rows)


def table_aligns(table: Table) -> tuple[Align, ...]:
    """Returns the alignment of each column."""
    return tuple(Align.RIGHT if place in table.numeric else Align.LEFT for place in range(len(table.columns)))


def long_options(field: PickField, limit: int) -> bool:
    """Returns whether an option does not fit a label of `limit`, so that the options must be listed above the menu."""
    return any(shortened(label, limit) for _, label in field.options)


def as_typed(field: Field) -> TextField | PickField:
    """Returns a field for a chat without inputs of its own for times, channels, members and roles: they are typed."""
    match field:
        case TextField() | PickField():
            return field
        case TimeField(name, label, value):
            return TextField(name, label, value, forms.TIME_HINT)
        case ChannelField(name, label, value):
            return TextField(name, label, value)
        case MemberField(name, label, value):
            return TextField(name, label, value, forms.MEMBER_HINT, max_length=100)
        case RoleField(name, label, value):
            return TextField(name, label, value, forms.ROLE_HINT, max_length=60, required=False)
