"""Renders a tree as Slack's rich text blocks, in which text is never read as markup, a mention or an entity.

Lists and quotes can only contain inline elements in Slack, so code and tables are placed between their parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.limits import SLACK
from bot.core.markup import tree
from bot.core.markup.parser import clean
from bot.core.markup.plain import Style
from bot.core.markup.runs import StyledRun, code_parts, runs_of, split_runs, table_parts, visible, words

Element = dict[str, Any]

ROOM = SLACK.context_text - 200
"""Bytes of an element's text: Slack names no limit for rich text, and 3,000 characters everywhere else."""

# The languages named in Slack's documentation; it does not say what happens with others.
_LANGUAGES = {"python": "python", "py": "python", "python3": "python", "javascript": "javascript", "json": "json"}
_STYLES = {Style.BOLD: "bold", Style.ITALIC: "italic", Style.STRIKE: "strike", Style.CODE: "code"}
_DATED, _TIME, _PRECISE = "{date_long_pretty}, {time}", "{time}", "{time_secs}"
"""How Slack shows an instant, in the reader's time zone: `tomorrow, 9:00 AM`."""
_MAX_INDENT = 5
"""Depth from which lists are indented no further."""
_RUN_BYTES = 60
"""JSON around the text of one styled run, bytes."""
_MAX_TABLE = 6000
"""Largest table that is sent as one, bytes of JSON."""
_EMPTY_CELL = "–"
RULE = "─" * 15
"""A line between paragraphs, as characters."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of plain texts. A message accepts one table block; further tables become monospaced lines."""

    rows: tuple[tuple[str, ...], ...]
    """The first is the header."""
    aligns: tuple[tree.Align, ...]


def to_slack(document: tree.MarkdownDocument) -> list[Element | Grid]:
    """Returns the elements of rich text blocks and the tables between them, in order."""
    return [part for block in document.blocks for part in _block(block)]


