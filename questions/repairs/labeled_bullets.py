"""Takes the bullets from questions and answers that are two items of one list: `- **Question:** …` above
`- **Answer:** …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import dedent
from questions.fences import fence_after, fence_in
from questions.wording.labels import label_of

if TYPE_CHECKING:
    from questions.source import Source

_BULLET = re.compile(r"(?P<indent>[ ]{0,6})[-*+][ ]+(?=\S)")
_FEWEST = 2
"""Fewest questions that have their answer in the next item."""


def with_plain_labels(source: Source) -> Source:
    """Returns the document with the labels at the margin and what is below them indented less, if an answer follows
    each of several questions in the next bullet. Lines keep their numbers."""
    if not any(":**" in line or "**:" in line or "：**" in line for line in source.lines):
        return source
    changed: dict[int, str] = {}
    pairs = 0
    pending: dict[int, str] = {}  # the lines of a question that waits for its answer
    width = indent = 0  # columns of the item that is open, and of its bullet; 0 if none is
    answered = False
    fence = ""
    for at, line in enumerate(source.lines):
        mark = fence_in(line)
        inside = bool(fence)
        fence = fence_after(fence, mark["mark"]) if mark else fence
        bullet = None if inside else _BULLET.match(line)
        own = bullet is not None and (not width or len(bullet["indent"]) == indent)
        role = _role(line[bullet.end() :]) if bullet and own else ""
        if bullet and role == "question":
            pending, answered = {at: line[bullet.end() :]}, False
            width, indent = bullet.end(), len(bullet["indent"])
        elif bullet and width and role in ("answer", "explanation") and (pending or answered):
            pairs += role == "answer" and not answered
            changed |= pending | {at: line[bullet.end() :]}
            pending, answered = {}, True
        elif width and line.strip() and ((bullet is not None and own) or not line.startswith(" " * (indent + 1))):
            pending, answered, width = {}, False, 0
        elif width and (pending or answered):
            lines = pending if pending else changed
            lines[at] = dedent(line, width)
    return source.with_lines(changed) if pairs >= _FEWEST else source


def _role(text: str) -> str:
    label = label_of(text) if text.startswith(("**", "__")) else None
    return label.role if label and label.start == 0 else ""
