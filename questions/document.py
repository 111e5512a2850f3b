"""A document as dialects see it: blocks, the sections headings make of them, and what is still unread."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import yaml

from questions.blocks import (
    Block,
    Fold,
    Label,
    find_folds,
    is_answer_heading,
    is_answer_summary,
    labels_in,
    plain,
    split_blocks,
)
from questions.model import CodeBlock, Question, SourceLocation
from questions.source import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.source import Source


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and everything up to the next heading that is no deeper."""

    heading: Block
    body: tuple[Block, ...]
    above: tuple[Block, ...]
    """The headings it stands under, outermost first."""

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above it as plain text."""
        return tuple(plain(block.text) for block in self.above)

    @property
    def last(self) -> int:
        """Its last line that is not blank."""
        return self.body[-1].last if self.body else self.heading.last


@dataclass(frozen=True, slots=True)
class Stretch:
    """The blocks between one heading and the next."""

    headings: tuple[Block, ...]
    """The headings it stands under, outermost first; none before the first heading."""
    blocks: tuple[Block, ...]

    @property
    def first(self) -> int:
        """The line of the heading right above it; 1 before the first heading."""
        return self.headings[-1].first if self.headings else 1

    @property
    def path(self) -> tuple[str, ...]:
        """The headings as plain text."""
        return tuple(plain(block.text) for block in self.headings)


class Layout:
    """How a document is divided, worked out once and shared by all dialects."""

    def __init__(self, source: Source, blocks: tuple[Block, ...]) -> None:
        self.source = source
        self.blocks = blocks

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every heading's section, in document order."""
        return tuple(_sections(self.blocks, self.depths))

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """What stands between headings, in document order; a heading within an answer parts nothing."""
        return tuple(_stretches(self.blocks, self.depths))

    @cached_property
    def depths(self) -> dict[int, int]:
        """For the line of each heading how deep it stands: one within an answer stands below all others."""
        folded = [(fold.first, fold.last) for fold in self.answer_folds]
        depths: dict[int, int] = {}
        for block in self.blocks:
            if block.kind == "heading":
                at = bisect_left(folded, (block.first, 0)) - 1
                inside = at >= 0 and block.first <= folded[at][1]
                depths[block.first] = _BELOW if inside or is_answer_heading(block) else block.level
        return depths

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """Every `<details>`, in order."""
        return find_folds(self.source, self.blocks)

    @cached_property
    def answer_folds(self) -> tuple[Fold, ...]:
        """Those that hide an answer and lie in no other of them."""
        found: list[Fold] = []
        for fold in self.folds:
            if is_answer_summary(fold.summary) and (not found or fold.first > found[-1].last):
                found.append(fold)
        return tuple(found)

    @cached_property
    def answer_fold_lines(self) -> tuple[int, ...]:
        """The first line of each of them."""
        return tuple(fold.first for fold in self.answer_folds)

    @cached_property
    def labels(self) -> dict[int, tuple[Label, ...]]:
        """For the first line of each paragraph its labels, where it has any."""
        found: dict[int, tuple[Label, ...]] = {}
        for block in self.blocks:
            for inner in block.walk():
                if inner.kind == "paragraph" and (labels := labels_in(inner, self.source)):
                    found[inner.first] = tuple(labels)
        return found

    @cached_property
    def fences(self) -> tuple[Block, ...]:
        """Every fenced block at any depth, in order."""
        return tuple(inner for block in self.blocks for inner in block.walk() if inner.kind == "fence")

    @cached_property
    def fence_lines(self) -> tuple[int, ...]:
        """The first line of each of them."""
        return tuple(fence.first for fence in self.fences)

    @cached_property
    def title(self) -> str:
        """The front matter's title, or the first heading, as plain text."""
        heading = next((block for block in self.blocks if block.kind == "heading"), None)
        return scalar(self.front, "title") or (plain(heading.text) if heading else "")

    @cached_property
    def front(self) -> yaml.Node | None:
        """The front matter's syntax tree; None where there is none or it cannot be read."""
        first = self.blocks[0] if self.blocks else None
        if first is None or first.kind != "front_matter":
            return None
        try:
            return yaml.compose(first.text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError, ValueError):
            return None


_BELOW = 7
"""Deeper than any heading."""


