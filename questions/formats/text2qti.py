"""Reads text2qti: Markdown questions with a number, and a sign before each option or answer.

    1.  Which call copies?
    a)  view
    *b) clone
    ... It has memory of its own.

`*` marks the right option, `[*]` one of several, `=` is a number, `____` an essay; `...`, `+` and `-` begin feedback.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.blocks import dedent
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_short,
    add_unanswered,
)
from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "text2qti"

_QUESTION = re.compile(r"(?P<mark>\d+\.[ \t]+)(?P<text>\S.*)")
_OPTION = re.compile(r"(?P<mark>(?P<right>\*?)[a-zA-Z]\)[ \t]+)(?P<text>\S.*)")
_BOX = re.compile(r"(?P<mark>\[(?P<right>[* ]?)\][ \t]+)(?P<text>\S.*)")
_ANSWER = re.compile(r"(?P<mark>\*[ \t]+)(?P<text>\S.*)")
_NUMBER = re.compile(r"(?P<mark>=[ \t]+)(?P<text>\S.*)")
_FEEDBACK = re.compile(r"(?P<mark>(?:\.\.\.|[+-]|!)[ \t]+)(?P<text>\S.*)")
_ESSAY = re.compile(r"_{3,}[ \t]*")
_UPLOAD = re.compile(r"\^{3,}[ \t]*")
_SETTING = re.compile(
    r"(?P<name>quiz title|quiz description|title|points|text title|text|[a-z ]{3,40}):[ \t]*(?P<text>.*)", re.I
)
_GROUP = re.compile(r"GROUP|END_GROUP|pick:.*|solutions per pick:.*|COMMENT|END_COMMENT|%.*")
_PLUS_MINUS = re.compile(r"(?P<number>[^+]+?)[ ]*\+-[ ]*(?P<margin>\S+)")
_RANGE = re.compile(r"\[(?P<low>[^,\]]+),(?P<high>[^\]]+)\]")
_CURE = "write options as `a) text`, the right one as `*b) text`"


@dataclass(slots=True)
class _Part:
    """A line with a sign, and the indented lines below it."""

    kind: str
    right: bool
    lines: list[str]
    feedback: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its Markdown."""
        return trim("\n".join(self.lines)).strip()


@dataclass(slots=True)
class _Question:
    """A question that is being read."""

    first: int
    last: int
    parts: list[_Part]
    title: str = ""


_SIGNS = (
    ("option", _OPTION),
    ("box", _BOX),
    ("answer", _ANSWER),
    ("number", _NUMBER),
)


def sniff(source: Source) -> bool:
    """Returns whether a text has numbered questions whose options are marked with a star before their letter or in
    brackets, in the first column, and no headings."""
    if any(re.match(r"#{1,6} ", line) for line in source.lines):
        return False
    lettered = sum(line.startswith("*") and _OPTION.fullmatch(line) is not None for line in source.lines)
    boxes = sum(line.startswith("[*]") for line in source.lines)
    titled = next((line for line in source.lines if line.strip()), "").lower().startswith("quiz title:")
    numbered = sum(_QUESTION.fullmatch(line) is not None for line in source.lines)
    return numbered > 0 and (titled or lettered + boxes > 0)


def read(source: Source) -> ImportDraft:
    """Reads all questions of a text."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    for question in _questions(draft):
        _add(draft, question)
    if not draft.questions and not draft.findings:
        draft.unreadable("this text has no numbered questions", _CURE)
    return draft


def _questions(draft: ImportDraft) -> Iterator[_Question]:
    current: _Question | None = None
    title, fence, indent = "", "", 0
    for number, line in enumerate(draft.source.lines, 1):
        if current is not None and (fence or line.lstrip().startswith("```")):
            indent = indent if fence else len(line) - len(line.lstrip())
            fence = "" if fence and line.strip() == fence else fence or "```"
            current.parts[-1].lines.append(dedent(line, indent))
            current.last = number
        elif asked := _QUESTION.fullmatch(line):
            if current:
                yield current
            current = _Question(number, number, [_Part("prompt", False, [asked["text"]])], title)
            title = ""
        elif not line.strip() or line.startswith((" ", "\t")):
            if current and line.strip():
                current.parts[-1].lines.append(line.strip())
                current.last = number
            elif current:
                current.parts[-1].lines.append("")
        elif current is not None and _read_sign(current, line):
            current.last = number
        elif setting := _SETTING.fullmatch(line):
            name = setting["name"].lower()
            if name == "quiz title":
                draft.title = setting["text"].strip()
            elif name == "title":
                title = setting["text"].strip()
            elif name == "text":
                draft.add(
                    "Q603", "a text between questions is not imported", "write it into the question", (number, number)
                )
        elif not _GROUP.fullmatch(line) and line.strip():
            draft.add_skipped("this line is not part of a question", "indent it below its question", (number, number))
    if current:
        yield current


def _read_sign(question: _Question, line: str) -> bool:
    """Adds a line with a sign to a question; returns False for any other line."""
    if _ESSAY.fullmatch(line) or _UPLOAD.fullmatch(line):
        question.parts.append(_Part("essay" if line.startswith("_") else "upload", False, []))
        return True
    if found := _FEEDBACK.fullmatch(line):
        question.parts[-1].feedback.append(found["text"])
        return True
    for kind, sign in _SIGNS:
        if found := sign.fullmatch(line):
            right = kind in ("answer", "number") or found["right"] == "*"
            question.parts.append(_Part(kind, right, [found["text"]]))
            return True
    return False


def _add(draft: ImportDraft, question: _Question) -> None:
    prompt, *parts = question.parts
    lines = (question.first, question.last)
    if not draft.accepts(*lines, sum(len(part.text) for part in question.parts)):
        return
    item = Item(*lines, prompt.text, why="\n\n".join(prompt.feedback), title=question.title)
    kinds = {part.kind for part in parts}
    if len(kinds) > 1:
        draft.add_skipped("this question mixes several kinds of answers", _CURE, lines)
    elif kinds & {"option", "box"}:
        offers = [
            OptionDraft(part.text, part.right, "" if part.right else "\n\n".join(part.feedback)) for part in parts
        ]
        add_choice(draft, item, offers)
    elif kinds == {"answer"}:
        add_short(draft, item, [part.text for part in parts])
    elif kinds == {"number"}:
        add_number(draft, item, [_number(part.text) for part in parts])
    elif kinds == {"upload"}:
        draft.add_skipped("a question answered with a file cannot be imported", "ask for text", lines)
    elif prompt.feedback and kinds == {"essay"}:
        item.why = ""
        add_open(draft, item, "\n\n".join(prompt.feedback))
    else:
        add_unanswered(draft, item)


def _number(text: str) -> str:
    """Returns a number as `6`, `6:0.1` (6 ± 0.1) or `1..5`."""
    if found := _PLUS_MINUS.fullmatch(text):
        margin = found["margin"]
        return found["number"] if margin.strip("0.") == "" else f"{found['number']}:{margin}"
    if found := _RANGE.fullmatch(text):
        return f"{found['low'].strip()}..{found['high'].strip()}"
    return text
