"""What the renderers of more than one chat do alike with the parts of a card: bars, marked rows, labels. No objects."""

from __future__ import annotations

from collections.abc import Iterable

from wcwidth import iter_graphemes

from bot.core.cards import Bar, Button, Link, PickField, Table
from bot.core.markup import parse, to_summary
from bot.core.markup.parser import clean, link_allowed
from bot.core.markup.runs import units, visible
from bot.core.markup.tree import Align

_BAR_CELLS = 10
NO_WORDS = "…"


def short(markdown: str, limit: int) -> str:
    """One plain line of at most `limit` UTF-16 units that no client finds empty."""
    document = parse(markdown)
    room = limit
    said = to_summary(document, room)
    while units(said) > limit:
        room -= units(said) - limit
        said = to_summary(document, room)
    return said if visible(said) else NO_WORDS


def shortened(markdown: str, limit: int) -> bool:
    """Whether `short` says less than the whole."""
    said = to_summary(parse(markdown), 4 * limit)
    return units(said) > limit or "[code]" in said or "[table]" in said


def line_of(plain: str, limit: int) -> str:
    """A plain text as one line of at most `limit` UTF-16 units that no client finds empty."""
    line = " ".join(clean(plain).split())
    if units(line) > limit:
        kept, used = "", 1
        for character in iter_graphemes(line[:limit]):
            used += units(character)
            if used > limit:
                break
            kept += character
        line = kept.rstrip() + NO_WORDS
    return line if visible(line) else NO_WORDS


def distinct(buttons: Iterable[Button]) -> list[Button]:
    """The buttons, each action once: chats refuse a message that holds one twice."""
    found: dict[str, Button] = {}
    for button in buttons:
        found.setdefault(button.action, button)
    return list(found.values())


def reachable(links: Iterable[Link]) -> list[Link]:
    """The links a chat will open, each page once."""
    found: dict[str, Link] = {}
    for link in links:
        if link_allowed(link.url) and not link.url.startswith("mailto:"):
            found.setdefault(link.url, link)
    return list(found.values())


def bar_cells(bar: Bar) -> str:
    """A share as a bar of ten cells; the numbers stand beside it."""
    full = round(_BAR_CELLS * min(1.0, max(0.0, bar.share)))
    return "█" * full + "░" * (_BAR_CELLS - full)


def bar_words(bar: Bar) -> tuple[str, str]:
    """What stands after the bar: the numbers and the mark, and then the label, so that a label from right to left
    turns nothing around."""
    mark = f" {bar.mark}:" if bar.mark else ""
    return f"{bar.count} ({round(100 * bar.share)} %){mark}", short(bar.label, 100)


def table_rows(table: Table) -> tuple[tuple[str, ...], ...]:
    """Header and rows, the reader's own row said so in its first cell of words."""
    place = next((at for at in range(len(table.columns)) if at not in table.numeric), 0)
    rows = [
        (*row[:place], f"{row[place]} (you)", *row[place + 1 :]) if at == table.mine else row
        for at, row in enumerate(table.rows)
    ]
    return (table.columns, *rows)


def table_aligns(table: Table) -> tuple[Align, ...]:
    """How its columns are set."""
    return tuple(Align.RIGHT if place in table.numeric else Align.LEFT for place in range(len(table.columns)))


def long_options(field: PickField, limit: int) -> bool:
    """Whether a label of `limit` says less than its option, so that the options must be read above."""
    return any(shortened(label, limit) for _, label in field.options)
