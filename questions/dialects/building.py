"""Builds questions from the parts that a Markdown dialect found. Recognizes no dialect."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from questions.blocks import answer_in_heading, fold_text, label_of, text_after
from questions.dialects.options import find_choice
from questions.dialects.shape import level_under, question_line
from questions.keypoints import key_points_of
from questions.model import Question
from questions.source import Finding, Span, trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.blocks import Block, Fold
    from questions.dialects.options import KeyProblem
    from questions.document import Document, Draft, Section
    from questions.model import Level
    from questions.source import Source


_FOOTER = 4
"""Number of blocks after a rule from which they are not closing remarks."""
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_MAX_BACK_LINK = 300
_BACK_LINK = re.compile(
    r"\s*(?:[*_]{0,3}\[[^\[\]]{0,80}\]\(#[^()\s]{0,150}\)[*_]{0,3}|(?:[-*_][ ]?){3,60}"
    r"|(?:</?(?:div|center|br|hr|b|p|a)\b[^<>]{0,120}>\s*){1,5}"
    r"(?:[^\w<>]{0,9}(?:back |go )?(?:to (?:the )?)?top[^\w<>]{0,9}"
    r"(?:</(?:div|center|b|p|a)>\s*){1,5})?)\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The position and text of an answer."""

    text: str
    first: int
    """Line of its label or heading; the question's text before it is the prompt."""


