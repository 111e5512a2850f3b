"""The canvas that pictures are drawn on: logical pixels, fonts, colors, and texts that fit.

Uses matplotlib's objects without its global state. A picture has its own background, so it reads the same in light and
dark themes. Color alone carries no meaning.
"""

from __future__ import annotations

import io
import unicodedata
from bisect import bisect_right
from contextlib import suppress
from functools import cache, lru_cache
from itertools import accumulate, combinations

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findSystemFonts, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D
from PIL import Image, ImageColor
from wcwidth import iter_graphemes

WIDTH = 460
"""Width, logical pixels. Phones show a picture in chat at about three quarters of it, desktops somewhat larger."""
SCALE = 2
"""Pixels of the picture for each logical pixel."""
MARGIN = 16
"""Margin, logical pixels."""

PAPER, INK, QUIET, LINE, BAR, TRACK = "#fbfbfe", "#171a23", "#4a5064", "#c9cede", "#4157d8", "#e6e9f4"

_DPI = 100
_SHADE = 12
"""Difference of two neighboring shades, of 255: the eye does not see it in an edge one pixel wide."""
# matplotlib ships the first family; the others cover scripts it lacks, if they are installed. The image of the bot has
# WenQuanYi Micro Hei, Loma, Lohit and Symbola.
_FAMILIES = (
    *("DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK KR"),
    *("Noto Sans JP", "Noto Sans SC", "Noto Sans TC", "Noto Sans KR", "Source Han Sans", "Source Han Sans SC"),
    *("Droid Sans Fallback", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "IPAGothic", "IPAexGothic", "VL Gothic"),
    *("TakaoGothic", "NanumGothic", "UnDotum", "AR PL UMing CN", "Noto Sans Devanagari", "Noto Sans Bengali"),
    *("Noto Sans Tamil", "Noto Sans Thai", "Lohit Devanagari", "Lohit Bengali", "Lohit Tamil", "Lohit Telugu"),
    *("Lohit Kannada", "Lohit Malayalam", "Lohit Gujarati", "Lohit Gurmukhi", "Lohit Odia", "Loma", "FreeSans"),
    *("Noto Emoji", "Symbola", "Unifont"),
)
_MARKS = 3
"""Combining marks that a grapheme keeps."""
_MISSING = "\N{WHITE SQUARE}"
"""Stands for a character that no font has."""
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
"""Two of them are a flag, which is drawn as its two letters."""
_KEYCAP = "\N{VARIATION SELECTOR-16}\N{COMBINING ENCLOSING KEYCAP}"
"""What makes an emoji of a digit or a sign, which is drawn as it is."""


class Canvas:
    """A picture of a given height, drawn from its top left corner."""

    def __init__(self, height: float) -> None:
        self._figure = Figure(figsize=(WIDTH / _DPI, height / _DPI), dpi=_DPI * SCALE, facecolor=PAPER)
        self._canvas = FigureCanvasAgg(self._figure)
        # Artists are added to the figure: axes would take a fifth of the time, for limits that nothing here needs.
        self._pixels = Affine2D().scale(SCALE, -SCALE).translate(0, SCALE * height)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 15,
        *,
        bold: bool = False,
        color: str = INK,
        at: str = "left",
    ) -> None:
        """Draws one line of plain text with its baseline at `y`; `at` says which end of it is at `x`."""
        style = font(size, bold)
        self._add(Text(x, y, drawable(text), fontproperties=style, color=color, ha=at, va="baseline", parse_math=False))

    def formula(self, x: float, y: float, mathtext: str, size: float) -> None:
        """Draws a formula whose baseline starts at a point."""
        self._add(Text(x, y, f"${mathtext}$", fontproperties=formula_font(size), color=INK, va="baseline"))

    def bar(self, x: float, y: float, width: float, height: float, *, share: float, hatched: bool = False) -> None:
        """Draws a track and fills a share of it. Hatching distinguishes bars without color."""
        self.box(x, y, width, height, TRACK)
        if share > 0:
            full = max(width * min(1.0, share), height / 2)
            self.box(x, y, full, height, PAPER if hatched else BAR, hatch="////" if hatched else "")

    def box(self, x: float, y: float, width: float, height: float, color: str, hatch: str = "") -> None:
        """Draws a filled rectangle."""
        edge = {"edgecolor": BAR, "linewidth": 1.0, "hatch": hatch} if hatch else {"edgecolor": "none"}
        self._add(Rectangle((x, y), width, height, facecolor=color, **edge))

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """Draws a rounded frame around a highlighted row."""
        style = "round,pad=0,rounding_size=6"
        self._add(FancyBboxPatch((x, y), width, height, boxstyle=style, fill=False, edgecolor=BAR, linewidth=1.4))

    def rule(self, y: float) -> None:
        """Draws a thin line from margin to margin."""
        self.stroke([(MARGIN, y), (WIDTH - MARGIN, y)], LINE, 0.8)

    def stroke(self, points: list[tuple[float, float]], color: str = INK, width: float = 1.2) -> None:
        """Draws a line through points."""
        self._add(PathPatch(Path(points), fill=False, edgecolor=color, linewidth=width))

    def curve(self, points: list[tuple[float, float]]) -> None:
        """Draws a line of Bézier curves: a start point, then three points per curve."""
        codes = [Path.MOVETO, *([Path.CURVE4] * (len(points) - 1))]
        self._add(PathPatch(Path(points, codes), fill=False, edgecolor=INK, linewidth=1.2))

    def _add(self, artist: Artist) -> None:
        artist.set_transform(self._pixels)
        self._figure.add_artist(artist)

    def png(self) -> bytes:
        """Returns the PNG. The same drawing gives the same bytes."""
        self._canvas.draw()  # type: ignore[no-untyped-call]
        size = self._canvas.get_width_height()
        pixels = bytes(self._canvas.buffer_rgba())  # type: ignore[no-untyped-call]
        drawn = Image.frombytes("RGB", size, pixels, "raw", "RGBX")
        buffer = io.BytesIO()
        # With a palette, a picture takes a third of the bytes.
        drawn.quantize(palette=_palette(), dither=Image.Dither.NONE).save(buffer, "png")
        return buffer.getvalue()


