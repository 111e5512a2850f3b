"""Draws the charts of cards: leaderboards, distributions, weekly progress, podiums, ranges, heatmaps and digests.

Every bar has its number and its label next to it. A range shows its uncertainty: the narrower, the surer.
"""

from __future__ import annotations

from bot.core.charts import (
    LEVELS,
    MARK_SIZES,
    PODIUM_PLACES,
    BoardChart,
    BoardPlace,
    DigestChart,
    DistributionChart,
    HeatmapChart,
    Level,
    MeasuredChart,
    PodiumChart,
    PodiumPlace,
    RangeRow,
    RangesChart,
    WeeksChart,
)
from bot.pictures.canvas import BAR, INK, LINE, MARGIN, PAPER, QUIET, TRACK, WIDTH, Canvas, fitted, width_of

_INSIDE = WIDTH - 2 * MARGIN
"""Width between the margins. All sizes in this module are logical pixels."""
_TITLE = 48
"""Height of a title."""
_BOARD_EDGE, _BOARD_ROW, _RANK = 10, 46, 34
"""Space above and below a board, height of its rows, and width of the ranks."""
_CHOICE = 50
"""Height of a row of a distribution."""
_WEEK, _WEEK_LABEL, _WEEK_NUMBERS = 30, 62, 150
"""Height of a week's row, and widths of its label and of its numbers."""


def draw_board(drawing: BoardChart) -> bytes:
    """Draws a row per place: rank, name, points with a bar, share of right answers, and streak."""
    places = drawing.places
    canvas = Canvas(2 * _BOARD_EDGE + _BOARD_ROW * len(places))
    most = max((place.points for place in places), default=0)
    # All rows have the same track, so that bars can be compared.
    track = _INSIDE - _RANK - max((width_of(_about(place), 12) for place in places), default=0) - 10
    for row, place in enumerate(places):
        _draw_place(canvas, _BOARD_EDGE + row * _BOARD_ROW, place, place.points / most if most > 0 else 0, track)
    return canvas.png()


def _about(place: BoardPlace) -> str:
    return f"{place.right} right · streak {place.streak}"


def _draw_place(canvas: Canvas, y: float, place: BoardPlace, share: float, track: float) -> None:
    left, right = MARGIN + _RANK, WIDTH - MARGIN
    if place.mine:
        canvas.frame(MARGIN - 8, y - 3, _INSIDE + 16, _BOARD_ROW - 2)
    points = f"{place.points:,} points" if abs(place.points) != 1 else f"{place.points} point"
    room = right - left - width_of(points, 15, True) - 12
    you = " (you)" if place.mine else ""
    name = fitted(place.name, room - width_of(you, 15, place.mine), 15, place.mine)
    canvas.text(left - 10, y + 15, str(place.rank), 15, bold=True, at="right")
    canvas.text(left, y + 15, name, 15, bold=place.mine)
    # Drawn separately, because a right-to-left name would reorder the words.
    canvas.text(left + width_of(name, 15, place.mine), y + 15, you, 15, bold=place.mine)
    canvas.text(right, y + 15, points, 15, bold=True, at="right")
    canvas.bar(left, y + 23, track, 9, share=share)
    canvas.text(right, y + 33, _about(place), 12, color=QUIET, at="right")


def draw_distribution(drawing: DistributionChart) -> bytes:
    """Draws a bar per answer: full if right, hatched if wrong, and labeled in words."""
    canvas = Canvas(12 + _CHOICE * len(drawing.choices))
    for row, choice in enumerate(drawing.choices):
        y = 12 + row * _CHOICE
        numbers = f"{choice.count:,} · {round(100 * choice.share)}%"
        mark = f"{choice.mark.capitalize()}:" if choice.mark else ""
        begin = MARGIN + (width_of(f"{mark} ", 15, True) + 5 if mark else 0)
        room = WIDTH - MARGIN - begin - width_of(numbers, 15, True) - 12
        canvas.text(MARGIN, y + 15, mark, 15, bold=True)
        canvas.text(begin, y + 15, fitted(choice.label, room), 15)
        canvas.text(WIDTH - MARGIN, y + 15, numbers, 15, bold=True, at="right")
        canvas.bar(MARGIN, y + 23, _INSIDE, 12, share=choice.share, hatched=choice.mark == "wrong")
    return canvas.png()


