"""Questions that are items of a list: `N. ### Question`, a bold item, an item that asks, `* Question? answer`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.dialects.building import Answer, add_question, find_answer
from questions.dialects.shape import Stem, ends_asking, reads_as_question, stem_of, unbold
from questions.document import Document, Draft, Stretch
from questions.labels import content_column, dedent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block

NAME = "item-line"

_ONE_LINE = re.compile(r"(?P<asks>[^?？]{3,400}[?？][\"'”’)*_`]{0,3})(?:\s+[-–—:→>]{1,2})?\s+(?P<says>\S.*)", re.DOTALL)
_LIST = 3
"""So many items that ask, one below the other and none of them answered, are questions without answers."""


class _Item(NamedTuple):
    block: Block
    stem: Stem
    answer: Answer | None
    below: str
    """What the item says behind its question, without a label."""
    last: int
    asks: bool
    headed: bool


def sniff(document: Document) -> bool:
    """Whether a list of the document asks, item by item."""
    return any(True for _ in _asking(document))


def read(document: Document) -> Draft:
    """One question for each item that asks, of every list most of whose items do."""
    draft = Draft()
    for stretch, item in _asking(document):
        _add(document, draft, stretch, item)
    return draft


def _asking(document: Document) -> Iterator[tuple[Stretch, _Item]]:
    for stretch in document.layout.stretches:
        items = list(_items(document, stretch))
        asking = [item for item in items if item.asks or item.headed]
        answered = [item for item in asking if item.answer or item.below]
        if len(asking) * 2 <= len(items) or not (answered or len(asking) >= _LIST):
            continue
        for item in asking:
            yield stretch, item


def _items(document: Document, stretch: Stretch) -> Iterator[_Item]:
    last = 0
    for index, block in enumerate(stretch.blocks):
        # A list below a numbered item may have been taken as its answer.
        if block.kind != "list" or block.first <= last or not document.free(block.first, block.last):
            continue
        for item in block.children:
            if item.children:
                last = _end(document, stretch, index) if item is block.children[-1] else item.last
                yield _item(document, item, last)


def _end(document: Document, stretch: Stretch, index: int) -> int:
    """Where the last item of a list ends: what is not indented below a numbered item still answers it."""
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


def _item(document: Document, item: Block, last: int) -> _Item:
    source = document.source
    first = item.children[0]
    column = content_column(source.line(item.first))
    if first.kind == "heading":
        stem = stem_of(first.text)
        below = _text(document, first.last + 1, last, column)
        return _Item(item, stem, find_answer(document, item.children[1:]), below, last, _asks(stem), headed=True)
    text = first.text if first.kind == "paragraph" else ""
    asked, said = _parted(text)
    stem = stem_of(asked)
    more = _text(document, first.last + 1, last, column)
    below = "\n\n".join(part for part in (said, more) if part)
    linked = "](" in asked and stem_of(asked).text != asked.strip()
    return _Item(
        item, stem, find_answer(document, item.children[1:]), below, last, _asks(stem) and not linked, headed=False
    )


def _text(document: Document, first: int, last: int, column: int) -> str:
    lines = [dedent(document.source.line(number), column) for number in range(first, last + 1)]
    return "\n".join(lines).strip("\n").rstrip()


def _parted(text: str) -> tuple[str, str]:
    """The question and what follows it in the same paragraph."""
    first, _, below = text.partition("\n")
    if unbold(text) != text.strip():
        return text, ""
    if ends_asking(first) or (below and reads_as_question(first) and first.rstrip().endswith((".", ":"))):
        return first, below
    found = _ONE_LINE.fullmatch(text)
    if found and reads_as_question(found["asks"]):
        return found["asks"], found["says"]
    return text, ""


def _asks(stem: Stem) -> bool:
    return ends_asking(stem.text) or reads_as_question(stem.text)


def _add(document: Document, draft: Draft, stretch: Stretch, item: _Item) -> None:
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
