"""`1. **Question**` with `* *Answer*: …` inside the item, under headings that may name a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import Block, plain
from questions.diagnostics import Finding
from questions.dialects.building import add_question
from questions.dialects.shape import heading_asks, reads_as_question, unbold
from questions.document import Document, Draft
from questions.labels import Label, content_column, dedent, text_after

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "numbered-list"


_ENDS = ("heading", "rule", "list")
"""What ends an answer that does not lie in its item."""


class _Item(NamedTuple):
    block: Block
    answer: Label | None
    last: int


def sniff(document: Document) -> bool:
    """Whether an item of a list has a labelled answer."""
    return any(True for _ in _lists(document))


def read(document: Document) -> Draft:
    """Every item that asks, of every list in which some item has a labelled answer."""
    draft = Draft()
    for path, items in _lists(document):
        for item in items:
            if item.answer or _asks(item.block):
                _add(document, draft, path, item)
            else:
                draft.findings.append(_skipped(document, item.block))
    return draft


def _lists(document: Document) -> Iterator[tuple[tuple[str, ...], list[_Item]]]:
    """The headings above and the items, for all lists of one stretch between headings together."""
    headings: list[Block] = []
    items: list[_Item] = []
    following = 0
    for index, block in enumerate(document.blocks):
        if block.kind == "heading":
            yield from _asking(headings, items)
            headings, items = [*(above for above in headings if above.level < block.level), block], []
        if block.kind == "list" and index >= following and _unread(document, block):
            found = [_Item(item, _answer(document, item), item.last) for item in block.children]
            below = found and not found[-1].answer and not heading_asks(tuple(headings))
            following = _end_of_answer(document, index + 1) if below else 0
            if following:
                found[-1] = _answered_below(document, found[-1], index + 1, following)
            items += found if any(item.answer for item in found) or items else []
    yield from _asking(headings, items)


def _asking(headings: list[Block], items: list[_Item]) -> Iterator[tuple[tuple[str, ...], list[_Item]]]:
    if items:
        yield tuple(plain(above.text) for above in headings), items


def _answer(document: Document, item: Block) -> Label | None:
    """The first answer label in an item, behind the line that asks."""
    for block in item.walk():
        for label in document.labels(block):
            if label.role == "answer" and label.line > item.first:
                return label
    return None


def _first_label(document: Document, block: Block) -> Label | None:
    """The answer label a block begins with."""
    first = next((inner for inner in block.walk() if inner.kind not in ("list", "item")), block)
    labels = document.labels(first)
    return labels[0] if labels and labels[0].line == block.first and labels[0].role == "answer" else None


def _end_of_answer(document: Document, start: int) -> int:
    """Where an answer ends that was not indented enough to lie in its item; 0 where none begins at `start`.

    Markdown ends the list `10. **Question**` at an answer indented by three columns, not by four.
    """
    blocks = document.blocks
    if start >= len(blocks) or not _unread(document, blocks[start]) or not _first_label(document, blocks[start]):
        return 0
    end = start + 1
    while end < len(blocks) and _unread(document, blocks[end]) and blocks[end].kind not in _ENDS:
        end += 1
    return end


def _unread(document: Document, block: Block) -> bool:
    return document.free(block.first, block.last)


def _answered_below(document: Document, item: _Item, start: int, end: int) -> _Item:
    label = _first_label(document, document.blocks[start])
    return item._replace(answer=label, last=document.blocks[end - 1].last)


def _asks(item: Block) -> bool:
    first = item.children[0] if item.children else item
    return first.kind == "paragraph" and (unbold(first.text) != first.text or reads_as_question(first.text))


def _add(document: Document, draft: Draft, path: tuple[str, ...], item: _Item) -> None:
    first, last = item.block.first, item.last
    before = item.answer.line - 1 if item.answer else last
    answer = text_after(document.source, item.answer, last) if item.answer else ""
    add_question(
        document,
        draft,
        first,
        last,
        prompt=unbold(_prompt(document, first, before)),
        answer=answer,
        section=path,
        number=item.block.info,
    )


def _prompt(document: Document, first: int, last: int) -> str:
    line = document.source.line(first)
    column = content_column(line)
    below = [dedent(document.source.line(number), column) for number in range(first + 1, last + 1)]
    return "\n".join((line[column:], *below)).strip()


def _skipped(document: Document, item: Block) -> Finding:
    return Finding(
        "Q103",
        "warning",
        "this item stands among questions and does not ask anything",
        document.source.span(item.first),
        note="it was left out",
        help="make the question bold, or move the item out of the list",
        skipped=True,
    )
