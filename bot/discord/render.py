"""A card as the bodies of Discord messages. Pure: plain data, no library, no network; a form is `modals`' business.

Components V2, for their texts may hold 4,000 characters and code between them; the limits are Discord's own. An
action goes whole into a `custom_id`, so that what was posted last year still works.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from bot.core import actions
from bot.core.actions import MAX_LENGTH, BadAction, decode
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
from bot.core.markup import escape, parse
from bot.core.markup.discord import ROOM, escaped, fenced, framed, glued, linked, to_discord
from bot.core.markup.runs import units, visible
from bot.core.rendering import bar_cells, bar_words, distinct, line_of, reachable, table_aligns, table_rows

if TYPE_CHECKING:
    import discord

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


class DisplayPart(NamedTuple):
    """A text that may be quiet, or the picture of a number, whose text is its alt."""

    text: str
    quiet: bool = False
    picture: int | None = None


def _card_parts(card: Card) -> Iterator[DisplayPart]:
    """All that is said, pictures as their numbers, and the links that no button can hold."""
    number = 0
    for block in card.blocks:
        if isinstance(block, Picture):
            yield DisplayPart(line_of(block.alt, _MAX_ALT), picture=number)
            number += 1
        else:
            yield from parts_of(block)
    for link in reachable(card.links):
        if not _fits(link):
            yield DisplayPart(linked(link.label, link.url))


def _fits(link: Link) -> bool:
    return len(link.url) <= _MAX_URL


def _title(title: str, place: int, count: int) -> Body:
    text = escaped(line_of(title, 190))
    return display(f"-# {text} · {place + 1} of {count}" if place else f"## {text}")


def _body(components: list[Body], pack: Sequence[DisplayPart], private: bool) -> Body:
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


def parts_of(block: Block) -> list[DisplayPart]:
    """What a block says in words, each part whole by itself."""
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


def _packed(parts: Iterable[DisplayPart]) -> list[list[DisplayPart]]:
    """The parts in as few messages as hold them."""
    packs: list[list[DisplayPart]] = [[]]
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


def _displays(pack: Sequence[DisplayPart]) -> Iterator[Body]:
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


# What a component's `custom_id` says beside its action: the server a private message belongs to, and "open the form".
#
# A direct message bears no server, so its buttons bear it: `@` and the numbers of server and channel, then `|`. A `+`
# before the action means that the question was read above, so the form is opened however much of it fits. No action
# begins with either, see `core.actions`.


_DIGITS = string.digits + string.ascii_letters
_PLACED = re.compile(r"@([0-9A-Za-z]{1,11})(?:\.([0-9A-Za-z]{1,11}))?\|(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pressed:
    """A `custom_id`, read. `guild` and `channel` are empty where it does not say them."""

    action: str
    guild: str = ""
    channel: str = ""
    opens: bool = False
    """Whether it asks for the form however much of its question fits."""


def read_custom_id(custom_id: str) -> Pressed:
    """What a `custom_id` says; one of nobody's making is all action."""
    guild = channel = ""
    if found := _PLACED.fullmatch(custom_id):
        guild, channel, custom_id = str(_number(found[1])), str(_number(found[2])) if found[2] else "", found[3]
    return Pressed(custom_id.removeprefix("+"), guild, channel, custom_id.startswith("+"))


def opening(action: str) -> str:
    """The `custom_id` of a button that opens the form of `action` whatever fits it; the action where it has no room."""
    return f"+{action}" if len(action) < MAX_LENGTH else action


def placed(custom_id: str, guild: str, channel: str = "") -> str:
    """The `custom_id` with the server it belongs to, as far as there is room; unchanged where there is none."""
    if not guild.isdecimal():
        return custom_id
    place = f"@{_short(int(guild))}"
    within = f"{place}.{_short(int(channel))}" if channel.isdecimal() else place
    fitting = [f"{each}|{custom_id}" for each in (within, place) if len(each) + 1 + len(custom_id) <= MAX_LENGTH]
    return fitting[0] if fitting else custom_id


def placed_body(body: dict[str, Any], guild: str, channel: str = "") -> dict[str, Any]:
    """A message or a modal, every `custom_id` that leads on with the server it belongs to."""
    return {key: _placed_in(key, value, guild, channel) for key, value in body.items()}


def _placed_in(key: str, value: Any, guild: str, channel: str) -> Any:
    if key == "custom_id":
        return placed(value, guild, channel)
    if key == "component":
        # A field of a modal: its id is the field's name.
        return value
    if isinstance(value, list):
        return [placed_body(item, guild, channel) if isinstance(item, dict) else item for item in value]
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


# Our messages as Discord takes and knows them: one key, one nonce, one pair of component ids. Pure.
#
# Discord makes one message of posts with the same `nonce` and `enforce_nonce` within a few minutes (docs, resources/
# message). Beyond those the message is known again by the ids of its first two components, which only we choose.


_NONCE: Final = 24
_COUNT_BITS: Final = 6
MOST_PARTS: Final = 40
"""Messages of one card that are told apart."""
_EPOCH_MS: Final = 1_420_070_400_000


def nonce_of(key: str) -> str:
    """At most 25 characters are taken, so a hash stands for the key."""
    return b32encode(hashlib.sha256(key.encode()).digest()).decode()[:_NONCE]


def ids_of(key: str, count: int = 1) -> tuple[int, int]:
    """Two component ids of 31 bits; the second says in its last six how many messages the card takes.

    Small ids are left to Discord, which numbers the other components with them.
    """
    digest = hashlib.sha256(key.encode()).digest()
    first, second = (int.from_bytes(digest[start : start + 4]) >> 1 | 1 << 20 for start in (0, 4))
    second = second >> _COUNT_BITS << _COUNT_BITS | min(count, MOST_PARTS)
    return first, second if second != first else second ^ 1 << 21


