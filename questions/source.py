"""The text of a document as lines: decoding, line endings, positions. Independent of Markdown."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from questions.fences import lines_outside_programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Source:
    """The text of a document with normalized line endings."""

    name: str
    """Name shown in findings, usually the path."""
    lines: tuple[str, ...]
    """Line 1 is `lines[0]`; without line endings."""

    def line(self, number: int) -> str:
        """Returns the line with that number, from 1; empty outside the document."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @cached_property
    def lines_outside_programs(self) -> tuple[tuple[int, str], ...]:
        """The index, from 0, and the text of each line that is neither in a fence nor one of its marks."""
        return tuple(lines_outside_programs(self.lines))

    def with_lines(self, changed: Mapping[int, str]) -> Source:
        """Returns the document with other lines at these indices, from 0."""
        if not changed:
            return self
        return replace(self, lines=tuple(changed.get(at, line) for at, line in enumerate(self.lines)))

    def text(self, first: int, last: int) -> str:
        """Returns lines `first` to `last` inclusive, without blank lines at both ends."""
        return trim("\n".join(self.lines[max(first, 1) - 1 : last]))

    def span(self, first: int, last: int | None = None) -> Span:
        """Returns the range from the first visible character of line `first` to the end of line `last`."""
        last = first if last is None else last
        text = self.line(first)
        column = len(text) - len(text.lstrip()) + 1
        return Span(first, column, last, max(len(self.line(last).rstrip()), column) + 1)

    def span_of(self, first: int, last: int, wanted: str, after: str = "") -> Span:
        """Returns the range of `wanted` (its first visible line) between two lines, or line `first` if it is not
        there. A place that follows `after` is preferred."""
        needle = next((line.strip() for line in wanted.splitlines() if line.strip()), "")
        for before in dict.fromkeys((after, "")) if needle else ():
            for number in range(first, last + 1):
                column = self.line(number).find(before + needle)
                if column >= 0:
                    column += len(before)
                    return Span(number, column + 1, number, column + 1 + len(needle))
        return self.span(first)

    def line_of(self, first: int, last: int, text: str) -> int:
        """Returns the line between two at which a text of several lines starts; 0 if it is not there unchanged, but for
        spaces at the ends of lines."""
        wanted = [line.strip() for line in text.strip("\n").split("\n")]
        if not any(wanted):
            return 0
        lines = [self.line(number).strip() for number in range(first, last + 1)]
        found = (at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted)
        return next((first + at for at in found), 0)

    def next_filled(self, first: int) -> int:
        """Returns the first line from `first` on that is not blank; one past the end if all are."""
        while first <= len(self.lines) and not self.lines[first - 1].strip():
            first += 1
        return first

    def last_filled(self, first: int, last: int) -> int:
        """Returns the last line that is not blank, searching back from `last` to `first`."""
        while last > first and not self.line(last).strip():
            last -= 1
        return last


def trim(text: str) -> str:
    """Returns the text without blank lines at both ends; the first line keeps its indentation."""
    lines = text.rstrip().split("\n")
    start = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[start:])


def open_source(text: str | bytes, name: str) -> tuple[Source, tuple[Finding, ...]]:
    """Returns the document and findings about its encoding.

    The text is never repaired, but for characters that no database stores: they become U+FFFD, as in CommonMark.
    """
    findings: list[Finding] = []
    if isinstance(text, bytes):
        text = _decoded(text, findings)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source = Source(name, tuple(text.split("\n")))
    if UNSTORABLE.search(text):
        findings += _unstorable(source)
        source = Source(name, tuple(UNSTORABLE.sub("\ufffd", text).split("\n")))
    return source, (*findings, *_garbled(source))


UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that are not text: NUL, and halves of a surrogate pair."""


def _unstorable(source: Source) -> Iterator[Finding]:
    """Yields a finding for the first such character of each line."""
    for number, line in enumerate(source.lines, 1):
        if found := UNSTORABLE.search(line):
            yield Finding(
                "Q010",
                "warning",
                "a character that is not text was replaced by U+FFFD",
                Span(number, found.start() + 1, number, found.end() + 1),
                label=f"U+{ord(found[0]):04X}",
                help="remove it, or save the document as text again",
            )


def _decoded(data: bytes, findings: list[Finding]) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        encoding, name = _old_encoding(data)
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        findings.append(
            Finding(
                "Q001",
                "warning",
                f"the document is not UTF-8 and was read as {name}",
                Span(line, column, line, column + 1),
                label=f"byte 0x{data[error.start]:02x}",
                help="save the document as UTF-8",
            )
        )
        return data.decode(encoding, errors="replace")


_RUN = re.compile("[\xc0-\xff\xb3\xb2\xbf\xbe\xba\xaa\xb4\xa5\xa8\xb8]+")
_WESTERN = ("cp1252", "Windows-1252")
_CYRILLIC = (("cp1251", "Windows-1251"), ("koi8_r", "KOI8-R"))
_ASIAN = (
    ("gb18030", "GB 18030", re.compile("[的一是不了在有和人这中为]")),
    ("big5", "Big5", re.compile("[的一是不了在有和人這中為]")),
    ("shift_jis", "Shift JIS", re.compile("[のはをにがとでるたい]")),
    ("euc_jp", "EUC-JP", re.compile("[のはをにがとでるたい]")),
    ("euc_kr", "EUC-KR", re.compile("[이다는을에의가고하은]")),
)
"""Encodings of scripts with thousands of signs, and the most frequent of these."""
_OFTEN = re.compile("[оеаинтсрвл]")
"""The most frequent letters of Russian, in lower case: other encodings of Cyrillic read them as other letters."""
_LOOKED_AT = 100_000
"""Bytes of a document that show its encoding."""
_FREQUENT = 0.08
"""Share of the frequent signs among those outside ASCII in an encoding that fits."""
_WORD = 3
"""Length from which letters outside ASCII side by side are a word: in Western languages they stand alone."""


def _old_encoding(data: bytes) -> tuple[str, str]:
    """Returns the encoding of text that is not UTF-8, with its name: one with thousands of signs whose frequent ones
    are frequent, Cyrillic if most of its letters outside ASCII form words of their own, Western if not."""
    asian = max(((_share(data, name, often), name, title) for name, title, often in _ASIAN), default=(0.0, "", ""))
    if asian[0] >= _FREQUENT:
        return asian[1], asian[2]
    runs = [len(found[0]) for found in _RUN.finditer(data.decode("latin-1"))]
    in_words = sum(length for length in runs if length >= _WORD)
    if in_words * 2 <= sum(runs) or not runs:
        return _WESTERN
    return max(_CYRILLIC, key=lambda one: _share(data, one[0], _OFTEN))


def _share(data: bytes, encoding: str, often: re.Pattern[str]) -> float:
    """Returns the share of frequent signs among those outside ASCII in an encoding; 0 if it does not fit."""
    looked_at = data[:_LOOKED_AT] if len(data) <= _LOOKED_AT else data[: data.rfind(b"\n", 0, _LOOKED_AT) + 1]
    try:
        text = looked_at.decode(encoding, "ignore" if often is _OFTEN else "strict")
    except UnicodeDecodeError:
        return 0.0
    other = [character for character in text if not character.isascii()]
    return len(often.findall(text)) / len(other) if other else 0.0


def _garbled(source: Source) -> Iterator[Finding]:
    """Yields a finding for each line that was decoded with the wrong encoding earlier."""
    # Imported here: `Finding` alone is needed without ftfy and its tables, 2 MB.
    if all(line.isascii() for line in source.lines):
        return
    import ftfy
    from ftfy.badness import is_bad

    for number, line in enumerate(source.lines, 1):
        # A search of whole lines would take ten times as long: few characters can be a sign of this.
        if line.isascii() or not any(map(is_bad, _AROUND_SIGNS.findall(line))) or not is_bad(line):
            continue
        fixed = ftfy.fix_encoding(line)
        if fixed == line:
            continue
        start, end, good = _difference(line, fixed)
        yield Finding(
            "Q002",
            "warning",
            "these characters were decoded with the wrong encoding",
            Span(number, start + 1, number, end + 1),
            label=f"this was probably `{good}`",
            note="the text is kept as it is",
            help="save the document as UTF-8 and type the characters again",
        )


_AROUND_SIGNS = re.compile(".{0,4}(?:[\x80-\u25ff\uf8ff\ufb01\ufb02\ufffd].{0,4})+")
"""The characters, with those around them, that ftfy looks for: at least one of the former in each of its patterns."""


def _difference(line: str, fixed: str) -> tuple[int, int, str]:
    """Returns start and end in `line` of the part that differs from `fixed`, and that part of `fixed`."""
    start = 0
    while start < min(len(line), len(fixed)) and line[start] == fixed[start]:
        start += 1
    back = 0
    while back < min(len(line), len(fixed)) - start and line[-1 - back] == fixed[-1 - back]:
        back += 1
    return start, len(line) - back, fixed[start : len(fixed) - back]


URL = re.compile(r"https?://[^\s<>)\]]+")
"""An address in a text."""
WIDE = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
"""Characters of Japanese, Chinese and Korean, for a set in a pattern. Their words have no spaces between them, and few
characters ask."""


# Findings about a document, as data; `report` prints them

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""From worst to mildest."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of a document as editors count it: lines and columns from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    """Inclusive."""
    end_column: int
    """Exclusive: the column after the last character."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a document. The message names the cause and `help` the fix."""

    code: str
    """Stable code, `Q` or `P` and three digits: Q0xx document, Q1xx form of a question, Q2xx content of a question,
    Q3xx bank, Q6xx imported format, P1xx result of running a program. `FINDINGS.md` explains each code."""
    severity: Severity
    message: str
    """Lower case, without a full stop."""
    span: Span
    label: str = ""
    """Text next to the caret."""
    note: str = ""
    help: str = ""
    skipped: bool = False
    """Whether a question, or text that looks like one, was left out of the bank because of this."""
    word: str = ""
    """Word in the first line of the range that is marked with the caret; empty to mark the whole line."""
    part: str = ""
    """Part of a question that is missing or cannot be read because of this, such as `Answer`."""

    def columns(self, line: str) -> tuple[int, int]:
        """Returns start and end of the marked text in the first line of the range, from 0."""
        start = self.span.column - 1
        found = line.find(self.word, start) if self.word else -1
        if found >= 0:
            return found, found + len(self.word)
        return start, self.span.end_column - 1 if self.span.end_line == self.span.line else len(line.rstrip())
