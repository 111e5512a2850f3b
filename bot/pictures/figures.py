"""Draws podiums, what a member knows of each topic, and how often they were right when they said how sure they were.

Every bar has its number and its label next to it. A range shows its uncertainty: the narrower, the surer.
"""

from __future__ import annotations

from bot.pictures.charts import BAR, INK, LINE, MARGIN, PAPER, QUIET, TRACK, WIDTH, Canvas, fitted, width_of
from bot.pictures.spec import PodiumDrawing, PodiumStep, RangeRow, RangesDrawing

_INSIDE = WIDTH - 2 * MARGIN
_TALLEST, _STEP_DOWN = 104, 26
_NAMES = 58
"""Room above a step for the name and the score."""
_GAP = 8
_COLUMNS = {1: 1, 2: 0, 3: 2}
"""Column of the place in a podium of three: the winner stands in the middle."""
_TITLE, _ROW, _AXIS = 48, 46, 24


def draw_podium(drawing: PodiumDrawing) -> bytes:
    """Draws a step for each of the first three, the winner's in the middle; members who share a rank stand level."""
    steps = drawing.steps[:3]
    canvas = Canvas(MARGIN + _NAMES + _TALLEST + MARGIN)
    width = (_INSIDE - 2 * _GAP) / 3
    ground = MARGIN + _NAMES + _TALLEST
    for place, step in enumerate(steps, start=1):
        left = MARGIN + _COLUMNS[place] * (width + _GAP)
        _draw_step(canvas, step, left, ground, width)
    canvas.rule(ground)
    return canvas.png()


def _draw_step(canvas: Canvas, step: PodiumStep, left: float, ground: float, width: float) -> None:
    height = _TALLEST - _STEP_DOWN * (min(step.rank, 3) - 1)
    middle, top = left + width / 2, ground - height
    name = fitted(step.name, width - 4, 16, bold=True)
    canvas.text(middle, top - 30, name, 16, bold=True, at="center")
    canvas.text(middle, top - 10, fitted(step.score, width - 4, 13), 13, color=QUIET, at="center")
    first = step.rank == 1
    canvas.box(left, top, width, height, BAR if first else TRACK)
    canvas.text(middle, top + 38, str(step.rank), 30, bold=True, color=PAPER if first else INK, at="center")


def draw_ranges(drawing: RangesDrawing) -> bytes:
    """Draws a row per label on a scale from 0 to 100 %: the range as a bar, the share right as a mark, and the shares
    that are expected, if any, as a band behind it."""
    canvas = Canvas(_TITLE + _ROW * len(drawing.rows) + _AXIS)
    canvas.text(MARGIN, 31, drawing.title, 17, bold=True)
    for at, row in enumerate(drawing.rows):
        _draw_range(canvas, row, _TITLE + at * _ROW)
    below = _TITLE + _ROW * len(drawing.rows)
    for percent in (0, 25, 50, 75, 100):
        side = {0: "left", 100: "right"}.get(percent, "center")
        canvas.text(MARGIN + _INSIDE * percent / 100, below + 9, f"{percent} %", 11, color=QUIET, at=side)
    return canvas.png()


def _draw_range(canvas: Canvas, row: RangeRow, y: float) -> None:
    note = width_of(row.note, 13)
    canvas.text(MARGIN, y + 13, fitted(row.label, _INSIDE - note - 12, 15, bold=True), 15, bold=True)
    canvas.text(WIDTH - MARGIN, y + 13, row.note, 13, color=QUIET, at="right")
    top, height = y + 21, 14
    canvas.box(MARGIN, top, _INSIDE, height, TRACK)
    for percent in (25, 50, 75):
        x = MARGIN + _INSIDE * percent / 100
        canvas.stroke([(x, top), (x, top + height)], PAPER, 1)
    if row.expected is not None:
        low, high = row.expected
        canvas.box(MARGIN + _INSIDE * low, top, _INSIDE * (high - low), height, LINE)
    if row.known is not None:
        low, high = row.known
        canvas.box(MARGIN + _INSIDE * low, top + 3, max(4, _INSIDE * (high - low)), height - 6, BAR)
    x = min(max(MARGIN + _INSIDE * row.right, MARGIN + 1.5), WIDTH - MARGIN - 1.5)
    canvas.box(x - 2.5, top - 3, 5, height + 6, PAPER)
    canvas.box(x - 1.5, top - 3, 3, height + 6, INK)
