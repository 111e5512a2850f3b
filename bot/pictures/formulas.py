r"""Draws formulas: parses LaTeX into pieces and grids, measures them, and draws them next to each other.

A piece is what matplotlib's mathtext can draw, which has no environments and few synonyms. A grid is an environment:
`\begin{pmatrix}a & b\\ c & d\end{pmatrix}` becomes a grid of four pieces in parentheses. Raises BadFormula for LaTeX
that is not supported; the formula is then shown as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font
from matplotlib.mathtext import MathTextParser, VectorParse

from bot.core.charts import FormulaDrawing
from bot.core.markup.math import group_end
from bot.pictures.canvas import MARGIN, WIDTH, Canvas, formula_font, logical

_MAX_SOURCE = 1000
"""Longest formula, characters."""
_MAX_DEPTH = 12
"""Groups and grids inside one another."""
_MAX_GRIDS = 4


class BadFormula(ValueError):
    """A formula that cannot be drawn; it is shown as text instead."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Mathtext without dollar signs."""

    mathtext: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells between two fences, which may be empty."""

    rows: tuple[tuple[Line, ...], ...]
    opens: str = ""
    closes: str = ""
    align: str = "c"
    """`c` centered, `l` left, `e` equations: right and left by turns, close together."""


Line = tuple[Piece | Grid, ...]
"""Elements drawn next to one another."""

_GRIDS = {
    # By environment: opening fence, closing fence, alignment.
    **dict.fromkeys(("matrix", "smallmatrix", "array", "gather", "gathered", "equation"), ("", "", "c")),
    **dict.fromkeys(("align", "aligned", "split", "eqnarray", "alignat"), ("", "", "e")),
    "pmatrix": ("(", ")", "c"),
    "bmatrix": ("[", "]", "c"),
    "Bmatrix": ("{", "}", "c"),
    "vmatrix": ("|", "|", "c"),
    "Vmatrix": ("‖", "‖", "c"),
    "cases": ("{", "", "l"),
}
_FENCES = {".": "", "(": "(", ")": ")", "[": "[", "]": "]", "\\{": "{", "\\}": "}", "|": "|", "\\|": "‖"}
_TOKEN = re.compile(r"\\(?:[A-Za-z]+\*?|.)|[{}&]|[^\\{}&]+", re.DOTALL)
_STEP = re.compile(r"\\(?:[A-Za-z]+\*?|.)|.", re.DOTALL)
_BEGIN = re.compile(r"\\begin\s*\{([A-Za-z]+)\*?\}")
_ENDING = re.compile(r"\\(begin|end)\s*\{[A-Za-z]+\*?\}")
_COLUMNS = re.compile(r"\s*\{[^{}]*\}")
_LEFT = re.compile(r"\\left\s*(\\[{}|]|[.()\[\]|])\s*$")
_RIGHT = re.compile(r"^\s*\\right\s*(\\[{}|]|[.()\[\]|])")

_IGNORED = "displaystyle textstyle limits nolimits nonumber notag"
_SIZES = [f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")]
_REPLACEMENTS = {
    # By command: what mathtext has instead; empty for a command that is ignored.
    **{f"\\{name}": "" for name in (*_IGNORED.split(), *_SIZES)},
    "\\lVert": r"\Vert",
    "\\rVert": r"\Vert",
    "\\|": r"\Vert",
    "\\lvert": "|",
    "\\rvert": "|",
    "\\ge": r"\geq",
    "\\le": r"\leq",
    "\\land": r"\wedge",
    "\\lor": r"\vee",
    "\\lnot": r"\neg",
    "\\gets": r"\leftarrow",
    "\\iff": r"\Longleftrightarrow",
    "\\implies": r"\Longrightarrow",
    "\\coloneqq": ":=",
    "\\bmod": r"\ \mathrm{mod}\ ",
    "\\argmax": r"\mathrm{arg}\,\max",
    "\\argmin": r"\mathrm{arg}\,\min",
    "\\operatorname*": r"\operatorname",
    "\\bm": r"\boldsymbol",
    "\\texttt": r"\mathtt",
    "\\textbf": r"\mathbf",
    "\\textit": r"\mathit",
    "\\textrm": r"\text",
    "\\mbox": r"\text",
    "\\dots": r"\ldots",
}
_FRACTIONS = {"\\frac": "frac", "\\dfrac": "frac", "\\tfrac": "frac", "\\cfrac": "frac", "\\binom": "binom"}
_VERBATIM = {r"\text", r"\operatorname", r"\substack"}
"""Commands whose argument is kept as it is."""
_DROPPED = {"\\label", "\\tag"}
"""Commands that are left out with their argument."""


def lines_of(source: str) -> list[Line]:
    """Splits a formula into lines."""
    if len(source) > _MAX_SOURCE or source.count("\\begin") > _MAX_GRIDS:
        raise BadFormula("the formula is too long")
    return [_line(row, 0) for row in _split(source.strip(), "\\\\") if row.strip()]


def _line(source: str, depth: int) -> Line:
    """Parses a line into pieces and grids. `\\left` and `\\right` around a grid become its fences."""
    if depth > _MAX_DEPTH:
        raise BadFormula("too many things inside one another")
    found = _BEGIN.search(source)
    if found is None:
        return _piece(source)
    before, (inside, after) = source[: found.start()], _environment(source, found)
    if found[1] not in _GRIDS:
        raise BadFormula(f"no drawing of {found[1]}")
    opens, closes, align = _GRIDS[found[1]]
    left, right = _LEFT.search(before), _RIGHT.match(after)
    if left and right:
        before, after = before[: left.start()], after[right.end() :]
        opens, closes = _FENCES[left[1]], _FENCES[right[1]]
    if found[1] == "array":
        inside = _COLUMNS.sub("", inside, count=1)
    rows = tuple(
        tuple(_line(cell, depth + 1) for cell in _split(row, "&"))
        for row in _split(inside.replace("\\hline", ""), "\\\\")
        if row.strip()
    )
    if not rows:
        raise BadFormula("an empty environment")
    return (*_piece(before), Grid(rows, opens, closes, align), *_line(after, depth + 1))


def _environment(source: str, begin: re.Match[str]) -> tuple[str, str]:
    """Returns the content of an environment and the source after it."""
    depth = 0
    for found in _ENDING.finditer(source, begin.start()):
        depth += 1 if found[1] == "begin" else -1
        if depth == 0:
            return source[begin.end() : found.start()], source[found.end() :]
    raise BadFormula("an environment that does not end")


def _split(source: str, mark: str) -> list[str]:
    """Splits at marks outside groups and environments."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(source):
        if token == mark and depth == 0:
            parts.append("")
            continue
        depth += {"{": 1, "}": -1, "\\begin": 1, "\\end": -1}.get(token, 0)
        parts[-1] += token
    return parts


