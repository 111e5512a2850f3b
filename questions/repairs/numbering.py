"""Numbers without a space behind them, `2.What is a view?`, in lists of questions that mostly have one, and letters of
options without one, `b)a clone`.

Markdown reads such a line as text, so that the question would belong to the answer above it. Headings that are nothing
but a number, `## 1.`, lose the mark behind it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in, lines_outside_programs

if TYPE_CHECKING:
    from questions.source import Source

_NUMBER = re.compile(r"(?P<number>\d{1,3})[.)](?P<space>[ \t]+)?(?=[^\W\d_]|[\"'“«¿*`(])(?P<text>.*)")
_FEWEST = 2
"""Fewest lines of either kind."""
_WORDS = 3
"""Fewest words of a line that asks, in scripts with spaces."""
_REGULAR = 0.8
"""Share of numbers that continue, or start over at 1."""


def with_spaces(source: Source) -> Source:
    """Returns the document with a space behind each number at the start of a line that continues from lines with
    one, and behind each letter of an option."""
    return _spaced_letters(_spaced_numbers(_plain_headings(source)))


_HEADING = re.compile(r"(?P<number>#{1,6}[ ]+\d{1,4})(?:[ ]?[.):])?[ \t]*")
_FEWEST_HEADINGS = 3
"""Fewest headings that are nothing but a number, with a mark or without."""


def _plain_headings(source: Source) -> Source:
    """Returns the document without the marks behind the numbers of headings that have no text."""
    found: dict[int, str] = {}
    for at, line in lines_outside_programs(source.lines):
        if line.startswith("#") and (heading := _HEADING.fullmatch(line)):
            found[at] = heading["number"]
    if len(found) < _FEWEST_HEADINGS:
        return source
    return source.with_lines(found)


_LETTER = re.compile(r"[ \t]*(?:[-*+][ ]+)?\(?(?P<letter>[A-Ja-j])(?P<mark>[).])(?P<space>[ \t]*)(?=[^\s.)])")
_FEWEST_LETTERS = {")": 2, ".": 3}
"""Fewest letters in order that are options, by the mark behind them: `a.b` may be a program."""


def _spaced_letters(source: Source) -> Source:
    """Returns the document with a space behind each letter of options in neighboring lines."""
    lines = source.lines
    # Most lines have no mark so early: a regular expression for each would take a hundredth of the whole time.
    early = [at for at, line in enumerate(lines) if ")" in (head := line[:_FIRST]) or "." in head]
    runs: list[list[tuple[int, re.Match[str]]]] = []
    for at in early:
        found = _LETTER.match(lines[at])
        if found is None:
            continue
        last, before = runs[-1][-1] if runs else (at, None)
        follows = before and (found["mark"], ord(found["letter"])) == (before["mark"], ord(before["letter"]) + 1)
        if follows and not any(line.strip() for line in lines[last + 1 : at]):
            runs[-1].append((at, found))
        elif found["letter"] in "Aa":
            runs.append([(at, found)])
    spaced = {
        at: f"{lines[at][: option.end()]} {lines[at][option.end() :]}"
        for run in runs
        if len(run) >= _FEWEST_LETTERS[run[0][1]["mark"]]
        for at, option in run
        if not option["space"]
    }
    return replace(source, lines=tuple(spaced.get(at, line) for at, line in enumerate(lines))) if spaced else source


_FIRST = 10
"""Characters of a line within which the mark behind the letter of an option is."""


def _spaced_numbers(source: Source) -> Source:
    found = _numbered(source)
    tight = [at for at, _, spaced in found if not spaced]
    if len(tight) < _FEWEST or len(found) - len(tight) < _FEWEST:
        return source
    steps = [(one, two) for (_, one, _), (_, two, _) in pairwise(found)]
    mixed = any(two == one + 1 and a != b for (_, one, a), (_, two, b) in pairwise(found))
    if not mixed or sum(two in (one + 1, 1) for one, two in steps) < _REGULAR * len(steps):
        return source
    lines = list(source.lines)
    for at in tight:
        number = _NUMBER.match(lines[at])
        lines[at] = f"{lines[at][: number.start('text')]} {number['text']}" if number else lines[at]
    return replace(source, lines=tuple(lines))


def _numbered(source: Source) -> list[tuple[int, int, bool]]:
    """Returns the lines below a blank one that begin with a number: index, number, and whether a space follows it."""
    found: list[tuple[int, int, bool]] = []
    fence, above = "", ""
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        elif not fence and line[:1].isdigit() and not above.strip() and (number := _NUMBER.match(line)):
            wordy = len(number["text"].split()) >= _WORDS or not line.isascii()
            if number["space"] or wordy:
                found.append((at, int(number["number"]), bool(number["space"])))
        above = line
    return found