def draw_progress(drawing: WeeksChart) -> bytes:
    """Draws a row per week: points with a bar, answers, and right answers."""
    canvas = Canvas(_TITLE + _WEEK * len(drawing.weeks) + 6)
    canvas.text(MARGIN, 31, "Points by week", 17, bold=True)
    most = max((week.points for week in drawing.weeks), default=0)
    room = _INSIDE - _WEEK_LABEL - _WEEK_NUMBERS
    for row, week in enumerate(drawing.weeks):
        y = _TITLE + row * _WEEK
        canvas.text(MARGIN, y + 15, fitted(week.label, _WEEK_LABEL - 6, 13), 13, color=QUIET)
        canvas.bar(MARGIN + _WEEK_LABEL, y + 4, room - 54, 13, share=week.points / most if most > 0 else 0)
        canvas.text(MARGIN + _WEEK_LABEL + room - 6, y + 15, f"{week.points:,}", 15, bold=True, at="right")
        right = f", {week.right} right" if week.answers else ""
        answers = f"{week.answers:,} answer{'' if week.answers == 1 else 's'}{right}"
        canvas.text(WIDTH - MARGIN, y + 15, answers, 12, color=QUIET, at="right")
    return canvas.png()


_TALLEST, _STEP_DOWN = 104, 26
"""Height of the winner's step, and how much lower each next one is."""
_NAMES = 58
"""Room above a step for the name and the score."""
_GAP = 8
"""Space between two steps."""
_COLUMNS = {1: 1, 2: 0, 3: 2}
"""Column of the place in a podium of three: the winner is in the middle."""


def draw_podium(drawing: PodiumChart) -> bytes:
    """Draws a step for each of the first three, the winner's in the middle; members who share a rank are level."""
    steps = drawing.places[:PODIUM_PLACES]
    canvas = Canvas(MARGIN + _NAMES + _TALLEST + MARGIN)
    width = (_INSIDE - 2 * _GAP) / 3
    ground = MARGIN + _NAMES + _TALLEST
    for place, step in enumerate(steps, start=1):
        left = MARGIN + _COLUMNS[place] * (width + _GAP)
        _draw_step(canvas, step, left, ground, width)
    canvas.rule(ground)
    return canvas.png()


def _draw_step(canvas: Canvas, step: PodiumPlace, left: float, ground: float, width: float) -> None:
    height = _TALLEST - _STEP_DOWN * (min(step.rank, 3) - 1)
    middle, top = left + width / 2, ground - height
    name = fitted(step.name, width - 4, 16, bold=True)
    canvas.text(middle, top - 30, name, 16, bold=True, at="center")
    canvas.text(middle, top - 10, fitted(step.score, width - 4, 13), 13, color=QUIET, at="center")
    first = step.rank == 1
    canvas.box(left, top, width, height, BAR if first else TRACK)
    canvas.text(middle, top + 38, str(step.rank), 30, bold=True, color=PAPER if first else INK, at="center")


_ROW, _AXIS = 46, 24
"""Height of a range's row, and of the labels below the scale."""
_NARROW = 24
"""Width of a range below which a full mark would hide it."""
_PERCENTS = ("0%", "25%", "50%", "75%", "100%")
"""Labels of a scale of shares."""


def draw_ranges(drawing: RangesChart) -> bytes:
    """Draws a row per label on a scale from 0 to 100%: the range as a bar, the share right as a mark, and the shares
    that are expected, if any, as a band behind it."""
    return _draw_rows(drawing.title, drawing.rows, _PERCENTS)


def draw_measured(drawing: MeasuredChart) -> bytes:
    """Draws a row per label on a scale from 0: the error as a bar, and the measured value as a mark."""
    return _draw_rows(drawing.title, drawing.rows, drawing.ticks)


def _draw_rows(title: str, rows: tuple[RangeRow, ...], ticks: tuple[str, ...]) -> bytes:
    canvas = Canvas(_TITLE + _ROW * len(rows) + _AXIS)
    canvas.text(MARGIN, 31, fitted(title, _INSIDE, 17, bold=True), 17, bold=True)
    for at, row in enumerate(rows):
        _draw_range(canvas, row, _TITLE + at * _ROW)
    _draw_ticks(canvas, _TITLE + _ROW * len(rows), ticks)
    return canvas.png()