def _piece(source: str) -> tuple[Piece, ...]:
    source = source.strip()
    if source.startswith(("^", "_")):
        # A script of the preceding grid: a piece without a base.
        inside, end = _argument(source, 1)
        return (Piece(f"{{}}{source[0]}{{{_written(inside, 1)}}}"), *_piece(source[end:]))
    written = _written(source, 0).strip()
    return (Piece(written),) if written else ()


def _written(source: str, depth: int) -> str:
    """Translates LaTeX to mathtext."""
    if depth > _MAX_DEPTH:
        raise BadFormula("too many things inside one another")
    text, at = "", 0
    while found := _STEP.match(source, at):
        part, at = _step(source, found, depth)
        text += part
    return text


def _step(source: str, found: re.Match[str], depth: int) -> tuple[str, int]:
    """Translates a token with its arguments; returns it with the position after it."""
    token, at = found[0], found.end()
    if token in _FRACTIONS:
        above, at = _argument(source, at)
        below, at = _argument(source, at)
        # Draw an outermost fraction large, as TeX does in display math.
        name = "dfrac" if depth == 0 and _FRACTIONS[token] == "frac" else _FRACTIONS[token]
        return f"\\{name}{{{_written(above, depth + 1)}}}{{{_written(below, depth + 1)}}}", at
    if token in ("^", "_"):
        inside, at = _argument(source, at)
        return f"{token}{{{_written(inside, depth + 1)}}}", at
    if token[0] == "{":
        inside, at = _argument(source, at - 1)
        return f"{{{_written(inside, depth + 1)}}}", at
    if token in _DROPPED:
        return "", _argument(source, at)[1]
    word = _REPLACEMENTS.get(token, token)
    if word in _VERBATIM:
        inside, at = _argument(source, at)
        return f"{word}{{{inside}}}", at
    if token in ("$", "&", "}", "\\\\"):
        raise BadFormula(f"{token} where it means nothing")
    # A space, so that the replacement does not merge with a following letter.
    return (f"{word} " if word != token else token), at


def _argument(source: str, at: int) -> tuple[str, int]:
    """Parses a command's argument: a group without its braces, a command with its groups, or one character."""
    while source[at : at + 1].isspace():
        at += 1
    found = _STEP.match(source, at)
    if found is None:
        raise BadFormula("an argument is missing")
    if found[0] == "{":
        end = _group_end(source, at)
        return source[at + 1 : end], end + 1
    end = found.end()
    if found[0] in _FRACTIONS:
        end = _argument(source, _argument(source, end)[1])[1]
    while found[0].startswith("\\") and source.startswith("{", end):
        end = _group_end(source, end) + 1
    return source[at:end], end


def _group_end(source: str, at: int) -> int:
    end = group_end(source, at)
    if end == len(source):
        raise BadFormula("a group that does not end")
    return end


_SIZE, _MIN_SIZE = 24.0, 12.0
"""Largest and smallest size of the font, logical pixels."""
_MAX_HEIGHT = 1200.0
"""Largest height of a picture, logical pixels."""
_GAP = 18.0
"""Space above, between and below lines, logical pixels."""


@dataclass(frozen=True, slots=True)
class _Box:
    """Size of an element: its width, and its extent above and below the baseline."""

    width: float
    above: float
    below: float


def draw_formula(drawing: FormulaDrawing) -> bytes:
    """Draws the formulas as large as they fit. Raises BadFormula if one cannot be drawn legibly."""
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
    if size < _MIN_SIZE:
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
    """Returns the height of the math axis, the vertical center of elements, above the baseline."""
    return 0.25 * size


def _row_gap(size: float) -> float:
    return 0.45 * size


def _column_gap(grid: Grid, place: int, size: float) -> float:
    """Returns the gap before a column; the sides of an equation are close together."""
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
                # A script of a matrix is drawn at its corner.
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
    """Returns the share of a cell's free width that is before its content."""
    return {"c": 0.5, "l": 0.0, "e": float(place % 2 == 0)}[grid.align]


def _draw_fence(canvas: Canvas, x: float, top: float, bottom: float, fence: str, size: float) -> None:
    """Draws a fence next to a grid; with a negative size mirrored, to the left of `x`."""
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
