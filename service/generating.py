"""The choices made of a foreign bank's prose, as questions of that bank. Making them is `questions.forms`'s."""

from __future__ import annotations

from collections.abc import Iterable

from questions.forms import SUFFIX, TAG, choices_of
from questions.model import Bank, Question
from service.aligning import Aligned, Stored


def is_generated(question: Question) -> bool:
    """Whether nobody wrote the question as it is asked."""
    return TAG in question.tags


def may_have_forms(bank: Bank) -> bool:
    """Whether choices are made of the bank's prose: its author wrote none of its questions for us."""
    return "native" not in bank.dialects


def with_forms(aligned: Aligned, made_before: Iterable[Stored]) -> Aligned:
    """The questions with the choices made of them, each after its own; an id says which choice it was before.

    Ids come from the ids in the bank, so that a choice outlives an edited prompt as its question does.
    """
    known = {old.key: old for old in made_before}
    used = {question.id for question, _ in aligned.pairs}
    made = {one.id: one for one in choices_of(question for question, _ in aligned.pairs).made if one.id not in used}
    pairs: list[tuple[Question, Stored | None]] = []
    given: list[str] = []
    for (question, old), id_ in zip(aligned.pairs, aligned.given, strict=True):
        pairs.append((question, old))
        given.append(id_)
        if choice := made.get(question.id + SUFFIX):
            pairs.append((choice, known.get(choice.id)))
            given.append(choice.id)
    return Aligned(tuple(pairs), tuple(given))
