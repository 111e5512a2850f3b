"""An answer in prose as statements: its sentences, list items and table rows, cleaned of labels and lead-ins.

Line by line and without a Markdown parser: every answer of every document passes here, and a rough cut is enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

StatementKind = Literal["sentence", "item", "row"]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_TABLE = re.compile(r"\s*\|.*\|\s*$")
_RULED = re.compile(r"[\s|:-]+$")
_SKIPPED = re.compile(r"\s*(?:#{1,6}\s|>|<[/!a-z]|!\[|(?:[-*_]\s*){3,}$)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+[.)]\s+")
_CELL = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(
    r"(?:\*\*|__|_|\*)?(?:fix|definition|rule \d+|step \d+|explanation|solution|note|answer|result|benefits?|problem"
    r"|summary|key points?|why|how|conclusion|in short|tip|common bug|classic example|numerical stability)"
    r"(?:\*\*|__|_|\*)?\s*:(?:\*\*|__|_|\*)?\s+(?=\S)",
    re.IGNORECASE,
)
"""What only says of which sort a statement is."""
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)(?<!w\.r\.t\.)\s+(?=[A-Z`*_\"'$\[(\\])"
    r"|(?<=[.!?]\*\*)\s+(?=[A-Z])|(?<=[.!?][\"”)])\s+(?=[A-Z`])"
)
_MOJIBAKE = re.compile(r"[\u0080-\u009f\ufffd]|â[^\w\s]|Ã[\u0080-\u00bf]|âœ…?\s*")
"""Bytes of one encoding read as another's."""
_MARKS = re.compile(r"\*\*|``?")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something an answer says."""

    text: str
    """Markdown on one line, its label taken off."""
    kind: StatementKind
    first: bool
    """Whether it opens its paragraph, item or row."""
    depth: int = 0
    """Of an item: in how many it stands."""
    lead: str = ""
    """The statement before it in the same paragraph or item."""


def statements(answer: str) -> Iterator[Statement]:
    """What the answer says, in its order; without code, headings, quotes, pictures and rules."""
    indents: list[int] = []
    for lines in _stretches(answer):
        if _TABLE.match(lines[0]):
            yield from _rows(lines)
            continue
        found = _ITEM.match(lines[0])
        if found:
            indents = [indent for indent in indents if indent < len(found[1])]
            depth = len(indents)
            indents.append(len(found[1]))
            yield from _sentences([lines[0][found.end() :], *lines[1:]], "item", depth)
        else:
            yield from _sentences(lines, "sentence", 0)


def _stretches(answer: str) -> Iterator[list[str]]:
    """Lines that belong together: a paragraph, an item, a table."""
    fence, lines = "", list[str]()
    for line in answer.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif line.strip() and not _SKIPPED.match(line):
            table = bool(_TABLE.match(line))
            if lines and (_ITEM.match(line) or table != bool(_TABLE.match(lines[0]))):
                yield lines
                lines = []
            lines.append(line)
            continue
        if lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _rows(lines: Sequence[str]) -> Iterator[Statement]:
    table = [
        [cell.strip() for cell in _CELL.split(line.strip().strip("|"))] for line in lines if not _RULED.match(line)
    ]
    head, rows = table[:1], table[1:]
    for row in rows:
        cells = [cleaned(cell) for cell in row]
        cells[0] = _NUMBER.sub("", cells[0])
        if len(cells) < 2 or not cells[0] or not any(cells[1:]):
            continue
        if len(cells) == 2:
            said = cells[1]
        else:
            said = ", ".join(
                f"{cleaned(name)} {cell}" for name, cell in zip(head[0][1:], cells[1:], strict=False) if name and cell
            )
        yield Statement(f"{cells[0]}: {said}", "row", first=True)


def _sentences(lines: Sequence[str], kind: StatementKind, depth: int) -> Iterator[Statement]:
    lead = ""
    for part in _joined(lines):
        for sentence in _SENTENCE.split(part):
            text = _LABEL.sub("", cleaned(sentence), count=1)
            if text:
                yield Statement(text, kind, first=not lead, depth=depth, lead=lead)
                lead = text


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """The lines, those run together of which the first does not end a sentence."""
    held = ""
    for line in lines:
        held = f"{held} {line.strip()}".strip()
        if held.endswith((".", "!", "?", ":")):
            yield held
            held = ""
    if held:
        yield held


def cleaned(text: str) -> str:
    """Without what a wrong decoding left, and with no mark left open."""
    text = " ".join(_MOJIBAKE.sub("", text).split())
    for mark in ("**", "`"):
        if len(re.findall(re.escape(mark), text)) % 2:
            text = text.replace(mark, "")
    return text
