"""Markdown made harmless: it cannot end the question it stands in, nor swallow what follows. Shows the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import split_blocks
from questions.foreign.wording import fence
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
