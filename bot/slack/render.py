"""A card as the bodies of Slack messages. Pure: plain data, no library, no network; a form is `views`' business.

Texts are rich text or plain and never `mrkdwn`, so that a member's words are shown as they are. An action goes whole
into a button's `action_id` and `value`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bot.core.cards import Bar, Bars, Block, Button, Card, Code, Link, Options, Picture, Small, Table, Text
from bot.core.markup import escape, parse, to_plain
from bot.core.markup.parser import clean
from bot.core.markup.plain import Style
from bot.core.markup.runs import StyledRun, code_parts, units, visible
from bot.core.markup.slack import Element, Grid, escaped, preformatted, section, table_block, table_lines, to_slack
from bot.core.rendering import bar_cells, bar_words, distinct, line_of, reachable, table_aligns, table_rows

# What Slack's blocks say as plain text: all that a notification shows and a screen reader reads of a message.


BlockBody = dict[str, Any]


def plain_of(blocks: list[BlockBody]) -> str:
    """The words of the blocks, a line or more for each; buttons are named in brackets."""
    return "\n".join(said for block in blocks if (said := _said(block).strip()))


def _said(block: BlockBody) -> str:
    match block["type"]:
        case "header":
            return str(block["text"]["text"])
        case "context":
            return " ".join(str(element["text"]) for element in block["elements"])
        case "rich_text":
            return "\n".join(_rich(element) for element in block["elements"])
        case "table":
            return "\n".join(" · ".join(str(cell["text"]) for cell in row) for row in block["rows"])
        case "actions":
            return "   ".join(_pressed(element) for element in block["elements"])
        case "image":
            return f"[picture: {block['alt_text']}]"
        case _:
            return f"{block['label']['text']}:"


def _pressed(button: BlockBody) -> str:
    opens = f" ({button['url']})" if "url" in button else ""
    return f"[{button['text']['text']}]{opens}"


def _rich(element: BlockBody) -> str:
    if element["type"] == "rich_text_list":
        marks = [
            f"{place}." if element["style"] == "ordered" else "•" for place in range(1, len(element["elements"]) + 1)
        ]
        indent = "  " * int(element.get("indent", 0))
        return "\n".join(f"{indent}{mark} {_rich(item)}" for mark, item in zip(marks, element["elements"], strict=True))
    return "".join(_run(run) for run in element["elements"])


def _run(run: BlockBody) -> str:
    text = str(run.get("text", run.get("url", "")))
    if run["type"] == "link" and text != run["url"]:
        text = f"{text} ({run['url']})"
    # Where no line goes through the words, they must not read as if they held.
    return f"[struck out: {text}]" if run.get("style", {}).get("strike") else text


Body = dict[str, Any]
Part = Body | Grid

HEADER = 150
LINK = "link:"
"""How the `action_id` of a button that only opens a page begins: its press needs an acknowledgement and no answer."""

_MAX_BLOCKS = 45
_MAX_BYTES = 11_000
_RICH_BYTES = 6_000
_MAX_TEXT = 3_900
_LABEL = 75
_MAX_ACTIONS = 20
_MAX_ALT = 2_000
_CONTEXT = 2_800
_PICTURE = "picture "
_ELSEWHERE = " … The rest stands in the message itself."


def bodies(card: Card) -> list[Body]:
    """The messages that say the card, in order; the last bears the buttons.

    A picture is an image block whose file is named `picture N`, and its bytes are `pictures(card)[N]`: upload those
    that `pictured(body)` names, then send `filed(body, …)`.
    """
    packs = _packed([*parts_of(_numbered(card.blocks)), *actions_of(card.buttons, card.links)])
    title = line_of(card.title, HEADER)
    heads = [header(title), *(context(f"{title} · {place} of {len(packs)}") for place in range(2, len(packs) + 1))]
    return [
        _body([head, *pack], "" if place else card.summary)
        for place, (head, pack) in enumerate(zip(heads, packs, strict=True))
    ]


def pictures(card: Card) -> list[bytes]:
    """The PNGs of the card, in the order in which its bodies number them."""
    return [block.png for block in card.blocks if isinstance(block, Picture)]


def pictured(body: Body) -> list[int]:
    """The numbers of the pictures that a body shows."""
    files = [block["slack_file"]["id"] for block in body["blocks"] if block["type"] == "image"]
    return [int(file.removeprefix(_PICTURE)) for file in files]


def filed(body: Body, files: Mapping[int, str]) -> Body:
    """The body with the ids of uploaded files in place of the numbers of its pictures."""
    return {**body, "blocks": [_filed(block, files) for block in body["blocks"]]}


def _filed(block: Body, files: Mapping[int, str]) -> Body:
    if block["type"] != "image":
        return block
    number = int(block["slack_file"]["id"].removeprefix(_PICTURE))
    return {**block, "slack_file": {"id": files[number]}}


def _numbered(blocks: Iterable[Block]) -> Iterator[Block | Body]:
    """The blocks, each picture as its image block."""
    number = 0
    for block in blocks:
        if isinstance(block, Picture):
            alt = line_of(block.alt, _MAX_ALT)
            yield {"type": "image", "slack_file": {"id": f"{_PICTURE}{number}"}, "alt_text": alt}
            number += 1
        else:
            yield block


def _body(blocks: list[Body], summary: str) -> Body:
    said = plain_of(blocks)
    return {
        "text": _fallback(f"{summary}\n\n{said}" if visible(summary) else said),
        "blocks": blocks,
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _fallback(said: str) -> str:
    text = escaped(said)
    if units(text) <= _MAX_TEXT:
        return text
    first = code_parts(clean(said), lambda part: units(escaped(part)), _MAX_TEXT - len(_ELSEWHERE))[0]
    return escaped(first) + _ELSEWHERE


def plain(text: str) -> Body:
    """A text that nothing is read in."""
    return {"type": "plain_text", "text": text, "emoji": False}


def header(title: str) -> Body:
    """A heading of at most `HEADER` characters."""
    return {"type": "header", "text": plain(title)}


def context(text: str) -> Body:
    """A quiet line."""
    return {"type": "context", "elements": [plain(text)]}


def parts_of(blocks: Iterable[Block | Body]) -> list[Part]:
    """What the blocks say, in Slack's blocks and tables. A picture that is no block yet is said in words."""
    found: list[Part] = []
    for block in blocks:
        found += [block] if isinstance(block, dict) else _part(block)
    return found


