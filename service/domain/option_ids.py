"""Keeps the ids of options when a document is edited: answers are stored by them, and closed rounds are graded again.

Most documents write no ids for options, so that the reader numbers them by position. Without this, an option that is
inserted or moved would turn each member's choice into another one.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
from collections.abc import Sequence

from questions.ids import nth_letter
from questions.model import Option, Question

SAME_OPTION_SIMILARITY = 0.6
"""Similarity from which an option is one that was edited."""


def keep_option_ids(question: Question, before: Question) -> Question:
    """Returns the edited question with the ids that its options had before. Ids that the author wrote stay.

    An option is recognized by its text, or else by a similar text, or else by its place if no option was added or
    removed. The others get ids that no option had.
    """
    after = question.options
    if question.draw or not after or [one.id for one in after] != [nth_letter(at) for at in range(len(after))]:
        return question
    free = list(before.options)
    found = _same_texts(after, free)
    found |= _similar_texts(after, free, found)
    if len(after) == len(before.options):
        for at, old in enumerate(before.options):
            if at not in found and old in free:
                found[at] = old
                free.remove(old)
    taken = {one.id for one in before.options}
    unused = (name for name in map(nth_letter, itertools.count()) if name not in taken)
    ids = [found[at].id if at in found else next(unused) for at in range(len(after))]
    options = (dataclasses.replace(one, id=id_) for one, id_ in zip(after, ids, strict=True))
    return dataclasses.replace(question, options=tuple(options))


def _same_texts(after: Sequence[Option], free: list[Option]) -> dict[int, Option]:
    """Returns the earlier option of each place whose text it has, and takes these from `free`."""
    found = {}
    for at, new in enumerate(after):
        if old := next((one for one in free if one.text.split() == new.text.split()), None):
            found[at] = old
            free.remove(old)
    return found


def _similar_texts(after: Sequence[Option], free: list[Option], known: dict[int, Option]) -> dict[int, Option]:
    """Returns the earlier options that were edited, the most similar first, and takes these from `free`."""
    pairs = [
        (difflib.SequenceMatcher(None, old.text, new.text, autojunk=False).ratio(), at, old)
        for at, new in enumerate(after)
        if at not in known
        for old in free
    ]
    found: dict[int, Option] = {}
    for similarity, at, old in sorted(pairs, key=lambda pair: (-pair[0], pair[1])):
        if similarity >= SAME_OPTION_SIMILARITY and at not in found and old in free:
            found[at] = old
            free.remove(old)
    return found
