"""What a full answer mentions, taken word for word from an answer in prose. Invents nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import split_blocks
from questions.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block

_MOST = 8
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)\s+(?=[A-Z`*(\"'])")


def key_points_of(answer: str) -> tuple[str, ...]:
    """The items of the answer's lists; without any its emphasised sentences, else each paragraph's first."""
    blocks = split_blocks(Source("", tuple(answer.split("\n"))))
    for found in (_items(blocks), _emphasised(blocks), _openings(blocks)):
        points = tuple(dict.fromkeys(found))
        if points:
            return points[:_MOST]
    return ()


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
