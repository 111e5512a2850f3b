"""A tree as text for a terminal or a platform that shows nothing else; in a terminal optionally with ANSI styles."""

from bot.core.markup.grid import table_lines
from bot.core.markup.layout import Line, Piece, Style, as_ansi, as_text, line_cells, prefixed, wrap
from bot.core.markup.mathtext import to_unicode
from bot.core.markup.tree import (
    Block,
    Blocks,
    Break,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Inlines,
    Link,
    List,
    Math,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)

_MIN_WIDTH = 20
_BULLETS = "•◦‣"


def to_plain(document: Document, width: int = 80) -> str:
    """Give the text in lines of at most `width` columns; only code keeps its longer lines."""
    return as_text(_blocks(document.blocks, max(width, _MIN_WIDTH), 0))


def to_ansi(document: Document, width: int = 80) -> str:
    """Give what `to_plain` gives, with strong, emphasis, code and links styled for a terminal."""
    return as_ansi(_blocks(document.blocks, max(width, _MIN_WIDTH), 0))


def _blocks(blocks: Blocks, width: int, depth: int, *, apart: bool = True) -> list[Line]:
    lines: list[Line] = []
    for place, block in enumerate(blocks):
        if place and apart:
            lines.append(())
        lines += _block(block, max(width, _MIN_WIDTH // 2), depth)
    return lines


def _block(block: Block, width: int, depth: int) -> list[Line]:
    match block:
        case Paragraph(children):
            return _trimmed(wrap(_pieces(children, Style.PLAIN), width))
        case Heading(level, children):
            return _heading(level, children, width)
        case List():
            return _list(block, width, depth)
        case Quote(blocks):
            return prefixed(_blocks(blocks, width - 2, depth), "> ", "> ", Style.DIM)
        case CodeBlock(source):
            code: list[Line] = [(Piece(line, Style.CODE),) for line in source.expandtabs(4).split("\n")]
            return prefixed(code, "  │ ", "  │ ", Style.DIM)
        case Table(header, rows, aligns):
            return table_lines([[_pieces(cell, Style.PLAIN) for cell in row] for row in (header, *rows)], aligns, width)
        case Rule():
            return [(Piece("─" * width, Style.DIM),)]


def _trimmed(lines: list[Line]) -> list[Line]:
    """Drop the empty lines around and between what asked for lines of its own, such as display math."""
    return [line for line in lines if line]


def _heading(level: int, children: Inlines, width: int) -> list[Line]:
    lines = wrap(_pieces(children, Style.BOLD), width)
    if level > 2:
        return lines
    return [*lines, (Piece(("═" if level == 1 else "─") * max(map(line_cells, lines)), Style.DIM),)]


def _list(block: List, width: int, depth: int) -> list[Line]:
    lines: list[Line] = []
    for place, item in enumerate(block.items):
        bullet = _BULLETS[depth % len(_BULLETS)]
        mark = f"{bullet} " if block.start is None else f"{block.start + place}. "
        inner = _blocks(item, width - len(mark), depth + 1, apart=not block.tight) or [()]
        if place and not block.tight:
            lines.append(())
        lines += prefixed(inner, mark, " " * len(mark))
    return lines


def _pieces(children: Inlines, style: Style) -> list[Piece]:
    return [piece for child in children for piece in _piece(child, style)]


def _piece(inline: Inline, style: Style) -> list[Piece]:
    match inline:
        case Text(text):
            return [Piece(text, style)]
        case Code(text):
            return [Piece(text, style | Style.CODE)]
        case Math():
            return [_math(inline, style)]
        case Break():
            return [Piece("\n", style)]
        case Strong(children):
            return _pieces(children, style | Style.BOLD)
        case Emphasis(children):
            return _pieces(children, style | Style.ITALIC)
        case Strike(children):
            # Where no line goes through the words, they must not read as if they held.
            inner = _pieces(children, style | Style.STRIKE)
            return [Piece("[struck out: ", style), *inner, Piece("]", style)]
        case Link(url, children):
            return _link(url, children, style)


def _math(math: Math, style: Style) -> Piece:
    rows = to_unicode(math.source).split("\n")
    return Piece("\n" + "\n".join(rows) + "\n" if math.display else "; ".join(rows), style)


def _link(url: str, children: Inlines, style: Style) -> list[Piece]:
    words = _pieces(children, style | Style.UNDERLINE)
    shown = "".join(piece.text for piece in words)
    return words if url in (shown, f"mailto:{shown}") else [*words, Piece(f" ({url})", style)]
