"""Reads Markdown in which people wrote questions in their own way: candidates → reasons → winners → questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.document import Document, Draft
from questions.patterns.front_matter import FRONT_MATTER, read_front_matter
from questions.patterns.inference import REASONS, best_candidate
from questions.patterns.items import add_candidate
from questions.patterns.tables import TABLES, read_tables

if TYPE_CHECKING:
    from questions.patterns.inference import Candidate


_MOST = 12
"""Maximum number of candidates read for one reason; there are fewer kinds and depths of places."""


class Inferred(NamedTuple):
    """What was read of a document, and why."""

    draft: Draft
    names: tuple[str, ...]
    """Kinds of places that were read."""
    explanation: tuple[str, ...]
    """One line for each candidate that won."""


def read_patterns(document: Document) -> Inferred:
    """Reads all questions of a document by the patterns it repeats."""
    draft = read_front_matter(document)
    names = [FRONT_MATTER] if draft.questions else []
    document = document.without(draft.questions)
    won: list[Candidate] = []
    for reason in REASONS:
        for _ in range(_MOST):
            candidate = best_candidate(document, reason, won)
            if candidate is None:
                break
            won.append(candidate)
            here = Draft()
            add_candidate(document, here, candidate)
            document = document.without(here.questions)
            draft.questions += here.questions
            draft.findings += here.findings
    tables = read_tables(document)
    draft.questions += tables.questions
    draft.findings += tables.findings
    names += [candidate.kind for candidate in won] + ([TABLES] if tables.questions else [])
    explanation = tuple(candidate.explain() for candidate in won)
    return Inferred(draft, tuple(dict.fromkeys(names)), explanation)
