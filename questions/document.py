"""A document as dialects see it: blocks, the sections headings make of them, and what is still unread."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import yaml

from questions.blocks import Block, plain, split_blocks
from questions.diagnostics import Finding
from questions.model import CodeBlock, Place, Question

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


@dataclass(frozen=True)
class Document:
    """What a dialect reads: it takes questions out of `blocks` and leaves the rest."""

    source: Source
    blocks: tuple[Block, ...]
    taken: frozenset[int] = frozenset()
    """Lines that belong to questions already read."""

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every heading's section, in document order."""
        return tuple(_sections(self.blocks))

    @cached_property
    def front(self) -> yaml.Node | None:
        """The front matter's syntax tree; None where there is none or it cannot be read."""
        first = self.blocks[0] if self.blocks else None
        if first is None or first.kind != "front_matter":
            return None
        try:
            return yaml.compose(first.text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError):
            return None

    @cached_property
    def fences(self) -> tuple[Block, ...]:
        """Every fenced block at any depth, in order."""
        return tuple(inner for block in self.blocks for inner in block.walk() if inner.kind == "fence")

    def free(self, first: int, last: int) -> bool:
        """Whether no line from `first` to `last` belongs to a question yet."""
        return self.taken.isdisjoint(range(first, last + 1))

    def without(self, questions: Iterable[Question]) -> Document:
        """The document with the lines of `questions` taken."""
        lines = {line for question in questions for line in range(question.place.line, question.place.end_line + 1)}
        return dataclasses.replace(self, taken=self.taken | lines)

    def code_between(self, first: int, last: int) -> tuple[CodeBlock, ...]:
        """The fenced blocks that stand between two lines."""
        return tuple(CodeBlock(fence.text, fence.info, fence.first + 1) for fence in self.fences_between(first, last))

    def fences_between(self, first: int, last: int) -> Iterator[Block]:
        """The same, as blocks."""
        start = bisect_left(self.fences, first, key=lambda fence: fence.first)
        for index in range(start, len(self.fences)):
            if self.fences[index].first > last:
                return
            yield self.fences[index]

    def place(self, first: int, last: int) -> Place:
        """A question's place, without the blank lines at its end."""
        return Place(self.source.name, first, self.source.last_filled(first, last))


@dataclass(slots=True)
class Draft:
    """What one dialect read. Questions of foreign dialects have no id yet."""

    questions: list[Question] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def open_document(source: Source) -> Document:
    """The document of a source, nothing of it read yet."""
    return Document(source, split_blocks(source))


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


def _sections(blocks: tuple[Block, ...]) -> Iterator[Section]:
    above: list[Block] = []
    ends = _ends(blocks)
    for index, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        while above and above[-1].level >= block.level:
            above.pop()
        yield Section(block, blocks[index + 1 : ends[index]], tuple(above))
        above.append(block)


def _ends(blocks: tuple[Block, ...]) -> dict[int, int]:
    """For the index of each heading the index of the next heading that is no deeper."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for index, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        while opened and blocks[opened[-1]].level >= block.level:
            ends[opened.pop()] = index
        opened.append(index)
    return {**ends, **dict.fromkeys(opened, len(blocks))}
