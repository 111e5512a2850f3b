"""A drawn PNG as rows of pixels, and what can be asked of them."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]

INK = (0x17, 0x1A, 0x23)
PAPER, BAR, TRACK = (0xFB, 0xFB, 0xFE), (0x41, 0x57, 0xD8), (0xE6, 0xE9, 0xF4)


def pixels_of(png: bytes) -> Pixels:
    with Image.open(io.BytesIO(png)) as image:
        image.load()
        return np.asarray(image.convert("RGB"))


def count(pixels: Pixels, color: tuple[int, int, int]) -> int:
    return int((pixels == color).all(axis=2).sum())


def longest_run(pixels: Pixels, color: tuple[int, int, int]) -> int:
    """Returns the longest run of a color in one row, which is the length of a full bar."""
    best = 0
    for row in (pixels == color).all(axis=2):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
        best = max(best, int((edges[1::2] - edges[::2]).max(initial=0)))
    return best


def margins_clear(pixels: Pixels, logical: int = 4) -> bool:
    """Returns whether the margins are empty, so that nothing is cut off."""
    edge = 2 * logical
    strips = (pixels[:edge], pixels[-edge:], pixels[:, :edge], pixels[:, -edge:])
    return all(bool((strip == PAPER).all()) for strip in strips)
