"""Passages of a document that belong to no question: where they are, what they are called, and which are worth a word.

Every line that is not blank is in a question, is named by a finding about something that was left out, or is in exactly
one passage.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.blocks import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from questions.model import Question
    from questions.source import Finding, Source

MOST_SHOWN = 2
"""Maximum number of passages that are named in one line; the others are counted."""
_ASKED = b"\x01"
_NAMED = b"\x02"
"""Marks of lines in a question or a list of keys, and of lines that a finding names."""
_LONGEST_TITLE = 40
"""Maximum length of the title of a passage, characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines side by side that belong to no question, with the blank lines between them."""

    first: int
    last: int
    title: str
    """Its first heading, or else its first words, or else its first line; shortened."""
    minor: bool
    """Whether it holds only structure: headings of the questions below, front matter, a table of contents, rules, tags
    and brackets, or the text below a line that a finding names."""


def find_passages(
    source: Source,
    questions: Iterable[Question],
    findings: Iterable[Finding],
    *,
    keys: Iterable[tuple[int, int]] = (),
    structured: bool = False,
) -> tuple[Passage, ...]:
    """Returns the passages in line order. A finding takes its lines out of them if it is `skipped`.

    `keys`: first and last lines of lists that answer questions elsewhere. `structured`: whether the document is in a
    format whose syntax needs lines besides the questions.
    """
    lines = bytearray(len(source.lines) + 1)
    for finding in findings:
        if finding.skipped:
            mark_lines(lines, finding.span.line, finding.span.end_line, _NAMED)
    for first, last in keys:
        mark_lines(lines, first, last)
    for question in questions:
        mark_lines(lines, question.place.line, question.place.end_line)
    front = _end_of_front_matter(source)
    asked = lines.find(_ASKED)
    found = []
    for first, last in _ranges(source, lines):
        syntax = (_SYNTAX if 0 <= asked < first else _HEADER) if structured else 0
        minor = last - first < syntax or _is_minor(source, lines, first, last, front)
        found.append(Passage(first, last, _title(source, max(first, front + 1), last), minor))
    return tuple(found)


def main_passages(passages: Sequence[Passage]) -> tuple[tuple[Passage, ...], int]:
    """Returns the longest passages that say something, in line order, and the number of the others that do."""
    main = [one for one in passages if not one.minor]
    longest = sorted(main, key=lambda one: one.first - one.last)[:MOST_SHOWN]
    return tuple(sorted(longest, key=lambda one: one.first)), len(main) - len(longest)


def marked_lines(source: Source, questions: Iterable[Question]) -> bytearray:
    """Returns for each line from 0 whether it belongs to a question; sets of numbers would take more memory than the
    document."""
    lines = bytearray(len(source.lines) + 1)
    for question in questions:
        mark_lines(lines, question.place.line, question.place.end_line)
    return lines


def mark_lines(lines: bytearray, first: int, last: int, mark: bytes = _ASKED) -> None:
    """Marks the lines from `first` to `last`, as far as there are any."""
    last = min(last, len(lines) - 1)
    lines[first : last + 1] = mark * max(last + 1 - first, 0)


def _ranges(source: Source, other: bytearray) -> Iterator[tuple[int, int]]:
    """Yields the first and last lines that are not blank of the ranges between lines that are marked."""
    start = last = 0
    for number, line in enumerate(source.lines, 1):
        if other[number]:
            if start:
                yield start, last
                start = 0
        elif line.strip():
            start, last = start or number, number
    if start:
        yield start, last


# What a passage says

_SYNTAX = 2
"""Most lines of a passage that is taken for syntax in a format that needs such lines."""
_HEADER = 8
"""Most lines of such a passage above the first question: settings, a title, the names of columns."""

_LONGEST_LINE = 500
"""Characters of a line that are looked at."""

_HEADING = re.compile(r"[ ]{0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*))?")
_ENTRY = re.compile(r"[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\*\*)?\[[^\[\]]{1,300}\]\(#[^()\s]{0,300}\)(?:\*\*)?[ \t]*")
"""An entry of a table of contents."""
_BACK = re.compile(r"(?:back|return|go)?[ ]?(?:to[ ](?:the[ ])?)?(?:top|contents|table of contents)", re.IGNORECASE)
"""A link to the top of the document, as plain text."""
_TAGS = re.compile(r"<!--[^<]{0,300}?-->|<[/!?]?[a-zA-Z][^<>]{0,300}>|\\(?:begin|end)\{[^{}]{1,40}\}(?:\[[^\[\]]*\])?")
_UNDER_HEADER = re.compile(r"[ ]{0,3}(?=[-:| ]*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
"""The line below the header of a table."""
_SIGNS = re.compile(r"^[\W_]+|[\W_]+$")
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+>|]|\d{1,3}[.)])[ \t]+)+")
_WORD = re.compile(r"\w")
_FRONT = re.compile(r"(?:---|\+\+\+)[ \t]*")


def _line(source: Source, number: int) -> str:
    return source.line(number)[:_LONGEST_LINE].rstrip()


def _heading(line: str) -> tuple[int, str] | None:
    """Returns the level and the text of a heading, without the signs that may close it."""
    found = _HEADING.fullmatch(line)
    return None if found is None else (len(found["marks"]), (found["text"] or "").rstrip("#").rstrip())


def _end_of_front_matter(source: Source) -> int:
    """Returns the last line of the front matter; 0 if there is none."""
    opening = _FRONT.fullmatch(source.line(1))
    if opening is None:
        return 0
    closing = source.line(1).strip()
    return next((n for n, line in enumerate(source.lines[1:], 2) if line.rstrip() == closing), 0)


def _title(source: Source, first: int, last: int) -> str:
    """Returns the text of the first heading of some lines, or else of the first line with words, or of the first."""
    words = ""
    for number in range(first, last + 1):
        line = _line(source, number)
        if (found := _heading(line)) and found[1]:
            return _shortened(found[1])
        if not words and _says(source, number):
            words = line
    opening = _line(source, first)
    return _shortened(words) or _shortened(opening) or opening.strip()[:_LONGEST_TITLE]


def _shortened(markdown: str) -> str:
    bare = _TAGS.sub("", markdown)
    marker = _MARKER.match(bare)
    text = plain(bare[marker.end() :] if marker else bare).strip()
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1].rstrip()}…"


def _says(source: Source, number: int) -> bool:
    """Returns whether a line holds words, not only tags, rules, brackets, a link within the document or the header of a
    table."""
    line = _line(source, number)
    bare = _TAGS.sub("", line)
    if (
        not _WORD.search(bare)
        or _ENTRY.fullmatch(line)
        or ("|" in line and _UNDER_HEADER.fullmatch(_line(source, number + 1)))
    ):
        return False
    return not ("top" in line.lower() or "contents" in line.lower()) or not _BACK.fullmatch(_SIGNS.sub("", plain(bare)))


def _is_minor(source: Source, lines: bytearray, first: int, last: int, front: int) -> bool:
    """Returns whether some lines hold only structure: they say nothing but headings above a question or a line that a
    finding names. Text below such a line goes with it."""
    filled = [_line(source, number) for number in range(max(first, front + 1), last + 1) if _says(source, number)]
    levels = [found[0] for line in filled if (found := _heading(line))]
    above, below = source.last_filled(1, first - 1), source.next_filled(last + 1)
    if not levels and filled:
        return first > 1 and lines[above] == _NAMED[0]
    if len(levels) < len(filled):
        return False
    titled = below < len(lines) and lines[below] in _ASKED + _NAMED
    return not levels or (titled and all(upper < lower for upper, lower in pairwise(levels)))