@cache
def _palette() -> Image.Image:
    """Returns the colors, and the shades between each two of them that are at the edges of letters and boxes.

    Always the same: to find the best shades for a picture would take a fifth of its time.
    """
    colors = [ImageColor.getrgb(color) for color in (PAPER, INK, QUIET, LINE, BAR, TRACK)]
    shades: list[tuple[int, ...]] = [*colors]
    for one, other in combinations(colors, 2):
        steps = max(abs(a - b) for a, b in zip(one, other, strict=True)) // _SHADE
        for step in range(1, steps):
            shades.append(tuple(round(a + (b - a) * step / steps) for a, b in zip(one, other, strict=True)))
    palette = Image.new("P", (1, 1))
    palette.putpalette([level for shade in shades for level in shade])
    return palette


@cache
def font(size: float, bold: bool = False) -> FontProperties:
    """Returns the font of plain text; `size` is in logical pixels."""
    return FontProperties(family=list(_families()), size=_points(size), weight="bold" if bold else "normal")


@cache
def formula_font(size: float) -> FontProperties:
    """Returns the font of formulas."""
    return FontProperties(family="STIXGeneral", size=_points(size), math_fontfamily="stix")


def _points(size: float) -> float:
    return size * 72 / _DPI


def logical(points: float) -> float:
    """Converts points to logical pixels."""
    return points * _DPI / 72


@cache
def _families() -> tuple[str, ...]:
    _add_new_fonts()
    installed = {entry.name for entry in fontManager.ttflist}
    return tuple(family for family in _FAMILIES if family in installed)


def _add_new_fonts() -> None:
    """Adds fonts that were installed after matplotlib wrote its list, which it never does again."""
    for file in sorted(set(findSystemFonts()) - {entry.fname for entry in fontManager.ttflist}):
        with suppress(Exception):  # a font of pixels, or a broken file: the others are still of use
            fontManager.addfont(file)


@cache
def _characters() -> frozenset[int]:
    """Returns every code point that one of the fonts can show."""
    names = _families()
    files = {entry.fname for entry in fontManager.ttflist if entry.name in names}
    return frozenset(point for file in files for point in FT2Font(file).get_charmap())


def drawable(text: str) -> str:
    """Replaces each character without a glyph by a square and removes excessive combining marks."""
    return "".join(map(_drawable, iter_graphemes(text)))


def _drawable(grapheme: str) -> str:
    """Returns a grapheme with at most the marks that real scripts use: more would reach into other rows.

    Of several emoji joined into one, only the first is drawn, because none of the fonts joins them.
    """
    plain = "".join(character for character in grapheme if character not in _KEYCAP) or grapheme
    marks = [place for place, character in enumerate(plain) if unicodedata.category(character) in ("Mn", "Me")]
    kept = plain[: marks[_MARKS]] if len(marks) > _MARKS else plain
    if unicodedata.category(kept[0]) == "So" and kept[0] not in _FLAG_LETTERS:
        kept = kept[0]
    return kept if all(ord(character) in _characters() for character in kept) else _MISSING


@cache
def _measuring() -> RendererAgg:
    return RendererAgg(1, 1, _DPI)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=4096)
def width_of(text: str, size: float = 15, bold: bool = False) -> float:
    """Returns the width of a drawn text, logical pixels."""
    style = font(size, bold)
    found = _measuring().get_text_width_height_descent(drawable(text), style, False)  # type: ignore[no-untyped-call]
    return float(found[0])


def fitted(text: str, room: float, size: float = 15, bold: bool = False) -> str:
    """Returns the text, truncated with an ellipsis to fit `room`."""
    line = " ".join(text.split())
    if width_of(line, size, bold) <= room:
        return line
    parts = list(iter_graphemes(line[:200]))
    # The sum of their widths is a little more than their width together, or the same: letters move closer.
    ends = list(accumulate(width_of(part, size, bold) for part in parts))
    kept = bisect_right(ends, room - width_of("…", size, bold))
    while kept and width_of(_cut(parts, kept), size, bold) > room:
        kept -= 1
    return _cut(parts, kept)


def _cut(graphemes: list[str], kept: int) -> str:
    return "".join(graphemes[:kept]).rstrip() + "…"
