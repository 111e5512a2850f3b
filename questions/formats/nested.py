"""Flattens data in which a question is nested otherwise than as a mapping of texts: pairs, and fields within fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from questions.formats.field_names import spelled
from questions.patterns.stems import reads_as_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FEWEST_CARDS = 3
"""Fewest pairs that are questions and answers."""


def as_cards(values: Sequence[Any]) -> list[dict[str, str]]:
    """Returns pairs of texts as questions and answers, if most of the first texts ask; empty for other lists."""
    pairs = [one for one in values if isinstance(one, list) and len(one) == 2 and all(isinstance(x, str) for x in one)]
    if len(pairs) < max(_FEWEST_CARDS, len(values)) or len({asked for asked, _ in pairs}) < len(pairs):
        return []
    if sum(reads_as_question(asked) for asked, _ in pairs) * 2 <= len(pairs):
        return []
    return [{"question": asked, "answer": answer} for asked, answer in pairs]


def unnested(fields: dict[str, Any], roles: Mapping[str, str]) -> dict[str, Any]:
    """Returns the fields of a question. Where a field that asks is a mapping with a field that asks, the others in it
    are fields of the question: `prompt.choices`. A key in a field of its own is the key: `answer.answer`.

    `roles`: the role of a field by its name.
    """
    found = dict(fields)
    for name, value in fields.items():
        role = roles.get(name, "")
        if not isinstance(value, dict) or role not in ("question", "correct"):
            continue
        inner = {spelled(key): one for key, one in value.items()}
        if role == "question":
            asked = next((key for key, one in inner.items() if roles.get(key) == role and isinstance(one, str)), None)
            if asked is not None:
                found[name] = inner.pop(asked)
                found = {**{key: one for key, one in inner.items() if roles.get(key)}, **found}
        elif len(inner) == 1 and roles.get(next(iter(inner))) in ("correct", "index"):
            found[name] = next(iter(inner.values()))
    return found