@dataclass(frozen=True)
class Document:
    """What a dialect reads: it takes questions out of `blocks` and leaves the rest."""

    source: Source
    blocks: tuple[Block, ...]
    layout: Layout
    taken: bytes
    """For each line from 0 whether it belongs to a question already read."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """Every heading's section, in document order."""
        return self.layout.sections

    @property
    def title(self) -> str:
        """What the document calls itself: the front matter's title, or its first heading, as plain text."""
        return self.layout.title

    @property
    def front(self) -> yaml.Node | None:
        """The front matter's syntax tree; None where there is none or it cannot be read."""
        return self.layout.front

    @cached_property
    def _taken_before(self) -> array[int]:
        return array("q", accumulate(self.taken, initial=0))

    def free(self, first: int, last: int) -> bool:
        """Whether no line from `first` to `last` belongs to a question yet."""
        before = self._taken_before
        return before[min(last + 1, len(self.taken))] == before[first]

    def labels(self, block: Block) -> tuple[Label, ...]:
        """The labels in a paragraph's lines; none in any other block."""
        return self.layout.labels.get(block.first, ()) if block.kind == "paragraph" else ()

    def answer_fold(self, block: Block) -> Fold | None:
        """The first fold with an answer that begins in a block."""
        at = bisect_left(self.layout.answer_fold_lines, block.first)
        found = self.layout.answer_folds[at : at + 1]
        return found[0] if found and found[0].first <= block.last else None

    def without(self, questions: Iterable[Question]) -> Document:
        """The document with the lines of `questions` taken."""
        taken = bytearray(self.taken)
        for question in questions:
            first, last = question.place.line, question.place.end_line
            taken[first : last + 1] = b"\x01" * (last + 1 - first)
        return Document(self.source, self.blocks, self.layout, bytes(taken))

    def code_between(self, first: int, last: int) -> tuple[CodeBlock, ...]:
        """The fenced blocks that stand between two lines."""
        return tuple(CodeBlock(fence.text, fence.info, fence.first + 1) for fence in self.fences_between(first, last))

    def fences_between(self, first: int, last: int) -> Iterator[Block]:
        """The same, as blocks."""
        lines = self.layout.fence_lines
        return iter(self.layout.fences[bisect_left(lines, first) : bisect_right(lines, last)])

    def place(self, first: int, last: int) -> SourceLocation:
        """A question's place, without the blank lines at its end."""
        return SourceLocation(self.source.name, first, self.source.last_filled(first, last))


@dataclass(slots=True)
class Draft:
    """What one dialect read. Questions of foreign dialects have no id yet."""

    questions: list[Question] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def open_document(source: Source) -> Document:
    """The document of a source, nothing of it read yet."""
    blocks = split_blocks(source)
    return Document(source, blocks, Layout(source, blocks), bytes(len(source.lines) + 1))


def entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """The scalar keys of a mapping node with their values; nothing for any other node."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            yield key.value, value


def scalar(node: yaml.Node | None, key: str) -> str:
    """The text of a scalar in a mapping node; empty where there is none."""
    for name, value in entries(node):
        if name == key and isinstance(value, yaml.ScalarNode):
            return str(value.value)
    return ""


def _sections(blocks: tuple[Block, ...], depths: dict[int, int]) -> Iterator[Section]:
    above: list[Block] = []
    ends = _ends(blocks, depths)
    for index, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        while above and depths[above[-1].first] >= depths[block.first]:
            above.pop()
        yield Section(block, blocks[index + 1 : ends[index]], tuple(above))
        above.append(block)


def _ends(blocks: tuple[Block, ...], depths: dict[int, int]) -> dict[int, int]:
    """For the index of each heading the index of the next heading that is no deeper."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for index, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        while opened and depths[blocks[opened[-1]].first] >= depths[block.first]:
            ends[opened.pop()] = index
        opened.append(index)
    return {**ends, **dict.fromkeys(opened, len(blocks))}


def _stretches(blocks: tuple[Block, ...], depths: dict[int, int]) -> Iterator[Stretch]:
    above: list[Block] = []
    start = 0
    for index, block in enumerate(blocks):
        if block.kind != "heading" or depths[block.first] == _BELOW:
            continue
        yield Stretch(tuple(above), blocks[start:index])
        above = [*(one for one in above if one.level < block.level), block]
        start = index + 1
    yield Stretch(tuple(above), blocks[start:])
