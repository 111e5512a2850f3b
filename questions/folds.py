"""Parts of a document folded away with `<details>`: where they stand and what they say. Judges nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.blocks import Block
    from questions.source import Source

_TAG = re.compile(r"<(?P<end>/)?details\b[^<>\n]{0,200}>", re.IGNORECASE)
_SUMMARY = re.compile(r"(?:\s|<br[ ]?/?>){0,9}<summary\b[^<>]{0,200}>", re.IGNORECASE)
_SUMMARY_END = re.compile(r"</summary[ ]?>", re.IGNORECASE)
_LONGEST = 4000
"""Characters of a summary; one that does not end by then is none."""
_TAGS = re.compile(r"</?[a-z][a-z0-9]{0,9}\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK = re.compile(r"<br[ ]?/?>", re.IGNORECASE)
_CODE = re.compile(r"<code>(?P<code>[^<>`]{1,200})</code>", re.IGNORECASE)
_OPENING = re.compile(r"\s*<(?:br|hr|p|div|blockquote|(?P<bold>b|strong|i|em))\b[^<>/]{0,200}/?>", re.IGNORECASE)
_CLOSING = re.compile(r"<(?:/(?:p|b|strong|i|em|div|blockquote)|br|hr)[ ]?/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fold:
    """A `<details>` with its end."""

    first: int
    last: int
    summary: str
    """What is shown while it is folded, as Markdown without tags; empty where it says nothing."""
    body: tuple[int, int]
    """First and last line of what is folded away."""
    start: int
    """Where in the first of them it starts, from 0."""
    end: int
    """Where in the last of them it ends."""
    indent: int
    """Columns before the `<details>`."""
    depth: int
    """How many others it lies in."""


def find_folds(source: Source, blocks: Iterable[Block]) -> tuple[Fold, ...]:
    """Every fold of a document that is closed, in the order of their lines; none in a program."""
    text = "\n".join(source.lines)
    if _TAG.search(text) is None:
        return ()
    starts = [0]
    for line in source.lines:
        starts.append(starts[-1] + len(line) + 1)
    programs = [(b.first, b.last) for block in blocks for b in block.walk() if b.kind in ("fence", "code")]
    return tuple(sorted(_folds(text, starts, programs), key=lambda fold: (fold.first, fold.depth)))


def fold_text(source: Source, fold: Fold) -> str:
    """What is folded away, as Markdown, without the tags around all of it."""
    first, last = fold.body
    lines = list(source.lines[first - 1 : last])
    lines[-1] = lines[-1][: fold.end]
    lines[0] = lines[0][fold.start :]
    kept = [lines[0], *(_less(line, fold.indent) for line in lines[1:])]
    return unwrapped("\n".join(kept))


def without_tags(html: str) -> str:
    """One line of Markdown without its tags; code stays code."""
    spaced = _BREAK.sub(" ", _CODE.sub(r"`\g<code>`", html))
    return " ".join(_TAGS.sub("", spaced).split())


def unwrapped(text: str) -> str:
    """The text without blank lines and tags of layout at either end."""
    start, end = 0, len(text)
    while found := _OPENING.match(text, start, end):
        if found["bold"] and not _around_all(text, found["bold"], end):
            break
        start = found.end()
    while start < end:
        end = start + len(text[start:end].rstrip()) if text[end - 1].isspace() else end
        at = text.rfind("<", max(end - 60, start), end)
        if at < 0 or _CLOSING.fullmatch(text, at, end) is None:
            break
        end = at
    return trim(text[start:end])


def _around_all(text: str, tag: str, end: int) -> bool:
    """Whether a bold tag ends with the text, or never, rather than within it."""
    at = text.lower().find(f"</{tag.lower()}", 0, end)
    return at < 0 or not _TAGS.sub("", text[at:end]).strip()


def _less(line: str, columns: int) -> str:
    return line[min(columns, len(line) - len(line.lstrip(" "))) :]


def _folds(text: str, starts: list[int], programs: list[tuple[int, int]]) -> Iterator[Fold]:
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(text):
        line = bisect_right(starts, tag.start())
        if _within(programs, line) or _quoted(text, starts[line - 1], tag.start()):
            continue
        if not tag["end"]:
            opened.append(tag)
        elif opened:
            yield _fold(text, starts, opened.pop(), tag, len(opened))


def _within(programs: list[tuple[int, int]], line: int) -> bool:
    at = bisect_right(programs, (line, line)) - 1
    return any(first <= line <= last for first, last in programs[max(at, 0) : at + 2])


def _quoted(text: str, start: int, at: int) -> bool:
    """Whether a tag stands in a code span of its line, and so is only spoken of."""
    return text.count("`", max(start, at - _LONGEST), at) % 2 == 1


def _fold(text: str, starts: list[int], tag: re.Match[str], end: re.Match[str], depth: int) -> Fold:
    at, summary = tag.end(), ""
    found = _SUMMARY.match(text, at, end.start())
    closed = _SUMMARY_END.search(text, found.end(), min(found.end() + _LONGEST, end.start())) if found else None
    if found and closed:
        at, summary = closed.end(), without_tags(text[found.end() : closed.start()])
    first = bisect_right(starts, tag.start())
    body, last = bisect_right(starts, at), bisect_right(starts, end.start())
    indent = tag.start() - starts[first - 1]
    return Fold(
        first, last, summary, (body, last), at - starts[body - 1], end.start() - starts[last - 1], indent, depth
    )
