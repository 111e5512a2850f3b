"""Styled text set in lines of a terminal's width: pieces, words, wrapping, ANSI; knows nothing of the tree."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Flag
from itertools import groupby
from typing import NamedTuple

from wcwidth import iter_graphemes, wcswidth

from bot.core.markup.safety import clean


class Style(Flag):
    """How a piece is shown where a terminal can."""

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


class Piece(NamedTuple):
    """Text in one style; a line feed in it is a line break."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Piece, ...]
_PARTS = re.compile(r"(\n)|([ \t]+)|([^ \t\n]+)")


def cells(text: str) -> int:
    """Give how many columns a terminal needs for the text."""
    return max(0, wcswidth(clean(text)))


def line_cells(line: Iterable[Piece]) -> int:
    """Give how many columns a line takes."""
    return sum(cells(piece.text) for piece in line)


def wrap(pieces: Iterable[Piece], width: int) -> list[Line]:
    """Set pieces in lines of at most `width` columns, broken between words; a longer word is cut between letters."""
    lines: list[list[Piece]] = [[]]
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
                lines[-1].append(Piece(" ", lines[-1][-1].style & part[0].style))
                used += 1
            lines[-1].extend(part)
            used += size
    return [tuple(line) for line in lines]


def _words(pieces: Iterable[Piece]) -> Iterator[Line | None]:
    """Give the words, each of one or more pieces, and None for a line break."""
    word: list[Piece] = []
    for piece in pieces:
        for found in _PARTS.finditer(piece.text):
            if found[3]:
                word.append(Piece(found[3], piece.style))
                continue
            if word:
                yield tuple(word)
                word = []
            if found[1]:
                yield None
    if word:
        yield tuple(word)


def _fitting(word: Line, width: int) -> Iterator[Line]:
    """Give the word, or where it is wider than a line its parts, cut between what people call characters."""
    if line_cells(word) <= width:
        yield word
        return
    part: list[Piece] = []
    used = 0
    for piece in word:
        for grapheme in iter_graphemes(piece.text):
            size = cells(grapheme)
            if part and used + size > width:
                yield tuple(part)
                part, used = [], 0
            part.append(Piece(grapheme, piece.style))
            used += size
    yield tuple(part)


def padded(line: Line, width: int, before: int) -> Line:
    """Fill a line to `width` columns, `before` of the missing ones in front."""
    missing = max(0, width - line_cells(line))
    return (Piece(" " * min(before, missing)), *line, Piece(" " * (missing - min(before, missing))))


def prefixed(lines: Sequence[Line], first: str, rest: str, style: Style = Style.PLAIN) -> list[Line]:
    """Put `first` before the first line and `rest` before the others."""
    return [(Piece(rest if place else first, style), *line) for place, line in enumerate(lines)]


def as_text(lines: Iterable[Line]) -> str:
    """Join lines without their styles."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def as_ansi(lines: Iterable[Line]) -> str:
    """Join lines with their styles as escape sequences, each closed on its own line."""
    return "\n".join(_ansi(line) for line in lines)


def _ansi(line: Line) -> str:
    runs = groupby(line, key=lambda piece: piece.style)
    return "".join(_styled("".join(piece.text for piece in run), style) for style, run in runs)


def _styled(text: str, style: Style) -> str:
    codes = ";".join(code for part, code in _SGR.items() if part in style)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text
