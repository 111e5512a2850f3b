"""Renders a card as Slack messages. Pure: plain data, no network. `views` renders forms.

Texts are rich text or plain text, never `mrkdwn`, so that members' text appears exactly as typed. An action is stored
whole in a button's `action_id` and `value`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.cards import Bar, Bars, Block, Button, Card, Code, Link, Options, Picture, Small, Table, Text
from bot.core.limits import SLACK
from bot.core.markup import escape, parse, to_plain
from bot.core.markup.parser import clean
from bot.core.markup.plain import Style
from bot.core.markup.runs import StyledRun, code_parts, units, visible
from bot.core.markup.slack import (
    RULE,
    Element,
    Grid,
    escaped,
    preformatted,
    section,
    table_block,
    table_lines,
    to_slack,
)
from bot.core.rendering import bar_cells, bar_words, distinct, line_of, reachable, table_aligns, table_rows
from bot.slack.charts import CHART, chart_block

Body = dict[str, Any]
BlockBody = dict[str, Any]
LINK = "link:"
"""Prefix of a link button's `action_id`: a click on it needs an acknowledgement and no reply."""
_MAX_BLOCKS = SLACK.message_blocks - 5
# Slack documents no limit of the blocks as JSON; `msg_blocks_too_long` was seen from 13,200 characters on.
_MAX_BYTES = 11_000
_RICH_BYTES = 6_000
"""Largest rich text block, bytes of JSON."""
_MAX_TEXT = SLACK.message_text - 100
"""Longest text of a section, UTF-16 units, below Slack's limit."""
_MAX_ACTIONS = 20
"""Buttons in a row of actions."""
_CONTEXT = SLACK.context_text - 200
"""Longest small print in one block, UTF-16 units, below Slack's limit."""
_RICH_ONLY = re.compile(r'"type": "(link|date)"')
_PICTURE = "picture "
_ELSEWHERE = " … The rest is in the message itself."


@dataclass(frozen=True, slots=True)
class Spoken:
    """A drawing in characters, and the words that a screen reader says in its place."""

    block: Body
    words: str


Part = Body | Grid | Spoken


def bodies(card: Card) -> list[Body]:
    """Returns the messages of a card, in order; the last has the buttons.

    A picture is an image block with the file `picture N`; its bytes are `card.pictures[N]`. Upload those that
    `picture_numbers(body)` lists, then send `with_uploads(body, …)`.
    """
    packs = _packed(
        [
            *parts_of(_with_native_blocks(card.blocks)),
            *_mention(card),
            *actions_of(card.buttons, card.links, card.blocks),
            *_feedback(card),
        ]
    )
    title = line_of(card.title, SLACK.header)
    heads = [header(title), *(context(f"{title} · {place} of {len(packs)}") for place in range(2, len(packs) + 1))]
    return [
        _body([head, *pack], "" if place else card.summary)
        for place, (head, pack) in enumerate(zip(heads, packs, strict=True))
    ]


def _mention(card: Card) -> list[Body]:
    """Returns the mention of the user group that the card notifies. A Discord role does not count."""
    if not card.ping.startswith("S"):
        return []
    return rich([{"type": "rich_text_section", "elements": [{"type": "usergroup", "usergroup_id": card.ping}]}])


def _feedback(card: Card) -> list[Body]:
    """Returns the question about what the card shows, and its two answers as Slack's buttons for feedback.

    The answers go in the values, because the two share an `action_id`.
    """
    if card.feedback is None:
        return []
    sides = {"positive_button": card.feedback.good, "negative_button": card.feedback.poor}
    buttons = {side: _feedback_button(button) for side, button in sides.items()}
    element = {"type": "feedback_buttons", "action_id": card.feedback.good.action, **buttons}
    return [
        context(line_of(card.feedback.question, SLACK.button_label)),
        {"type": "context_actions", "elements": [element]},
    ]


def _feedback_button(button: Button) -> Body:
    label = line_of(button.label, SLACK.button_label)
    return {"text": plain(label), "value": button.action, "accessibility_label": label}


def picture_numbers(body: Body) -> list[int]:
    """Returns the numbers of the pictures in a body."""
    files = [block["slack_file"]["id"] for block in body["blocks"] if block["type"] == "image"]
    return [int(file.removeprefix(_PICTURE)) for file in files]


