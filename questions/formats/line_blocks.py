"""Reads questions as blocks of lines, all with the same number of lines, as quiz programs keep them in text files.

    Which call copies?
    view
    clone
    2

Blank lines separate the blocks, or nothing does: then a line with the letter or the number of an option ends each
block, or begins it, or the right option stands again at the end of each. What each line is shows as in a table without
a header.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.formats.draft import ImportDraft
from questions.formats.tables.column_names import Column
from questions.formats.tables.columns import infer_roles
from questions.formats.tables.table import add_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    return bool(_roles(list(_blocks(source))) or _unseparated(source))


def read(source: Source) -> ImportDraft:
    """Reads all questions of such blocks."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    blocks = list(_blocks(source))
    found = _roles(blocks)
    if not found:
        blocks = list(_unseparated(source))
        found = _inferred(blocks)
    roles = [Column(role, place) for role, place in found]
    for lines, place in blocks:
        if len(lines) != len(roles):
            note = f"the others have {len(roles)} lines, this has {len(lines)}"
            draft.add("Q603", "this block has another number of lines", "write it like the others", place, note=note)
    rows = [block for block in blocks if len(block[0]) == len(roles)]
    columns = list(zip(*(texts for texts, _ in rows), strict=True))
    shown = [_without_labels(cells, column) for cells, column in zip(columns, roles, strict=True)]
    add_rows(draft, roles, zip(zip(*shown, strict=True), (place for _, place in rows), strict=True), base=None)
    return draft


_LABELED = re.compile(r"\(?(?:[A-Ha-h]|[1-8])[.):][ \t]+(?=\S)")
_COUNT = re.compile(r"\d{1,4}[.):][ \t]+(?=\S)")


def _without_labels(cells: Sequence[str], column: Column) -> Sequence[str]:
    """Returns the texts of a line of all blocks without the letter of the option or the number of the question, where
    each has it."""
    if column.role == "correct":
        # The right option again, with its letter or number.
        repeated = all(map(_LABELED.match, cells))
        return [_LABELED.sub("", cell, count=1) for cell in cells] if repeated else cells
    if column.role == "option":
        label = re.compile(rf"\(?(?:{chr(ord('a') + column.place)}|{column.place + 1})[.):][ \t]+(?=\S)", re.IGNORECASE)
    else:
        label = _COUNT
    labeled = column.role in ("option", "question") and all(map(label.match, cells))
    return [label.sub("", cell, count=1) for cell in cells] if labeled else cells


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
    found = infer_roles([lines for lines, _ in blocks if len(lines) == height])
    return found if ("correct", 0) in found else ()


# Blocks without a line between them

_FEWEST_UNSEPARATED = 5
"""Fewest blocks that show a form without anything between them."""
_LINES_UNSEPARATED = range(5, 13)
"""Number of lines of a block: a question, three options and a key, or more."""
_REGULAR_UNSEPARATED = 0.95
"""Share of lines that must be in such blocks."""
_KEY = re.compile(r"[A-Ha-h]|[1-8]")
_MOSTLY = 0.9
"""Share of texts by which a line of a block is known."""


def _unseparated(source: Source) -> list[Block]:
    """Returns the blocks of a text without lines between them, and what is between some of them as blocks of
    another length; empty if the form is not clear."""
    lines = [(number, line.strip()) for number, line in enumerate(source.lines, 1) if line.strip()]
    if len(lines) < _FEWEST_UNSEPARATED * _LINES_UNSEPARATED[0]:
        return []
    if repeated := _ended_by_options(lines):
        return repeated
    keys = [bool(_KEY.fullmatch(text)) for _, text in lines]
    if sum(keys) < len(lines) / (_LINES_UNSEPARATED[-1] + 1):
        return []
    opens = [index == 0 or number - 1 > lines[index - 1][0] for index, (number, _) in enumerate(lines)]
    for height in _LINES_UNSEPARATED:
        last, first = (_starts(keys, opens, height, at) for at in (height - 1, 0))
        # A text of blocks that begin with their keys is nearly one of blocks that end with the keys of the next ones.
        counted = not keys[0] or _counts([lines[start][1] for start in last])
        if keys[-1] and (len(last) > len(first) or (len(last) == len(first) and counted)):
            starts, at = last, height - 1
        elif not keys[-1] and (len(first) > len(last) or (len(first) == len(last) and keys[0])):
            starts, at = first, 0
        else:
            continue
        if len(starts) < _FEWEST_UNSEPARATED or len(starts) * height < len(lines) * _REGULAR_UNSEPARATED:
            continue
        blocks = _cut(lines, starts, height)
        if _is_clear([texts for texts, _ in blocks if len(texts) == height], at):
            return blocks
    return []


