"""Marks right options that repeat their own letter in brackets: `- B: blue (B)` becomes `- blue (correct)`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in

if TYPE_CHECKING:
    from questions.source import Source

_OPTION = re.compile(
    r"(?P<lead>[ \t]{0,8}(?:[-*+][ ]{1,3})?)(?P<letter>[A-H])[.:)][ ]+(?P<text>[^\s(].{0,400}?)"
    r"(?:[ ]{0,3}\((?P<own>[A-H])\))?[ \t]*"
)
_LONGEST = 500
"""Length of a line with an option, characters."""
_FEWEST = 3
"""Fewest questions with such a key."""
_REGULAR = 0.9
"""Share of the lists of options in which exactly one must repeat its letter."""


@dataclass(slots=True)
class _Run:
    """Lettered options that follow each other, by the indices of their lines."""

    lines: list[int]
    options: list[re.Match[str]]

    @property
    def marked(self) -> list[int]:
        """Places of the options that repeat their own letter."""
        return [at for at, option in enumerate(self.options) if option["own"] == option["letter"]]


def with_own_letters(source: Source) -> Source:
    """Returns the document with the usual mark on options that repeat their letter, if exactly one does in nearly each
    list and no option ends with the letter of another. Programs stay as they are."""
    if sum(line.rstrip()[-3:-2] == "(" for line in source.lines) < _FEWEST:
        return source
    runs = [run for run in _runs(source) if len(run.options) > 1]
    keyed = [run for run in runs if len(run.marked) == 1]
    foreign = any(option["own"] not in (None, option["letter"]) for run in runs for option in run.options)
    if foreign or len(keyed) < max(_FEWEST, _REGULAR * len(runs)):
        return source
    lines = list(source.lines)
    for run in keyed:
        for at, option in zip(run.lines, run.options, strict=True):
            mark = " (correct)" if option["own"] else ""
            letter = "" if option["lead"].strip() else f"{option['letter']}) "
            lines[at] = f"{option['lead']}{letter}{option['text']}{mark}"
    return replace(source, lines=tuple(lines))


def _runs(source: Source) -> list[_Run]:
    """Returns the lettered options outside programs, from each `A` to the last letter that follows in order."""
    runs: list[_Run] = []
    fence, last = "", ""
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence, last = fence_after(fence, mark["mark"]), ""
        elif not fence and line.strip():
            option = _OPTION.fullmatch(line) if len(line) <= _LONGEST else None
            if option and option["letter"] == "A":
                runs.append(_Run([at], [option]))
            elif option and last and ord(option["letter"]) == ord(last) + 1:
                runs[-1].lines.append(at)
                runs[-1].options.append(option)
            else:
                option = None
            last = option["letter"] if option else ""
    return runs
