"""Fences of programs in Markdown, line by line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"[ \t]*(?P<mark>```+(?=[^`]*$)|~~~+)")
"""What opens or closes a fence; a program in its line, such as ```` ```x``` ````, has further marks behind it."""


def fence_in(line: str) -> re.Match[str] | None:
    """Returns the marks at the start of a line that open or close a fence, as `mark`."""
    return _FENCE.match(line) if "```" in line or "~~~" in line else None


def fence_after(fence: str, mark: str) -> str:
    """Returns the fence that is open after a line with marks; empty if they close it."""
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def lines_outside_programs(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the index and the text of each line that is neither in a fence nor one of its marks."""
    fence = ""
    for at, line in enumerate(lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        elif not fence:
            yield at, line
