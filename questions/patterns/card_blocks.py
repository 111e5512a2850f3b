"""Reads cards in Markdown between `START` and `END`, the notation of a program that adds notes to Anki.

START
Basic
question
Back: answer
Tags: views
END

A card may be one line: `STARTI [Basic] question Back: answer ENDI`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from questions.document import Document, Draft
from questions.patterns.found_questions import FoundQuestion, add_question
from questions.source import Finding, trim
from questions.wording.stems import unbold

if TYPE_CHECKING:
    from collections.abc import Iterator

_BACK = re.compile(r"[ \t]*Back(?::[ \t]*(?P<text>.*)|[ \t]*)")
_FRONT = re.compile(r"[ \t]*Front:[ \t]*")
_TAGS = re.compile(r"[ \t]*Tags:(?P<tags>.*)")
_MARK = re.compile(r"<!--[ \t]*ID:[^\n<>]{0,60}-->")
"""The ID of the note, which the program adds."""
_KIND = re.compile(r"[ \t]*STARTI[ \t]+\[[^\[\]\n]{1,60}\]")
_GAP = re.compile(r"\{(?:\{?c?\d{1,3}::?)?[^{}\n]{1,300}\}")


class _Card(NamedTuple):
    first: int
    last: int
    front: str
    back: str | None
    tags: tuple[str, ...]


def read_card_blocks(document: Document) -> Draft:
    """Reads all cards of a document. A finding names each card without a back, such as a card with a gap."""
    draft = Draft()
    if not any(line.lstrip().startswith("START") for line in document.source.lines):
        return draft
    cards = [*_cards(document)]
    if not any(card.back for card in cards):
        return draft
    firsts = [stretch.first for stretch in document.layout.stretches]
    for card in cards:
        if not card.front or not card.back:
            draft.findings.append(_unread(document, card))
        elif document.free(card.first, card.last):
            stretch = document.layout.stretches[max(bisect_right(firsts, card.first) - 1, 0)]
            found = FoundQuestion(
                first=card.first,
                last=card.last,
                prompt=unbold(card.front),
                answer=card.back,
                section=stretch.path,
                tags=card.tags,
            )
            add_question(document, draft, found)
    return draft


def _cards(document: Document) -> Iterator[_Card]:
    """Yields all cards, with a back if they have one."""
    source = document.source
    start = 0
    for number, line in enumerate(source.lines, 1):
        stripped = line.strip()
        if stripped == "START":
            start = number
        elif stripped == "END" and start:
            yield _of_lines(start, number, source.lines[start + 1 : number - 1])
            start = 0
        elif not start and stripped.startswith("STARTI ") and (card := _of_line(number, line)):
            yield card


def _of_line(number: int, line: str) -> _Card | None:
    """Returns the card of one line."""
    text = _MARK.sub("", line).rstrip()
    kind = _KIND.match(text)
    if kind is None or not text.endswith(" ENDI"):
        return None
    text, _, tags = text[kind.end() : -len("ENDI")].partition(" Tags:")
    front, mark, back = text.partition(" Back:")
    return _Card(number, number, front.strip(), back.strip() if mark else None, _words(tags))


def _of_lines(first: int, last: int, lines: tuple[str, ...]) -> _Card:
    """Returns a card of several lines. `lines`: the lines below the note type."""
    front: list[str] = []
    back: list[str] | None = None
    tags = ""
    for line in lines:
        bare = _MARK.sub("", line).rstrip() if "<!--" in line else line
        if back is None and (found := _BACK.fullmatch(bare)):
            back = [found["text"] or ""]
        elif found := _TAGS.fullmatch(bare):
            tags = found["tags"]
        else:
            (front if back is None else back).append(bare)
    text = trim("\n".join(front))
    return _Card(
        first, last, text[named.end() :] if (named := _FRONT.match(text)) else text, _joined(back), _words(tags)
    )


def _joined(lines: list[str] | None) -> str | None:
    return None if lines is None else trim("\n".join(lines))


def _words(tags: str) -> tuple[str, ...]:
    return tuple(tag for tag in re.split(r"[ ,]+", tags.strip()) if tag)


def _unread(document: Document, card: _Card) -> Finding:
    gap = _GAP.search(card.front) is not None
    return Finding(
        "Q603",
        "warning",
        "a card with a gap asks nothing that could be answered here"
        if gap
        else "the front or the back of this card is missing",
        document.source.span(card.first, card.last),
        note="it was left out",
        help="write a question above `Back:`, and its answer after it",
        skipped=True,
    )
