"""Reads questions as blocks of lines, all with the same number of lines, as quiz programs keep them in text files.

    Which call copies?
    view
    clone
    2

Blank lines separate the blocks. What each line is shows as in a table without a header.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from questions.formats.column_names import Column
from questions.formats.columns import infer_roles
from questions.formats.draft import ImportDraft
from questions.formats.table import add_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "line-blocks"

_FEWEST = 4
"""Fewest blocks."""
_LINES = range(4, 13)
"""Number of lines of a block."""
_REGULAR = 0.8
"""Share of blocks that must have the same number of lines."""

Block = tuple[list[str], tuple[int, int]]


def sniff(source: Source) -> bool:
    """Returns whether a text consists of such blocks, with a key in each."""
    blocks = list(_blocks(source))
    roles = _roles(blocks)
    return "correct" in {role for role, _ in roles}


def read(source: Source) -> ImportDraft:
    """Reads all questions of such blocks."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    blocks = list(_blocks(source))
    roles = [Column(role, place) for role, place in _roles(blocks)]
    for lines, place in blocks:
        if len(lines) != len(roles):
            note = f"the others have {len(roles)} lines, this has {len(lines)}"
            draft.add("Q603", "this block has another number of lines", "write it like the others", place, note=note)
    add_rows(draft, roles, (block for block in blocks if len(block[0]) == len(roles)), base=None)
    return draft


def _blocks(source: Source) -> Iterator[Block]:
    lines: list[str] = []
    for number, line in enumerate((*source.lines, ""), 1):
        if line.strip():
            lines.append(line.strip())
        elif lines:
            yield lines, (number - len(lines), number - 1)
            lines = []


def _roles(blocks: list[Block]) -> tuple[tuple[str, int], ...]:
    """Returns what each line of a block is; empty if the blocks are not alike."""
    if len(blocks) < _FEWEST:
        return ()
    height, count = Counter(len(lines) for lines, _ in blocks).most_common(1)[0]
    if height not in _LINES or count < len(blocks) * _REGULAR:
        return ()
    return infer_roles([lines for lines, _ in blocks if len(lines) == height])