def with_uploads(body: Body, files: Mapping[int, str]) -> Body:
    """Returns the body with the ids of uploaded files in place of the pictures' numbers."""
    return {**body, "blocks": [_with_upload(block, files) for block in body["blocks"]]}


def _with_upload(block: Body, files: Mapping[int, str]) -> Body:
    if block["type"] != "image":
        return block
    number = int(block["slack_file"]["id"].removeprefix(_PICTURE))
    return {**block, "slack_file": {"id": files[number]}}


def _with_native_blocks(blocks: Iterable[Block]) -> Iterator[Block | Body]:
    """Yields the blocks, pictures as numbered image blocks, and distributions as charts where they fit."""
    number = 0
    for block in blocks:
        if isinstance(block, Picture):
            alt = line_of(block.alt, SLACK.alt_text)
            yield {"type": "image", "slack_file": {"id": f"{_PICTURE}{number}"}, "alt_text": alt}
            number += 1
        elif isinstance(block, Bars) and (chart := chart_block(block)):
            yield chart
            yield from rich([section([StyledRun(" ".join(bar_words(row)))]) for row in block.rows])
        else:
            yield block


def _body(parts: list[Body | Spoken], summary: str) -> Body:
    fallback = fallback_text(parts)
    return {
        "text": _fallback(f"{summary}\n\n{fallback}" if visible(summary) else fallback),
        "blocks": [part.block if isinstance(part, Spoken) else part for part in parts],
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _fallback(content: str) -> str:
    text = escaped(content)
    if units(text) <= _MAX_TEXT:
        return text
    first = code_parts(clean(content), lambda part: units(escaped(part)), _MAX_TEXT - len(_ELSEWHERE))[0]
    return escaped(first) + _ELSEWHERE


def plain(text: str) -> Body:
    """Returns a plain text object, in which nothing is markup."""
    return {"type": "plain_text", "text": text, "emoji": False}


def header(title: str) -> Body:
    """Returns a header block; the title may have `SLACK.header` characters."""
    return {"type": "header", "text": plain(title)}


def context(text: str) -> Body:
    """Returns a context block: a line in small print."""
    return {"type": "context", "elements": [plain(text)]}


def parts_of(blocks: Iterable[Block | Body]) -> list[Part]:
    """Renders blocks as Slack blocks and tables. A picture without an image block becomes its alt text."""
    found: list[Part] = []
    for block in blocks:
        found += [block] if isinstance(block, dict) else _part(block)
    return found


def _part(block: Block) -> list[Part]:
    match block:
        case Text(markdown):
            return text_parts(markdown)
        case Small(markdown):
            return _small_print(markdown)
        case Code(text, language):
            return [*rich(preformatted(text, language))]
        case Options(rows):
            return [part for row in rows for part in _option(row.letter, row.markdown)]
        case Bars(rows):
            return [*spoken(rich([_bar(row) for row in rows]), "\n".join(" ".join(bar_words(row)) for row in rows))]
        case Table():
            return _table(block)
        case Picture(alt=alt):
            return text_parts(escape(alt))


def text_parts(markdown: str) -> list[Part]:
    """Renders Markdown as Slack blocks and tables."""
    return _mixed(to_slack(parse(markdown)))


def _mixed(elements: Iterable[Element | Grid]) -> list[Part]:
    """Groups elements into blocks, with tables between them."""
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
    """Packs elements into as few blocks as possible, with an empty line between paragraphs."""
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


def _small_print(markdown: str) -> list[Part]:
    """Renders small print as context blocks; as rich text if it has a link, an instant or a table, which plain text
    cannot hold."""
    elements = to_slack(parse(markdown))
    if any(isinstance(element, Grid) or _RICH_ONLY.search(json.dumps(element)) for element in elements):
        return _mixed(elements)
    text = to_plain(parse(markdown), 10_000)
    return [context(part) for part in code_parts(text, units, _CONTEXT) if visible(part)]


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


def spoken(blocks: Sequence[Body], words: str) -> list[Spoken]:
    """Returns drawings in characters; the first says the words of all."""
    return [Spoken(block, "" if place else words) for place, block in enumerate(blocks)]


def drawn(part: Part) -> list[Body | Spoken]:
    """Returns a part as blocks, a table as lines."""
    if not isinstance(part, Grid):
        return [part]
    return [*spoken(rich(table_lines(part)), _rows(part.rows))]


def _packed(parts: Iterable[Part]) -> list[list[Body | Spoken]]:
    """Distributes blocks over as few messages as possible. Slack allows one table block and two
    charts per message; the numbers of a chart are beneath it."""
    packs: list[list[Body | Spoken]] = [[]]
    used = 0
    for part in parts:
        for block in _resolved(part, packs[-1]):
            size = byte_size(block.block if isinstance(block, Spoken) else block)
            if packs[-1] and (used + size > _MAX_BYTES or len(packs[-1]) >= _MAX_BLOCKS):
                packs.append([])
                used = 0
            packs[-1].append(block)
            used += size
    return packs


def _resolved(part: Part, pack: Sequence[Body | Spoken]) -> list[Body | Spoken]:
    if isinstance(part, dict) and part["type"] == CHART:
        charts = sum(isinstance(block, dict) and block["type"] == CHART for block in pack)
        return [part] if charts < SLACK.message_charts else []
    taken = any(isinstance(block, dict) and block["type"] == "table" for block in pack)
    table = table_block(part) if isinstance(part, Grid) and not taken else None
    return drawn(part) if table is None else [table]


def byte_size(data: Body) -> int:
    """Returns the size of JSON data, bytes."""
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def actions_of(buttons: Iterable[Button], links: Iterable[Link] = (), around: Iterable[Block] = ()) -> list[Body]:
    """Renders buttons, followed by link buttons.

    The button of a letter is read aloud with its option, which is found in the blocks `around` it.
    """
    rows = [row for block in around if isinstance(block, Options) for row in block.rows]
    options = {row.letter: " ".join(to_plain(parse(row.markdown), 10_000).split()) for row in rows}
    elements = [
        *(_button(button, options.get(button.label.partition(" ")[0], "")) for button in distinct(buttons)),
        *(_link(place, link) for place, link in enumerate(reachable(links))),
    ]
    return [
        {"type": "actions", "elements": elements[start : start + _MAX_ACTIONS]}
        for start in range(0, len(elements), _MAX_ACTIONS)
    ]


def _button(button: Button, option: str) -> Body:
    # The current answer is highlighted, and its label says so too.
    style = "primary" if button.pressed else button.style
    return {
        "type": "button",
        "text": plain(line_of(button.label, SLACK.button_label)),
        "action_id": button.action,
        "value": button.action,
        **({"accessibility_label": line_of(f"{button.label}: {option}", SLACK.button_label)} if option else {}),
        **({} if style == "plain" else {"style": style}),
    }


def _link(place: int, link: Link) -> Body:
    label = plain(line_of(link.label, SLACK.button_label))
    return {"type": "button", "text": label, "action_id": f"{LINK}{place}", "url": link.url}


# Fallback text, which notifications show and screen readers read


def fallback_text(blocks: Iterable[BlockBody | Spoken]) -> str:
    """Returns the text of blocks, at least one line each; buttons are in brackets."""
    return "\n".join(line for block in blocks if (line := _block_text(block).strip()))


def _rows(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(" · ".join(" ".join(clean(cell).split()) for cell in row) for row in rows)


def _block_text(block: BlockBody | Spoken) -> str:
    if isinstance(block, Spoken):
        return block.words
    match block["type"]:
        case "header":
            return str(block["text"]["text"])
        case "context":
            return " ".join(str(element["text"]) for element in block["elements"])
        case "rich_text":
            return "\n".join(_rich(element) for element in block["elements"])
        case "table":
            return _rows([str(cell["text"]) for cell in row] for row in block["rows"])
        case "actions":
            return "   ".join(_pressed(element) for element in block["elements"])
        case "data_visualization":
            return ""
        case "context_actions":
            return "   ".join(
                f"[{element[side]['text']['text']}]"
                for element in block["elements"]
                for side in ("positive_button", "negative_button")
            )
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
    text = str(run.get("text", run.get("fallback", run.get("url", ""))))
    if text == RULE:
        return ""
    if run["type"] == "link" and text != run["url"]:
        text = f"{text} ({run['url']})"
    # Plain text has no strikethrough, so say it: the words must not read as valid.
    return f"[struck out: {text}]" if run.get("style", {}).get("strike") else text
