"""What a full answer mentions, taken word for word from an answer in prose. Invents nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import Block, split_blocks
from questions.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 8
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ ]{1,4}(?=\S)")
_NESTED = re.compile(r"(?P<indent>[ ]+)(?:[-*+]|\d{1,9}[.)])[ ]")
_GAP = re.compile(r"\n(?:[ ]*\n)+")
_NOT_SIMPLE = re.compile(
    r"[\t\r]|\n[ ]*\n[ ]+\S|\A[ ]|^(?:[ ]*(?:```|~~~|[>#|<=\[]|[-*+][ ]*$|\d{1,9}[.)][ ]*$|(?:[-*_][ ]*){3,}$|-+[ ]*$)"
    r"|(?:[-*+]|\d{1,9}[.)])(?:[ ]{5,}|[ ]+(?:[-*+>#<\[|]|\d{1,9}[.)]|```|~~~)))"
    r"|[|]",
    re.MULTILINE,
)
"""What may make a block of another kind, or put one into another."""
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)\s+(?=[A-Z`*(\"'])")


def key_points_of(answer: str) -> tuple[str, ...]:
    """The items of the answer's lists; without any its emphasised sentences, else each paragraph's first."""
    if not answer.strip():
        return ()
    blocks = _simple_blocks(answer)
    if blocks is None:
        blocks = split_blocks(Source("", tuple(answer.split("\n"))))
    for found in (_items(blocks), _emphasised(blocks), _openings(blocks)):
        points = tuple(dict.fromkeys(found))
        if points:
            return points[:_MOST]
    return ()


def _simple_blocks(answer: str) -> tuple[Block, ...] | None:
    """Paragraphs and flat lists without a parser, which takes most of the time there is; None for anything else."""
    answer = answer.strip("\n")
    if _NOT_SIMPLE.search(answer):
        return None
    blocks: list[Block] = []
    for part in _GAP.split(answer):
        lines = part.split("\n")
        starts = [index for index, line in enumerate(lines) if _ITEM.match(line)]
        if starts[:1] != [0] and (starts or any(_NESTED.match(line) for line in lines)):
            return None
        ends = [*starts[1:], len(lines)]
        cuts = [_own(lines, start, end) for start, end in zip(starts, ends, strict=False)]
        if None in cuts:
            return None
        texts = ["\n".join(lines[start:cut]) for start, cut in zip(starts, cuts, strict=False)]
        items = tuple(Block("item", 0, 0, children=(_paragraph(_ITEM.sub("", text, count=1)),)) for text in texts)
        blocks.append(Block("list", 0, 0, children=items) if items else _paragraph(part))
    return tuple(blocks)


def _own(lines: list[str], start: int, end: int) -> int | None:
    """Where the first paragraph of an item ends: before the lists in it. None where that is hard to say."""
    found = _ITEM.match(lines[start])
    column = len(found[0]) if found else 0
    nested = [(index, len(one["indent"])) for index in range(start + 1, end) if (one := _NESTED.match(lines[index]))]
    if not nested:
        return end
    return nested[0][0] if nested[0][1] < column + 4 and all(indent >= column for _, indent in nested) else None


def _paragraph(text: str) -> Block:
    return Block("paragraph", 0, 0, text=text)


def _items(blocks: tuple[Block, ...]) -> Iterator[str]:
    for block in blocks:
        for item in block.children if block.kind == "list" else ():
            if item.children and item.children[0].kind == "paragraph":
                yield " ".join(item.children[0].text.split())


def _sentences(blocks: tuple[Block, ...]) -> Iterator[list[str]]:
    """The sentences of each paragraph."""
    for block in blocks:
        if block.kind == "paragraph":
            yield _SENTENCE.split(" ".join(block.text.split()))


def _emphasised(blocks: tuple[Block, ...]) -> Iterator[str]:
    return (one for sentences in _sentences(blocks) for one in sentences if "**" in one)


def _openings(blocks: tuple[Block, ...]) -> Iterator[str]:
    return (sentences[0] for sentences in _sentences(blocks))
