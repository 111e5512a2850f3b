"""Quotes, breaks and indentation around questions that hide them from Markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.wording.labels import label_of
from questions.wording.stems import demands, reads_as_question

if TYPE_CHECKING:
    from questions.document import Document
    from questions.source import Source


# Takes the quotes from documents that are quoted as a whole, with labels of questions in them: `> **Q1:** …`.

_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_HEADING = re.compile(r"[ ]{0,3}(?:#{1,6}[ ]|(?:-{3,}|\*{3,}|_{3,})[ ]*$)")
_FEWEST_LABELS = 2
"""Fewest labels of questions in quotes."""
_REGULAR = 0.9
"""Share of the lines, without headings and rules, that must be in quotes."""


def with_unquoted_lines(source: Source) -> Source:
    """Returns the document without the outer quotes. Lines keep their numbers."""
    quoted = {
        at: line[found.end() :]
        for at, line in enumerate(source.lines)
        if ">" in line[:4] and (found := _QUOTE.match(line))
    }
    if not quoted or any(line.startswith("[!") for line in quoted.values()):
        # Callouts are folds.
        return source
    filled = sum(bool(line.strip()) and not _HEADING.match(line) for line in source.lines)
    labels = [label.role for line in quoted.values() if (label := label_of(line))]
    if len(quoted) < _REGULAR * filled or labels.count("question") < _FEWEST_LABELS or "answer" not in labels:
        return source
    return source.with_lines(quoted)


# Takes the line breaks of HTML from the ends of lines that ask, as in `What is a view?<br>`, and writes those of a
# backslash, `a. a copy \`, as two spaces.
#
# The answer is in the next line, with or without them.

_BREAKS = re.compile(r"(?<=[?？])(?P<close>[*_]{0,3})(?:<br[ ]?/?>[ ]?){1,3}[ ]*$", re.IGNORECASE)

_BACKSLASH = re.compile(r"(?<=[^\\\s])[ ]?\\[ ]*$")
_FEWEST_BACKSLASHES = 5
"""Fewest lines that end with a backslash."""
_ONLY_BREAKS = re.compile(r"[ ]{0,3}(?:<br[ ]?/?>[ ]?){1,3}[ ]*", re.IGNORECASE)


def with_plain_ends(source: Source) -> Source:
    """Returns the document without line breaks right behind the question marks that end a line, with blank lines for
    those with nothing else, and with two spaces for those of a backslash."""
    if len([line for line in source.lines if "\\" in line]) >= _FEWEST_BACKSLASHES:
        source = _without_backslashes(source)
    if not any("<br" in line.lower() for line in source.lines):
        return source
    source = source.with_lines(
        {at: "" for at, line in source.lines_outside_programs if "<" in line and _ONLY_BREAKS.fullmatch(line)}
    )
    lines = tuple(_BREAKS.sub(r"\g<close>", line) if line.rstrip().endswith(">") else line for line in source.lines)
    return replace(source, lines=lines) if lines != source.lines else source


def _without_backslashes(source: Source) -> Source:
    ends = {
        at: f"{line[: found.start()]}  "
        for at, line in source.lines_outside_programs
        if line.rstrip().endswith("\\") and (found := _BACKSLASH.search(line))
    }
    return source.with_lines(ends) if len(ends) >= _FEWEST_BACKSLASHES else source


# Takes the indentation from lines that ask and are above folded answers.
#
# Markdown reads a line with a tab before it as a program, so that the question would be in none.

_FEWEST_INDENTED = 3
"""Fewest lines above folds, most of them asking."""


def with_indented_questions(document: Document) -> Source:
    """Returns the source; where several folded answers are below an indented line each, and most of these lines ask,
    they lose their indentation. Lines keep their numbers."""
    source = document.source
    if len(document.layout.answer_folds) < _FEWEST_INDENTED:
        return source
    places = [
        block.first
        for block, below in pairwise(document.blocks)
        if block.kind == "code" and "\n" not in block.text.strip() and document.answer_fold(below) is not None
    ]
    asking = sum(reads_as_question(line) or demands(line) for line in map(source.line, places))
    if len(places) < _FEWEST_INDENTED or asking * 2 < len(places):
        return source
    lines = list(source.lines)
    for place in places:
        lines[place - 1] = lines[place - 1].lstrip()
    return replace(source, lines=tuple(lines))