def escaped(plain: str) -> str:
    """Escapes plain text for a message's `text`, the one field in which Slack reads entities."""
    return clean(plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def section(runs: Sequence[StyledRun]) -> Element:
    """Returns a section of text."""
    return {"type": "rich_text_section", "elements": _elements(runs)}


def preformatted(source: str, language: str = "") -> list[Element]:
    """Returns code, split between lines if it is long."""
    text = clean(source).rstrip("\n").expandtabs(4)
    named = {"language": _LANGUAGES[language]} if language in _LANGUAGES else {}
    return [
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": part or " "}], **named}
        for part in code_parts(text, _bytes, ROOM)
    ]


def table_block(grid: Grid) -> Element | None:
    """Returns a table block, or None if the table is too large for one."""
    rows = [[{"type": "raw_text", "text": _cell(cell)} for cell in row] for row in grid.rows]
    large = len(rows) > SLACK.table_rows or len(grid.aligns) > SLACK.table_columns
    if large or sum(_bytes(cell["text"]) + 40 for row in rows for cell in row) > _MAX_TABLE:
        return None
    settings = [{"align": align.value, "is_wrapped": True} for align in grid.aligns]
    return {"type": "table", "column_settings": settings, "rows": rows}


def table_lines(grid: Grid) -> list[Element]:
    """Renders a table as monospaced lines."""
    rows = [[_cell(cell) for cell in row] for row in grid.rows]
    return [part for text in table_parts(rows, grid.aligns, _bytes, ROOM) for part in preformatted(text)]


def _cell(text: str) -> str:
    line = " ".join(clean(text).split())
    return line if visible(line) else _EMPTY_CELL


def _block(block: tree.Block) -> list[Element | Grid]:
    match block:
        case tree.Paragraph(children):
            return [section(part) for part in _paragraph(children)]
        case tree.Heading(_, children):
            bold = [run._replace(style=run.style | Style.BOLD) for run in runs_of(children)]
            return [section(part) for part in split_runs(bold, cost, ROOM)]
        case tree.List():
            return list(_list(block, 0))
        case tree.Quote(blocks):
            return list(_quote(blocks))
        case tree.CodeBlockNode(source, language):
            return [*preformatted(source, language)]
        case tree.TableNode(header, rows, aligns):
            texts = tuple(tuple(words(runs_of(cell)) for cell in row) for row in (header, *rows))
            return [Grid(texts, aligns)]
        case tree.Rule():
            return [section([StyledRun(RULE)])]


def _paragraph(children: tree.Inlines, room: int = ROOM) -> list[list[StyledRun]]:
    return split_runs(runs_of(children), cost, room)


def _quote(blocks: tree.Blocks) -> Iterator[Element | Grid]:
    for block in blocks:
        for part in _block(block):
            if isinstance(part, dict) and part["type"] == "rich_text_section":
                part = {**part, "type": "rich_text_quote"}
            yield part


def _list(block: tree.List, depth: int) -> Iterator[Element | Grid]:
    """Renders a list. Slack numbers from one, so lists with other numbers get them as text."""
    plain = all(len(item) == 1 and isinstance(item[0], tree.Paragraph) for item in block.items)
    style = "bullet" if block.start is None else "ordered" if block.start == 1 and plain else ""
    held: list[Element] = []
    used = 0
    for place, item in enumerate(block.items):
        mark = "" if style else f"{(block.start or 0) + place}. "
        for part in _item(item, mark, depth):
            size = 0 if isinstance(part, Grid) else _size(part)
            whole = isinstance(part, Grid) or part["type"] != "rich_text_section"
            if held and (whole or (used + size > ROOM and style != "ordered")):
                yield _items(held, style, depth)
                held, used = [], 0
            if whole:
                yield part
            else:
                assert isinstance(part, dict)
                held.append(part)
                used += size
    if held:
        yield _items(held, style, depth)


def _items(sections: list[Element], style: str, depth: int) -> Element:
    indent = min(depth, _MAX_INDENT)
    if style:
        return {"type": "rich_text_list", "style": style, "indent": indent, "elements": sections}
    elements: list[Element] = []
    for one in sections:
        before = "\n" if elements else ""
        elements += [{"type": "text", "text": before + "    " * indent}] * bool(before or indent) + one["elements"]
    return {"type": "rich_text_section", "elements": elements}


def _item(blocks: tree.Blocks, mark: str, depth: int) -> Iterator[Element | Grid]:
    first = [StyledRun(mark)] if mark else []
    for block in blocks:
        if isinstance(block, tree.Paragraph | tree.Heading):
            for part in _paragraph(block.children, ROOM - 40):
                yield section([*first, *part])
                first = []
        else:
            if first:
                yield section(first)
                first = []
            yield from _list(block, depth + 1) if isinstance(block, tree.List) else _block(block)


def _elements(runs: Iterable[StyledRun]) -> list[Element]:
    found: list[Element] = []
    for run in runs:
        style = {name: True for mark, name in _STYLES.items() if mark in run.style}
        more: Element = {"style": style} if style else {}
        if run.instant is not None:
            form = _DATED if run.instant.dated else _PRECISE if run.instant.precise else _TIME
            found.append(
                {"type": "date", "timestamp": run.instant.seconds, "format": form, "fallback": run.text, **more}
            )
        elif run.url:
            label = {"text": run.text} if visible(run.text) and run.text != run.url else {}
            found.append({"type": "link", "url": run.url, **label, **more})
        elif found and found[-1]["type"] == "text" and found[-1].get("style", {}) == style:
            found[-1] = {**found[-1], "text": found[-1]["text"] + run.text}
        else:
            found.append({"type": "text", "text": run.text, **more})
    return found


def cost(run: StyledRun) -> int:
    """Returns the size of a run in a section, bytes."""
    return _bytes(run.text) + _RUN_BYTES * (run.text != "\n") + _bytes(run.url)


def _size(element: Element) -> int:
    return sum(
        _bytes(part.get("text", part.get("fallback", ""))) + _bytes(part.get("url", "")) + _RUN_BYTES
        for part in element["elements"]
    )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
