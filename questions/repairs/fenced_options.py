"""Takes lettered options out of fences that hold nothing else, in documents with several such fences."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in

if TYPE_CHECKING:
    from questions.source import Source

_OPTION = re.compile(r"[ \t]{0,8}(?P<letter>[A-Ha-h])[.)][ \t]+\S.*")
_FEWEST = 3
"""Fewest fences of options."""


def with_unfenced_options(source: Source) -> Source:
    """Returns the document with blank lines instead of the marks of fences that hold only options with letters from A
    on, and name no language."""
    lines = source.lines
    found: list[tuple[int, int]] = []
    fence, opened = "", 0
    for at, line in enumerate(lines):
        if mark := fence_in(line):
            before, fence = fence, fence_after(fence, mark["mark"])
            if fence and not before:
                opened = at
            elif before and not fence and _is_bare(lines[opened]) and _holds_options(lines[opened + 1 : at]):
                found.append((opened, at))
    if len(found) < _FEWEST:
        return source
    ends = {at for pair in found for at in pair}
    return replace(source, lines=tuple("" if at in ends else line for at, line in enumerate(lines)))


def _is_bare(line: str) -> bool:
    return not line.strip().strip("`~")


def _holds_options(lines: tuple[str, ...]) -> bool:
    options = [_OPTION.fullmatch(line) for line in lines if line.strip()]
    letters = "".join(option["letter"] if option else "-" for option in options).casefold()
    return 2 <= len(letters) <= 8 and letters == "abcdefgh"[: len(letters)]