def _draw_ticks(canvas: Canvas, y: float, labels: tuple[str, ...]) -> None:
    for at, label in enumerate(labels):
        share = at / (len(labels) - 1)
        side = {0.0: "left", 1.0: "right"}.get(share, "center")
        canvas.text(MARGIN + _INSIDE * share, y + 9, label, 11, color=QUIET, at=side)


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
    x = min(max(MARGIN + _INSIDE * row.value, MARGIN + 1.5), WIDTH - MARGIN - 1.5)
    narrow = row.known is not None and _INSIDE * (row.known[1] - row.known[0]) < _NARROW
    if not narrow:
        canvas.box(x - 2.5, top - 3, 5, height + 6, PAPER)
    thick = 1 if narrow else 3
    canvas.box(x - thick / 2, top - 3, thick, height + 6, INK)


_DAY, _MARK = 24, 14
"""Sides of a heatmap's cell, and of the largest mark in it in `MARK_SIZES`."""
_DAYS_LEFT, _DAYS_TOP = MARGIN + 22, 34
"""Corner of the first cell."""
_LEGEND = 40
"""Height of the legend."""
_FULL = 20
"""Side of a filled cell."""


def draw_heatmap(drawing: HeatmapChart) -> bytes:
    """Draws a column per week and a mark per day, and what the marks mean. The better a day, the more is filled."""
    rows = max(len(week.days) for week in drawing.weeks)
    canvas = Canvas(_DAYS_TOP + _DAY * rows + _LEGEND)
    for number, month in drawing.months:
        canvas.text(_DAYS_LEFT + _DAY * number, 22, month, 12, color=QUIET)
    for row, letter in ((0, "M"), (2, "W"), (4, "F")):
        canvas.text(MARGIN, _DAYS_TOP + _DAY * row + 15, letter, 12, color=QUIET)
    for column, week in enumerate(drawing.weeks):
        for row, level in enumerate(week.days):
            _draw_day(canvas, _DAYS_LEFT + _DAY * column, _DAYS_TOP + _DAY * row, level)
    x, y = float(MARGIN), _DAYS_TOP + _DAY * rows + 10
    for level, label in LEVELS.items():
        _draw_day(canvas, x, y, level)
        canvas.text(x + _FULL + 6, y + 15, label, 13, color=QUIET)
        x += _FULL + 6 + width_of(label, 13) + 18
    return canvas.png()


def _draw_day(canvas: Canvas, x: float, y: float, level: Level) -> None:
    if level == "blank":
        canvas.box(x + _FULL / 2 - 1.5, y + _FULL / 2 - 1.5, 3, 3, LINE)
        return
    canvas.box(x, y, _FULL, _FULL, TRACK)
    if level != "missed":
        side = _FULL * MARK_SIZES[level] / _MARK
        canvas.box(x + (_FULL - side) / 2, y + (_FULL - side) / 2, side, side, QUIET if level == "answered" else BAR)


def draw_digest(drawing: DigestChart) -> bytes:
    """Draws how many members answered in a week and in the one before, its hardest question, and the weakest topics."""
    groups = [("Hardest question", (drawing.hardest,) if drawing.hardest else ()), ("Weakest topics", drawing.weakest)]
    shown = [(title, rows) for title, rows in groups if rows]
    height = _TITLE + 2 * _ROW + sum(_TITLE + _ROW * len(rows) for _, rows in shown) + (_AXIS if shown else 0)
    canvas = Canvas(height)
    canvas.text(MARGIN, 31, "Members who answered", 17, bold=True)
    most = max(drawing.members, drawing.members_before, 1)
    y: float = _TITLE
    for label, members in (("Last week", drawing.members), ("The week before", drawing.members_before)):
        canvas.text(MARGIN, y + 13, label, 15, bold=True)
        canvas.text(WIDTH - MARGIN, y + 13, f"{members:,}", 15, bold=True, at="right")
        canvas.bar(MARGIN, y + 21, _INSIDE, 12, share=members / most)
        y += _ROW
    for title, rows in shown:
        canvas.text(MARGIN, y + 31, title, 17, bold=True)
        y += _TITLE
        for row in rows:
            _draw_range(canvas, row, y)
            y += _ROW
    if shown:
        _draw_ticks(canvas, y, _PERCENTS)
    return canvas.png()
