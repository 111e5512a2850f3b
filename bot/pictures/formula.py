"""Formulas as a picture: mathtext side by side with grids that stand at the same height. Raises BadFormula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font
from matplotlib.mathtext import MathTextParser, VectorParse

from bot.pictures.canvas import MARGIN, WIDTH, Canvas, formula_font, logical
from bot.pictures.drawings import FormulaDrawing
from bot.pictures.latex import BadFormula, Grid, Line, Piece, lines_of

_SIZE, _LEAST = 24.0, 12.0
_MAX_HEIGHT = 1200.0
_GAP = 18.0


@dataclass(frozen=True, slots=True)
class _Box:
    """How much room something takes: to its right, above its baseline and below it."""

    width: float
    above: float
    below: float


def draw_formula(drawing: FormulaDrawing) -> bytes:
    """The formulas, as large as their room allows. Raises BadFormula where one cannot be drawn, or only unreadably."""
    lines = [line for source in drawing.sources for line in lines_of(source)]
    if not lines:
        raise BadFormula("an empty formula")
    size = _size_for(lines)
    boxes = [_line_box(line, size) for line in lines]
    height = sum(box.above + box.below for box in boxes) + _GAP * (len(lines) + 1)
    if height > _MAX_HEIGHT:
        raise BadFormula("the formula is too tall")
    canvas = Canvas(height)
    y = _GAP
    for line, box in zip(lines, boxes, strict=True):
        _draw_line(canvas, MARGIN, y + box.above, line, size)
        y += box.above + box.below + _GAP
    return canvas.png()


def _size_for(lines: list[Line]) -> float:
    widest = max(_line_box(line, _SIZE).width for line in lines)
    size = min(_SIZE, _SIZE * (WIDTH - 2 * MARGIN) / max(widest, 1))
    if size < _LEAST:
        raise BadFormula("the formula is too wide")
    return size


def _line_box(line: Line, size: float) -> _Box:
    boxes = [_box(part, size) for part in line] or [_Box(0, 0.7 * size, 0.2 * size)]
    space = 0.15 * size * (len(boxes) - 1)
    return _Box(
        sum(box.width for box in boxes) + space,
        max(0.7 * size, *(box.above for box in boxes)),
        max(0.2 * size, *(box.below for box in boxes)),
    )


def _box(part: Piece | Grid, size: float) -> _Box:
    if isinstance(part, Piece):
        return _piece_box(part.mathtext, size)
    widths, heights = _columns(part, size), _rows(part, size)
    whole = sum(heights) + _row_gap(size) * (len(heights) - 1)
    fences = sum(_fence_room(fence, size) for fence in (part.opens, part.closes))
    gaps = sum(_column_gap(part, place, size) for place in range(1, len(widths)))
    axis = _axis(size)
    return _Box(sum(widths) + gaps + fences, whole / 2 + axis, whole / 2 - axis)


@cache
def _parser() -> MathTextParser[VectorParse]:
    return MathTextParser("path")


def _piece_box(mathtext: str, size: float) -> _Box:
    if not all(ord(character) in _characters() for character in mathtext):
        raise BadFormula("a character that no font for formulas has")
    try:
        parsed = _parser().parse(f"${mathtext}$", 72, formula_font(size))
    except ValueError as error:
        raise BadFormula(str(error).strip().splitlines()[-1]) from error
    return _Box(logical(parsed.width), logical(parsed.height - parsed.depth), logical(parsed.depth))


@cache
def _characters() -> frozenset[int]:
    return frozenset(FT2Font(findfont("STIXGeneral")).get_charmap())


def _axis(size: float) -> float:
    """How high above the baseline the middle of what stands on it is."""
    return 0.25 * size


def _row_gap(size: float) -> float:
    return 0.45 * size


def _column_gap(grid: Grid, place: int, size: float) -> float:
    """The room before a column; the sides of an equation stand close."""
    if grid.align == "e" and place % 2:
        return 0.2 * size
    return size


def _fence_room(fence: str, size: float) -> float:
    return 0.55 * size if fence else 0.0


def _columns(grid: Grid, size: float) -> list[float]:
    count = max(map(len, grid.rows))
    return [
        max(_line_box(row[place], size).width if place < len(row) else 0.0 for row in grid.rows)
        for place in range(count)
    ]


def _rows(grid: Grid, size: float) -> list[float]:
    return [sum(_row_box(row, size)) for row in grid.rows]


def _row_box(row: tuple[Line, ...], size: float) -> tuple[float, float]:
    boxes = [_line_box(cell, size) for cell in row]
    return max(box.above for box in boxes), max(box.below for box in boxes)


def _draw_line(canvas: Canvas, x: float, y: float, line: Line, size: float) -> None:
    for place, part in enumerate(line):
        box = _box(part, size)
        if isinstance(part, Grid):
            _draw_grid(canvas, x, y, part, size)
        else:
            raised = y
            before = line[place - 1] if place else None
            if isinstance(before, Grid) and part.mathtext.startswith("{}^"):
                # A power of a matrix stands at its corner.
                raised = y - _box(before, size).above + 0.9 * size
            canvas.formula(x, raised, part.mathtext, size)
        x += box.width + 0.15 * size


def _draw_grid(canvas: Canvas, x: float, y: float, grid: Grid, size: float) -> None:
    box, widths = _box(grid, size), _columns(grid, size)
    top, bottom = y - box.above, y + box.below
    _draw_fence(canvas, x, top, bottom, grid.opens, size)
    _draw_fence(canvas, x + box.width, top, bottom, grid.closes, -size)
    row_top = top
    for row in grid.rows:
        above, below = _row_box(row, size)
        left = x + _fence_room(grid.opens, size)
        for place, cell in enumerate(row):
            left += _column_gap(grid, place, size) if place else 0
            free = widths[place] - _line_box(cell, size).width
            _draw_line(canvas, left + free * _share(grid, place), row_top + above, cell, size)
            left += widths[place]
        row_top += above + below + _row_gap(size)


def _share(grid: Grid, place: int) -> float:
    """How much of a cell's free room lies before it."""
    return {"c": 0.5, "l": 0.0, "e": float(place % 2 == 0)}[grid.align]


def _draw_fence(canvas: Canvas, x: float, top: float, bottom: float, fence: str, size: float) -> None:
    """A fence beside a grid; a negative size draws it the other way round, to the left of `x`."""
    near, far, middle = x + 0.12 * size, x + 0.34 * size, (top + bottom) / 2
    match fence:
        case "(" | ")":
            canvas.curve(
                [(far, top), (near, top + (bottom - top) / 4), (near, bottom - (bottom - top) / 4), (far, bottom)]
            )
        case "[" | "]":
            canvas.stroke([(far, top), (near, top), (near, bottom), (far, bottom)])
        case "{" | "}":
            waist = x + 0.23 * size
            upper = [(far, top), (waist, top), (waist, middle), (near, middle)]
            lower = [(waist, middle), (waist, bottom), (far, bottom)]
            canvas.curve([*upper, *lower])
        case "|":
            canvas.stroke([(near, top), (near, bottom)])
        case "‖":
            canvas.stroke([(near, top), (near, bottom)])
            canvas.stroke([(near + 0.12 * size, top), (near + 0.12 * size, bottom)])
