"""Rewrites the folds of site generators as HTML: shortcodes of Hugo, blocks of Jekyll, MkDocs, Docusaurus and Pandoc,
and callouts of Obsidian.

Otherwise the marks around a fold, such as `{{< spoiler >}}` … `{{< /spoiler >}}`, would be a part of the answer.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from questions.fences import fence_after, fence_in
from questions.wording.labels import QUESTION_WORDS, is_answer_summary
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from questions.source import Source

_MARKS = ("{{<", "{{%", "{%", ":::", "???", "!!!", "> [!")
_SHORTCODE = re.compile(r"\{\{[<%][ ]*(?P<name>[\w-]+)(?P<rest>(?:[ ][^{}]{0,300}?)?)[ ]*[%>]\}\}(?P<after>.*)")
_BLOCK = re.compile(r"\{%-?[ ]*(?P<name>[a-z][\w-]*)(?P<rest>(?:[ ][^{}%]{0,300}?)?)[ ]*-?%\}(?P<after>.*)")
_COLONS = re.compile(r"(?P<marks>:{3,8})[ ]?(?P<name>[\w-]+|\{[^{}]{1,200}\})(?P<rest>.{0,300})")
_INDENTED = re.compile(r"(?:\?{3}\+?|!!!)[ ]+(?P<name>[\w-]+)(?P<rest>.{0,300})")
_CALLOUT = re.compile(r">[ ]?\[!(?P<name>[\w-]+)\][-+]?(?P<rest>.{0,300})")
_HEADING = re.compile(r"#{1,6}[ ]+(?P<text>\S.{0,200})")
_FOLDS = frozenset(
    ("spoiler", "details", "detail", "expand", "collapse", "collapsible", "fold", "hidden", "reveal", "toggle", "hide")
)
"""Names of blocks that fold what is in them."""
_TITLE = re.compile(
    r"^\"(?P<whole>(?:(?!=\").){1,300})\"$|(?:\w+=)?\"(?P<double>[^\"]{1,200})\""
    r"|(?:\w+=)?'(?P<single>[^']{1,200})'|\[(?P<bare>[^\[\]]{1,200})\]"
)
_WORDS = re.compile(r"[^\"'=\[\]{}]{1,200}")
_INDENT = 4


class _Fold(NamedTuple):
    """A block: its first line, the line that ends it, the summary, and its form."""

    first: int
    last: int
    summary: str
    prefix: str = ""
    """What comes before each line in it."""
    after: str = ""
    """What comes behind the mark that opens it, in the same line."""
    drops: int = 0
    """Lines below the first that only name it."""
    closes: bool = False
    """Whether the last line is the mark that ends it."""


def with_folds(source: Source) -> Source:
    """Returns the document with `<details>` for each block that folds an answer, or has a title that asks. Lines keep
    their numbers."""
    if not any(line.startswith(_MARKS) for line in source.lines):
        return source
    lines = list(source.lines)
    ends = _ends_of(source.lines)
    fence, done = "", -1
    for at, line in enumerate(source.lines):
        if _is_fence(line) and (mark := fence_in(line)):
            fence = fence_after(fence, mark["mark"])
        elif not fence and at > done and line.startswith(_MARKS) and (fold := _fold(source.lines, at, ends)):
            _rewrite(lines, fold)
            done = fold.last
    return replace(source, lines=tuple(lines))


_END = re.compile(
    r"(?:\{\{[<%][ ]*/(?P<shortcode>[\w-]{1,60})[ ]*[%>]\}\}|\{%-?[ ]*end_?(?P<block>[a-z][\w-]{0,60})[ ]*-?%\})$"
)
"""The mark that ends a block, at the end of a line."""
_LONGEST_END = 100
"""Length of such a mark, characters."""
_UNQUOTED = ">"
_MARK_OF_COLONS = re.compile(r":{3,8}")


def _ends_of(lines: tuple[str, ...]) -> dict[str, list[int]]:
    """Returns the indices of the lines that end blocks, by the name of the block or the colons, and of those that are
    in no quote."""
    found: dict[str, list[int]] = {_UNQUOTED: [at for at, line in enumerate(lines) if not line.startswith(">")]}
    for at, line in enumerate(lines):
        shown = line.rstrip() if line.startswith(":") else line.rstrip(" ")
        if shown.startswith(":"):
            if _MARK_OF_COLONS.fullmatch(shown):
                found.setdefault(shown, []).append(at)
        elif shown.endswith("}") and (end := _END.search(shown[-_LONGEST_END:])):
            found.setdefault(end["shortcode"] or end["block"], []).append(at)
    return found


def _end_below(ends: dict[str, list[int]], name: str, at: int) -> int | None:
    """Returns the first line below another that ends a block with a name; None if it would be too long."""
    lines = ends.get(name, [])
    index = bisect_right(lines, at)
    return lines[index] if index < len(lines) and lines[index] <= at + _LONGEST else None


def _fold(lines: tuple[str, ...], at: int, ends: dict[str, list[int]]) -> _Fold | None:
    """Returns the fold that a line opens; None if it opens none, or nothing closes it."""
    line = lines[at].rstrip()
    if found := _SHORTCODE.fullmatch(line) or _BLOCK.fullmatch(line):
        name = found["name"]
        summary = _summary(name, found["rest"])
        inside = _END.search(found["after"][-_LONGEST_END:]) if found["after"].endswith("}") else None
        if inside and summary and name in (inside["shortcode"], inside["block"]):
            return _Fold(at, at, summary, after=found["after"].removesuffix(inside[0]))
        last = _end_below(ends, name, at)
        return _Fold(at, last, summary, after=found["after"], closes=True) if summary and last is not None else None
    if found := _COLONS.fullmatch(line):
        last = _end_below(ends, found["marks"], at)
        if last is None:
            return None
        heading = _HEADING.fullmatch(lines[at + 1]) if found["name"].startswith("{") else None
        summary = _summary("", heading["text"]) if heading else _summary(found["name"], found["rest"])
        return _Fold(at, last, summary, drops=int(heading is not None), closes=True) if summary else None
    if (found := _INDENTED.fullmatch(line)) and (summary := _summary(found["name"], found["rest"])):
        last = at
        for n in range(at + 1, len(lines)):
            if lines[n].strip() and not lines[n].startswith(" " * _INDENT):
                break
            last = n if lines[n].strip() else last
        return _Fold(at, last, summary, prefix=" " * _INDENT) if _can_fold(lines, at, last, summary) else None
    if (found := _CALLOUT.fullmatch(line)) and (summary := _summary(found["name"], found["rest"])):
        unquoted = ends.get(_UNQUOTED, [])
        index = bisect_right(unquoted, at)
        last = (unquoted[index] if index < len(unquoted) else len(lines)) - 1
        return _Fold(at, last, summary, prefix=">") if _can_fold(lines, at, last, summary) else None
    return None


def _can_fold(lines: tuple[str, ...], first: int, last: int, summary: str) -> bool:
    """Returns whether a block has lines, and its end or a label can be written: no tag fits behind a fence."""
    return last > first and (not _is_fence(lines[last]) or is_answer_summary(summary))


def _is_fence(line: str) -> bool:
    return "```" in line or "~~~" in line


_LONGEST = 300
"""Most lines of a block."""


def _summary(name: str, rest: str) -> str:
    """Returns the summary of a block that folds an answer, or whose title asks; empty for other blocks."""
    words = rest.strip()
    found = _TITLE.search(words)
    title = next((one for one in (found.groups() if found else ()) if one), "") or (
        words if _WORDS.fullmatch(words) else ""
    )
    title = title.strip()
    if title and (is_answer_summary(title) or ends_asking(title) or name.lower() == "question"):
        return title
    if not title and is_answer_summary(name):
        return name.capitalize()
    return "Answer" if name.lower() in _FOLDS and not title else ""


def _rewrite(lines: list[str], fold: _Fold) -> None:
    opening = f"<details><summary>{fold.summary}</summary>{fold.after}"
    if fold.first == fold.last:
        lines[fold.first] = f"{opening}</details>"
        return
    lines[fold.first] = opening
    for at in range(fold.first + 1, fold.last + 1):
        if fold.prefix == ">":
            lines[at] = lines[at][1:].removeprefix(" ")
        elif fold.prefix:
            lines[at] = lines[at].removeprefix(fold.prefix)
    lines[fold.first + 1 : fold.first + 1 + fold.drops] = [""] * fold.drops
    if fold.closes:
        lines[fold.last] = "</details>"
    elif _is_fence(lines[fold.last]):
        lines[fold.first] = "**Answer:**"
    else:
        lines[fold.last] += "</details>"


# Gives blocks of MkDocs that answer a list item, `??? success "Solution"` below `1. What is a view?`, a label.

_IN_ITEM = re.compile(r"(?P<lead>[ ]{2,24})(?:\?{3}\+?|!!!)[ ]+(?P<name>[\w-]+)(?P<rest>.{0,300})")


def with_answers_in_items(source: Source) -> Source:
    """Returns the document with a label for each indented block whose title, or else name, is a word for an answer, and
    its text indented as the label is. Lines keep their numbers."""
    if not any(line.lstrip(" ").startswith(("??? ", "???+ ", "!!! ")) for line in source.lines):
        return source
    changed: dict[int, str] = {}
    done = -1
    for at, line in source.lines_outside_programs:
        found = _IN_ITEM.fullmatch(line.rstrip()) if at > done and line.lstrip()[:3] in ("???", "!!!") else None
        if found is None or not is_answer_summary(_summary(found["name"], found["rest"])):
            continue
        inside = found["lead"] + " " * _INDENT
        end = next((n for n in range(at + 1, len(source.lines)) if _is_outside(source.lines[n], inside)), None)
        done = (len(source.lines) if end is None else end) - 1
        changed[at] = f"{found['lead']}**Answer:**"
        changed |= {n: source.lines[n].removeprefix(" " * _INDENT) for n in range(at + 1, done + 1)}
    return source.with_lines(changed)


def _is_outside(line: str, inside: str) -> bool:
    return bool(line.strip()) and not line.startswith(inside)


# Gives folds that only hide a question, `<summary>Question 1</summary>`, the form of headings.

_OPENED = re.compile(r"[ ]{0,3}<details(?:[ ][^<>]{0,100})?>[ ]*(?P<rest>.*)", re.IGNORECASE)
_COUNTED_SUMMARY = re.compile(
    rf"[ ]*<summary>[ ]*(?:<(?:b|strong)>|\*\*)?(?P<title>(?:{QUESTION_WORDS})[ ]?#?\d{{1,4}})[ ]?[.:]?"
    r"(?:</(?:b|strong)>|\*\*)?[ ]*</summary>[ ]*",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"[ ]{0,3}</details>[ ]*", re.IGNORECASE)
_FEWEST_COUNTED = 2
"""Fewest such folds."""


def with_question_folds(source: Source) -> Source:
    """Returns the document with headings for folds that are only a word for a question with its number, if several are.
    Folds within them stay."""
    if not any("<summary" in line.lower() for line in source.lines):
        return source
    changed: dict[int, str] = {}
    open_at: list[int | None] = []
    for at, line in source.lines_outside_programs:
        if opened := _OPENED.fullmatch(line):
            title = at if opened["rest"].strip() else at + 1
            summary = opened["rest"] if title == at else source.line(title + 1)
            counted = _COUNTED_SUMMARY.fullmatch(summary)
            open_at.append(at if counted else None)
            if counted:
                changed |= {at: "", title: f"## {counted['title']}"}
        elif open_at and _CLOSED.fullmatch(line) and open_at.pop() is not None:
            changed[at] = ""
    counted_folds = sum(line.startswith("## ") for line in changed.values())
    return source.with_lines(changed) if counted_folds >= _FEWEST_COUNTED else source
