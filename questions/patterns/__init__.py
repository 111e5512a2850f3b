"""Reads Markdown in which people wrote questions in their own way: candidates → reasons → winners → questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.document import Document, Draft
from questions.patterns.candidate_questions import add_candidate
from questions.patterns.candidates import REASONS
from questions.patterns.contents import without_contents
from questions.patterns.flash_cards import FLASH_CARDS, read_flash_cards
from questions.patterns.front_matter import FRONT_MATTER, read_asking_title, read_front_matter
from questions.patterns.html_tables import read_html_tables
from questions.patterns.inference import best_candidate, keyed_candidate
from questions.patterns.key_lists import KeyList, find_key_lists, with_keys
from questions.patterns.marks import with_keys_in_brackets, with_marks_after
from questions.patterns.paragraphs import lists_paragraphs
from questions.patterns.recipes import NAME as RECIPE
from questions.patterns.recipes import read_recipe
from questions.patterns.starts import find_starts
from questions.patterns.swallowed import (
    answered_twice_findings,
    inner_findings,
    left_findings,
    missing_findings,
    swallowed_findings,
)
from questions.patterns.tables import TABLES, read_named_tables, read_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.patterns.candidates import Candidate
    from questions.patterns.start import Kind, Start
    from questions.recipes import Recipe


_MOST = 12
"""Maximum number of candidates read for one reason; there are fewer kinds and depths of places."""


class Inferred(NamedTuple):
    """What was read of a document, and why."""

    draft: Draft
    names: tuple[str, ...]
    """Kinds of places that were read."""
    explanation: tuple[str, ...]
    """One line for each candidate that won."""


def read_patterns(document: Document, recipe: Recipe | None = None) -> Inferred:
    """Reads all questions of a document by the patterns it repeats, or by a recipe. Raises InvalidRecipe."""
    if recipe is not None:
        draft = read_named_tables(document, recipe) if recipe.columns else read_recipe(document, recipe)
        return Inferred(draft, (RECIPE,), (recipe.explain(len(draft.questions)),))
    whole = document
    draft = read_front_matter(document)
    names = [FRONT_MATTER] if draft.questions else []
    document = document.without(draft.questions)
    tables = read_html_tables(document)
    document = document.without(tables.questions)
    document = document.without_lists((one.span.line, one.span.end_line) for one in tables.findings if one.skipped)
    cards = read_flash_cards(document)
    if cards.questions:
        names.append(FLASH_CARDS)
        document = document.without(cards.questions)
        gaps = (one.span for one in cards.findings if one.skipped)
        document = document.without_lists((span.line, span.end_line) for span in gaps)
    lists = find_key_lists(document)
    if lists:
        document = document.without_lists((one.first, one.last) for one in lists)
    # Starts change only with the lines that are free.
    starts = first_starts = find_starts(document)
    won: list[Candidate] = []
    drafts: list[Draft] = []
    for reason in ("bare", *REASONS) if lists_paragraphs(document) else REASONS:
        for _ in range(_MOST):
            candidate = best_candidate(document, reason, won, starts)
            if reason == "keyed" and not won:
                candidate = keyed_candidate(document, ([number for number, _, _ in one.keys] for one in lists), starts)
            if candidate is None:
                break
            won.append(candidate)
            here = Draft()
            add_candidate(document, here, candidate)
            if here.questions:
                document = document.without(here.questions)
                starts = find_starts(document, again=True)
            drafts.append(here)
    drafts.append(read_tables(document))
    drafts += [cards, tables]
    drafts = without_contents(drafts)
    won = [candidate for candidate, here in zip(won, drafts, strict=False) if here.questions]
    for here in drafts:
        draft.questions += here.questions
        draft.findings += here.findings
    if not draft.questions and (titled := read_asking_title(whole)).questions:
        return Inferred(titled, (FRONT_MATTER,), ("1 question: the title in the front matter asks",))
    draft = _keyed(whole, draft, lists)
    _name_unread(whole, draft, first_starts, won)
    names += [candidate.kind for candidate in won] + ([TABLES] if drafts[-3].questions or tables.questions else [])
    explanation = tuple(candidate.explain() for candidate in won)
    if cards.questions:
        explanation = (f"{len(cards.questions)} flash cards with `::` or `?`", *explanation)
    return Inferred(draft, tuple(dict.fromkeys(names)), explanation)


def _name_unread(document: Document, draft: Draft, starts: dict[Kind, list[Start]], won: Sequence[Candidate]) -> None:
    """Adds findings about what looks like a question and was not read as one."""
    draft.findings += swallowed_findings(starts, won, draft.questions)
    draft.findings += inner_findings(document, won, draft.questions)
    named = {one.span.line for one in draft.findings}
    draft.findings += left_findings(starts, won, draft.questions, named)
    alike = {one.span.line for one in draft.findings if one.code == "Q006"}
    draft.findings += missing_findings(document, won, draft.questions, alike)
    draft.findings += answered_twice_findings(document, draft.questions, {one.span.line for one in draft.findings})


def _keyed(document: Document, draft: Draft, lists: tuple[KeyList, ...]) -> Draft:
    """Returns the draft with the keys of lists and of marks; findings about questions that they answer are dropped."""
    draft.questions = with_keys_in_brackets(with_marks_after(draft.questions))
    questions, findings = with_keys(document, sorted(draft.questions, key=lambda one: one.place.line), lists)
    answered = {question.place.line for question in questions if question.answered}
    kept = [one for one in draft.findings if one.code != "Q101" or one.span.line not in answered]
    return Draft(questions, [*kept, *findings])
