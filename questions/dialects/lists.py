"""Reads dialects in which a list item asks the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import Block, Label, content_column, dedent, plain, text_after
from questions.dialects.building import FoundAnswer, add_question, find_answer
from questions.dialects.shape import QuestionLine, ends_asking, heading_asks, question_line, reads_as_question, unbold
from questions.document import Document, Draft, Stretch
from questions.source import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator


# `1. **Question**` with `* *Answer*: …` inside the item, under headings that may name a level

NUMBERED_LISTS = "numbered-list"


_ENDS = ("heading", "rule", "list")
"""Blocks that end an answer outside its item."""


class _NumberedItem(NamedTuple):
    block: Block
    answer: Label | None
    last: int


def sniff_numbered_lists(document: Document) -> bool:
    """Returns whether a list item has a labeled answer."""
    return any(True for _ in _lists(document))


def read_numbered_lists(document: Document) -> Draft:
    """Reads all asking items of each list in which an item has a labeled answer."""
    draft = Draft()
    for path, items in _lists(document):
        for item in items:
            if item.answer or _asks(item.block):
                _add(document, draft, path, item)
            else:
                draft.findings.append(_skipped(document, item.block))
    return draft


def _lists(document: Document) -> Iterator[tuple[tuple[str, ...], list[_NumberedItem]]]:
    """Yields the headings and all list items of each stretch between headings."""
    headings: list[Block] = []
    items: list[_NumberedItem] = []
    following = 0
    for index, block in enumerate(document.blocks):
        if block.kind == "heading":
            yield from _asking(headings, items)
            headings, items = [*(above for above in headings if above.level < block.level), block], []
        if block.kind == "list" and index >= following and _unread(document, block):
            found = [_NumberedItem(item, _answer(document, item), item.last) for item in block.children]
            below = found and not found[-1].answer and not heading_asks(tuple(headings))
            following = _end_of_answer(document, index + 1) if below else 0
            if following:
                found[-1] = _answered_below(document, found[-1], index + 1, following)
            items += found if any(item.answer for item in found) or items else []
    yield from _asking(headings, items)


def _asking(headings: list[Block], items: list[_NumberedItem]) -> Iterator[tuple[tuple[str, ...], list[_NumberedItem]]]:
    if items:
        yield tuple(plain(above.text) for above in headings), items


def _answer(document: Document, item: Block) -> Label | None:
    """Returns the first answer label in an item, after the line that asks."""
    for block in item.walk():
        for label in document.labels(block):
            if label.role == "answer" and label.line > item.first:
                return label
    return None


def _first_label(document: Document, block: Block) -> Label | None:
    """Returns the answer label at the start of a block."""
    first = next((inner for inner in block.walk() if inner.kind not in ("list", "item")), block)
    labels = document.labels(first)
    return labels[0] if labels and labels[0].line == block.first and labels[0].role == "answer" else None


def _end_of_answer(document: Document, start: int) -> int:
    """Returns the end of an answer that is not indented enough to be in its item; 0 if none begins at `start`.

    Markdown ends the list `10. **Question**` at an answer indented by three columns instead of four.
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


def _answered_below(document: Document, item: _NumberedItem, start: int, end: int) -> _NumberedItem:
    label = _first_label(document, document.blocks[start])
    return item._replace(answer=label, last=document.blocks[end - 1].last)


def _asks(item: Block) -> bool:
    first = item.children[0] if item.children else item
    return first.kind == "paragraph" and (unbold(first.text) != first.text or reads_as_question(first.text))


def _add(document: Document, draft: Draft, path: tuple[str, ...], item: _NumberedItem) -> None:
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
        "this item is in a list of questions but asks nothing",
        document.source.span(item.first),
        note="it was left out",
        help="make the question bold, or move the item out of the list",
        skipped=True,
    )


# List items: `N. ### Question`, a bold item, an item that asks, `* Question? answer`

ITEM_LINES = "item-line"

_ONE_LINE = re.compile(r"(?P<asks>[^?？]{3,400}[?？][\"'”’)*_`]{0,3})(?:\s+[-–—:→>]{1,2})?\s+(?P<says>\S.*)", re.DOTALL)
_LIST = 3
"""Number of consecutive asking items without answers from which they are questions."""


