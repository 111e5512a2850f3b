"""Headings: gives those in HTML, those that only name a part of a question, and those that lost their marks the usual
form."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.wording.labels import QUESTION_WORDS, TASK_WORDS, label_of
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from questions.source import Source

# Gives headings in HTML the form of Markdown: `<h3>1) What is a view?</h3>`.

_TAGGED = re.compile(
    r"[ ]{0,3}<(?P<tag>h(?P<level>[1-6]))(?:[ ][^<>]{0,200})?>[ ]*(?P<text>\S.{0,400}?)[ ]*</(?P=tag)>[ ]*",
    re.IGNORECASE,
)
_FEWEST_TAGGED = 2
"""Fewest headings of a level that ask, which must be most of it."""


def with_plain_headings(source: Source) -> Source:
    """Returns the document with headings of Markdown for those in HTML, at the levels where most ask."""
    found: dict[int, re.Match[str]] = {}
    if not [line for line in source.lines if "<h" in line[:5] or "<H" in line[:5]]:
        return source
    for at, line in source.lines_outside_programs:
        if "<h" in line[:5].lower() and len(line) <= _LONGEST and (tagged := _TAGGED.fullmatch(line)):
            found[at] = tagged
    levels = Counter(tagged["level"] for tagged in found.values())
    asking = Counter(tagged["level"] for tagged in found.values() if ends_asking(plain(tagged["text"])))
    asked = {level for level, count in asking.items() if count >= _FEWEST_TAGGED and count * 2 > levels[level]}
    return source.with_lines(
        {
            at: f"{'#' * int(tagged['level'])} {tagged['text']}"
            for at, tagged in found.items()
            if tagged["level"] in asked
        }
    )


# Gives headings that stand below most numbered questions with the same words, such as `Explanation:` and `Answer:`, the
# form of labels.

_ATX = re.compile(r"(?P<marks>#{1,6})[ ]+(?P<text>\S.*)")
_LONGEST = 300
"""Length of a line that may be such a heading, characters."""
_UNDERLINE = re.compile(r"(?:=+|-{3,})[ ]*")
_NUMBERED = re.compile(rf"(?:{QUESTION_WORDS}|{TASK_WORDS})[ ]?#?\d{{1,4}}\b.*", re.IGNORECASE)
_LONGEST_PART = 40
"""Length of a heading that names a part of a question, characters."""
_MARKS = "#-="
"""First signs of headings and of lines that underline them."""
_FEWEST_QUESTIONS = 3
_REGULAR = 0.6
"""Share of the questions that must have the heading."""
_EXPLANATIONS = ("explanation", "explication", "explicación", "explicacion", "erklärung", "spiegazione", "explicação")
_LIKE = 0.8
"""How alike a misspelt word is to the word it stands for."""


@dataclass(slots=True)
class _Title:
    """A heading: the index of its line, its text, and the line that is only its underline."""

    at: int
    text: str
    underline: int = -1


@dataclass(slots=True)
class _Parts:
    """How often a heading stands below questions, and where."""

    titles: list[_Title] = field(default_factory=list)
    questions: set[int] = field(default_factory=set)


def with_part_labels(source: Source) -> Source:
    """Returns the document with labels for the headings that name the same part of most questions. Lines keep their
    numbers."""
    if len([line for line in source.lines if line[:1] in _MARKS and line]) < _FEWEST_QUESTIONS:
        return source
    titles = _titles(source)
    numbered = [title for title in titles if _NUMBERED.fullmatch(title.text)]
    if len(numbered) < _FEWEST_QUESTIONS or len(numbered) == len(titles):
        return source
    parts: dict[str, _Parts] = {}
    question = 0
    for title in titles:
        if _NUMBERED.fullmatch(title.text):
            question = title.at + 1
        elif question and title.text.endswith((":", "：")) and len(title.text) <= _LONGEST_PART:
            part = parts.setdefault(title.text.casefold(), _Parts())
            part.titles.append(title)
            part.questions.add(question)
    changed: dict[int, str] = {}
    for part in parts.values():
        once = len(part.questions) == len(part.titles)
        if once and len(part.titles) >= max(_FEWEST_QUESTIONS, _REGULAR * len(numbered)):
            for title in part.titles:
                changed[title.at] = f"**{_as_label(title.text)}**"
                if title.underline >= 0:
                    changed[title.underline] = ""
    return source.with_lines(changed) if changed else source


def _titles(source: Source) -> list[_Title]:
    found: list[_Title] = []
    before = -1
    for at, line in source.lines_outside_programs:
        mark = line[:1]
        if mark == "#":
            if len(line) <= _LONGEST and (heading := _ATX.fullmatch(line)):
                found.append(_Title(at, plain(heading["text"].rstrip(" #")).strip()))
        elif mark in ("-", "=") and before == at - 1 >= 0 and _is_underline(source, at):
            found.append(_Title(at - 1, plain(source.lines[at - 1]).strip(), at))
        before = at
    return found


def _is_underline(source: Source, at: int) -> bool:
    return (
        len(source.lines[at]) <= _LONGEST
        and bool(_UNDERLINE.fullmatch(source.lines[at]))
        and _may_be_underlined(source, at - 1)
    )


def _may_be_underlined(source: Source, at: int) -> bool:
    """Returns whether a line is a short paragraph of its own up to here, which an underline makes a heading."""
    line = source.lines[at]
    alone = at == 0 or not source.lines[at - 1].strip() or _UNDERLINE.fullmatch(source.lines[at - 1]) is not None
    return alone and line[:1].isalnum() and len(line) <= _LONGEST_PART


def _as_label(text: str) -> str:
    """Returns a label for the name of a part; a misspelt word for an explanation becomes that word."""
    if label_of(f"**{text}**"):
        return text
    like = get_close_matches(text.casefold().rstrip(" :："), _EXPLANATIONS, n=1, cutoff=_LIKE)
    return f"{like[0].capitalize()}:" if like else text


# Gives headings `Question`, `Options`, `Answer` and `Explanation` that follow each other several times the form of
# labels.

_QUESTION = re.compile(rf"(?:{QUESTION_WORDS})", re.IGNORECASE)
_OPTIONS = re.compile(
    r"(?:answer[ ])?(?:options|choices)|opciones|opções|alternativas|optionen|antwortmöglichkeiten|opzioni"
    r"|варианты(?:[ ]ответов?)?|选项|選項|選択肢|보기",
    re.IGNORECASE,
)
_FEWEST_GROUPS = 2


def with_labels_of_parts(source: Source) -> Source:
    """Returns the document with labels for headings that are only words for a question, its options and its answer, in
    this order, if nearly each question has all three. Lines keep their numbers."""
    headings = [line for line in source.lines if line[:1] == "#"]
    if len([line for line in headings if _OPTIONS.fullmatch(line.strip("# :：*_"))]) < _FEWEST_GROUPS:
        return source
    named = [(title, _part_of(title.text)) for title in _titles(source) if title.underline < 0]
    parts = [(title, part) for title, part in named if part]
    order = "".join(part[0] for _, part in parts)
    groups = [group for group in order.split("q")[1:] if group]
    whole = sum(group.startswith("oa") for group in groups)
    if whole < _FEWEST_GROUPS or whole * 5 < order.count("q") * 4:
        return source
    return source.with_lines({title.at: f"**{title.text.rstrip(':：')}:**" for title, _ in parts})


def _part_of(title: str) -> str:
    """Returns which part of a question a heading names; empty for any other."""
    name = title.rstrip(" :：")
    if _QUESTION.fullmatch(name):
        return "question"
    if _OPTIONS.fullmatch(name):
        return "options"
    label = label_of(f"**{name}:**")
    return label.role if label and label.role in ("answer", "explanation") else ""


# Gives numbered lines the marks of a heading where these are missing: `## 14. …`, `15. …`, `## 16. …`.

_COUNTED = re.compile(r"(?P<marks>#{1,6}[ ]+)?(?P<number>\d{1,3})(?P<close>[.)])[ ]+(?P<text>\S.{0,200})")
_FEWEST_COUNTED = 5
"""Fewest numbered headings."""


def with_filled_gaps(source: Source) -> Source:
    """Returns the document with headings for the numbered lines that have exactly the numbers missing between two
    numbered headings, in their order. Programs stay as they are."""
    if len([line for line in source.lines if line[:1] == "#"]) < _FEWEST_COUNTED:
        return source
    found = [
        (at, one)
        for at, line in source.lines_outside_programs
        if (line[:1] == "#" or line[:1].isdecimal())
        and len(line) <= _LONGEST
        and (one := _COUNTED.fullmatch(line.rstrip()))
    ]
    headings = [(at, one) for at, one in found if one["marks"]]
    if len(headings) < _FEWEST_COUNTED or len({one["marks"] for _, one in headings}) > 1:
        return source
    changed: dict[int, str] = {}
    between: list[tuple[int, re.Match[str]]] = []
    before: re.Match[str] | None = None
    for at, one in found:
        if not one["marks"]:
            between.append((at, one))
            continue
        missing = [*range(int(before["number"]) + 1, int(one["number"]))] if before else []
        if before and missing and [int(two["number"]) for _, two in between] == missing:
            changed |= {line: f"{before['marks']}{source.lines[line]}" for line, _ in between}
        between, before = [], one
    return source.with_lines(changed) if len(changed) < len(headings) else source
