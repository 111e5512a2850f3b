"""Renders a card as Discord messages that can be recognized later. Pure: no network. `modals` renders forms.

It uses Components V2, whose texts may have 4,000 characters and contain code blocks. An action is stored whole in a
`custom_id`, so that old messages keep working. A private message does not know its server, so its buttons do: `@`, the
ids of server and channel, and `|`. A `+` before the action opens a form even if its question is too long for a modal.
No action starts with either (see `core.actions`).

Discord merges messages with the same `nonce` and `enforce_nonce` within a few minutes (docs: resources/message). Later,
a message is recognized by the ids of its first two components, which the bot chooses.
"""

from __future__ import annotations

import hashlib
import re
import string
from base64 import b32encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeVar

from bot.core.cards import (
    COMMAND_COLUMN,
    Bar,
    Bars,
    Block,
    Button,
    Card,
    Code,
    Link,
    Options,
    Picture,
    Small,
    Table,
    Text,
)
from bot.core.limits import DISCORD
from bot.core.markup import escape, parse, tree
from bot.core.markup.discord import ROOM, escaped, fenced, framed, join_parts, linked, to_discord
from bot.core.markup.plain import cells
from bot.core.markup.runs import units, visible
from bot.core.rendering import bar_cells, bar_words, distinct, line_of, reachable, table_aligns, table_rows

Body = dict[str, Any]
ROW, BUTTON, SELECT, INPUT, TEXT, GALLERY, CONTAINER, LABEL = 1, 2, 3, 4, 10, 12, 17, 18
USERS, ROLES, CHANNELS = 5, 6, 8
POSTED_TO: Final = (0, 5, 10, 11, 12, 15)
"""Types of channel that a question can be posted to: text, announcements, threads and forums."""
UPLOAD, RADIOS, CHECKS = 19, 21, 22
V2, EPHEMERAL = 1 << 15, 1 << 6
ACCENT = 0x4F6BED
_BODY_ROOM = DISCORD.message_text - 50
"""Longest text of a message, UTF-16 units, below Discord's limit."""
_TITLE_ROOM = 410
"""Room for the title, which escaping may double."""
_MAX_DISPLAYS = 8
"""Text components of a message."""
# Each may need a text component before and after it, and the number of components is limited.
_MAX_PICTURES = 3
_MAX_BUTTONS = 5 * DISCORD.row_buttons
"""Buttons of a message."""
_STYLES = {"primary": 1, "plain": 2, "danger": 4}
_OPENS_PAGE = 5
_PHONE_CELLS: Final = 36
"""Widest table, columns of text, that a phone shows without breaking its lines."""
T = TypeVar("T")
_DIGITS = string.digits + string.ascii_letters
_SERVER_PREFIX = re.compile(r"@([0-9A-Za-z]{1,11})(?:\.([0-9A-Za-z]{1,11}))?\|(.*)", re.DOTALL)
_COUNT_BITS: Final = 6
MAX_PARTS: Final = 40
"""Largest number of messages for one card."""
_EPOCH_MS: Final = 1_420_070_400_000


def bodies(card: Card, *, private: bool = False, rewrite: Callable[[str], str] = str) -> list[Body]:
    """Returns the messages of a card, in order; the last has the buttons. `private` messages are seen by one member.
    `rewrite` changes rendered prose, for example to mention commands.

    A body with pictures has `attachments`, each `{"id": "N", "filename": "pictureN.png", "description": …}`. Its bytes
    are `card.pictures[N]`; send them with the body as the file `files[N]` of that name.
    """
    asked = _feedback(card)
    packs = _packed(_card_parts(card, rewrite), _BODY_ROOM - _TITLE_ROOM - (units(asked[0]["content"]) if asked else 0))
    pressed: list[Button | Link] = [*distinct(card.buttons), *(link for link in reachable(card.links) if _fits(link))]
    rows = chunks(pressed, _MAX_BUTTONS - DISCORD.row_buttons if asked else _MAX_BUTTONS) or [[]]
    packs += [[] for _ in rows[1:]]
    beneath = [*([[]] * (len(packs) - len(rows))), *rows]
    return [
        _body(
            [
                _title(card.title, place, len(packs)),
                *_displays(pack),
                *_mention(card, place),
                *_rows(under),
                *(asked if place == len(packs) - 1 else ()),
            ],
            pack,
            private,
            _roles(card),
        )
        for place, (pack, under) in enumerate(zip(packs, beneath, strict=True))
    ]