class _LineItem(NamedTuple):
    block: Block
    stem: QuestionLine
    answer: FoundAnswer | None
    below: str
    """Text of the item after its question, without a label."""
    last: int
    asks: bool
    headed: bool


def sniff_item_lines(document: Document) -> bool:
    """Returns whether a list of the document consists of questions."""
    return any(True for _ in _asking_line(document))


def read_item_lines(document: Document) -> Draft:
    """Reads one question per asking item of each list in which most items ask."""
    draft = Draft()
    for stretch, item in _asking_line(document):
        _add_line(document, draft, stretch, item)
    return draft


def _asking_line(document: Document) -> Iterator[tuple[Stretch, _LineItem]]:
    for stretch in document.layout.stretches:
        items = list(_items(document, stretch))
        asking = [item for item in items if item.asks or item.headed]
        answered = [item for item in asking if item.answer or item.below]
        if len(asking) * 2 <= len(items) or not (answered or len(asking) >= _LIST):
            continue
        for item in asking:
            yield stretch, item


def _items(document: Document, stretch: Stretch) -> Iterator[_LineItem]:
    last = 0
    for index, block in enumerate(stretch.blocks):
        # A list below a numbered item may already be part of its answer.
        if block.kind != "list" or block.first <= last or not document.free(block.first, block.last):
            continue
        for item in block.children:
            if item.children:
                last = _end(document, stretch, index) if item is block.children[-1] else item.last
                yield _item(document, item, last)


def _end(document: Document, stretch: Stretch, index: int) -> int:
    """Returns where the last item of a list ends: text below a numbered item answers it even without indentation."""
    block = stretch.blocks[index]
    item = block.children[-1]
    if not item.info or item.last > item.children[0].last or len(item.children) > 1:
        return item.last
    last = item.last
    for at in range(index + 1, len(stretch.blocks)):
        following = stretch.blocks[at]
        if following.kind in ("list", "rule", "table", "html") and (following.kind != "list" or _numbered(following)):
            break
        if not document.free(following.first, following.last):
            break
        last = following.last
    return last


def _numbered(block: Block) -> bool:
    return bool(block.children and block.children[0].info)


def _item(document: Document, item: Block, last: int) -> _LineItem:
    source = document.source
    first = item.children[0]
    column = content_column(source.line(item.first))
    if first.kind == "heading":
        stem = question_line(first.text)
        below = _text(document, first.last + 1, last, column)
        return _LineItem(
            item, stem, find_answer(document, item.children[1:]), below, last, _line_asks(stem), headed=True
        )
    text = first.text if first.kind == "paragraph" else ""
    asked, said = _parted(text)
    stem = question_line(asked)
    more = _text(document, first.last + 1, last, column)
    below = "\n\n".join(part for part in (said, more) if part)
    linked = "](" in asked and question_line(asked).text != asked.strip()
    return _LineItem(
        item, stem, find_answer(document, item.children[1:]), below, last, _line_asks(stem) and not linked, headed=False
    )


def _text(document: Document, first: int, last: int, column: int) -> str:
    lines = [dedent(document.source.line(number), column) for number in range(first, last + 1)]
    return "\n".join(lines).strip("\n").rstrip()


def _parted(text: str) -> tuple[str, str]:
    """Returns the question and the text after it in the same paragraph."""
    first, _, below = text.partition("\n")
    if unbold(text) != text.strip():
        return text, ""
    if ends_asking(first) or (below and reads_as_question(first) and first.rstrip().endswith((".", ":"))):
        return first, below
    found = _ONE_LINE.fullmatch(text)
    if found and reads_as_question(found["asks"]):
        return found["asks"], found["says"]
    return text, ""


def _line_asks(stem: QuestionLine) -> bool:
    return ends_asking(stem.text) or reads_as_question(stem.text)


def _add_line(document: Document, draft: Draft, stretch: Stretch, item: _LineItem) -> None:
    stem, answer = item.stem, item.answer
    prompt = stem.text
    if answer:
        column = content_column(document.source.line(item.block.first))
        before = _text(document, item.block.children[0].last + 1, answer.first - 1, column)
        prompt = "\n\n".join(part for part in (stem.text, before) if part)
    add_question(
        document,
        draft,
        item.block.first,
        item.last,
        prompt=prompt,
        answer=answer.text if answer else item.below,
        section=stretch.path,
        number=stem.number or item.block.info,
        links=stem.links,
        labelled=answer is not None,
    )
