"""Findings about the text of a document and about what was left unread in it. Reads no question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import Block, plain
from questions.diagnostics import Finding
from questions.dialects.shape import is_promotion, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.document import Document
    from questions.model import Question

_ESCAPED = re.compile(r"\\`")
_TICKS = re.compile(r"`+")
_TEXT = re.compile(r"\\?\btext\{")
_FORMULA = 1000
"""A brace this far from its partner was forgotten."""
_ENDS_ASKING = re.compile(r"\?[\"'”’)\]*_]*$")


def text_findings(document: Document) -> Iterator[Finding]:
    """Marks that are opened and never closed: fences, code spans, `\\text{`; an unreadable front matter."""
    if document.front is None and document.blocks and document.blocks[0].kind == "front_matter":
        yield _front_matter(document, document.blocks[0])
    for block in document.blocks:
        for inner in block.walk():
            if inner.kind == "fence" and not inner.closed:
                yield _open_fence(document, inner)
            if inner.kind in ("paragraph", "heading"):
                yield from _open_marks(document, inner)


def _front_matter(document: Document, block: Block) -> Finding:
    return Finding(
        "Q007",
        "warning",
        "the front matter cannot be read as YAML",
        document.source.span(block.first, block.last),
        note="nothing of it was used",
        help="quote values that hold a colon, and indent with spaces",
    )


def _open_fence(document: Document, fence: Block) -> Finding:
    return Finding(
        "Q003",
        "warning",
        "the fence is never closed",
        document.source.span(fence.first),
        label="opened here",
        note=f"everything down to line {fence.last} was taken as code",
        help="close it with the same marks on a line of their own",
    )


def _open_marks(document: Document, block: Block) -> Iterator[Finding]:
    if "`" not in block.text and "text{" not in block.text:
        return
    text = "\n".join(document.source.lines[block.first - 1 : block.last])
    at = _open_tick(text)
    if at is not None:
        yield _open_mark(document, block, text, at, "Q004", "the backtick is never closed", "add its partner")
    for found in _TEXT.finditer(text):
        if not _closed_brace(text, found.end()):
            message = f"the brace of `{found[0]}` is never closed"
            yield _open_mark(document, block, text, found.start(), "Q008", message, "close it, or use backticks")
            return


def _open_mark(document: Document, block: Block, text: str, at: int, code: str, message: str, cure: str) -> Finding:
    line = block.first + text.count("\n", 0, at)
    column = at - (text.rfind("\n", 0, at) + 1)
    span = document.source.span(line)
    start = type(span)(line, column + 1, line, column + 2)
    return Finding(code, "warning", message, start, label="opened here", help=cure)


def _open_tick(text: str) -> int | None:
    """Where a run of backticks stands that no equally long run closes; None where all are closed."""
    if "``" not in text and "\\`" not in text:
        return text.rfind("`") if text.count("`") % 2 else None
    runs = [(found.start(), len(found[0])) for found in _TICKS.finditer(_ESCAPED.sub("  ", text))]
    later: dict[int, list[int]] = {}
    for index, (_, length) in enumerate(runs):
        later.setdefault(length, []).append(index)
    index = 0
    while index < len(runs):
        start, length = runs[index]
        places = later[length]
        following = places.index(index) + 1 if len(places) < 3 else _after(places, index)
        if following >= len(places):
            return start
        index = places[following] + 1
    return None


def _after(places: list[int], index: int) -> int:
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if places[middle] <= index else (low, middle)
    return low


def _closed_brace(text: str, start: int) -> bool:
    depth = 1
    for character in text[start : start + _FORMULA]:
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return True
    return False


def unread(document: Document, questions: tuple[Question, ...]) -> Iterator[Finding]:
    """A finding for all that looks like a question or an answer and belongs to no question read."""
    known = {_key(question.prompt) for question in questions} | {_key(question.title) for question in questions}
    over = _titles(document)
    for block in document.blocks:
        if document.free(block.first, block.last) and block.first not in over:
            for inner in block.walk():
                if _looks_asked(document, inner) and _key(numbered(inner.text)[1]) not in known:
                    yield _unread(document, inner)


def _titles(document: Document) -> set[int]:
    """The lines of headings with a question right below them, and of those that only invite."""
    found: set[int] = set()
    for stretch in document.layout.stretches:
        if stretch.headings:
            heading, first = stretch.headings[-1], stretch.blocks[:1]
            over = any(not document.free(block.first, block.last) for block in first)
            if over or not first or is_promotion(heading, stretch.blocks):
                found.add(heading.first)
    return found


def _key(markdown: str) -> str:
    return plain(markdown).casefold().strip(" .?:*")


def _looks_asked(document: Document, block: Block) -> bool:
    if block.kind == "heading":
        return _ENDS_ASKING.search(plain(block.text)) is not None
    if block.kind != "paragraph" or "](" in block.text:
        return False
    return bool(document.labels(block)) or ("\n" not in block.text and _ENDS_ASKING.search(block.text) is not None)


def _unread(document: Document, block: Block) -> Finding:
    return Finding(
        "Q006",
        "warning",
        "this looks like a question and was not read as one",
        document.source.span(block.first, block.last),
        note="it was taken as study text",
        help="write it as the other questions of the document are written",
        skipped=True,
    )