class DisplayPart(NamedTuple):
    """A text, small if `quiet`; or the number of a picture, whose alt text is `text`."""

    text: str
    quiet: bool = False
    picture: int | None = None


def _card_parts(card: Card, rewrite: Callable[[str], str]) -> Iterator[DisplayPart]:
    """Yields the contents of a card: texts, numbered pictures, and the links too long for a button."""
    number = 0
    for block in card.blocks:
        if isinstance(block, Picture):
            yield DisplayPart(line_of(block.alt, DISCORD.alt_text), picture=number)
            number += 1
        else:
            words = rewrite if _is_ours(block) else str
            yield from (part._replace(text=words(part.text)) for part in parts_of(block))
    for link in reachable(card.links):
        if not _fits(link):
            yield DisplayPart(linked(link.label, link.url))


def _is_ours(block: Block) -> bool:
    """Returns whether every command in a block is meant as one. A table without commands may name a member like one."""
    match block:
        case Text(authored=authored):
            return not authored
        case Small():
            return True
        case Table(columns):
            return columns[0] == COMMAND_COLUMN
    return False


def _fits(link: Link) -> bool:
    return len(link.url) <= DISCORD.button_url


def _title(title: str, place: int, count: int) -> Body:
    text = escaped(line_of(title, 190))
    return display(f"-# {text} · {place + 1} of {count}" if place else f"## {text}")


def _roles(card: Card) -> list[str]:
    """Returns the role that the card notifies. A Slack user group does not count."""
    return [card.ping] if card.ping.isdecimal() else []


def _mention(card: Card, place: int) -> list[Body]:
    """Returns the mentions of roles, in the card's first message. That of an award notifies nobody."""
    named = [*_roles(card), *([card.award.role] if card.award and card.award.winners else [])]
    return [display(f"<@&{role}>") for role in named] if place == 0 else []


def _feedback(card: Card) -> list[Body]:
    """Returns the question about what the card shows, in small print, and its two answers."""
    if card.feedback is None:
        return []
    question = display(_quiet(escaped(line_of(card.feedback.question, 150))))
    return [question, *_rows((card.feedback.good, card.feedback.poor))]


def _body(components: list[Body], pack: Sequence[DisplayPart], private: bool, roles: list[str]) -> Body:
    attached = [
        {"id": str(part.picture), "filename": _name(part.picture), "description": part.text}
        for part in pack
        if part.picture is not None
    ]
    return {
        "flags": V2 | (EPHEMERAL if private else 0),
        "components": [{"type": CONTAINER, "accent_color": ACCENT, "components": components}],
        "allowed_mentions": {"parse": [], **({"roles": roles} if roles else {})},
        **({"attachments": attached} if attached else {}),
    }


def _name(picture: int) -> str:
    return f"picture{picture}.png"


def display(text: str) -> Body:
    """Returns a text component."""
    return {"type": TEXT, "content": text}


