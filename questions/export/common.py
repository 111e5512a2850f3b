"""Markdown made harmless: it cannot end the question it stands in, nor swallow what follows. Shows the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import split_blocks
from questions.formats.markdown import fence
from questions.source import Source

if TYPE_CHECKING:
    from questions.blocks import Block

_MARK = re.compile(r"[\\`*_\[\]<>&#|~{}]")
_LIST = re.compile(r"(?P<lead>\s*)(?P<mark>[-+]|\d{1,9}(?=[.)]))(?=\s|[.)](?:\s|$)|$)")
_BOX = re.compile(r"(?P<marker>(?:[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]+)+)(?=\[[ xX]\])")
_DEPTH = "#### "


def escaped(text: str) -> str:
    """One line of plain text as Markdown, every mark of it bare."""
    shown = _MARK.sub(lambda found: "\\" + found[0], text)
    return _LIST.sub(_bare_marker, shown, count=1) if _LIST.match(shown) else shown


def _bare_marker(found: re.Match[str]) -> str:
    mark = found["mark"]
    return f"{found['lead']}{mark}\\" if mark.isdigit() else f"{found['lead']}\\{mark}"


def fenced(text: str) -> str:
    """The text as a block of code; empty where it is."""
    return fence(text.replace("\0", ""), "text") if text.strip() else ""


def calmed(text: str) -> str:
    """The text with shallow headings made deep, fences closed, boxes and HTML disarmed."""
    text = re.sub(r"\r\n?", "\n", text.replace("\0", "")).strip("\n")
    lines = text.split("\n")
    for block in split_blocks(Source("", tuple(lines))):
        for inner in block.walk():
            _calm_block(lines, inner)
    return "\n".join(lines).strip()


def _calm_block(lines: list[str], block: Block) -> None:
    first = block.first - 1
    if block.kind == "heading" and block.level < 4:
        lines[first : block.last] = [_DEPTH + " ".join(block.text.split("\n")), *[""] * (block.last - block.first)]
    elif block.kind == "fence" and not block.closed:
        lines[first : block.last] = [*fence(block.text, block.info).split("\n")]
    elif block.kind == "html":
        lines[first : block.last] = [line.replace("<", "\\<") for line in lines[first : block.last]]
    elif block.kind == "item":
        lines[first] = _BOX.sub(lambda found: found["marker"] + "\\", lines[first], count=1)


# What the formats without a place for programs and key points share: a question in prompt, answer and reason.


if TYPE_CHECKING:
    from questions.model import Question


def prompt_of(question: Question) -> str:
    """The prompt with the program shown beside it, and for a task the code to begin with."""
    parts = [question.prompt]
    if question.program:
        parts.append(fence(question.program, "python"))
    if question.task and question.task.starter:
        parts.append(fence(question.task.starter, "python"))
    return "\n\n".join(part for part in parts if part)


def answer_of(question: Question) -> str:
    """The answer as Markdown; of a task its reference. Empty where the options, or nobody, say what is right."""
    if question.task:
        return fence(question.task.reference, "python")
    return question.answer or ""


def letters_right(question: Question) -> str:
    """The letters of the right options: `A, C`."""
    return ", ".join(letter(index) for index, option in enumerate(question.options) if option.right)


def letter(index: int) -> str:
    """A for 0; behind Z the number."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def tags_of(question: Question) -> list[str]:
    """The level and the tags, as words without blanks, for formats that know tags alone."""
    words = [question.level or "", *question.tags]
    return list(dict.fromkeys("-".join(word.split()) for word in words if word.strip()))