def _part(block: Block) -> list[Part]:
    match block:
        case Text(markdown):
            return text_parts(markdown)
        case Small(markdown):
            return _quiet(markdown)
        case Code(text, language):
            return [*rich(preformatted(text, language))]
        case Options(rows):
            return [part for row in rows for part in _option(row.letter, row.markdown)]
        case Bars(rows):
            return [*rich([_bar(row) for row in rows])]
        case Table():
            return _table(block)
        case Picture(alt=alt):
            return text_parts(escape(alt))


def text_parts(markdown: str) -> list[Part]:
    """A Markdown text in Slack's blocks and tables."""
    return _mixed(to_slack(parse(markdown)))


def _mixed(elements: Iterable[Element | Grid]) -> list[Part]:
    """Elements in blocks, tables between them."""
    found: list[Part] = []
    held: list[Element] = []
    for element in elements:
        if isinstance(element, Grid):
            found += [*rich(held), element]
            held = []
        else:
            held.append(element)
    return [*found, *rich(held)]


def rich(elements: Sequence[Element]) -> list[Body]:
    """Elements in as few blocks as hold them; a line between two paragraphs."""
    blocks: list[list[Element]] = [[]]
    used = 0
    for element in elements:
        size = byte_size(element)
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
    return [context(part) for part in code_parts(said, units, _CONTEXT) if visible(part)]


def _option(letter: str, markdown: str) -> list[Part]:
    first, *rest = to_slack(parse(markdown)) or [section([StyledRun("–")])]
    named = section([StyledRun(line_of(letter, 10), Style.BOLD), StyledRun("  ")])
    if isinstance(first, dict) and first["type"] == "rich_text_section":
        return _mixed([{**named, "elements": [*named["elements"], *first["elements"]]}, *rest])
    return _mixed([named, first, *rest])


def _bar(row: Bar) -> Element:
    numbers, label = bar_words(row)
    return section([StyledRun(f"{bar_cells(row)} {numbers} {label}")])


def _table(table: Table) -> list[Part]:
    caption = rich([section([StyledRun(clean(table.caption), Style.BOLD)])]) if visible(table.caption) else []
    return [*caption, Grid(table_rows(table), table_aligns(table))]


def _packed(parts: Iterable[Part]) -> list[list[Body]]:
    """The blocks in as few messages as hold them, one table of Slack's own in each."""
    packs: list[list[Body]] = [[]]
    used = 0
    for part in parts:
        for block in _resolved(part, packs[-1]):
            size = byte_size(block)
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
    return rich(table_lines(part)) if table is None else [table]


def byte_size(data: Body) -> int:
    """How much of a message's room it takes."""
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def actions_of(buttons: Iterable[Button], links: Iterable[Link] = ()) -> list[Body]:
    """Buttons, and after them the ones that open a page."""
    elements = [*map(_button, distinct(buttons)), *(_link(place, link) for place, link in enumerate(reachable(links)))]
    return [
        {"type": "actions", "elements": elements[start : start + _MAX_ACTIONS]}
        for start in range(0, len(elements), _MAX_ACTIONS)
    ]


def _button(button: Button) -> Body:
    # The present answer stands out, and its label says so in words.
    style = "primary" if button.pressed else button.style
    return {
        "type": "button",
        "text": plain(line_of(button.label, _LABEL)),
        "action_id": button.action,
        "value": button.action,
        **({} if style == "plain" else {"style": style}),
    }


def _link(place: int, link: Link) -> Body:
    label = plain(line_of(link.label, _LABEL))
    return {"type": "button", "text": label, "action_id": f"{LINK}{place}", "url": link.url}