def parts_of(block: Block) -> list[DisplayPart]:
    """Renders a block as texts; a picture as its alt text."""
    match block:
        case Text(markdown):
            return [DisplayPart(part) for part in to_discord(parse(markdown))]
        case Small(markdown):
            return [DisplayPart(_quiet(part), True) for part in to_discord(parse(markdown), ROOM // 2)]
        case Code(text, language):
            return [DisplayPart(part) for part in fenced(text, language)]
        case Options():
            return [DisplayPart(part) for part in _options(block)]
        case Bars():
            return [DisplayPart("\n".join(map(_bar, rows))) for rows in chunks(block.rows, 10)]
        case Table():
            return [DisplayPart(part) for part in _table(block)]
        case Picture(alt=alt):
            return [DisplayPart(part) for part in to_discord(parse(escape(alt)))]


def _quiet(part: str) -> str:
    return part if part.startswith("```") else "\n".join(f"-# {line}" for line in part.split("\n"))


def _options(block: Options) -> list[str]:
    """Renders options: one-line options as one text, longer ones separately."""
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
    # A name and a text: lines that wrap in any window, where a framed table would be cut off.
    lines = [_named(*row) for row in rows[1:]] if len(table.columns) == 2 and not table.numeric else []
    if lines and sum(units(line) + 1 for line in lines) <= ROOM:
        return [*caption, "\n".join(lines)]
    mentions = _mentions(table)
    # Nothing is a mention in a framed table.
    records = _records(rows, table, mentions) if mentions or _width(rows) > _PHONE_CELLS else []
    if records and all(units(line) <= ROOM // 2 for line in records):
        return [*caption, *_joined_lines(records)]
    return [*caption, *framed(rows, table_aligns(table))]


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Returns how many columns of text a framed table takes."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return sum(widths) + 3 * (len(widths) - 1)


def _mentions(table: Table) -> dict[int, str]:
    """Returns the mention of the member of each row who can be mentioned; the reader's own row is marked."""
    found = {}
    for place, markdown in enumerate(table.members):
        document = parse(markdown)
        match document.blocks:
            case (tree.Paragraph((tree.Mention(platform="discord"),)),):
                found[place] = f"{to_discord(document)[0]}{' (you)' if place == table.mine else ''}"
    return found


def _records(rows: Sequence[Sequence[str]], table: Table, mentions: Mapping[int, str]) -> list[str]:
    """Returns each row as a line: its columns up to the first text as its name, then the others with their names."""
    header, *body = rows
    named = next((place for place in range(len(header)) if place not in table.numeric), 0) + 1
    lines = []
    for place, row in enumerate(body):
        named_by = [escaped(cell) for cell in row[:named] if visible(cell)]
        if place in mentions:
            named_by[-1:] = [mentions[place]]
        name = ". ".join(named_by)
        others = [(word, cell) for word, cell in zip(header[named:], row[named:], strict=True) if visible(cell)]
        facts = [f"{word}: {cell}" if visible(word) else cell for word, cell in others]
        lines.append(" · ".join([f"**{name}**", *map(escaped, facts)]))
    return lines


def _joined_lines(lines: Iterable[str]) -> list[str]:
    """Joins lines to as few texts as fit a message."""
    texts: list[str] = []
    for line in lines:
        if texts and units(texts[-1]) + units(line) < ROOM:
            texts[-1] += f"\n{line}"
        else:
            texts.append(line)
    return texts


def _named(name: str, words: str) -> str:
    return f"**{escaped(name)}** {escaped(words)}" if visible(name) else escaped(words)


def _packed(parts: Iterable[DisplayPart], room: int) -> list[list[DisplayPart]]:
    """Distributes the parts over as few messages as possible, whose texts have this room."""
    packs: list[list[DisplayPart]] = [[]]
    used = shown = 0
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


def _displays(pack: Sequence[DisplayPart]) -> Iterator[Body]:
    """Joins neighboring texts of the same size; if that leaves too many, of both sizes."""
    groups = [(key, list(parts)) for key, parts in groupby(pack, key=lambda part: (part.picture, part.quiet))]
    if len(groups) > _MAX_DISPLAYS:
        groups = [((picture, False), list(parts)) for picture, parts in groupby(pack, key=lambda part: part.picture)]
    for (picture, quiet), parts in groups:
        if picture is not None:
            yield _gallery(picture, parts[0].text)
        else:
            texts = [part.text for part in parts]
            yield display("\n".join(texts) if quiet else join_parts(texts))


def _gallery(picture: int, alt: str) -> Body:
    item = {"media": {"url": f"attachment://{_name(picture)}"}, "description": alt}
    return {"type": GALLERY, "items": [item]}


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Splits the items into chunks of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def _rows(pressed: Sequence[Button | Link]) -> Iterator[Body]:
    for row in chunks(pressed, DISCORD.row_buttons):
        yield {"type": ROW, "components": [_button(one) for one in row]}


def _button(button: Button | Link) -> Body:
    label = line_of(button.label, DISCORD.button_label)
    if isinstance(button, Link):
        return {"type": BUTTON, "style": _OPENS_PAGE, "label": label, "url": button.url}
    # The current answer is highlighted, and its label says so too.
    style = 3 if button.pressed else _STYLES[button.style]
    return {"type": BUTTON, "style": style, "label": label, "custom_id": button.action}


# Custom ids


@dataclass(frozen=True, slots=True)
class CustomId:
    """A parsed `custom_id`. `guild` and `channel` are empty if it does not name them."""

    action: str
    guild: str = ""
    channel: str = ""
    opens: bool = False
    """Whether to open the modal even if the question does not fit in it."""


def parse_custom_id(custom_id: str) -> CustomId:
    """Parses a `custom_id`; an unknown one is taken as an action."""
    guild = channel = ""
    if found := _SERVER_PREFIX.fullmatch(custom_id):
        guild, channel, custom_id = str(_number(found[1])), str(_number(found[2])) if found[2] else "", found[3]
    return CustomId(custom_id.removeprefix("+"), guild, channel, custom_id.startswith("+"))


def opening_id(action: str) -> str:
    """Returns a `custom_id` that always opens the form of `action`; the action itself if the mark does not fit."""
    return f"+{action}" if len(action) < DISCORD.custom_id else action


def id_in_server(custom_id: str, guild: str, channel: str = "") -> str:
    """Returns the `custom_id` with its server and channel, as far as they fit."""
    if not guild.isdecimal():
        return custom_id
    place = f"@{_short(int(guild))}"
    within = f"{place}.{_short(int(channel))}" if channel.isdecimal() else place
    fitting = [f"{each}|{custom_id}" for each in (within, place) if len(each) + 1 + len(custom_id) <= DISCORD.custom_id]
    return fitting[0] if fitting else custom_id


def body_in_server(body: dict[str, Any], guild: str, channel: str = "") -> dict[str, Any]:
    """Returns a message or modal with the server added to the `custom_id` of every button."""
    return {key: _in_server(key, value, guild, channel) for key, value in body.items()}


def _in_server(key: str, value: Any, guild: str, channel: str) -> Any:
    if key == "custom_id":
        return id_in_server(value, guild, channel)
    if key == "component":
        # A field of a modal, whose id is the field's name.
        return value
    if isinstance(value, list):
        return [body_in_server(item, guild, channel) if isinstance(item, dict) else item for item in value]
    return value


def _short(number: int) -> str:
    shown = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        shown = _DIGITS[digit] + shown
    return shown or _DIGITS[0]


def _number(shown: str) -> int:
    number = 0
    for digit in shown:
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return number


# Recognizable messages


def nonce_of(key: str) -> str:
    """Returns a nonce for the key: a hash, because Discord accepts few characters."""
    return b32encode(hashlib.sha256(key.encode()).digest()).decode()[: DISCORD.nonce - 1]


def component_ids(key: str, count: int = 1) -> tuple[int, int]:
    """Returns two 31-bit component ids; the last six bits of the second hold the card's number of messages.

    They are large because Discord numbers the other components with small ids.
    """
    digest = hashlib.sha256(key.encode()).digest()
    first, second = (int.from_bytes(digest[start : start + 4]) >> 1 | 1 << 20 for start in (0, 4))
    second = second >> _COUNT_BITS << _COUNT_BITS | min(count, MAX_PARTS)
    return first, second if second != first else second ^ 1 << 21


def parts_of_card(
    card: Card, *, private: bool = False, guild: str = "", channel: str = "", rewrite: Callable[[str], str] = str
) -> list[Body]:
    """Returns the bodies of a card; with `guild`, each button names its server."""
    found = bodies(card, private=private, rewrite=rewrite)
    return [body_in_server(body, guild, channel) for body in found] if guild else found


def with_key(body: Body, key: str, count: int = 1) -> Body:
    """Returns the body with a nonce and ids, so that it is posted once and can be found again."""
    container, *rest = body["components"]
    text, *others = container["components"]
    first, second = component_ids(key, count)
    marked = {**container, "id": first, "components": [{**text, "id": second}, *others]}
    return {**body, "components": [marked, *rest], "nonce": nonce_of(key), "enforce_nonce": True}


class KeyMatcher:
    """Recognizes the messages posted under a key."""

    def __init__(self, key: str) -> None:
        parts = [key, *(f"{key}/{number}" for number in range(1, MAX_PARTS + 1))]
        self._parts = {component_ids(part)[0]: (max(1, place), part) for place, part in enumerate(parts)}

    def read(self, message: Mapping[str, Any]) -> tuple[int, int] | None:
        """Returns the message's number and the card's number of messages; None for any other message."""
        components = message.get("components") or [{}]
        inner = components[0].get("components") or [{}]
        first, second = components[0].get("id"), inner[0].get("id")
        if first not in self._parts or not isinstance(second, int):
            return None
        place, part = self._parts[first]
        count = second & (1 << _COUNT_BITS) - 1
        return (place, count) if component_ids(part, count) == (first, second) else None


def created_ms(snowflake: str) -> int:
    """Returns when an id was created, Unix time in milliseconds. Docs: reference, snowflakes."""
    return (int(snowflake) >> 22) + _EPOCH_MS
