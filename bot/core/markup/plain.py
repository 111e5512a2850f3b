"""Renders a tree as plain text for terminals and simple platforms, optionally with ANSI styles."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Flag
from itertools import groupby, zip_longest
from typing import NamedTuple

from wcwidth import iter_graphemes, wcswidth

from bot.core.markup import tree
from bot.core.markup.math import to_unicode
from bot.core.markup.parser import clean

# Layout: styled text wrapped to a width


class Style(Flag):
    """Style of a piece of text, for terminals that support it."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    UNDERLINE = 4
    STRIKE = 8
    CODE = 16
    DIM = 32


_SGR = {
    Style.BOLD: "1",
    Style.DIM: "2",
    Style.ITALIC: "3",
    Style.UNDERLINE: "4",
    Style.STRIKE: "9",
    Style.CODE: "36",
}


class StyledText(NamedTuple):
    """Text in one style. A line feed is a line break."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[StyledText, ...]
_PARTS = re.compile(r"(\n)|([ \t]+)|([^ \t\n]+)")


def cells(text: str) -> int:
    """Returns the width of a text in a terminal, columns."""
    return max(0, wcswidth(clean(text)))


def line_cells(line: Iterable[StyledText]) -> int:
    """Returns the width of a line, columns."""
    return sum(cells(piece.text) for piece in line)


def wrap(pieces: Iterable[StyledText], width: int) -> list[Line]:
    """Wraps text to lines of at most `width` columns between words. Splits longer words between graphemes."""
    lines: list[list[StyledText]] = [[]]
    used = 0
    for word in _words(pieces):
        if word is None:
            lines.append([])
            used = 0
            continue
        for part in _fitting(word, width):
            size = line_cells(part)
            if used and used + 1 + size > width:
                lines.append([])
                used = 0
            if used:
                lines[-1].append(StyledText(" ", lines[-1][-1].style & part[0].style))
                used += 1
            lines[-1].extend(part)
            used += size
    return [tuple(line) for line in lines]


def _words(pieces: Iterable[StyledText]) -> Iterator[Line | None]:
    """Yields the words, each of one or more pieces, and None for a line break."""
    word: list[StyledText] = []
    for piece in pieces:
        for found in _PARTS.finditer(piece.text):
            if found[3]:
                word.append(StyledText(found[3], piece.style))
                continue
            if word:
                yield tuple(word)
                word = []
            if found[1]:
                yield None
    if word:
        yield tuple(word)


def _fitting(word: Line, width: int) -> Iterator[Line]:
    """Returns the word, split into parts between graphemes if it is wider than a line."""
    if line_cells(word) <= width:
        yield word
        return
    part: list[StyledText] = []
    used = 0
    for piece in word:
        for grapheme in iter_graphemes(piece.text):
            size = cells(grapheme)
            if part and used + size > width:
                yield tuple(part)
                part, used = [], 0
            part.append(StyledText(grapheme, piece.style))
            used += size
    yield tuple(part)


def padded(line: Line, width: int, before: int) -> Line:
    """Pads a line to `width` columns, `before` of them in front."""
    missing = max(0, width - line_cells(line))
    return (StyledText(" " * min(before, missing)), *line, StyledText(" " * (missing - min(before, missing))))


def prefixed(lines: Sequence[Line], first: str, rest: str, style: Style = Style.PLAIN) -> list[Line]:
    """Puts `first` before the first line and `rest` before the others."""
    return [(StyledText(rest if place else first, style), *line) for place, line in enumerate(lines)]


def as_text(lines: Iterable[Line]) -> str:
    """Joins lines without their styles."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def as_ansi(lines: Iterable[Line]) -> str:
    """Joins lines with their styles as escape sequences. Each line resets its styles."""
    return "\n".join(_ansi(line) for line in lines)


def _ansi(line: Line) -> str:
    runs = groupby(line, key=lambda piece: piece.style)
    return "".join(_styled("".join(piece.text for piece in run), style) for style, run in runs)


def _styled(text: str, style: Style) -> str:
    codes = ";".join(code for part, code in _SGR.items() if part in style)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


# Tables: columns fitted to a width, cells wrapped

Cell = Sequence[StyledText]
_BAR = " │ "
_MIN_COLUMN = 6
"""Narrowest column of a table, columns of the terminal."""


def table_lines(rows: Sequence[Sequence[Cell]], aligns: Sequence[tree.Align], width: int) -> list[Line]:
    """Returns the lines of a table whose first row is its header. A table too wide for columns becomes a list of
    rows."""
    room = width - len(_BAR) * (len(aligns) - 1)
    natural = [max(1, *(_natural(row[column]) for row in rows)) for column in range(len(aligns))]
    if sum(natural) > room < _MIN_COLUMN * len(aligns):
        return _records(rows, width)
    widths = _fitted(natural, room)
    set_rows = [[wrap(cell, size) for cell, size in zip(row, widths, strict=True)] for row in rows]
    rule: Line = (StyledText("─┼─".join("─" * size for size in widths), Style.DIM),)
    folded = any(len(lines) > 1 for row in set_rows for lines in row)
    found: list[Line] = []
    for place, row in enumerate(set_rows):
        # Rows of several lines need rules between them.
        if place == 1 or (place and folded):
            found.append(rule)
        found += _row(row, widths, aligns)
    return found


def _natural(cell: Cell) -> int:
    """Returns the width of a cell without wrapping."""
    return max(line_cells(line) for line in wrap(cell, 10_000))


