"""Boards, distributions and a member's weeks as pictures: every bar has its number and its words beside it."""

from __future__ import annotations

from bot.pictures.canvas import MARGIN, QUIET, WIDTH, Canvas, fitted, width_of
from bot.pictures.drawings import MOST_PLACES, BoardDrawing, DistributionDrawing, Place, ProgressDrawing

_INSIDE = WIDTH - 2 * MARGIN
_TITLE, _EDGE = 48, 10
_PLACE, _RANK = 46, 34
_CHOICE = 50
_WEEK, _LABEL, _NUMBERS = 30, 62, 150


def draw_board(drawing: BoardDrawing) -> bytes:
    """A row for each place: rank, name, points with their bar, the share right and the streak."""
    places = drawing.places[:MOST_PLACES]
    canvas = Canvas(2 * _EDGE + _PLACE * len(places))
    most = max((place.points for place in places), default=0)
    # Bars are compared by their lengths, so all have the same track.
    track = _INSIDE - _RANK - max((width_of(_about(place), 12) for place in places), default=0) - 10
    for row, place in enumerate(places):
        _draw_place(canvas, _EDGE + row * _PLACE, place, place.points / most if most > 0 else 0, track)
    return canvas.png()


def _about(place: Place) -> str:
    return f"{place.right} right · streak {place.streak}"


def _draw_place(canvas: Canvas, y: float, place: Place, share: float, track: float) -> None:
    left, right = MARGIN + _RANK, WIDTH - MARGIN
    if place.mine:
        canvas.frame(MARGIN - 8, y - 3, _INSIDE + 16, _PLACE - 2)
    points = f"{place.points:,} points" if abs(place.points) != 1 else f"{place.points} point"
    room = right - left - width_of(points, 15, True) - 12
    you = " (you)" if place.mine else ""
    name = fitted(place.name, room - width_of(you, 15, place.mine), 15, place.mine)
    canvas.text(left - 10, y + 15, place.rank, 15, bold=True, at="right")
    canvas.text(left, y + 15, name, 15, bold=place.mine)
    # Apart from the name, lest one from right to left draws the word into its own order.
    canvas.text(left + width_of(name, 15, place.mine), y + 15, you, 15, bold=place.mine)
    canvas.text(right, y + 15, points, 15, bold=True, at="right")
    canvas.bar(left, y + 23, track, 9, share=share)
    canvas.text(right, y + 33, _about(place), 12, colour=QUIET, at="right")


def draw_distribution(drawing: DistributionDrawing) -> bytes:
    """A bar for each answer, full where it is right and hatched where it is wrong, and said so in words."""
    canvas = Canvas(12 + _CHOICE * len(drawing.choices))
    for row, choice in enumerate(drawing.choices):
        y = 12 + row * _CHOICE
        numbers = f"{choice.count:,} · {round(100 * choice.share)} %"
        said = f"{choice.mark.capitalize()}:" if choice.mark else ""
        begin = MARGIN + (width_of(f"{said} ", 15, True) + 5 if said else 0)
        room = WIDTH - MARGIN - begin - width_of(numbers, 15, True) - 12
        canvas.text(MARGIN, y + 15, said, 15, bold=True)
        canvas.text(begin, y + 15, fitted(choice.label, room), 15)
        canvas.text(WIDTH - MARGIN, y + 15, numbers, 15, bold=True, at="right")
        canvas.bar(MARGIN, y + 23, _INSIDE, 12, share=choice.share, hatched=choice.mark == "wrong")
    return canvas.png()


def draw_progress(drawing: ProgressDrawing) -> bytes:
    """A row for each week: its points with their bar, how many answers, how many of them right."""
    canvas = Canvas(_TITLE + _WEEK * len(drawing.weeks) + 6)
    canvas.text(MARGIN, 31, "Points by week", 17, bold=True)
    most = max((week.points for week in drawing.weeks), default=0)
    room = _INSIDE - _LABEL - _NUMBERS
    for row, week in enumerate(drawing.weeks):
        y = _TITLE + row * _WEEK
        canvas.text(MARGIN, y + 15, fitted(week.label, _LABEL - 6, 13), 13, colour=QUIET)
        canvas.bar(MARGIN + _LABEL, y + 4, room - 54, 13, share=week.points / most if most > 0 else 0)
        canvas.text(MARGIN + _LABEL + room - 6, y + 15, f"{week.points:,}", 15, bold=True, at="right")
        right = f", {week.right} right" if week.answers else ""
        answers = f"{week.answers:,} answer{'' if week.answers == 1 else 's'}{right}"
        canvas.text(WIDTH - MARGIN, y + 15, answers, 12, colour=QUIET, at="right")
    return canvas.png()
