"""A place where a question may start, with all that may belong to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from questions.blocks import Block, Fold
from questions.patterns.answers import FoundAnswer, find_answer, says_nothing
from questions.patterns.options.search import are_truths, may_hold_options, options_in
from questions.wording.labels import (
    answer_in_heading,
    is_placeholder,
    label_of,
    only_announces_answer,
    only_announces_question,
    text_after,
)
from questions.wording.part_titles import is_part_title
from questions.wording.stems import QuestionLine, demands, ends_asking, question_line, reads_as_question

if TYPE_CHECKING:
    from questions.document import Document
    from questions.source import Source
    from questions.wording.labels import Label

Kind = Literal["label", "heading", "item", "line", "fold", "paragraph"]

KINDS: tuple[Kind, ...] = ("label", "heading", "item", "line", "fold", "paragraph")

_TERM_FIRST = re.compile(r"(?P<mark>\*\*|__)[^*_\n]{1,40}(?:[:：](?P=mark)|(?P=mark)[ ]?[:：])")
_GLOSSED = re.compile(r"[^\W\d_]{1,20}[ ]?\([^()?]{1,200}[)?]?[ ]*")
_LINK_FIRST = re.compile(r"\[(?P<text>[^\[\]]{1,300})\]\([^()\s]{0,500}\)")


@dataclass(frozen=True, eq=False)
class Start:
    """A place where a question may start, with all that may belong to it. Compared by identity."""

    kind: Kind
    depth: int
    """Level of a heading, depth of a list or fold."""
    run: int
    """Starts of one kind, depth and run are side by side under the same heading."""
    first: int
    last: int
    """Last line of the block that asks."""
    stem: QuestionLine
    end: int
    """Last line that may belong to it."""
    headings: tuple[Block, ...]
    body: tuple[Block, ...] = ()
    """Blocks below the one that asks."""
    said: str = ""
    """Text after the question in its own block."""
    title: str = ""
    bold: bool = False
    """Whether it is in bold, or a heading in a list."""
    label: Label | None = None
    fold: Fold | None = None
    block: Block | None = None
    above_first: bool = False
    """Whether other blocks are between it and the heading above."""
    own_last: int = 0
    """Last line of its own block."""
    document: Document | None = None
    tags: tuple[str, ...] = ()
    """Subjects that its line names."""
    given: str = ""
    """Text that belongs to several questions and is above all of them."""

    @property
    def number(self) -> str:
        """Its number in the document."""
        return self.stem.number or (self.block.info if self.kind == "item" and self.block else "")

    @cached_property
    def asks(self) -> bool:
        """Whether its text, or the text of the link that it begins with, reads as a question. An item such as
        `**Teamwork**: how to work with others` describes a term, and `Wer (who)` is a word with its meaning. One
        such as `**Views**: Explain …` asks."""
        term = _TERM_FIRST.match(self.stem.text) if self.kind == "item" else None
        if term and not ends_asking(self.stem.text):
            rest = self.stem.text[term.end() :].strip(" *_")
            return demands(rest) or ("?" in rest and reads_as_question(rest))
        if self.kind == "item" and _GLOSSED.fullmatch(self.stem.text.partition("\n")[0]):
            return False
        linked = _LINK_FIRST.match(self.stem.text)
        return reads_as_question(self.stem.text) or (linked is not None and reads_as_question(linked["text"]))

    @cached_property
    def answer(self) -> FoundAnswer | None:
        """The answer below, if a label, a heading, a fold or a quote marks it."""
        if self.document is None:
            return None
        if self.said and self.kind == "item" and self.block and "<details>" in self.block.children[0].text:
            # The answer is folded in the line that asks.
            return FoundAnswer(self.said, self.first)
        if self.kind == "item" and self.block and (label := self._label_of_item()):
            return FoundAnswer(text_after(self.document.source, label, self.end), label.line)
        own = (self.block, *self.body) if self.kind in ("line", "paragraph") and self.block else self.body
        found = find_answer(self.document, own, first=self.last + 1)
        return None if found and self._weighs(found) else found

    def _weighs(self, found: FoundAnswer) -> bool:
        """Returns whether a label such as `Solution` is in prose that answers a heading, right below a line that
        states a problem: `**Problem**: …`."""
        if self.kind != "heading" or self.document is None or not self.asks:
            return False
        source = self.document.source
        above = source.last_filled(self.last + 1, found.first - 1)
        stated = bool(source.text(self.last + 1, above - 1))
        return stated and above > self.last and _PROBLEM.match(source.line(above)) is not None

    def _label_of_item(self) -> Label | None:
        """Returns the first answer label in an item, after the line that asks."""
        for block in (*(self.block.walk() if self.block else ()), *self.body):
            for label in self.document.labels(block) if self.document else ():
                if label.role == "answer" and label.line > self.first:
                    return label
        return None

    @cached_property
    def offers(self) -> bool:
        """Whether there are options right below it, with a mark on the right one or a key."""
        text = self.own_text
        if not may_hold_options(text):
            return False
        run = options_in(text.split("\n"))
        if run is None:
            return False
        return run.kind == "box" or len(run.options) > 2 or are_truths(run) or self.answer is not None

    @property
    def text(self) -> str:
        """All text below the line that asks."""
        if self.document is None or self.fold:
            return self.said
        below = self.document.source.text(self.last + 1, self.end)
        return "\n\n".join(part for part in (self.said, below) if part)

    @property
    def own_text(self) -> str:
        """The text below the line that asks up to the next heading."""
        inner = next((block for block in self.body if block.kind == "heading"), None)
        if inner is None or self.document is None or self.kind != "heading":
            return self.text
        return self.document.source.text(self.last + 1, inner.first - 1)

    @property
    def in_parts(self) -> list[Block]:
        """The text below deeper headings that are the parts of its answer: it asks, and none of them does."""
        if not ends_asking(self.stem.text) or any(begins_question(block) for block in self.body):
            return []
        return [block for block in self.body if block.kind != "heading"]

    @cached_property
    def is_blank(self) -> bool:
        """Whether nothing asks: a template to fill in, or a line with only a word for an answer or for a question."""
        text = self.stem.text
        if self.label and self.document:
            return not ends_asking(self.title) and _is_blank_below(self.document.source, self.label, self.end)
        if not text.strip():
            # What asks is below.
            return False
        only_announces = only_announces_answer(text) or (self.kind != "item" and only_announces_question(text))
        left_out = _LEFT_OUT.fullmatch(text) is not None or any(
            _HOW_TO_ADD.fullmatch(one.text) for one in self.headings
        )
        left_out = left_out or (self.kind == "heading" and _STRUCK.fullmatch(text) is not None)
        near = self.kind == "item" and self.end - self.last <= _NEAR
        if near and is_part_title(f"**{self.text.strip('* ')}**"):
            # Word counts the titles above those of parts as well: `3. Views` above `Part A: Strides`.
            return True
        return is_placeholder(text) or left_out or only_announces or is_part_title(text)

    @cached_property
    def asks_below(self) -> bool:
        """Whether the paragraph below asks, so that this is only a title."""
        first = self.body[0] if self.body else None
        if first is None or first.kind != "paragraph" or "\n\n" in first.text:
            return False
        return ends_asking(first.text) or (len(self.body) == 1 and reads_as_question(first.text))


_NEAR = 3
"""Lines below an item within which the title of a part is."""
_LEFT_OUT = re.compile(
    r"[(\[][ ]?(?:missing|omitted|deleted|illegible|not (?:available|included|present|in the source))\b"
    r"[^()\[\]]{0,60}[)\]]",
    re.IGNORECASE,
)
"""A remark instead of a question: `(Missing in source PDF)`."""
_STRUCK = re.compile(r"~~[^~]+~~")
_HOW_TO_ADD = re.compile(
    r"\W{0,6}(?:how (?:to|you can|can (?:i|you)) contribute|contribut(?:ing|ions?)(?: guid(?:e|elines?))?)\W{0,6}",
    re.IGNORECASE,
)
"""A heading of advice on adding questions: those below it are examples."""
_PROBLEM = re.compile(
    r"[ ]{0,3}(?:[-*+][ ]+)?(?P<mark>[*_]{1,3})(?:probl[eè]|пробл|sorun|masalah|vấn đề|问题|問題|문제)[^*_\n]{0,20}"
    r"(?:[:：](?P=mark)|(?P=mark)[ ]?[:：])",
    re.IGNORECASE,
)


def _is_blank_below(source: Source, label: Label, last: int) -> bool:
    """Returns whether the first text behind a label, up to line `last`, is a placeholder or begins the answer."""
    line = source.line(label.line)[label.end :].removesuffix(label.closing)
    if not _WORD.search(line):
        number = source.next_filled(label.line + 1)
        line = source.line(number).strip() if label.line < number <= last else ""
        answers = label_of(line)
        if answers is not None and answers.role != "question":
            return True
    if line.startswith("<details"):
        return "?" not in line
    if line.startswith("#"):
        return answer_in_heading(line.strip("# ")) is not None
    if not _WORD.search(line):
        # Fences and formulas have no words in their first line either.
        return line.strip(" -*+.…_") == ""
    return is_placeholder(line) or says_nothing(line)


_WORD = re.compile(r"\w")


def begins_question(block: Block) -> bool:
    """Returns whether a block is a heading that asks or has a word such as `Question 5`."""
    return block.kind == "heading" and (reads_as_question(block.text) or question_line(block.text).labeled)