def _fitted(natural: Sequence[int], room: int) -> list[int]:
    """Narrows the widest columns until all fit."""
    widths = [min(size, room) for size in natural]
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(row: Sequence[list[Line]], widths: Sequence[int], aligns: Sequence[tree.Align]) -> list[Line]:
    found: list[Line] = []
    for lines in zip_longest(*row, fillvalue=()):
        line: list[StyledText] = []
        for cell, size, align in zip(lines, widths, aligns, strict=True):
            missing = size - line_cells(cell)
            before = {tree.Align.LEFT: 0, tree.Align.CENTER: missing // 2, tree.Align.RIGHT: missing}[align]
            line += [*([StyledText(_BAR, Style.DIM)] if line else []), *padded(cell, size, before)]
        found.append(tuple(line))
    return found


def _records(rows: Sequence[Sequence[Cell]], width: int) -> list[Line]:
    header, *body = rows
    found: list[Line] = []
    for place, row in enumerate(body or [header]):
        if place:
            found.append(())
        for name, cell in zip(header, row, strict=True):
            label = [StyledText(piece.text, piece.style | Style.BOLD) for piece in name] if body else []
            found += wrap([*label, StyledText(": " if label else ""), *cell], width)
    return found


_MIN_WIDTH = 20
"""Narrowest text, columns of the terminal."""
_BULLETS = "•◦‣"


def to_plain(document: tree.MarkdownDocument, width: int = 80) -> str:
    """Renders a tree as lines of at most `width` columns; only lines of code may be longer."""
    return as_text(_blocks(document.blocks, max(width, _MIN_WIDTH), 0))


def to_ansi(document: tree.MarkdownDocument, width: int = 80) -> str:
    """Like `to_plain`, with ANSI styles for strong text, emphasis, code and links."""
    return as_ansi(_blocks(document.blocks, max(width, _MIN_WIDTH), 0))


def _blocks(blocks: tree.Blocks, width: int, depth: int, *, apart: bool = True) -> list[Line]:
    lines: list[Line] = []
    for place, block in enumerate(blocks):
        if place and apart:
            lines.append(())
        lines += _block(block, max(width, _MIN_WIDTH // 2), depth)
    return lines


def _block(block: tree.Block, width: int, depth: int) -> list[Line]:
    match block:
        case tree.Paragraph(children):
            return _trimmed(wrap(_pieces(children, Style.PLAIN), width))
        case tree.Heading(level, children):
            return _heading(level, children, width)
        case tree.List():
            return _list(block, width, depth)
        case tree.Quote(blocks):
            return prefixed(_blocks(blocks, width - 2, depth), "> ", "> ", Style.DIM)
        case tree.CodeBlockNode(source):
            code: list[Line] = [(StyledText(line, Style.CODE),) for line in source.expandtabs(4).split("\n")]
            return prefixed(code, "  │ ", "  │ ", Style.DIM)
        case tree.TableNode(header, rows, aligns):
            return table_lines([[_pieces(cell, Style.PLAIN) for cell in row] for row in (header, *rows)], aligns, width)
        case tree.Rule():
            return [(StyledText("─" * width, Style.DIM),)]


def _trimmed(lines: list[Line]) -> list[Line]:
    """Drops empty lines around display math and other content with lines of its own."""
    return [line for line in lines if line]


def _heading(level: int, children: tree.Inlines, width: int) -> list[Line]:
    lines = wrap(_pieces(children, Style.BOLD), width)
    if level > 2:
        return lines
    return [*lines, (StyledText(("═" if level == 1 else "─") * max(map(line_cells, lines)), Style.DIM),)]


def _list(block: tree.List, width: int, depth: int) -> list[Line]:
    lines: list[Line] = []
    for place, item in enumerate(block.items):
        bullet = _BULLETS[depth % len(_BULLETS)]
        mark = f"{bullet} " if block.start is None else f"{block.start + place}. "
        inner = _blocks(item, width - len(mark), depth + 1, apart=not block.tight) or [()]
        if place and not block.tight:
            lines.append(())
        lines += prefixed(inner, mark, " " * len(mark))
    return lines


def _pieces(children: tree.Inlines, style: Style) -> list[StyledText]:
    return [piece for child in children for piece in _piece(child, style)]


def _piece(inline: tree.Inline, style: Style) -> list[StyledText]:
    match inline:
        case tree.TextNode(text):
            return [StyledText(text, style)]
        case tree.CodeSpan(text):
            return [StyledText(text, style | Style.CODE)]
        case tree.Math():
            return [_math(inline, style)]
        case tree.Break():
            return [StyledText("\n", style)]
        case tree.Instant(text=text) | tree.Mention(text=text):
            return [StyledText(text, style)]
        case tree.Strong(children):
            return _pieces(children, style | Style.BOLD)
        case tree.Emphasis(children):
            return _pieces(children, style | Style.ITALIC)
        case tree.Strike(children):
            # Plain text has no strikethrough, so say it: the words must not read as valid.
            inner = _pieces(children, style | Style.STRIKE)
            return [StyledText("[struck out: ", style), *inner, StyledText("]", style)]
        case tree.LinkNode(url, children):
            return _link(url, children, style)


def _math(math: tree.Math, style: Style) -> StyledText:
    rows = to_unicode(math.source).split("\n")
    return StyledText("\n" + "\n".join(rows) + "\n" if math.display else "; ".join(rows), style)


def _link(url: str, children: tree.Inlines, style: Style) -> list[StyledText]:
    words = _pieces(children, style | Style.UNDERLINE)
    shown = "".join(piece.text for piece in words)
    return words if url in (shown, f"mailto:{shown}") else [*words, StyledText(f" ({url})", style)]
