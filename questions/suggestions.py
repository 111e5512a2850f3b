"""Suggests the word that was probably meant: a kind, a level, a part, an id or a topic."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALIKE = 0.6
"""Minimum similarity of a suggestion, 0 to 1."""
_LONGEST = 80
"""Length from which nothing is suggested, characters."""


def nearest(word: str, words: Iterable[str]) -> str:
    """Returns the known word that is most like `word`; empty if none is."""
    if len(word) > _LONGEST:
        return ""
    known = {one.lower(): one for one in words}
    found = get_close_matches(word.lower(), known, 1, _ALIKE)
    return known[found[0]] if found else ""


def did_you_mean(word: str, words: Iterable[str], otherwise: str) -> str:
    """Returns the question whether a known word was meant, or `otherwise` if none is like it."""
    found = nearest(word, words)
    return f"did you mean `{found}`?" if found else otherwise
