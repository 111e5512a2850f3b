"""A card as the bodies of Discord messages. Pure: plain data, no library, no network; a form is `modals`' business.

Components V2, for their texts may hold 4,000 characters and code between them; the limits are Discord's own. An
action goes whole into a `custom_id`, so that what was posted last year still works.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from bot.core.cards import Bar, Bars, Block, Button, Card, Code, Link, Options, Picture, Small, Table, Text
from bot.core.looks import bar_cells, bar_words, distinct, line_of, reachable, table_aligns, table_rows
from bot.core.markup import escape, parse
from bot.core.markup.discord import ROOM, escaped, fenced, framed, glued, linked, to_discord
from bot.core.markup.runs import units, visible

Body = dict[str, Any]

ROW, BUTTON, SELECT, INPUT, TEXT, GALLERY, CONTAINER, LABEL = 1, 2, 3, 4, 10, 12, 17, 18
UPLOAD, RADIOS, CHECKS = 19, 21, 22
V2, EPHEMERAL = 1 << 15, 1 << 6
ACCENT = 0x4F6BED

_BODY_ROOM = 3950
_MAX_DISPLAYS = 8
# Each may stand between two texts, and the parts of a message are counted.
_MAX_PICTURES = 3
_MAX_BUTTONS = 25
_MAX_ROW = 5
_MAX_URL, _MAX_ALT = 512, 1024
_STYLES = {"primary": 1, "plain": 2, "danger": 4}
_OPENS_PAGE = 5
_BAR_CELLS = 10


def bodies(card: Card, *, private: bool = False) -> list[Body]:
    """The messages that say the card, in order; the last bears the buttons. `private`: seen by one member alone.

    A body that shows pictures has `attachments`, each `{"id": "N", "filename": "pictureN.png", "description": …}`: its
    bytes are `pictures(card)[N]`, to be sent beside the body as the file `files[N]` of that name.
    """
    packs = _packed(_card_parts(card))
    pressed: list[Button | Link] = [*distinct(card.buttons), *(link for link in reachable(card.links) if _fits(link))]
    rows = chunks(pressed, _MAX_BUTTONS) or [[]]
    packs += [[] for _ in rows[1:]]
    beneath = [*([[]] * (len(packs) - len(rows))), *rows]
    return [
        _body([_title(card.title, place, len(packs)), *_displays(pack), *_rows(under)], pack, private)
        for place, (pack, under) in enumerate(zip(packs, beneath, strict=True))
    ]


def pictures(card: Card) -> list[bytes]:
    """The PNGs of the card, in the order in which the `attachments` of its bodies number them."""
    return [block.png for block in card.blocks if isinstance(block, Picture)]


class Part(NamedTuple):
    """A text that may be quiet, or the picture of a number, whose text is its alt."""

    text: str
    quiet: bool = False
    picture: int | None = None


def _card_parts(card: Card) -> Iterator[Part]:
    """All that is said, pictures as their numbers, and the links that no button can hold."""
    number = 0
    for block in card.blocks:
        if isinstance(block, Picture):
            yield Part(line_of(block.alt, _MAX_ALT), picture=number)
            number += 1
        else:
            yield from parts_of(block)
    for link in reachable(card.links):
        if not _fits(link):
            yield Part(linked(link.label, link.url))


def _fits(link: Link) -> bool:
    return len(link.url) <= _MAX_URL


def _title(title: str, place: int, count: int) -> Body:
    text = escaped(line_of(title, 190))
    return display(f"-# {text} · {place + 1} of {count}" if place else f"## {text}")


def _body(components: list[Body], pack: Sequence[Part], private: bool) -> Body:
    attached = [
        {"id": str(part.picture), "filename": _name(part.picture), "description": part.text}
        for part in pack
        if part.picture is not None
    ]
    return {
        "flags": V2 | (EPHEMERAL if private else 0),
        "components": [{"type": CONTAINER, "accent_color": ACCENT, "components": components}],
        "allowed_mentions": {"parse": []},
        **({"attachments": attached} if attached else {}),
    }


def _name(picture: int) -> str:
    return f"picture{picture}.png"


def display(text: str) -> Body:
    """A text as a component."""
    return {"type": TEXT, "content": text}


def parts_of(block: Block) -> list[Part]:
    """What a block says in words, each part whole by itself."""
    match block:
        case Text(markdown):
            return [Part(part) for part in to_discord(parse(markdown))]
        case Small(markdown):
            return [Part(_quiet(part), True) for part in to_discord(parse(markdown), ROOM // 2)]
        case Code(text, language):
            return [Part(part) for part in fenced(text, language)]
        case Options():
            return [Part(part) for part in _options(block)]
        case Bars():
            return [Part("\n".join(map(_bar, rows))) for rows in chunks(block.rows, 10)]
        case Table():
            return [Part(part) for part in _table(block)]
        case Picture(alt=alt):
            return [Part(part) for part in to_discord(parse(escape(alt)))]


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
    rows = table_rows(table)
    # A name and words on it: lines that any window breaks as it likes, where a frame would be cut off.
    lines = [_named(*row) for row in rows[1:]] if len(table.columns) == 2 and not table.numeric else []
    if lines and sum(units(line) + 1 for line in lines) <= ROOM:
        return [*caption, "\n".join(lines)]
    return [*caption, *framed(rows, table_aligns(table))]


def _named(name: str, words: str) -> str:
    return f"**{escaped(name)}** {escaped(words)}" if visible(name) else escaped(words)


def _packed(parts: Iterable[Part]) -> list[list[Part]]:
    """The parts in as few messages as hold them."""
    packs: list[list[Part]] = [[]]
    used = shown = 0
    # The title of a first message is as long as its card's, twice where every character is escaped.
    room = _BODY_ROOM - 410
    for part in parts:
        size = 0 if part.picture is not None else units(part.text) + 2
        if not visible(part.text):
            continue
        if packs[-1] and (used + size > room or (part.picture is not None and shown == _MAX_PICTURES)):
            packs.append([])
            used = shown = 0
        packs[-1].append(part)
        used += size
        shown += part.picture is not None
    return packs


def _displays(pack: Sequence[Part]) -> Iterator[Body]:
    """One text for a run of loud parts and one for a run of quiet ones; where these are too many, one for both."""
    groups = [(key, list(parts)) for key, parts in groupby(pack, key=lambda part: (part.picture, part.quiet))]
    if len(groups) > _MAX_DISPLAYS:
        groups = [((picture, False), list(parts)) for picture, parts in groupby(pack, key=lambda part: part.picture)]
    for (picture, quiet), parts in groups:
        if picture is not None:
            yield _gallery(picture, parts[0].text)
        else:
            texts = [part.text for part in parts]
            yield display("\n".join(texts) if quiet else glued(texts))


def _gallery(picture: int, alt: str) -> Body:
    item = {"media": {"url": f"attachment://{_name(picture)}"}, "description": alt}
    return {"type": GALLERY, "items": [item]}


T = TypeVar("T")


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in runs of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def _rows(pressed: Sequence[Button | Link]) -> Iterator[Body]:
    for row in chunks(pressed, _MAX_ROW):
        yield {"type": ROW, "components": [_button(one) for one in row]}


def _button(button: Button | Link) -> Body:
    label = line_of(button.label, 80)
    if isinstance(button, Link):
        return {"type": BUTTON, "style": _OPENS_PAGE, "label": label, "url": button.url}
    # The present answer stands out, and its label says so in words.
    style = 3 if button.pressed else _STYLES[button.style]
    return {"type": BUTTON, "style": style, "label": label, "custom_id": button.action}
