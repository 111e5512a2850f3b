"""Reads Markdown in which people wrote questions in their own way: candidates → reasons → winners → questions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from questions.document import Document, Draft, merge_drafts
from questions.patterns.candidate_questions import add_candidate
from questions.patterns.candidates import REASONS
from questions.patterns.card_blocks import read_card_blocks
from questions.patterns.contents import without_contents
from questions.patterns.flash_cards import FLASH_CARDS, read_flash_cards
from questions.patterns.front_matter import FRONT_MATTER, read_asking_title, read_counted_title, read_front_matter
from questions.patterns.html_tables import read_html_tables
from questions.patterns.inference import best_candidate, keyed_candidate
from questions.patterns.options.bold_keys import with_bold_keys
from questions.patterns.options.key_lists import KeyList, find_key_lists, with_keys
from questions.patterns.options.marks import with_keys_in_brackets, with_marks_after
from questions.patterns.recipes import NAME as RECIPE
from questions.patterns.recipes import read_recipe
from questions.patterns.starts.paragraphs import lists_paragraphs
from questions.patterns.starts.search import find_starts
from questions.patterns.swallowed import (
    answered_twice_findings,
    inner_findings,
    left_findings,
    missing_findings,
    swallowed_findings,
)
from questions.patterns.tables import TABLES, read_named_tables, read_tables
from questions.patterns.unclear import without_unclear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Kind, Start
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
    fixed, document = _read_fixed(document)
    lists = find_key_lists(document)
    if lists:
        document = document.without_lists((one.first, one.last) for one in lists)
    starts = find_starts(document)
    won, read, document = _read_winners(document, lists, starts)
    tables = read_tables(document)
    drafts = [*read, tables, fixed.cards, fixed.html_tables]
    *read, tables, cards, html_tables = without_contents(drafts, document.source)
    won = [candidate for candidate, draft in zip(won, read, strict=True) if draft.questions]
    draft = merge_drafts([fixed.front_matter, *read, tables, cards, html_tables])
    if not draft.questions and (titled := read_asking_title(whole)).questions:
        return Inferred(titled, (FRONT_MATTER,), ("1 question: the title in the front matter asks",))
    if not draft.questions and (titled := read_counted_title(whole)).questions:
        return Inferred(titled, ("heading",), ("1 question: the title of the document, with a number",))
    draft = without_unclear(whole, with_bold_keys(whole, _keyed(whole, draft, lists)))
    _name_unread(whole, draft, starts, won)
    names = [FRONT_MATTER] if fixed.front_matter.questions else []
    names += [FLASH_CARDS] if fixed.cards.questions else []
    names += [candidate.kind for candidate in won if draft.questions]
    names += [TABLES] if tables.questions or fixed.html_tables.questions else []
    explanation = tuple(candidate.explain() for candidate in won) if draft.questions else ()
    if fixed.cards.questions:
        explanation = (f"{len(fixed.cards.questions)} flash cards with `::`, `?` or `Back:`", *explanation)
    return Inferred(draft, tuple(dict.fromkeys(names)), explanation)


class _Fixed(NamedTuple):
    """What is known by its own marks, so that nothing is inferred."""

    front_matter: Draft
    html_tables: Draft
    cards: Draft


def _read_fixed(document: Document) -> tuple[_Fixed, Document]:
    """Reads what is known by its own marks, and returns it with the document without it."""
    front_matter = read_front_matter(document)
    document = document.without(front_matter.questions)
    tables = read_html_tables(document)
    document = _without(document, tables)
    blocks = read_card_blocks(document)
    document = _without(document, blocks)
    cards = read_flash_cards(document)
    if cards.questions:
        document = _without(document, cards)
    cards = merge_drafts([blocks, cards])
    return _Fixed(front_matter, tables, cards), document


def _without(document: Document, draft: Draft) -> Document:
    """Returns the document without what was read, and without what a finding names as left out."""
    left_out = ((one.span.line, one.span.end_line) for one in draft.findings if one.skipped)
    return document.without(draft.questions).without_lists(left_out)


def _read_winners(
    document: Document, lists: Sequence[KeyList], starts: dict[Kind, list[Start]]
) -> tuple[list[Candidate], list[Draft], Document]:
    """Reads the best candidate of each reason, again and again until none is left.

    Returns the candidates, what was read of each, and the document without their lines.
    """
    won: list[Candidate] = []
    read: list[Draft] = []
    bare_first = lists_paragraphs(document) and not _labels_count(starts)
    for reason in ("bare", *REASONS) if bare_first else REASONS:
        for _ in range(_MOST):
            candidate = best_candidate(document, reason, won, starts)
            if reason == "keyed" and not won:
                candidate = keyed_candidate(document, ([number for number, _, _ in one.keys] for one in lists), starts)
            if candidate is None:
                break
            draft = Draft()
            add_candidate(document, draft, candidate)
            won.append(candidate)
            read.append(draft)
            if draft.questions:  # Starts change only with the lines that are free.
                document = document.without(draft.questions)
                starts = find_starts(document, again=True)
    return won, read, document


_FEWEST_COUNTED = 10
"""Fewest labels with numbers that go on from which a document is made of what they begin."""


def _labels_count(starts: dict[Kind, list[Start]]) -> bool:
    """Returns whether a document has many labels such as `**Q12.**`, and nearly each has the next number."""
    numbers = [int(one.number) for one in starts["label"] if one.number.isdecimal()]
    steps = sum(two == one + 1 for one, two in pairwise(numbers))
    return len(numbers) >= _FEWEST_COUNTED and steps * 10 >= (len(numbers) - 1) * 9


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
    unanswered = {one.place.line for one in draft.questions if not one.answered}
    questions, findings = with_keys(document, sorted(draft.questions, key=lambda one: one.place.line), lists)
    answered = {question.place.line for question in questions if question.answered}
    keyed = {
        line
        for one in questions
        if one.place.line in unanswered & answered
        for line in range(one.place.line, one.place.end_line + 1)
    }
    kept = [
        one
        for one in draft.findings
        if not (one.code == "Q101" and one.span.line in answered)
        and not (one.code == "Q122" and one.span.line in keyed)
    ]
    return Draft(questions, [*kept, *findings])
