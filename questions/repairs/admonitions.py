"""Reads blocks of sites that hold a question with its answer: `!!! question` of MkDocs, `<quiz>` of its plugin.

!!! question "Copies"                     **Question:**

    Which call copies?                    Which call copies?

    - [x] clone                           - [x] clone
    - [ ] view                            - [ ] view

    ??? success "Answer"                  **Answer:**
        It has its own memory.            It has its own memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.blocks import dedent
from questions.fences import fence_after, fence_in, lines_outside_programs
from questions.wording.labels import END_OF_QUESTION, QUESTION_WORDS, TASK_WORDS, is_answer_summary
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from questions.source import Source

_BLOCK = re.compile(
    rf"(?:!!!|\?{{3}}\+?)[ ]+(?:{QUESTION_WORDS}|{TASK_WORDS}|quiz)(?:[ ]+[\w-]{{1,20}}){{0,3}}"
    r"(?:[ ]+\"(?P<title>[^\"\n]{0,200})\")?[ ]*",
    re.IGNORECASE,
)
_INNER = re.compile(
    r"(?P<lead>[ ]+)(?:!!!|\?{3}\+?)[ ]+(?P<name>[\w-]+)(?:[ ]+[\w-]{1,20})*(?:[ ]+\"(?P<title>[^\"\n]{0,200})\")?[ ]*"
)
_BOX = re.compile(r"[ ]+(?:[-*+]|\d{1,2}[.)])[ ]+\[[ xX]\][ ]")
_ANSWERING = frozenset(
    ("success", "solution", "answer", "check", "done", "correction", "loesung", "lösung", "respuesta")
)
"""Kinds of blocks that answer the question around them."""
_WIDTH = 4
"""Columns by which what is in a block is indented."""
_QUIZ = re.compile(r"[ ]{0,3}<quiz(?:[ ][^<>]{0,200})?>[ ]*(?:<!--.{0,99}?-->)?[ ]*", re.IGNORECASE)
_QUIZ_END = re.compile(r"[ ]{0,3}</quiz>[ ]*", re.IGNORECASE)
_NOTE = re.compile(r"[ ]*<!--[ ]?\(\d{1,2}\)!?[ ]?-->")
"""A mark of a note in the margin."""


def with_question_blocks(source: Source) -> Source:
    """Returns the document with labels for blocks that hold a question with check boxes or an answer. Lines keep their
    numbers, and so do programs."""
    if not [line for line in source.lines if line[:3] in ("!!!", "???") or "<quiz" in line[:8]]:
        return source
    changed: dict[int, str] = {}
    fence, done = "", -1
    for at, line in enumerate(source.lines):
        if at <= done:
            continue
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        elif not fence and len(line) <= _LONGEST_LINE and (block := _BLOCK.fullmatch(line)):
            last = _end_of(source.lines, at)
            if inside := _inside(source.lines, at, last):
                title = block["title"] or ""
                changed[at] = f"**Question:** {title if ends_asking(title) else ''}".rstrip()
                changed |= inside
                done = last
                if last + 1 < len(source.lines):  # Blank, or the block would go on.
                    below = source.lines[last + 1].strip()
                    changed |= {} if below else {last + 1: END_OF_QUESTION}
        elif (
            not fence
            and len(line) <= _LONGEST_LINE
            and _QUIZ.fullmatch(line)
            and (last := _end_of_quiz(source.lines, at))
        ):
            changed[at], changed[last] = "**Question:**", ""
            changed |= {last + 1: END_OF_QUESTION} if not "".join(source.lines[last + 1 : last + 2]).strip() else {}
            changed |= {n: _NOTE.sub("", source.lines[n]) for n in range(at + 1, last)}
            done = last
    return source.with_lines(changed) if changed else source


def _end_of(lines: tuple[str, ...], first: int) -> int:
    """Returns the last line of an indented block."""
    last = first
    for at in range(first + 1, len(lines)):
        if lines[at].strip() and not lines[at].startswith(" " * _WIDTH):
            break
        last = at if lines[at].strip() else last
    return last


def _end_of_quiz(lines: tuple[str, ...], first: int) -> int:
    """Returns the line that closes a quiz, if check boxes are in it; 0 if there is none."""
    for at in range(first + 1, min(first + _LONGEST, len(lines))):
        if _QUIZ_END.fullmatch(lines[at]):
            return at if any(_BOX.match(f" {line[:40].lstrip()}") for line in lines[first:at]) else 0
        if _QUIZ.fullmatch(lines[at]):
            return 0
    return 0


_LONGEST = 200
"""Most lines of a quiz."""
_LONGEST_LINE = 500
"""Length of a line that opens a block, characters."""


def _inside(lines: tuple[str, ...], first: int, last: int) -> dict[int, str]:
    """Returns the lines in a block at the margin, with a label for the answer; none if nothing in it answers."""
    found: dict[int, str] = {}
    boxes, at = False, first + 1
    answers = 0
    outside = {n + first + 1 for n, _ in lines_outside_programs(lines[first + 1 : last + 1])}
    while at <= last:
        line = lines[at]
        inner = _INNER.fullmatch(line) if at in outside and len(line) <= _LONGEST_LINE else None
        end = _end_of_inner(lines, at, last, len(inner["lead"])) if inner else at
        if inner and _answers(inner) and end > at:
            answers += 1
            found[at] = "**Answer:**" if not boxes else "**Explanation:**"
            found |= {n: dedent(lines[n], len(inner["lead"]) + _WIDTH) for n in range(at + 1, end + 1)}
        elif inner and end > at:
            found[at] = f"**{inner['name'].capitalize()}:**"
            found |= {n: dedent(lines[n], len(inner["lead"]) + _WIDTH) for n in range(at + 1, end + 1)}
        else:
            boxes = boxes or (at in outside and _BOX.match(line) is not None)
            end = at
            found[at] = dedent(line, _WIDTH)
        at = end + 1
    if boxes:
        return found
    return _with_gaps(found, first, last) or (found if answers == 1 else {})


_GAP = re.compile(r"\{\{(?P<said>[^{}\n]{1,100})\}\}")
_PATTERN = re.compile(r"/.{1,80}/(?P<said>[^/]{1,40})/[a-z]{0,4}")
"""A pattern of answers with the one to show: `/one|1/one/i`."""


def _with_gaps(found: dict[int, str], first: int, last: int) -> dict[int, str]:
    """Returns the lines with gaps where they say what fills them, `{{clone}}`, which becomes the answer; none if there
    are no gaps, or no line is left for it."""
    label = next((at for at, line in found.items() if line == "**Answer:**"), last + 1)
    answers: list[str] = []
    for at in range(first + 1, min(label, last + 1)):
        for gap in _GAP.finditer(found[at]):
            shown = _PATTERN.fullmatch(gap["said"])
            answers.append((shown["said"] if shown else gap["said"]).strip())
        found[at] = _GAP.sub("____", found[at])
    if not answers:
        return {}
    if label > last and found[last].strip() and first + 1 < last and not found[first + 1].strip():
        # The blank line below the title becomes free.
        moved = {at - 1: found[at] for at in range(first + 2, last + 1)}
        return {**moved, last: f"**Answer:** {'; '.join(answers)}"}
    return {**found, label: f"**Answer:** {'; '.join(answers)}"} if label <= last else {}


def _end_of_inner(lines: tuple[str, ...], first: int, last: int, width: int) -> int:
    end = first
    for at in range(first + 1, last + 1):
        if lines[at].strip() and not lines[at].startswith(" " * (width + _WIDTH)):
            break
        end = at if lines[at].strip() else end
    return end


def _answers(inner: re.Match[str]) -> bool:
    return inner["name"].lower() in _ANSWERING or bool(inner["title"] and is_answer_summary(inner["title"]))