def without_rules(body: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns a question's blocks without the rules that separate it from the next question."""
    end = len(body)
    while end and body[end - 1].kind == "rule":
        end -= 1
    return body[:end]


def separate_sections(sections: Iterable[Section]) -> Iterator[Section]:
    """Yields the sections that ask, in order; each ends where the next begins, and none is nested in another."""
    asking = sorted(sections, key=lambda section: section.heading.first)
    headings = {section.heading.first for section in asking}
    for section, following in zip(asking, [*asking[1:], None], strict=False):
        body = without_rules(section.body)
        if following is None:
            body = without_footer(body)
        elif following.heading.first <= section.last:
            body = without_rules(tuple(block for block in body if block.first < following.heading.first))
        above = tuple(heading for heading in section.above if heading.first not in headings)
        yield dataclasses.replace(section, body=body, above=above)


def without_footer(body: tuple[Block, ...], *, said: bool = False) -> tuple[Block, ...]:
    """Returns the last question's blocks without the closing remarks after a rule.

    `said`: whether the question is already answered before these blocks.
    """
    rules = [index for index, block in enumerate(body) if block.kind == "rule"]
    if not rules or len(body) - rules[-1] > _FOOTER or not (said or without_rules(body[: rules[-1]])):
        return body
    footer = body[rules[-1] + 1 :]
    return without_rules(body[: rules[-1]]) if all(block.kind == "paragraph" for block in footer) else body


def find_answer(document: Document, body: tuple[Block, ...]) -> FoundAnswer | None:
    """Returns the answer in a question's blocks: after the first answer label or answer heading, or in a fold.

    Another heading ends the search, because the text after it does not belong to a label above.
    """
    last = body[-1].last if body else 0
    for block in body:
        if block.kind == "heading":
            rest = answer_in_heading(block.text)
            below = document.source.text(block.last + 1, last)
            return (
                None if rest is None else FoundAnswer("\n\n".join(part for part in (rest, below) if part), block.first)
            )
        fold = document.answer_fold(block)
        for label in document.labels(block):
            if label.role == "answer" and (fold is None or label.line < fold.first):
                return FoundAnswer(text_after(document.source, label, last), label.line)
        if fold:
            return _folded_answer(document, fold, last)
        if block.kind == "quote" and (quoted := _quoted_answer(document, block, last)):
            return quoted
    return None


def _folded_answer(document: Document, fold: Fold, last: int) -> FoundAnswer:
    """Returns the text of a fold without its heading or label, and the text below the fold."""
    text = answer_under_label(fold_text(document.source, fold))
    below = document.source.text(fold.last + 1, last) if fold.last < last else ""
    parts = (answer_in_heading(fold.summary) or "", text, below)
    return FoundAnswer("\n\n".join(part for part in parts if part), fold.first)


def answer_under_label(text: str) -> str:
    """Returns a text without the answer heading or label at its start."""
    first, _, below = text.partition("\n")
    if first.startswith("#") and (rest := answer_in_heading(first.strip("# "))) is not None:
        return trim(f"{rest}\n{below}")
    label = label_of(first)
    if label and label.role == "answer" and label.start == 0:
        return trim(f"{first[label.end :].rstrip().removesuffix(label.closing)}\n{below}")
    return text


def _quoted_answer(document: Document, block: Block, last: int) -> FoundAnswer | None:
    """Returns the answer in a block quote that begins with a label."""
    lines = [_QUOTE.sub("", document.source.line(n), count=1) for n in range(block.first, block.last + 1)]
    text = "\n".join(lines)
    said = answer_under_label(text)
    if said == text:
        return None
    below = document.source.text(block.last + 1, last) if block.last < last else ""
    return FoundAnswer("\n\n".join(part for part in (said, below) if part), block.first)


def sibling_runs(sections: tuple[Section, ...]) -> Iterator[list[Section]]:
    """Yields consecutive sections of equal depth under the same headings."""

    def family(section: Section) -> tuple[int, int]:
        return (section.above[-1].first if section.above else 0, section.heading.level)

    for _, run in groupby(sorted(sections, key=family), key=family):
        yield list(run)


def make_question(
    document: Document,
    first: int,
    last: int,
    *,
    prompt: str,
    answer: str,
    section: tuple[str, ...],
    number: str = "",
    title: str = "",
    level: Level | None = None,
    links: tuple[str, ...] = (),
) -> Question:
    """Returns a question with a prose answer and without an id."""
    return Question(
        id="",
        kind="open",
        prompt=prompt,
        place=document.place(first, last),
        answer=answer or None,
        key_points=key_points_of(answer, prompt),
        code_blocks=document.code_between(first, last),
        level=level or level_under(section),
        section=section,
        number=number,
        title=title,
        links=links,
    )


def add_question(
    document: Document,
    draft: Draft,
    first: int,
    last: int,
    *,
    prompt: str,
    answer: str,
    section: tuple[str, ...],
    labelled: bool = True,
    number: str = "",
    title: str = "",
    level: Level | None = None,
    links: tuple[str, ...] = (),
    asked: tuple[int, int] | None = None,
) -> None:
    """Adds a question to the draft: as a choice if it has options, with a finding if it has no key.

    `labelled`: whether a label marks the start of the answer; otherwise options may come first.
    """
    last = last_of_text(document.source, first, last)
    answer = without_back_links(answer)
    question = make_question(
        document,
        first,
        last,
        prompt=prompt,
        answer="",
        section=section,
        number=number,
        title=title,
        level=level,
        links=links,
    )
    choice = find_choice(prompt, answer, labelled=labelled)
    if choice:
        question = dataclasses.replace(
            question, kind="choice", prompt=choice.prompt, options=choice.options, why=choice.why
        )
        draft.findings += [_problem(document, problem, first, last) for problem in choice.problems]
    elif answer:
        question = dataclasses.replace(question, answer=answer, key_points=key_points_of(answer, prompt))
    if not question.answered and not (choice and choice.problems):
        draft.findings.append(no_answer_finding(document, *(asked or (first, first))))
    draft.questions.append(question)


def _problem(document: Document, problem: KeyProblem, first: int, last: int) -> Finding:
    return Finding(
        problem.code,
        "note" if problem.assumed else "warning",
        problem.message,
        _span_of_key(document.source, first, last, problem.at),
        note="" if problem.assumed else "the question is kept but never asked",
        help=problem.cure,
    )


def _span_of_key(source: Source, first: int, last: int, at: str) -> Span:
    """Returns the last line that gives `at` as the answer, else the last line that contains it, else the first line."""
    holding = [number for number in range(last, first - 1, -1) if at and at in source.line(number)]
    said = (number for number in holding if label_of(source.line(number)) or "nswer" in source.line(number))
    line = next(said, holding[0] if holding else first)
    return source.span(line)


def last_of_text(source: Source, first: int, last: int) -> int:
    """Returns the last line with text; links back to the top and rules at the end are not part of an answer."""
    while last > first and (not source.line(last).strip() or _leads_back(source.line(last))):
        last -= 1
    return last


def without_back_links(text: str) -> str:
    """Returns a text without links back to the top and rules at its end."""
    if "\n" not in text:
        return text
    lines = text.split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or _leads_back(lines[-1])):
        lines.pop()
    return "\n".join(lines)


def _leads_back(line: str) -> bool:
    if len(line) > _MAX_BACK_LINK or not line.rstrip().endswith((")", "*", "_", ">", "-")):
        return False
    return _BACK_LINK.fullmatch(line) is not None


def add_heading_question(document: Document, draft: Draft, section: Section, answer: FoundAnswer | None) -> None:
    """Adds the question of a heading to the draft; the prompt is its text and the text before the answer."""
    source = document.source
    heading = section.heading
    stem = question_line(heading.text)
    text = answer.text if answer else source.text(heading.last + 1, section.last)
    more = source.text(heading.last + 1, answer.first - 1) if answer else ""
    add_question(
        document,
        draft,
        heading.first,
        section.last,
        prompt=f"{stem.text}\n\n{more}" if more else stem.text,
        answer=text,
        section=section.path,
        number=stem.number,
        links=stem.links,
        labelled=answer is not None,
        asked=(heading.first, heading.last),
    )


def no_answer_finding(document: Document, first: int, last: int) -> Finding:
    """Returns the finding for a question that is kept but never asked."""
    return Finding(
        "Q101",
        "warning",
        "the question has no answer",
        document.source.span(first, last),
        label="asked here",
        note="it is kept but never asked",
        help="write the answer below the question",
    )
