"""A parsed document as dialects see it: blocks, sections, and which lines are still unread."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import yaml

from questions.blocks import Block, Fold, find_folds, fold_text, plain, split_blocks
from questions.model import CodeBlock, Question, SourceLocation
from questions.source import Finding
from questions.wording.labels import (
    Label,
    is_answer_heading,
    is_answer_summary,
    labels_in,
)
from questions.wording.line_starts import labeled_lines, starting_lines
from questions.wording.part_titles import part_title_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.source import Source


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with everything up to the next heading of the same or a higher level."""

    heading: Block
    body: tuple[Block, ...]
    above: tuple[Block, ...]
    """Headings above it, outermost first."""

    @property
    def path(self) -> tuple[str, ...]:
        """Headings above it as plain text."""
        return tuple(plain(block.text) for block in self.above)

    @property
    def last(self) -> int:
        """Last line that is not blank."""
        return self.body[-1].last if self.body else self.heading.last


@dataclass(frozen=True, slots=True)
class Stretch:
    """The blocks between one heading and the next."""

    headings: tuple[Block, ...]
    """Headings above it, outermost first; empty before the first heading."""
    blocks: tuple[Block, ...]

    @property
    def first(self) -> int:
        """Line of the heading directly above; 1 before the first heading."""
        return self.headings[-1].first if self.headings else 1

    @property
    def path(self) -> tuple[str, ...]:
        """Headings as plain text."""
        return tuple(plain(block.text) for block in self.headings)