def part_keys(key: str, count: int) -> list[str]:
    """The key of each message of a card that takes several; of a single one the card's own."""
    return [key] if count == 1 else [f"{key}/{number}" for number in range(1, count + 1)]


def parts_of_card(card: Card, *, private: bool = False, guild: str = "", channel: str = "") -> list[Body]:
    """The bodies of a card; with `guild` each button says the server it belongs to."""
    found = bodies(card, private=private)
    return [placed_body(body, guild, channel) for body in found] if guild else found


def keyed(body: Body, key: str, count: int = 1) -> Body:
    """The body with its nonce and ids, so that it is made once and known again."""
    container, *rest = body["components"]
    text, *others = container["components"]
    first, second = ids_of(key, count)
    marked = {**container, "id": first, "components": [{**text, "id": second}, *others]}
    return {**body, "components": [marked, *rest], "nonce": nonce_of(key), "enforce_nonce": True}


class Marks:
    """Tells the messages made under a key among others."""

    def __init__(self, key: str) -> None:
        parts = [key, *(f"{key}/{number}" for number in range(1, MOST_PARTS + 1))]
        self._parts = {ids_of(part)[0]: (max(1, place), part) for place, part in enumerate(parts)}

    def read(self, message: Mapping[str, Any]) -> tuple[int, int] | None:
        """Which message of how many it is; None when it is none of them."""
        components = message.get("components") or [{}]
        inner = components[0].get("components") or [{}]
        first, second = components[0].get("id"), inner[0].get("id")
        if first not in self._parts or not isinstance(second, int):
            return None
        place, part = self._parts[first]
        count = second & (1 << _COUNT_BITS) - 1
        return (place, count) if ids_of(part, count) == (first, second) else None


def attached(card: Card, body: Body) -> list[discord.File]:
    """The files of the pictures a body shows."""
    import discord  # `bank preview` renders without it

    wanted = body.get("attachments") or ()
    shown: Sequence[bytes] = pictures(card) if wanted else ()
    return [
        discord.File(BytesIO(shown[int(one["id"])]), filename=one["filename"], description=one["description"])
        for one in wanted
    ]


def renumbered(body: Body) -> Body:
    """The body with its attachments counted from 0, as the files of one request are."""
    if not body.get("attachments"):
        return body
    return {**body, "attachments": [{**one, "id": str(place)} for place, one in enumerate(body["attachments"])]}


def multipart(body: Body, files: Iterable[discord.File]) -> list[dict[str, Any]]:
    """The parts of a request that carries files beside its body."""
    parts: list[dict[str, Any]] = [
        {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"}
    ]
    for place, file in enumerate(files):
        parts.append(
            {
                "name": f"files[{place}]",
                "value": file.fp,
                "filename": file.filename,
                "content_type": "image/png",
            }
        )
    return parts


def instant_ms(snowflake: str) -> int:
    """When an id was made, in milliseconds of Unix time: docs, reference, snowflakes."""
    return (int(snowflake) >> 22) + _EPOCH_MS


# What only Discord has to say: where the quiz lives, the way to a form, a file that cannot be read. Cards, as data.


_WAYS = {
    actions.Fill: "Or hand in a file: `/quiz answer` takes one. Or write the code in a message, point at it, and "
    "choose Apps → Answer with this.",
    actions.Snippet: "Or run a file: `/quiz run` takes one.",
    actions.Import: "Or hand in the document as a file: `/quiz-admin bank import` takes one.",
}


def home_card() -> Card:
    """A command in a direct message."""
    said = "The quiz lives in a server: type `/quiz` in one of its channels. Here you get what is for you alone."
    return Card("Not here", "The quiz lives in a server: type /quiz in one of its channels.", (Text(said),))


def stranger_card() -> Card:
    """A button in a direct message, of a server the member has left."""
    said = "You are not in that server any more, so nothing was done."
    return Card("Not any more", said, (Text(said),))


def form_card(form: Form) -> Card:
    """A form as a message with the way to it: it came too late for a window, or its question is longer than one."""
    blocks: list[Block] = [*form.blocks]
    for field in form.fields:
        if isinstance(field, PickField):
            blocks += [Text(label) for _, label in field.options]
    if way := _way(form):
        blocks.append(Small(way))
    button = Button(_label(form), opening(form.action), "primary")
    return Card(
        form.title, f"{form.title}. A button opens the window to fill in.", tuple(blocks), (button,), form.links
    )


def _label(form: Form) -> str:
    return "Write the answer" if any(isinstance(field, TextField) for field in form.fields) else "Choose"


def _way(form: Form) -> str:
    try:
        action = decode(form.action)
    except BadAction:
        return ""
    code = any(isinstance(field, TextField) and field.code for field in form.fields)
    return _WAYS.get(type(action), "") if code or isinstance(action, actions.Import) else ""


def file_card(name: str, why: str) -> Card:
    """A file that cannot be taken; `why` is a sentence of ours."""
    said = f"The file {escape(name)} could not be taken. {why}"
    return Card("That did not work", said, (Text(said),))


def note_card(name: str) -> Card:
    """For all to read, so it says nothing of what was asked: a private reply found no way."""
    said = (
        f"{escape(name)}, a private reply to you came too late for Discord and you take no direct messages here. "
        "Nothing you did is lost: type `/quiz today` to see where you stand."
    )
    return Card(
        "A reply waits", f"{name}, a private reply to you could not be delivered. Type /quiz today.", (Text(said),)
    )
