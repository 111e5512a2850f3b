"""Adds a question to a draft: options and key are taken out of its prompt and answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from questions.keypoints import key_points_of
from questions.model import Question
from questions.patterns.answers import last_of_text, only_pictures, says_nothing, without_promotion
from questions.patterns.exams import are_parts, are_tasks_below, concerns_each
from questions.patterns.metadata import without_metadata, without_points
from questions.patterns.options.choices import (
    bulleted_choice,
    find_choice,
    only_says_type,
    only_shows,
    truth_choice,
)
from questions.patterns.options.marks import bullet_options, numbered_options, with_told_option
from questions.patterns.options.tables import with_lettered_rows, with_table_options
from questions.source import Finding, trim
from questions.wording.labels import (
    begins_with_placeholder,
    is_placeholder,
    label_of,
    only_announces_answer,
    without_explanation_label,
)
from questions.wording.stems import level_under

if TYPE_CHECKING:
    from questions.document import Document, Draft
    from questions.model import Level
    from questions.patterns.options.choices import ChoiceParts, KeyProblem
    from questions.source import Source, Span


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundQuestion:
    """A question as it is in a document, with its options still in the prompt or the answer."""

    first: int
    last: int
    prompt: str
    answer: str = ""
    section: tuple[str, ...] = ()
    number: str = ""
    title: str = ""
    level: Level | None = None
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    labeled: bool = True
    """Whether a label marks the start of the answer; otherwise options may come first."""
    offering: bool = False
    """Whether the questions around it have options."""
    bulleted: bool = False
    """Whether plain lists below the questions around it are options."""
    numbered: bool = False
    """Whether numbered lists at the end of the text below the questions around it are options."""
    counted: bool = False
    """Whether the answers of the questions around it are numbers of options."""
    signs: str = ""
    """Signs that mark what is right in the lists around it."""
    exam: bool = False
    """Whether the questions around it are an exam, in which lettered lines may be parts of one."""
    asked: tuple[int, int] | None = None
    """The lines that ask, if not the first alone."""


def make_question(document: Document, found: FoundQuestion) -> Question:
    """Returns an unanswered question without an id."""
    return Question(
        id="",
        kind="open",
        prompt=found.prompt,
        place=document.place(found.first, found.last),
        code_blocks=document.code_between(found.first, found.last),
        level=found.level or level_under(found.section),
        section=found.section,
        number=found.number,
        title=found.title,
        links=found.links,
        tags=found.tags,
    )


def add_question(document: Document, draft: Draft, found: FoundQuestion) -> None:
    """Adds a question to the draft: as a choice if it has options, with a finding if it has no key."""
    if (last := last_of_text(document.source, found.first, found.last)) != found.last:
        found = replace(found, last=last)
    found = _with_question_below(_without_metadata(found))
    prompt = _without_label(found.prompt)
    prompt = with_lettered_rows(prompt) if found.labeled and "|" in prompt else prompt
    found = replace(found, prompt=prompt) if prompt != found.prompt else found
    answer = _FIRST_RULE.sub("", without_promotion(_CARD_TAG.sub("", found.answer, count=1)), count=1)
    answer = _below_label(answer) if found.labeled else with_table_options(answer)
    if (
        is_placeholder(answer)
        or (found.labeled and begins_with_placeholder(answer))
        or only_pictures(answer)
        or says_nothing(answer)
        or only_says_type(answer)
    ):
        answer = ""
    if found.offering and not found.labeled and answer and only_shows(answer) and "```" in answer:
        # Among questions with options, a program below one is what it asks about.
        found, answer = replace(found, prompt=f"{found.prompt}\n\n{answer}"), ""
    question = make_question(document, found)
    bullets = bullet_options(answer, found.signs) if found.bulleted and not found.labeled else None
    numbers = numbered_options(answer) if found.numbered and not found.labeled else None
    if bullets:
        choice: ChoiceParts | None = bulleted_choice(found.prompt, *bullets)
    elif numbers:
        choice = bulleted_choice(found.prompt, with_told_option(numbers), "")
    else:
        choice = find_choice(
            found.prompt, answer, labeled=found.labeled, offering=found.offering, counted=found.counted
        )
    if choice is None and found.labeled:
        choice = truth_choice((found.title, *found.section[-1:]), found.prompt, answer)
    if choice and ((found.exam and are_parts(choice.options)) or concerns_each(choice.prompt, choice.options)):
        choice = None
    if choice and are_tasks_below(choice.prompt, choice.options):
        # The parts of a task ask: they do not answer it.
        asks_too = answer if not found.labeled else ""
        question = replace(question, prompt="\n\n".join(part for part in (question.prompt, asks_too) if part))
        choice, answer = None, "" if asks_too else answer
    if choice:
        prompt = without_points(_without_type(_OPTIONS_LABEL.sub("", choice.prompt).strip()))
        question = replace(
            question, kind="choice", prompt=prompt, options=choice.options, why=without_explanation_label(choice.why)
        )
        draft.findings += [_problem(document, problem, found.first, found.last) for problem in choice.problems]
    elif answer:
        prompt = _OPTIONS_LABEL.sub("", question.prompt).strip() or question.prompt
        points = key_points_of(answer, found.prompt)
        question = replace(question, prompt=prompt, answer=answer, key_points=points)
    if not question.answered and not (choice and choice.problems):
        draft.findings.append(no_answer_finding(document, *(found.asked or (found.first, found.first))))
    draft.questions.append(question)


def _without_metadata(found: FoundQuestion) -> FoundQuestion:
    """Returns a question without lines in its prompt and answer that say its level, its tags or its points."""
    prompt, above = without_metadata(found.prompt)
    answer, below = without_metadata(found.answer)
    prompt = without_points(prompt)
    if prompt == found.prompt and answer == found.answer:
        return found
    level, tags = found.level or above.level or below.level, (*found.tags, *above.tags, *below.tags)
    return replace(found, prompt=prompt, answer=answer, level=level, tags=tuple(dict.fromkeys(tags)))


def _with_question_below(found: FoundQuestion) -> FoundQuestion:
    """Returns a question with the line `**Question:** …` that begins the text below its title at the end of its
    prompt, and without a label `**Answer:**` there."""
    first, _, below = found.answer.partition("\n")
    label = label_of(first) if not found.labeled and first.startswith(("**", "__")) else None
    worded = label is not None and len(first[: label.end].strip("*_:. ")) > 1  # `__A.__ view` is an option
    if (
        label
        and worded
        and label.role == "answer"
        and not label.closing
        and (answer := trim(f"{first[label.end :]}\n{below}"))
    ):
        return replace(found, answer=answer, labeled=True)
    if label is None or label.role != "question" or not (asked := first[label.end :].rstrip(" *_")):
        return found
    return replace(found, prompt=f"{found.prompt}\n\n{asked}", answer=trim(below))


def _without_label(prompt: str) -> str:
    """Returns a prompt without a label before it in emphasis, which numbered items may have: `**Question:** Why?`."""
    prompt = _HEADING.sub(r"\g<text>", prompt, count=1) if prompt.startswith("#") else prompt
    label = label_of(prompt.partition("\n")[0]) if prompt.startswith(("**", "__")) else None
    rest = prompt[label.end :].lstrip() if label and label.role == "question" and not label.closing else ""
    return rest or prompt


_HEADING = re.compile(
    r"#{1,6}[ ]+(?:(?P<mark>\*\*|__)(?=[^*_\n]+(?P=mark)[ ]*(?:\n|$)))?(?P<text>[^\n]+?)(?(mark)(?P=mark))[ ]*(?=\n|$)"
)
"""The mark of a heading that is the first line of a prompt."""


def _without_type(prompt: str) -> str:
    """Returns a prompt without a last line that only says what kind of question it is: `Type: MC`."""
    above, _, last = prompt.rpartition("\n")
    return above.rstrip() if above.strip() and only_says_type(last) else prompt


def _below_label(answer: str) -> str:
    """Returns an answer without a first line such as `**Explanation**`, if there is text below it."""
    first, _, below = answer.partition("\n")
    word = len(first.strip(" *_#:+-")) >= _FEWEST_LETTERS
    return trim(below) if word and below.strip() and only_announces_answer(first) else answer


_CARD_TAG = re.compile(r"^#(?:flash)?cards?\b[ ]*\n\s*", re.IGNORECASE)
"""The tag behind a question that makes it a card in Logseq."""
_FIRST_RULE = re.compile(r"^(?:\s{0,9}<hr\b[^<>]{0,80}>[ ]*\n\s*|(?:\s{0,9}<br[ ]?/?>){1,3}\s*)", re.IGNORECASE)
"""A rule or line breaks between a question and its answer."""
_FEWEST_LETTERS = 2
"""Length from which a line is not a key: the letter of an option, or a word for an answer of one sign."""
_OPTIONS_LABEL = re.compile(
    r"(?:\n|^)[ ]*(?:\*\*|__|#{1,6}[ ]+)?(?:options?|choices|answer options|answers|opciones|opções"
    r"|alternativas|optionen|antworten|варианты(?: ответов?)?"
    r"|选项|選項|選択肢|보기|şıklar|seçenekler|pilihan)[ ]?[:：]?(?:\*\*|__)?[:：]?[ ]*$",
    re.IGNORECASE,
)
"""A line before the options that only announces them."""


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
    named = (number for number in holding if label_of(source.line(number)) or "nswer" in source.line(number))
    line = next(named, holding[0] if holding else first)
    return source.span(line)


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
