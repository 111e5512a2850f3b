"""`<details>` with the question as its summary and the answer folded away."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from questions.dialects.building import add_question
from questions.dialects.shape import heading_asks, reads_as_question, stem_of
from questions.document import Document, Draft
from questions.folds import fold_text
from questions.labels import is_answer_summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.document import Stretch
    from questions.folds import Fold

NAME = "folded"

_ENOUGH = 2
"""Of so many folds beside one another that ask, the others are taken for questions too."""


def sniff(document: Document) -> bool:
    """Whether the words shown of some fold ask something."""
    return any(True for _ in _asking(document))


def read(document: Document) -> Draft:
    """One question for each fold that asks, and for those among many that do."""
    draft = Draft()
    for stretch, fold in _asking(document):
        stem = stem_of(fold.summary)
        add_question(
            document,
            draft,
            fold.first,
            fold.last,
            prompt=stem.text,
            answer=fold_text(document.source, fold),
            section=stretch.path,
            number=stem.number,
            links=stem.links,
            labelled=False,
        )
    return draft


def _asking(document: Document) -> Iterator[tuple[Stretch, Fold]]:
    for stretch, folds in _by_stretch(document):
        asking = [fold for fold in folds if reads_as_question(stem_of(fold.summary).text)]
        if not asking or (heading_asks(stretch.headings) and len(asking) == 1):
            continue
        many = len(asking) >= _ENOUGH and len(asking) * 3 >= len(folds) * 2
        last = 0
        for fold in folds if many else asking:
            # Lines that two folds share belong to the first.
            if fold.first > last and document.free(fold.first, fold.last):
                yield stretch, fold
                last = fold.last


def _by_stretch(document: Document) -> Iterator[tuple[Stretch, list[Fold]]]:
    """The folds that hide no mere answer, by the heading they stand under."""
    layout = document.layout
    starts = [stretch.first for stretch in layout.stretches]
    found: dict[int, list[Fold]] = {}
    for fold in layout.folds:
        if fold.summary and not is_answer_summary(fold.summary):
            found.setdefault(bisect_right(starts, fold.first) - 1, []).append(fold)
    for index, folds in found.items():
        yield layout.stretches[max(index, 0)], folds
