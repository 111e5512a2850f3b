"""Renders parts of questions for several export formats: escaped Markdown, prompt and answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import split_blocks
from questions.formats.markdown import fence
from questions.source import Source

if TYPE_CHECKING:
    from questions.blocks import Block
    from questions.model import Question


# Markdown escaped so that a text cannot end its question or swallow the following text

_MARK = re.compile(r"[\\`*_\[\]<>&#|~{}]")
_LIST = re.compile(r"(?P<lead>\s*)(?P<mark>[-+]|\d{1,9}(?=[.)]))(?=\s|[.)](?:\s|$)|$)")
_BOX = re.compile(r"(?P<marker>(?:[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]+)+)(?=\[[ xX]\])")
_DEPTH = "#### "


def escape_line(text: str) -> str:
    """Returns one line of plain text as Markdown, with all markup escaped."""
    shown = _MARK.sub(lambda found: "\\" + found[0], text)
    return _LIST.sub(_bare_marker, shown, count=1) if _LIST.match(shown) else shown


def _bare_marker(found: re.Match[str]) -> str:
    mark = found["mark"]
    return f"{found['lead']}{mark}\\" if mark.isdigit() else f"{found['lead']}\\{mark}"


def fence_text(text: str) -> str:
    """Returns the text as a code block; empty for empty text."""
    return fence(text.replace("\0", ""), "text") if text.strip() else ""


def escape_text(text: str) -> str:
    """Returns the text with deeper headings, closed fences, and escaped check boxes and HTML."""
    text = re.sub(r"\r\n?", "\n", text.replace("\0", "")).strip("\n")
    lines = text.split("\n")
    for block in split_blocks(Source("", tuple(lines))):
        for inner in block.walk():
            _escape_block(lines, inner)
    return "\n".join(lines).strip()


def _escape_block(lines: list[str], block: Block) -> None:
    first = block.first - 1
    if block.kind == "heading" and block.level < 4:
        lines[first : block.last] = [_DEPTH + " ".join(block.text.split("\n")), *[""] * (block.last - block.first)]
    elif block.kind == "fence" and not block.closed:
        lines[first : block.last] = [*fence(block.text, block.info).split("\n")]
    elif block.kind == "html":
        lines[first : block.last] = [line.replace("<", "\\<") for line in lines[first : block.last]]
    elif block.kind == "item":
        lines[first] = _BOX.sub(lambda found: found["marker"] + "\\", lines[first], count=1)


# Questions as prompt, answer and explanation, for formats without programs and key points


def prompt_of(question: Question) -> str:
    """Returns the prompt with the program shown next to it, or a task's starter."""
    parts = [question.prompt]
    if question.program:
        parts.append(fence(question.program, "python"))
    if question.task and question.task.starter:
        parts.append(fence(question.task.starter, "python"))
    return "\n\n".join(part for part in parts if part)


def answer_of(question: Question) -> str:
    """Returns the answer as Markdown, or a task's reference; empty for options and unanswered questions."""
    if question.task:
        return fence(question.task.reference, "python")
    return question.answer or ""


def letters_right(question: Question) -> str:
    """Returns the letters of the right options: `A, C`."""
    return ", ".join(letter(index) for index, option in enumerate(question.options) if option.right)


def letter(index: int) -> str:
    """Returns A for 0; after Z a number."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def tags_of(question: Question) -> list[str]:
    """Returns the level and the tags as words without spaces, for formats that only have tags."""
    words = [question.level or "", *question.tags]
    return list(dict.fromkeys("-".join(word.split()) for word in words if word.strip()))