_ENTRY = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<text>[^\[\]]{1,300})\]\(#[^()\s]{0,300}\)[ \t]*")
"""An item that is a link to a place in the same document."""


def contents_key(text: str) -> str:
    """Returns the form of a text in which it is compared with the entries of a table of contents."""
    return plain(text).casefold().strip(" .:?？*")


class Layout:
    """The structure of a document, computed once and shared by all dialects."""

    def __init__(self, source: Source, blocks: tuple[Block, ...], titles: frozenset[int] = frozenset()) -> None:
        self.source = source
        self.blocks = blocks
        self.titles = titles
        """Lines of headings that are never part of an answer."""

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections of all headings, in document order."""
        return tuple(_sections(self.blocks, self.depths))

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The blocks between headings, in document order; headings inside an answer are ignored."""
        return tuple(_stretches(self.blocks, self.depths))

    @cached_property
    def depths(self) -> dict[int, int]:
        """Depth of each heading by its line; a heading inside an answer is below all others."""
        folded = [(fold.first, fold.last) for fold in self.answer_folds]
        headings = [block for block in self.blocks if block.kind == "heading"]
        counts = Counter((block.level, block.text) for block in headings)
        depths: dict[int, int] = {}
        asked = 0  # level of the last heading that is not part of an answer
        parts = 0  # level of the answer's heading, where it is higher than that of its question
        for block in headings:
            at = bisect_left(folded, (block.first, 0)) - 1
            inside = at >= 0 and block.first <= folded[at][1]
            recurs = counts[block.level, block.text] > 1
            if self._answers(block, inside):
                depths[block.first] = _BELOW
                parts = block.level if not inside and block.level < asked and recurs else parts
            elif block.level == parts and recurs and block.first not in self.titles:
                # `# Example`, as in the answers to other questions, continues an answer below `# Answer`.
                depths[block.first] = _BELOW
            else:
                depths[block.first] = asked = block.level
                parts = 0
        return depths

    def _answers(self, block: Block, inside: bool) -> bool:
        return block.first not in self.titles and (inside or is_answer_heading(block))

    @cached_property
    def recurring(self) -> frozenset[int]:
        """Lines of headings that recur below at least half of the headings above them, such as `Example`."""
        parents: dict[tuple[int, int], set[int]] = {}
        below: dict[tuple[int, int, str], dict[int, int]] = {}
        for section in self.sections:
            if section.above:
                above, block = section.above[-1], section.heading
                levels = above.level, block.level
                parents.setdefault(levels, set()).add(above.first)
                named = below.setdefault((*levels, plain(block.text).casefold().strip(" .:?")), {})
                named[above.first] = block.first
        most = {key: len(lines) for key, lines in parents.items()}
        found = (one for (up, down, _), one in below.items() if len(one) > 1 and len(one) * 2 >= most[up, down])
        return frozenset(line for one in found for line in one.values())

    @cached_property
    def marked_lists(self) -> int:
        """Number of lists with checked and unchecked boxes."""
        boxes = (
            {item.children[0].text[:3].lower() for item in block.children if item.children}
            for block in self.blocks
            if block.kind == "list"
        )
        return sum({"[ ]", "[x]"} <= one for one in boxes)

    @cached_property
    def contents(self) -> frozenset[str]:
        """The `contents_key` of each entry of a table of contents."""
        found = (_ENTRY.fullmatch(line) for line in self.source.lines if "](#" in line)
        return frozenset(contents_key(entry["text"]) for entry in found if entry)

    @cached_property
    def headed_items(self) -> int:
        """Number of items of the outermost lists that begin with a heading."""
        items = (item for block in self.blocks if block.kind == "list" for item in block.children)
        return sum(bool(item.children) and item.children[0].kind == "heading" for item in items)

    @cached_property
    def counted_items(self) -> frozenset[int]:
        """First lines of the items of the outermost numbered lists, if these count on from list to list: 1 to 5 below
        one heading, 6 to 9 below the next. Empty for a single list, and if a number is missing or used again."""
        lists = [[*block.children] for block in self.blocks if block.kind == "list" and block.children[0].info]
        items = [item for one in lists for item in one]
        counts_on = [item.info for item in items] == [str(number) for number in range(1, len(items) + 1)]
        return frozenset(item.first for item in items) if len(lists) > 1 and counts_on else frozenset()

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """All `<details>` elements, in order."""
        return find_folds(self.source, self.blocks)

    @cached_property
    def answer_folds(self) -> tuple[Fold, ...]:
        """The outermost `<details>` elements that contain an answer."""
        found: list[Fold] = []
        for fold in self.folds:
            if is_answer_summary(fold.summary) and (not found or fold.first > found[-1].last):
                found.append(fold)
        return tuple(found)

    @cached_property
    def letters_in_folds(self) -> bool:
        """Whether one of these begins with the letter of an option other than the first: `**B.** It copies.`"""
        return any(_KEY_LETTER.match(fold_text(self.source, fold)) for fold in self.answer_folds)

    @cached_property
    def answer_fold_lines(self) -> tuple[int, ...]:
        """First line of each answer fold."""
        return tuple(fold.first for fold in self.answer_folds)

    @cached_property
    def labels(self) -> dict[int, tuple[Label, ...]]:
        """Labels of each paragraph or piece of HTML that has any, by its first line."""
        found: dict[int, tuple[Label, ...]] = {}
        for block in self.blocks:
            for inner in block.walk():
                if inner.kind in ("paragraph", "html") and (labels := labels_in(inner, self.source)):
                    found[inner.first] = tuple(labels)
        return found

    @cached_property
    def fences(self) -> tuple[Block, ...]:
        """All fenced blocks at any depth, in order."""
        return tuple(inner for block in self.blocks for inner in block.walk() if inner.kind == "fence")

    @cached_property
    def fence_lines(self) -> tuple[int, ...]:
        """First line of each fenced block."""
        return tuple(fence.first for fence in self.fences)

    @cached_property
    def title(self) -> str:
        """The title in the front matter, or else the first heading, as plain text."""
        heading = next((block for block in self.blocks if block.kind == "heading"), None)
        return scalar(self.front, "title") or (plain(heading.text) if heading else "")

    @cached_property
    def card_level(self) -> int:
        """The level of most headings in a document whose title says that it is a deck of cards; 0 in others."""
        headings = [block for block in self.blocks if block.kind == "heading"]
        titles = [plain(block.text) for block in headings[:1]]
        titles += [scalar(self.front, name) for name in ("title", "description")]
        if not any(map(_DECK.search, titles)):
            return 0
        levels = Counter(block.level for block in headings)
        (level, count), *_ = levels.most_common(1) or [(0, 0)]
        return level if count >= _FEWEST_CARDS and level > 1 else 0

    @cached_property
    def front(self) -> yaml.Node | None:
        """Syntax tree of the front matter; None if it is missing or not readable."""
        first = self.blocks[0] if self.blocks else None
        if first is None or first.kind != "front_matter":
            return None
        try:
            return yaml.compose(first.text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError, ValueError):
            return None


_KEY_LETTER = re.compile(r"\s*(?:\*\*|__)[B-J][.)](?:\*\*|__)")
_DECK = re.compile(
    r"\bflash[ -]?cards?\b|\banki (?:cards|deck)\b|(?<!slide )(?<!pitch )\bdeck$|karteikarten|单词卡|抽认卡",
    re.IGNORECASE,
)
"""A title of cards."""
_FEWEST_CARDS = 5
_BELOW = 7
"""A depth below every heading."""


@dataclass(frozen=True)
class Document:
    """The document that dialects read. Each dialect takes questions out and leaves the rest."""

    source: Source
    blocks: tuple[Block, ...]
    layout: Layout
    taken: bytes
    """For each line from 0, whether a question that was already read contains it."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections of all headings, in document order."""
        return self.layout.sections

    @property
    def title(self) -> str:
        """The title in the front matter, or else the first heading, as plain text."""
        return self.layout.title

    @property
    def front(self) -> yaml.Node | None:
        """Syntax tree of the front matter; None if it is missing or not readable."""
        return self.layout.front

    @cached_property
    def _taken_before(self) -> array[int]:
        return array("q", accumulate(self.taken, initial=0))

    def free(self, first: int, last: int) -> bool:
        """Returns whether no line from `first` to `last` belongs to a question yet."""
        before = self._taken_before
        return before[min(last + 1, len(self.taken))] == before[first]

    def taken_whole(self, first: int, last: int) -> bool:
        """Returns whether all lines from `first` to `last` belong to questions already."""
        before = self._taken_before
        return before[last + 1] - before[first] == last + 1 - first

    def labels(self, block: Block) -> tuple[Label, ...]:
        """Returns the labels in a paragraph or in HTML; other blocks have none."""
        return self.layout.labels.get(block.first, ()) if block.kind in ("paragraph", "html") else ()

    def answer_fold(self, block: Block) -> Fold | None:
        """Returns the first answer fold that begins in the block."""
        at = bisect_left(self.layout.answer_fold_lines, block.first)
        found = self.layout.answer_folds[at : at + 1]
        return found[0] if found and found[0].first <= block.last else None

    def without(self, questions: Iterable[Question]) -> Document:
        """Returns the document with the lines of `questions` marked as taken."""
        taken = bytearray(self.taken)
        for question in questions:
            first, last = question.place.line, question.place.end_line
            taken[first : last + 1] = b"\x01" * (last + 1 - first)
        return Document(self.source, self.blocks, self.layout, bytes(taken))

    def without_lists(self, lists: Iterable[tuple[int, int]]) -> Document:
        """Returns the document with lists of keys marked as taken; the heading of each ends the section above."""
        taken = bytearray(self.taken)
        titles = set[int]()
        for first, last in lists:
            taken[first : last + 1] = b"\x01" * (last + 1 - first)
            titles.add(first)
        if not titles:
            return self  # a new layout would find its sections and labels again
        return Document(self.source, self.blocks, Layout(self.source, self.blocks, frozenset(titles)), bytes(taken))

    def code_between(self, first: int, last: int) -> tuple[CodeBlock, ...]:
        """Returns the fenced blocks between two lines as data of a question."""
        return tuple(CodeBlock(fence.text, fence.info, fence.first + 1) for fence in self.fences_between(first, last))

    def fences_between(self, first: int, last: int) -> Iterator[Block]:
        """Yields the fenced blocks between two lines."""
        lines = self.layout.fence_lines
        return iter(self.layout.fences[bisect_left(lines, first) : bisect_right(lines, last)])

    def place(self, first: int, last: int) -> SourceLocation:
        """Returns the position of a question, without blank lines at its end."""
        return SourceLocation(self.source.name, first, self.source.last_filled(first, last))


@dataclass(slots=True)
class Draft:
    """The result of one dialect. Questions have no id yet, except in the native dialect."""

    questions: list[Question] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def merge_drafts(drafts: Iterable[Draft]) -> Draft:
    """Returns one draft with all questions and findings."""
    merged = Draft()
    for draft in drafts:
        merged.questions += draft.questions
        merged.findings += draft.findings
    return merged


def open_document(source: Source) -> Document:
    """Returns the document of a source, with all lines unread."""
    blocks = split_blocks(source, labeled_lines(source) | part_title_lines(source), starting_lines(source))
    return Document(source, blocks, Layout(source, blocks), bytes(len(source.lines) + 1))


def entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """Yields the scalar keys of a mapping node with their values; nothing for other nodes."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            yield key.value, value


def scalar(node: yaml.Node | None, key: str) -> str:
    """Returns the text of a scalar in a mapping node; empty if there is none."""
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
    """Returns, for the index of each heading, the index of the next heading that is not deeper."""
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
