"""Reads questions in data that ask for an order, or for words in blanks: `correct_order: [...]` beside `items`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ORDER = re.compile(r"(?:correct|right|proper|expected) (?:order|ordering|sequence)|(?:order|sequence) correct")
_BLANK = re.compile(r"_{2,}|\[blank\]|\{\{\w{0,20}\}\}")
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Order:
    """What a question that asks for an order offers, and the right order."""

    offered: tuple[str, ...]
    """The texts to put in order, in alphabetical order; empty if the data has none besides the answer."""
    right: tuple[str, ...]

    def answer(self, asked: str) -> str:
        """Returns the answer: the words in one line where the question has a blank for each, else a numbered list."""
        if len(_BLANK.findall(asked)) == len(self.right):
            return " ".join(self.right)
        return "\n".join(f"{place}. {text}" for place, text in enumerate(self.right, 1))


def order_of(fields: Mapping[str, Any], options: Sequence[str]) -> Order | None:
    """Returns the order that the only field named so gives, by texts or by places of what is offered; None for other
    questions, and for places that may be counted from 0 or from 1.

    `fields`: the fields of the question with unknown names. `options`: the texts of its options.
    """
    orders = [value for name, value in fields.items() if _ORDER.fullmatch(name)]
    if len(orders) != 1 or not isinstance(orders[0], list) or len(orders[0]) < _FEWEST:
        return None
    lists = [_texts(value) for name, value in fields.items() if not _ORDER.fullmatch(name)]
    offers = [[*map(str, one)] for one in (options, *lists) if len(one) >= _FEWEST]
    if all(isinstance(one, int) and not isinstance(one, bool) for one in orders[0]):
        fitting = [one for one in offers if len(one) == len(orders[0])]
        places = sorted(orders[0])
        base = next((base for base in (0, 1) if places == [*range(base, base + len(places))]), None)
        if len(fitting) != 1 or base is None or {*map(str, orders[0])} & {*fitting[0]}:
            return None
        return _order(fitting[0], [fitting[0][place - base] for place in orders[0]])
    right = _texts(orders[0])
    fitting = [one for one in offers if {*right} <= {*one}]
    if not right or len(fitting) > 1 or (options and not fitting):
        return None
    return _order(fitting[0] if fitting else [], right)


_KINDS = ("question type", "type", "kind", "qtype", "format")
_ASKS_ORDER = re.compile(
    r"\b(?:re-?)?order(?:ing)?\b|\bsort(?:ing)?\b|\bsequenc\w+|\barrang\w+|reihenfolge|排序", re.IGNORECASE
)


def asks_for_order(fields: Mapping[str, Any]) -> bool:
    """Returns whether a field with the kind of a question says that it asks for an order."""
    kinds = (fields.get(name) for name in _KINDS)
    return any(isinstance(kind, str) and _ASKS_ORDER.search(re.sub("[_-]", " ", kind)) is not None for kind in kinds)


def places_of_order(key: Any) -> dict[str, Any]:
    """Returns a key as the field with the right order: numbers as numbers, also those in texts."""
    if isinstance(key, list) and all(isinstance(one, str) and one.isdecimal() for one in key):
        key = [int(one) for one in key]
    return {"correct order": key}


def _texts(value: Any) -> list[str]:
    """Returns the texts of a list of them; empty for any other value."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        return []
    return [one.strip() for one in value]


def _order(offered: Sequence[str], right: Sequence[str]) -> Order:
    return Order(tuple(sorted(offered, key=str.casefold)), tuple(right))
