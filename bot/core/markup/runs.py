"""Flattens inline elements to styled runs, and splits texts to a size. For chats that limit their messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from wcwidth import iter_graphemes

from bot.core.markup import tree
from bot.core.markup.math import to_unicode
from bot.core.markup.plain import Style, StyledText, as_text, table_lines

_STYLES: dict[type[tree.Inline], Style] = {
    tree.Strong: Style.BOLD,
    tree.Emphasis: Style.ITALIC,
    tree.Strike: Style.STRIKE,
}
_TOKENS = re.compile(r"\s*\S+|\s+")
TABLE_WIDTH = 56
"""Width of a monospaced table, columns: fits a phone held sideways and a narrow window."""


class StyledRun(NamedTuple):
    """Text in one style; `url` is set for links, `instant` for instants, `mention` for channels and members.

    A line feed is a line break.
    """

    text: str
    style: Style = Style.PLAIN
    url: str = ""
    instant: tree.Instant | None = None
    mention: tree.Mention | None = None


Cost = Callable[[StyledRun], int]


def units(text: str) -> int:
    """Counts UTF-16 code units, as chat clients do."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def visible(text: str) -> bool:
    """Returns whether a text has visible characters: chats refuse texts of spaces and zero-width characters."""
    return any(not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc", "Mn", "Me") for c in text)


def runs_of(inlines: tree.Inlines) -> list[StyledRun]:
    """Flattens inlines to runs. Neither runs nor lines are empty."""
    found: list[StyledRun] = []
    for run in _flat(inlines, Style.PLAIN, ""):
        if run.text == "\n" and (not found or found[-1].text == "\n"):
            continue
        last = found[-1] if found else None
        if last is not None and run.text != "\n" and last.text != "\n" and last[1:] == run[1:]:
            found[-1] = last._replace(text=last.text + run.text)
        elif run.text:
            found.append(run)
    if found and found[-1].text == "\n":
        found.pop()
    return found if visible(words(found)) else []


def words(runs: Iterable[StyledRun]) -> str:
    """Returns the text of runs. Struck-out text is labeled, so that it does not read as valid."""
    return "".join(f"[struck out: {run.text}]" if Style.STRIKE in run.style else run.text for run in runs)


def _flat(inlines: tree.Inlines, style: Style, url: str) -> Iterator[StyledRun]:
    for inline in inlines:
        match inline:
            case tree.TextNode(text):
                yield StyledRun(text, style, url)
            case tree.CodeSpan(text):
                yield StyledRun(text, style | Style.CODE, url)
            case tree.Math():
                yield from _math(inline, style, url)
            case tree.Break():
                yield StyledRun("\n")
            case tree.Instant(text=text):
                yield StyledRun(text, style, instant=inline)
            case tree.Mention(text=text):
                yield StyledRun(text, style, mention=inline)
            case tree.LinkNode(target, children):
                yield from _flat(children, style, target)
            case tree.Strong(children) | tree.Emphasis(children) | tree.Strike(children):
                yield from _flat(children, style | _STYLES[type(inline)], url)


def _math(math: tree.Math, style: Style, url: str) -> Iterator[StyledRun]:
    rows = to_unicode(math.source).split("\n")
    if not math.display:
        yield StyledRun("; ".join(rows), style, url)
        return
    for row in ("", *rows, ""):
        if row:
            yield StyledRun(row, style, url)
        yield StyledRun("\n")


def split_runs(runs: Sequence[StyledRun], cost: Cost, room: int) -> list[list[StyledRun]]:
    """Splits runs into parts that cost at most `room` each, between words; longer words between graphemes."""
    parts: list[list[StyledRun]] = [[]]
    used = 0
    for run in runs:
        for piece in _pieces(run, cost, room):
            price = cost(piece)
            if parts[-1] and used + price > room:
                parts.append([])
                used = 0
                piece = piece._replace(text=piece.text.lstrip())
            if piece.text:
                _add(parts[-1], piece)
                used += price
    return [part for part in parts if visible(words(part))]


def _add(part: list[StyledRun], piece: StyledRun) -> None:
    """Appends a piece, joining pieces of one run: a mention must not slip through by being split."""
    last = part[-1] if part else None
    if last is not None and last[1:] == piece[1:] and "\n" not in (last.text, piece.text):
        part[-1] = last._replace(text=last.text + piece.text)
    else:
        part.append(piece)


def _pieces(run: StyledRun, cost: Cost, room: int) -> Iterator[StyledRun]:
    if run.instant is not None or run.mention is not None or cost(run) <= room // 2:
        yield run
        return
    for token in _TOKENS.findall(run.text):
        word = run._replace(text=token)
        # A character may cost more next to others than alone, so parts of a word leave room.
        short = room * 3 // 5
        for text in [token] if cost(word) <= room else _cut(token, lambda text: cost(run._replace(text=text)), short):
            yield run._replace(text=text)


def _cut(text: str, cost: Callable[[str], int], room: int) -> list[str]:
    """Splits a text without spaces between graphemes."""
    # A grapheme with a thousand combining marks is split too.
    characters = [part for shown in iter_graphemes(text) for part in ([shown] if cost(shown) <= room else shown)]
    overhead = cost("")
    pieces, piece, used = [], "", overhead
    for character in characters:
        price = cost(character) - overhead
        if piece and used + price > room:
            pieces.append(piece)
            piece, used = "", overhead
        piece += character
        used += price
    return [*pieces, piece]


def code_parts(source: str, size: Callable[[str], int], room: int) -> list[str]:
    """Splits code into parts of at most `room`, between lines; longer lines are split too."""
    parts: list[list[str]] = [[]]
    used = 0
    for whole in source.split("\n"):
        for line in [whole] if size(whole) < room else _cut(whole, size, room - 1):
            price = size(line) + 1
            if parts[-1] and used + price > room:
                parts.append([])
                used = 0
            parts[-1].append(line)
            used += price
    return ["\n".join(part) for part in parts]


def table_text(rows: Sequence[Sequence[str]], aligns: Sequence[tree.Align]) -> str:
    """Renders a table as monospaced lines; the first row is its header."""
    return as_text(table_lines([[[StyledText(cell)] for cell in row] for row in rows], aligns, TABLE_WIDTH))


def table_parts(
    rows: Sequence[Sequence[str]], aligns: Sequence[tree.Align], size: Callable[[str], int], room: int
) -> list[str]:
    """Renders a table as monospaced texts of at most `room`, each with the header."""
    text = table_text(rows, aligns)
    # Splitting counts the end of the last line too.
    if size(text) < room or len(rows) <= 2:
        return code_parts(text, size, room)
    middle = (len(rows) + 1) // 2
    halves = (rows[:middle], [rows[0], *rows[middle:]])
    return [part for half in halves for part in table_parts(half, aligns, size, room)]
