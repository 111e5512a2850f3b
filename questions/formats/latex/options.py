"""Finds the options in the text of a question in LaTeX: lettered paragraphs, or bold words, some of them marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.formats.latex.text import MARK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.formats.draft import Item

_LETTERED = re.compile(
    rf"(?P<mark>{MARK}?)(?:\*\*)?\(?(?P<letter>[A-H])(?:[.):]\*{{0,2}}|\*\*[.):]?)\s*(?P<text>\S.*)", re.DOTALL
)
_EITHER = rf"{MARK}?\*\*[^*\n]{{1,80}}\*\*"
_ALTERNATIVES = re.compile(rf"{_EITHER}(?:[ ]*(?:/|\bor\b|\bo\b|\bou\b|\boder\b|,)[ ]*{_EITHER})+")


def take_options(item: Item) -> Sequence[tuple[str, bool]]:
    """Returns the options in a prompt, and takes them out: lettered paragraphs at its end, or words in bold if some
    are marked as right."""
    paragraphs = item.prompt.split("\n\n")
    found = [_LETTERED.fullmatch(one) for one in paragraphs]
    start = len(found)
    while start and found[start - 1]:
        start -= 1
    lettered = [one for one in found[start:] if one]
    if len(lettered) > 1 and [one["letter"] for one in lettered] == list("ABCDEFGH"[: len(lettered)]):
        item.prompt = "\n\n".join(paragraphs[:start])
        return [(one["text"].strip(), bool(one["mark"])) for one in lettered]
    groups = [one[0] for one in _ALTERNATIVES.finditer(item.prompt)] if MARK in item.prompt else []
    if len(groups) != 1 or item.prompt.count(MARK) != groups[0].count(MARK):
        return ()
    item.prompt = item.prompt.replace(MARK, "")
    return [(one.strip(f"{MARK}*"), one.startswith(MARK)) for one in re.findall(_EITHER, groups[0])]
