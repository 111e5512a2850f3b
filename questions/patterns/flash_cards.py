"""Reads flash cards in Markdown, as Obsidian and similar programs write them.

question::answer
question:::answer, asked both ways there and one way here
question >> answer

question
?
answer, up to the next blank line
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

    from questions.source import Source

FLASH_CARDS = "flash-cards"

_BETWEEN = re.compile(r"[ \t]*\?{1,2}[ \t]*")
_ONE_LINE = re.compile(
    r"[ \t]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?(?P<front>[^\s:].{0,600}?)"
    r"(?P<mark>(?<!:):::?(?!:)|(?<=[ ])>>(?=[ ]))"
    r"[ \t]*(?P<back>[^\s:].*)"
)
_CODE = re.compile(r"`[^`\n]*`")
_CLOZE = re.compile(r"==[^=\n]{1,200}==|\{\{c\d+::[^{}\n]{1,300}\}\}")
_SCHEDULE = re.compile(r"[ \t]*<!--SR:[^\n]{0,500}?-->|[ \t]+\^[\w-]{1,40}[ \t]*$", re.MULTILINE)
"""Dates of reviews and names of blocks, which the program adds to cards."""
_TAG = re.compile(r"(?:(?<!\S)|[ \t])#(?:flash-?cards?|cards?|anki|sr)(?:/[\w/-]{0,80})?(?=\s|$)", re.IGNORECASE)
_TAGGED = re.compile(r"(?m)^[ \t]*(?:tags?:.*|-[ \t]*)\b(?:flash-?cards?|anki)\b", re.IGNORECASE)
_ENDS = re.compile(r"[ \t]*(?:(?:[-*_][ \t]*){3,}|<!--SR:.*)?")
_FEWEST = 3
"""Fewest cards of one line in a document without a tag that announces cards."""
_SHARE = 3
"""At least one line in this many must be such a card."""


class _Card(NamedTuple):
    first: int
    last: int
    front: str
    back: str


def read_flash_cards(document: Document) -> Draft:
    """Reads all cards of a document; nothing if `::` is not a mark of cards in it."""
    draft = Draft()
    text = "\n".join(document.source.lines)
    if "\n?" not in text and "::" not in text and " >> " not in text:
        return draft
    tagged = _TAG.search(text) is not None or _TAGGED.search(text[:2000]) is not None
    outside = _outside(document)
    cards = [*_of_lines(document, outside, tagged=tagged), *_of_paragraphs(document, outside)]
    firsts = [stretch.first for stretch in document.layout.stretches]
    ends = 0
    for card in sorted(cards):
        if card.first <= ends:
            # A line with `::` can be in the front of a card of several lines.
            continue
        stretch = document.layout.stretches[max(bisect_right(firsts, card.first) - 1, 0)]
        front, back = (trim(_TAG.sub("", _SCHEDULE.sub("", part))) for part in (card.front, card.back))
        if front and document.free(card.first, card.last):
            ends = card.last
            first, last = card.first, card.last
            found = FoundQuestion(first=first, last=last, prompt=unbold(front), answer=back, section=stretch.path)
            add_question(document, draft, found)
    if draft.questions and tagged:
        draft.findings += _clozes(document, outside, {n for c in cards for n in range(c.first, c.last + 1)})
    return draft


def _outside(document: Document) -> bytearray:
    """Returns for each line from 0 whether it is outside programs and front matter."""
    outside = bytearray(b"\x01" * (len(document.source.lines) + 2))
    front = document.blocks[:1] if document.blocks and document.blocks[0].kind == "front_matter" else ()
    for block in (*document.layout.fences, *front):
        outside[block.first : block.last + 1] = bytes(block.last + 1 - block.first)
    return outside


def _of_lines(document: Document, outside: bytearray, *, tagged: bool) -> list[_Card]:
    """Returns the cards of one line. A name such as `std::move` or a field such as `status:: done` is not a card."""
    found: list[_Card] = []
    filled = 0
    for number, line in enumerate(document.source.lines, 1):
        if not outside[number] or not line.strip():
            continue
        filled += 1
        marked = "::" in line or " >> " in line
        card = _ONE_LINE.fullmatch(_CODE.sub(lambda code: "`" * len(code[0]), line)) if marked else None
        if card and not (line[card.start("mark") - 1] == line[card.end("mark") : card.end("mark") + 1] == "`"):
            front, back = line[card.start("front") : card.end("front")], line[card.start("back") :]
            words = " " in front or not front.isascii() or (tagged and line[card.start("mark") - 1].isspace())
            if words or tagged:
                found.append(_Card(number, number, front, back))
    regular = len(found) >= _FEWEST and len(found) * _SHARE >= filled
    return found if regular or tagged else []


def _of_paragraphs(document: Document, outside: bytearray) -> Iterator[_Card]:
    """Yields the cards whose front and back touch a line with a question mark."""
    source = document.source
    ends = document.blocks[0].last if document.blocks and document.blocks[0].kind == "front_matter" else 0
    for number in range(ends + 2, len(source.lines)):
        if number <= ends + 1 or not outside[number] or not _BETWEEN.fullmatch(source.line(number)):
            continue
        first = number
        while first - 1 > ends and not (outside[first - 1] and _ENDS.fullmatch(source.line(first - 1))):
            first -= 1
        last = number
        while (
            first < number
            and last < len(source.lines)
            and not (outside[last + 1] and _ENDS.fullmatch(source.line(last + 1)))
        ):
            last += 1
        if last == number and first == ends + 1 and _is_only_card(source, outside, number):
            last = len(source.lines)
        if first < number < last:
            ends = last
            yield _Card(first, last, source.text(first, number - 1).lstrip("# "), source.text(number + 1, last))


def _is_only_card(source: Source, outside: bytearray, number: int) -> bool:
    """Returns whether a document is one card: no other line has a question mark alone, and text is further below."""
    marks = sum(outside[at] and _BETWEEN.fullmatch(line) is not None for at, line in enumerate(source.lines, 1))
    return marks == 1 and any(line.strip() for line in source.lines[number:])


def _clozes(document: Document, outside: bytearray, known: set[int]) -> Iterator[Finding]:
    """Yields findings about cards with a gap, which have no question."""
    for number, line in enumerate(document.source.lines, 1):
        if outside[number] and number not in known and _CLOZE.search(line):
            yield Finding(
                "Q603",
                "warning",
                "a card with a gap asks nothing that could be answered here",
                document.source.span(number),
                note="it was left out",
                help="write it as `question::answer`",
                skipped=True,
            )
