"""A table set in lines: columns fitted to a width, cells wrapped; not where cells come from."""

from collections.abc import Sequence
from itertools import zip_longest

from bot.core.markup.layout import Line, Piece, Style, line_cells, padded, wrap
from bot.core.markup.tree import Align

Cell = Sequence[Piece]
_BAR = " │ "
_MIN_COLUMN = 6


def table_lines(rows: Sequence[Sequence[Cell]], aligns: Sequence[Align], width: int) -> list[Line]:
    """Give the lines of a table whose first row is its header; too wide for columns, it becomes a list of rows."""
    room = width - len(_BAR) * (len(aligns) - 1)
    natural = [max(1, *(_natural(row[column]) for row in rows)) for column in range(len(aligns))]
    if sum(natural) > room < _MIN_COLUMN * len(aligns):
        return _records(rows, width)
    widths = _fitted(natural, room)
    set_rows = [[wrap(cell, size) for cell, size in zip(row, widths, strict=True)] for row in rows]
    rule: Line = (Piece("─┼─".join("─" * size for size in widths), Style.DIM),)
    folded = any(len(lines) > 1 for row in set_rows for lines in row)
    found: list[Line] = []
    for place, row in enumerate(set_rows):
        # Rows of several lines run together without a rule between them.
        if place == 1 or (place and folded):
            found.append(rule)
        found += _row(row, widths, aligns)
    return found


def _natural(cell: Cell) -> int:
    """Give the columns a cell would take on lines as long as it likes."""
    return max(line_cells(line) for line in wrap(cell, 10_000))


def _fitted(natural: Sequence[int], room: int) -> list[int]:
    """Take columns from the widest until all fit."""
    widths = [min(size, room) for size in natural]
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(row: Sequence[list[Line]], widths: Sequence[int], aligns: Sequence[Align]) -> list[Line]:
    found: list[Line] = []
    for lines in zip_longest(*row, fillvalue=()):
        line: list[Piece] = []
        for cell, size, align in zip(lines, widths, aligns, strict=True):
            missing = size - line_cells(cell)
            before = {Align.LEFT: 0, Align.CENTER: missing // 2, Align.RIGHT: missing}[align]
            line += [*([Piece(_BAR, Style.DIM)] if line else []), *padded(cell, size, before)]
        found.append(tuple(line))
    return found


def _records(rows: Sequence[Sequence[Cell]], width: int) -> list[Line]:
    header, *body = rows
    found: list[Line] = []
    for place, row in enumerate(body or [header]):
        if place:
            found.append(())
        for name, cell in zip(header, row, strict=True):
            label = [Piece(piece.text, piece.style | Style.BOLD) for piece in name] if body else []
            found += wrap([*label, Piece(": " if label else ""), *cell], width)
    return found