def _ended_by_options(lines: list[tuple[int, str]]) -> list[Block]:
    """Returns the blocks of a text in which each ends with one of its own lines again: the right option; empty if it is
    no such text."""
    for height in _LINES_UNSEPARATED:
        if len(lines) % height:
            continue
        blocks = [_block(lines[at : at + height]) for at in range(0, len(lines), height)]
        rows = [texts for texts, _ in blocks]
        asked = {texts[0] for texts in rows}
        if len(asked) >= _FEWEST_UNSEPARATED and all(texts[1:-1].count(texts[-1]) == 1 for texts in rows):
            # A line that all lists end with is not the right one of each.
            varied = len({texts.index(texts[-1], 1) for texts in rows}) > 1
            return blocks if varied and len(asked) == len(rows) and infer_roles(rows)[-1:] == (("correct", 0),) else []
    return []


def _starts(keys: list[bool], opens: list[bool], height: int, at: int) -> list[int]:
    """Returns the indices at which blocks of `height` lines begin whose line `at` may be a key.

    A block has another one, the end of the text or a blank line on both sides, so that a line too many or too few
    never moves what is around it. `opens`: whether a line is the first, or is below a blank one.
    """
    starts: list[int] = []
    index = 0
    while index + height <= len(keys):
        following = index + height
        ends = following == len(keys) or opens[following] or keys[following if at == 0 else index + at]
        begins = opens[index] or keys[index if at == 0 else index - 1]
        if keys[index + at] and begins and ends:
            starts.append(index)
            index = following
        else:
            index += 1
    return starts


def _cut(lines: list[tuple[int, str]], starts: list[int], height: int) -> list[Block]:
    blocks: list[Block] = []
    end = 0
    for start in [*starts, len(lines)]:
        if start > end:
            blocks.append(_block(lines[end:start]))
        if start < len(lines):
            blocks.append(_block(lines[start : start + height]))
        end = start + height
    return blocks


def _block(lines: list[tuple[int, str]]) -> Block:
    return [text for _, text in lines], (lines[0][0], lines[-1][0])


def _is_clear(rows: list[list[str]], at: int) -> bool:
    """Returns whether only one line of the blocks may be the key, `at`, and the others are known."""
    columns = list(zip(*rows, strict=True))
    others = [cells for index, cells in enumerate(columns) if index != at]
    if any(_share(cells, _KEY.fullmatch) >= _MOSTLY and not _counts(cells) for cells in others):
        return False
    roles = infer_roles(rows)
    options = [cells for cells, (role, _) in zip(columns, roles, strict=False) if role == "option"]
    keyed = bool(roles) and roles[at] == ("correct", 0)
    return keyed and len(options) > 1


def _inferred(blocks: list[Block]) -> tuple[tuple[str, int], ...]:
    height = Counter(len(lines) for lines, _ in blocks).most_common(1)[0][0] if blocks else 0
    return infer_roles([lines for lines, _ in blocks if len(lines) == height])


def _share(cells: Sequence[str], matches: Callable[[str], object]) -> float:
    return sum(matches(cell) is not None for cell in cells) / len(cells)


def _counts(cells: Sequence[str]) -> bool:
    """Returns whether a line of the blocks counts them: its numbers ascend."""
    return all(map(str.isdecimal, cells)) and all(int(two) == int(one) + 1 for one, two in pairwise(cells))
