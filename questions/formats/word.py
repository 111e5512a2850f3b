"""Reads Word documents (`.docx`) as Markdown: headings, lists with their numbers, tables, bold and italic text.

Underlined text becomes bold, because Markdown cannot underline. Pictures, notes and formulas are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from questions.wording.stems import demands, ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from questions.formats.xml import XmlElement

DOCUMENT, STYLES, NUMBERING = "word/document.xml", "word/styles.xml", "word/numbering.xml"
"""The parts of a document that are read; only the first must exist."""

_HEADING = re.compile(r"heading (?P<level>[1-6])", re.IGNORECASE)
_TAG = re.compile(r"<(?=[A-Za-z/!])")
_OFF = ("0", "false", "off", "none")
_LETTERS = 26
_CONTAINERS = ("w:sdt", "w:sdtContent", "w:ins", "w:hyperlink", "w:smartTag", "w:body")
"""Elements around paragraphs or runs that change nothing; deleted text is in `w:del`."""


def word_markdown(parts: Mapping[str, XmlElement]) -> str:
    """Returns a document as Markdown. `parts`: the parsed parts by name."""
    reader = _Reader(_headings(parts.get(STYLES)), _numberings(parts.get(NUMBERING)))
    elements = _flat(parts[DOCUMENT], ("w:p", "w:tbl"))
    read = [(False, reader.table(one)) if one.name == "w:tbl" else reader.paragraph(one) for one in elements]
    lines: list[str] = []
    was_item = False
    for is_item, text in _with_heads([(is_item, text) for is_item, text in read if text]):
        if lines and not (is_item and was_item):
            lines.append("")
        lines.append(text)
        was_item = is_item
    return "\n".join((*lines, ""))


_HEADED = re.compile(r"\d{1,3}\. (?P<head>[^\n]{1,200})\n(?P<below>.*)", re.DOTALL)
"""A numbered paragraph with line breaks in it."""
_NUMBERED = re.compile(r"\d{1,3}\. ")
_NO_ANSWER = re.compile(r"[ \t]*(?:\(?[A-Ha-h0-9][.)][ \t]|\[[ xX]?\])|.*___")
"""A line that offers an option or leaves a blank."""
_CODE = re.compile(r".*[;{}]$")
"""A first line that is code, which questions ask about."""
_STATES = re.compile(r"\W*\w+ (?:is|are|means)\b")
"""A statement about what a line begins with, even where that may be a verb: `Outline is …`."""
_FEWEST_HEADED = 3
_MOSTLY = 2 / 3
"""Share of the numbered paragraphs that must ask and be answered behind a line break."""


def _with_heads(read: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    """Returns the paragraphs; where most numbered ones ask in their first line, with an answer behind a line break,
    with a blank line between the two: otherwise all of such a paragraph is one prompt."""
    numbered = [text for is_item, text in read if is_item and _NUMBERED.match(text)]
    headed = {text for text in numbered if (found := _HEADED.match(text)) and _may_answer(found)}
    asking = sum(reads_as_question(_NUMBERED.sub("", text.split("\n")[0], count=1)) for text in headed)
    if asking < max(_FEWEST_HEADED, len(numbered) * _MOSTLY):
        return read
    return [(is_item, text.replace("\n", "\n\n", 1) if text in headed else text) for is_item, text in read]


def _may_answer(found: re.Match[str]) -> bool:
    """Returns whether the text below the first line may be an answer: nothing there offers or asks."""
    below = found["below"].split("\n")
    asks = any(
        _NO_ANSWER.match(line) or ends_asking(line) or (demands(line) and not _STATES.match(line)) for line in below
    )
    return not asks and not _CODE.match(below[0]) and not found["head"].rstrip().endswith((":", ","))


class _Level(NamedTuple):
    """How a level of a list is numbered."""

    format: str
    """`decimal`, `upperLetter`, `bullet` and so on."""
    start: int


class _Reader:
    """Counts the items of lists, whose numbers the document does not contain."""

    def __init__(self, headings: Mapping[str, int], numberings: Mapping[tuple[str, int], _Level]) -> None:
        self._headings = headings
        self._numberings = numberings
        self._counts: Counter[tuple[str, int]] = Counter()

    def paragraph(self, element: XmlElement) -> tuple[bool, str]:
        """Returns whether a paragraph is an item of a list, and its Markdown; empty for one without text."""
        properties = element.child("w:pPr")
        level = self._headings.get(_value(properties, "w:pStyle"), 0)
        text = _words(element, plain=level > 0)
        if not text.strip():
            return False, ""
        if level:
            return False, f"{'#' * level} {' '.join(text.split())}"
        numbering = properties.child("w:numPr") if properties else None
        if numbering is None or _value(numbering, "w:numId") in ("", "0"):
            return False, text.strip()
        return True, self._item(_value(numbering, "w:numId"), _value(numbering, "w:ilvl"), text.strip())

    def _item(self, name: str, depth: str, text: str) -> str:
        at = int(depth) if depth.isdecimal() and len(depth) == 1 else 0
        level = self._numberings.get((name, at), _Level("bullet", 1))
        for deeper in range(at + 1, 9):
            del self._counts[name, deeper]
        number = level.start + self._counts[name, at]
        self._counts[name, at] += 1
        if level.format.endswith("Letter") and 0 < number <= _LETTERS:
            mark = f"- {chr(ord('A') + number - 1)})"
        else:
            mark = "-" if level.format in ("bullet", "none") else f"{number}."
        indent = " " * 4 * at
        return f"{indent}{mark} " + text.replace("\n", f"\n{indent}    ")

    def table(self, element: XmlElement) -> str:
        """Returns a table as Markdown; its first row is the header."""
        rows = [[self._cell(cell) for cell in row.all("w:tc")] for row in element.all("w:tr")]
        width = max(map(len, rows), default=0)
        if width < 2:
            # A frame around text.
            return "\n\n".join(cell.replace("<br>", "\n\n") for row in rows for cell in row if cell)
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        return "\n".join((lines[0], f"|{' --- |' * width}", *lines[1:]))

    def _cell(self, cell: XmlElement) -> str:
        texts = (self.paragraph(one)[1] for one in _flat(cell, ("w:p",)))
        return "<br>".join(text.replace("\n", "<br>").replace("|", "\\|") for text in texts if text)


def _flat(element: XmlElement, names: tuple[str, ...]) -> Iterator[XmlElement]:
    """Yields the elements with these names, including those in containers that change nothing."""
    for child in element.children:
        if child.name in names:
            yield child
        elif child.name in _CONTAINERS:
            yield from _flat(child, names)


def _words(paragraph: XmlElement, *, plain: bool) -> str:
    """Returns the text of a paragraph; runs that look the same are marked once."""
    found: list[tuple[str, str]] = []
    for run in _flat(paragraph, ("w:r",)):
        text = "".join(_run_text(child) for child in run.children)
        mark = "" if plain else _mark(run.child("w:rPr"))
        if found and (found[-1][0] == mark or not text.strip()):
            found[-1] = (found[-1][0], found[-1][1] + text)
        elif text:
            found.append((mark, text))
    return "".join(_marked(text, mark) for mark, text in found)


def _run_text(element: XmlElement) -> str:
    if element.name == "w:t":
        return _TAG.sub(r"\\<", element.all_text())
    return {"w:br": "\n", "w:cr": "\n", "w:tab": " ", "w:noBreakHyphen": "-"}.get(element.name, "")


def _mark(properties: XmlElement | None) -> str:
    if properties is None:
        return ""
    strong = _is_on(properties, "w:b") or _is_on(properties, "w:u")
    return "**" if strong else "*" if _is_on(properties, "w:i") else ""


def _is_on(properties: XmlElement, name: str) -> bool:
    one = properties.child(name)
    return one is not None and one.attributes.get("w:val", "true") not in _OFF


def _marked(text: str, mark: str) -> str:
    words = text.strip()
    if not mark or not words or "\n" in words or "*" in words:
        return text
    return text.replace(words, f"{mark}{words}{mark}", 1)


def _value(element: XmlElement | None, name: str) -> str:
    child = element.child(name) if element else None
    return child.attributes.get("w:val", "") if child else ""


def _headings(styles: XmlElement | None) -> dict[str, int]:
    """Returns the level of each style that is a heading; the names of styles are English in every language."""
    levels: dict[str, int] = {}
    for style in styles.all("w:style") if styles else ():
        name = _value(style, "w:name")
        found = _HEADING.fullmatch(name)
        level = int(found["level"]) if found else int(name.lower() == "title")
        if level:
            levels[style.attributes.get("w:styleId", "")] = level
    return levels


def _numberings(numbering: XmlElement | None) -> dict[tuple[str, int], _Level]:
    """Returns how each level of each list is numbered."""
    if numbering is None:
        return {}
    levels = {
        one.attributes.get("w:abstractNumId", ""): {
            level.attributes.get("w:ilvl", ""): _Level(_value(level, "w:numFmt"), _start(level))
            for level in one.all("w:lvl")
        }
        for one in numbering.all("w:abstractNum")
    }
    return {
        (one.attributes.get("w:numId", ""), int(depth)): level
        for one in numbering.all("w:num")
        for depth, level in levels.get(_value(one, "w:abstractNumId"), {}).items()
        if depth.isdecimal()
    }


def _start(level: XmlElement) -> int:
    number = _value(level, "w:start")
    return int(number) if number.isdecimal() and len(number) < 5 else 1
