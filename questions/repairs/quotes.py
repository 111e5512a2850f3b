"""Takes the quotes from documents that are quoted as a whole, with labels of questions in them: `> **Q1:** …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.wording.labels import label_of

if TYPE_CHECKING:
    from questions.source import Source

_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_HEADING = re.compile(r"[ ]{0,3}(?:#{1,6}[ ]|(?:-{3,}|\*{3,}|_{3,})[ ]*$)")
_FEWEST = 2
"""Fewest labels of questions in quotes."""
_REGULAR = 0.9
"""Share of the lines, without headings and rules, that must be in quotes."""


def with_unquoted_lines(source: Source) -> Source:
    """Returns the document without the outer quotes. Lines keep their numbers."""
    quoted = {at: line[found.end() :] for at, line in enumerate(source.lines) if (found := _QUOTE.match(line))}
    if not quoted or any(line.startswith("[!") for line in quoted.values()):
        # Callouts are folds.
        return source
    said = sum(bool(line.strip()) and not _HEADING.match(line) for line in source.lines)
    labels = [label.role for line in quoted.values() if (label := label_of(line))]
    if len(quoted) < _REGULAR * said or labels.count("question") < _FEWEST or "answer" not in labels:
        return source
    return source.with_lines(quoted)
