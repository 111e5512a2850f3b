"""Boards, distributions and a member's weeks as pictures: every bar has its number and its words beside it."""

from __future__ import annotations

import io
import unicodedata
from functools import cache

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path
from wcwidth import iter_graphemes

from bot.pictures.spec import MOST_PLACES, BoardDrawing, BoardPlace, DistributionDrawing, ProgressDrawing

# A blank picture in logical pixels, its fonts and colours, and texts that fit. matplotlib's objects, no global state.
#
# The background is the picture's own, so it reads the same in light and dark; nothing is said by colour alone.


WIDTH = 460
"""A phone shows a chat's picture at about three quarters of this, a desktop at somewhat more than it."""
SCALE = 2
MARGIN = 16

PAPER, INK, QUIET, LINE, BAR, TRACK = "#fbfbfe", "#171a23", "#4a5064", "#c9cede", "#4157d8", "#e6e9f4"

_DPI = 100
# The first is matplotlib's own and everywhere; the others are asked for the scripts it lacks, where they are installed.
_FAMILIES = (
    *("DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC"),
    *("Source Han Sans", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback", "Unifont"),
    *("Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai", "Noto Emoji", "Symbola"),
)
_MARKS = 3
_MISSING = "\N{WHITE SQUARE}"


class Canvas:
    """A picture of a height, drawn on from the top left corner."""

    def __init__(self, height: float) -> None:
        self._figure = Figure(figsize=(WIDTH / _DPI, height / _DPI), dpi=_DPI * SCALE, facecolor=PAPER)
        FigureCanvasAgg(self._figure)
        self._axes: Axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set_xlim(0, WIDTH)
        self._axes.set_ylim(height, 0)
        self._axes.set_axis_off()

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 15,
        *,
        bold: bool = False,
        colour: str = INK,
        at: str = "left",
    ) -> None:
        """One line of plain text whose baseline is at `y`; `at` says which end of it is at `x`."""
        self._axes.text(
            x, y, drawable(text), fontproperties=font(size, bold), color=colour, ha=at, va="baseline", parse_math=False
        )

    def formula(self, x: float, y: float, mathtext: str, size: float) -> None:
        """A formula whose baseline begins at a place."""
        self._axes.text(x, y, f"${mathtext}$", fontproperties=formula_font(size), color=INK, va="baseline")

    def bar(self, x: float, y: float, width: float, height: float, *, share: float, hatched: bool = False) -> None:
        """A track, and how much of it is full. A hatched one is told apart without colour."""
        self._box(x, y, width, height, TRACK)
        if share > 0:
            full = max(width * min(1.0, share), height / 2)
            self._box(x, y, full, height, PAPER if hatched else BAR, hatch="////" if hatched else "")

    def _box(self, x: float, y: float, width: float, height: float, colour: str, hatch: str = "") -> None:
        edge = {"edgecolor": BAR, "linewidth": 1.0, "hatch": hatch} if hatch else {"edgecolor": "none"}
        self._axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, **edge))

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """A rounded frame around something that stands out."""
        style = "round,pad=0,rounding_size=6"
        self._axes.add_patch(
            FancyBboxPatch((x, y), width, height, boxstyle=style, fill=False, edgecolor=BAR, linewidth=1.4)
        )

    def rule(self, y: float) -> None:
        """A thin line from margin to margin."""
        self.stroke([(MARGIN, y), (WIDTH - MARGIN, y)], LINE, 0.8)

    def stroke(self, points: list[tuple[float, float]], colour: str = INK, width: float = 1.2) -> None:
        """A line through some points."""
        self._axes.add_patch(PathPatch(Path(points), fill=False, edgecolor=colour, linewidth=width))

    def curve(self, points: list[tuple[float, float]]) -> None:
        """A line of Bézier curves: a place, then three points for each curve."""
        codes = [Path.MOVETO, *([Path.CURVE4] * (len(points) - 1))]
        self._axes.add_patch(PathPatch(Path(points, codes), fill=False, edgecolor=INK, linewidth=1.2))

    def png(self) -> bytes:
        """The picture; the same drawing gives the same bytes."""
        buffer = io.BytesIO()
        self._figure.savefig(buffer, format="png", facecolor=PAPER, metadata={"Software": None})
        return buffer.getvalue()


@cache
def font(size: float, bold: bool = False) -> FontProperties:
    """The font of plain text, `size` in logical pixels."""
    return FontProperties(family=list(_families()), size=_points(size), weight="bold" if bold else "normal")


@cache
def formula_font(size: float) -> FontProperties:
    """The font of formulas."""
    return FontProperties(family="STIXGeneral", size=_points(size), math_fontfamily="stix")


def _points(size: float) -> float:
    return size * 72 / _DPI


def logical(points: float) -> float:
    """Points in logical pixels."""
    return points * _DPI / 72


@cache
def _families() -> tuple[str, ...]:
    installed = {entry.name for entry in fontManager.ttflist}
    return tuple(family for family in _FAMILIES if family in installed)


@cache
def _characters() -> frozenset[int]:
    """Every code point that one of the fonts can show."""
    names = _families()
    files = {entry.fname for entry in fontManager.ttflist if entry.name in names}
    return frozenset(point for file in files for point in FT2Font(file).get_charmap())


def drawable(text: str) -> str:
    """The text with a square in place of each character that no font at hand can show, and marks stacked up cut off."""
    return "".join(map(_drawable, iter_graphemes(text)))


def _drawable(grapheme: str) -> str:
    """What people call a character, with no more marks than any script puts on one: a tower would reach other rows."""
    marks = [place for place, character in enumerate(grapheme) if unicodedata.category(character) in ("Mn", "Me")]
    kept = grapheme[: marks[_MARKS]] if len(marks) > _MARKS else grapheme
    return kept if all(ord(character) in _characters() for character in kept) else _MISSING


@cache
def _measuring() -> RendererAgg:
    return RendererAgg(1, 1, _DPI)  # type: ignore[no-untyped-call]


def width_of(text: str, size: float = 15, bold: bool = False) -> float:
    """How wide the text is drawn, in logical pixels."""
    style = font(size, bold)
    found = _measuring().get_text_width_height_descent(drawable(text), style, False)  # type: ignore[no-untyped-call]
    return float(found[0])


def fitted(text: str, room: float, size: float = 15, bold: bool = False) -> str:
    """The text, or as much of its beginning as there is room for, and an ellipsis."""
    line = " ".join(text.split())
    if width_of(line, size, bold) <= room:
        return line
    parts = list(iter_graphemes(line[:200]))
    least, most = 0, len(parts)
    while least < most:
        middle = (least + most + 1) // 2
        if width_of("".join(parts[:middle]).rstrip() + "…", size, bold) <= room:
            least = middle
        else:
            most = middle - 1
    return "".join(parts[:least]).rstrip() + "…"


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


def _about(place: BoardPlace) -> str:
    return f"{place.right} right · streak {place.streak}"


def _draw_place(canvas: Canvas, y: float, place: BoardPlace, share: float, track: float) -> None:
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
