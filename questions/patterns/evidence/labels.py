"""Evidence in labels: a word such as `Question 5` or `**Q:**` before a start, and the parts of a named task."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.patterns.candidates import Verdict
from questions.wording.imperatives import asks_or_demands, sets_task
from questions.wording.labels import text_after
from questions.wording.stems import heading_asks, question_line, reads_as_question

if TYPE_CHECKING:
    from questions.document import Document
    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Kind, Start

_NOTHING = re.compile(r"[\W_]*$")


def judge_labeled(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    """Returns the starts with a word such as `Question 5` or a label before them, and the parts of a named task."""
    if kind == "label":
        # `Question: ...` explains a form.
        shows = [one for one in run if one.label and not _is_form(document, one)]
        if len(shows) == 1 and _names_a_letter(document, shows[0]):
            shows = []
        problems = {one.first for one in shows if _states_a_problem(document, one)}
        if len(problems) * 2 > len(shows):
            # Below a heading with several problems and what solves them.
            shows = [one for one in shows if one.first not in problems]
        return Verdict(tuple(shows))
    if kind == "fold" or (kind == "item" and run[0].depth and heading_asks(run[0].headings)):
        return Verdict()
    if kind == "heading":
        parts = _parts_of_task(document, run)
        if parts:
            return Verdict(parts)
        run = [start for start in run if not _has_parts(start)]
    labeled = [start for start in run if start.stem.labeled and (kind != "line" or start.bold)]
    labeled = [start for start in labeled if kind != "item" or not _leads_to_heading(start)]
    if kind == "item" and len(labeled) == 1 < len(run) and _says_what_a_letter_is(labeled[0]):
        labeled = []
    return Verdict(tuple(start for start in labeled if kind != "line" or start.text or start.asks))


def _names_a_letter(document: Document, start: Start) -> bool:
    """Returns whether the only label is the letter of a formula, `Q: the reference`: nothing asks or answers."""
    label = start.label
    if label is None or label.word != "q" or label.number or start.answer is not None or start.offers:
        return False
    text = text_after(document.source, label, start.end).partition("\n")[0]
    return bool(text.strip()) and "?" not in text and not (asks_or_demands(text) or sets_task(text))


_LEGEND = re.compile(r"[^:?]{1,60}[,;][ ][*`]{0,3}[A-Z][*`]{0,3}:[ ]")
"""What letters are: `queries, K: keys, V: values`, behind the first."""


def _says_what_a_letter_is(start: Start) -> bool:
    return not (start.number or start.text or start.asks) and _LEGEND.match(start.stem.text) is not None


_TO_HEADING = re.compile(r"[\s\d.)]{0,9}\[[^\[\]]{1,400}\]\(#[^()\s]{0,300}\)\s*")


def _leads_to_heading(start: Start) -> bool:
    """Returns whether an item is nothing but a link to a heading of the document, as in a table of contents."""
    return (
        len(start.body) == 0
        and start.block is not None
        and bool(start.block.children)
        and (_TO_HEADING.fullmatch(start.block.children[0].text) is not None)
    )


_PART = re.compile(r"\(?(?:[a-h]|\d{1,2})[).][ \t]+(?=\S)")
_HASHES = re.compile(r"(?m)^#{1,6}[ ]+")
_FEWEST_PARTS = 2


def _parts_of_task(document: Document, run: list[Start]) -> tuple[Start, ...]:
    """Returns the headings such as `a) Compute …` below one such as `Task 4: Regression`, with what it gives for all of
    them; none if they do not ask or it asks itself."""
    task = next((heading for heading in reversed(run[0].headings) if _names_a_task(heading.text)), None)
    if task is None:
        return ()
    parts = [start for start in run if start.block is not None and _PART.match(start.block.text)]
    if not _ask_as_parts([start.block.text for start in parts if start.block]):
        return ()
    given = _HASHES.sub("", document.source.text(task.last + 1, run[0].first - 1)).strip()
    # The letter of a part is not a number of its own.
    stems = (
        start.stem._replace(
            number="" if start.number.isalpha() else start.stem.number,
            text=_PART.sub("", start.stem.text, count=1),
        )
        for start in parts
    )
    return tuple(replace(start, stem=stem, given=given) for start, stem in zip(parts, stems, strict=True))


def _has_parts(start: Start) -> bool:
    below = [block.text for block in start.body if block.kind == "heading" and block.level > start.depth]
    task = start.block is not None and _names_a_task(start.block.text)
    return task and _ask_as_parts([text for text in below if _PART.match(text)])


def _names_a_task(heading: str) -> bool:
    stem = question_line(heading)
    return stem.labeled and not reads_as_question(stem.text)


def _ask_as_parts(headings: list[str]) -> bool:
    asking = sum(reads_as_question(_PART.sub("", heading, count=1)) for heading in headings)
    alone = len(headings) == 1 and headings[0].lstrip("(").startswith("a")
    return (len(headings) >= _FEWEST_PARTS or alone) and asking * 2 > len(headings)


_PROBLEMS = ("问题", "問題", "문제")
"""Labels that also come before what is wrong."""


def _states_a_problem(document: Document, start: Start) -> bool:
    """Returns whether a label such as `问题:` comes before a sentence that asks nothing and that no answer follows."""
    label = start.label
    if label is None or label.word not in _PROBLEMS or start.answer is not None or start.offers:
        return False
    text = text_after(document.source, label, start.end).partition("\n")[0]
    return not asks_or_demands(text) and not sets_task(text)


def _is_form(document: Document, start: Start) -> bool:
    """Returns whether nothing but dots is in the line of a label."""
    rest = document.source.line(start.label.line)[start.label.end :].strip() if start.label else ""
    return rest.startswith(("...", "…", "___")) and _NOTHING.fullmatch(rest) is not None
