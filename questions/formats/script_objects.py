"""Finds records that scripts make as objects of a class, `new Question("…", ["…", "…"], 1)`, or hold in lists side by
side: in JavaScript, TypeScript and PHP, and with `questions.formats.python_data` in Python. The scripts are parsed and
never run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.constructor_data import (
    Call,
    as_record,
    assigned_lists,
    data_of,
    fill_in_variables,
    inner_groups,
    named_by_shape,
    parse_brackets,
)
from questions.formats.data.roles import role_of, role_of_list
from questions.formats.data.shapes import rows_of_columns
from questions.wording.stems import reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator

    Signatures = dict[str, list[str]]


def script_records(program: str, suffix: str) -> Iterator[Any]:
    """Yields the records of a program in JavaScript, TypeScript or PHP: the objects of a class are a list, and so are
    questions whose texts, options and keys are in lists of their own."""
    made = MadeRecords(_signatures(program))
    columns: dict[str, Any] = {}
    tree = parse_brackets(program, suffix)
    fill_in_variables(tree, {})
    waiting = [tree]
    while waiting:
        group = waiting.pop()
        data = data_of(group) if group.mark == "(" and group.name[:1].isupper() else None
        if not (isinstance(data, Call) and made.add(data)):
            columns.update(assigned_lists(group))
            waiting += reversed(list(inner_groups(group)))
    yield from made.lists()
    if rows := rows_of_columns(columns, {name: role_of_list(name) for name in columns}):
        yield rows


class MadeRecords:
    """The records that calls make, by the names of what is called."""

    def __init__(self, signatures: Signatures) -> None:
        self._places = {
            (name, number): places[:number]
            for name, places in signatures.items()
            if "question" in map(role_of, places)
            for number in range(2, len(places) + 1)
        }
        self._found: dict[str, list[Any]] = {}

    def add(self, call: Call) -> bool:
        """Adds the record that a call makes; returns whether it makes one."""
        fields = call.values[0] if len(call.values) == 1 else None
        places = self._places.get((call.name, len(call.values)), [])
        # A list shows that it has the options, also where its place is called `A`.
        unclear = "options" not in map(role_of, places) and any(isinstance(one, list) for one in call.values)
        record = as_record(fields if isinstance(fields, dict) else call, {} if unclear else self._places)
        if record is None or (isinstance(record, list) and not _may_ask(record)):
            return False
        self._found.setdefault(call.name, []).append(record)
        return True

    def lists(self) -> Iterator[Any]:
        """Yields a list of the records for each name. A dialog of a program asks and offers, too, but has no key."""
        for records in map(named_by_shape, self._found.values()):
            if 2 * sum(map(_has_key, records)) > len(records):
                yield records


def _may_ask(row: list[Any]) -> bool:
    """Returns whether the first text of a row asks or is a sentence; that of a widget of a page is a word or two."""
    text = next((one for one in row if isinstance(one, str)), "")
    return reads_as_question(text) or len(text.split()) >= _FEWEST_WORDS


_FEWEST_WORDS = 3


def _has_key(record: Any) -> bool:
    if not isinstance(record, dict):
        return True
    marked = any(isinstance(value, list) and any(isinstance(one, dict) for one in value) for value in record.values())
    return marked or not {"correct", "index", "right"}.isdisjoint(map(role_of, record))


_SIGNATURE = re.compile(
    r"\bfunction\s+(?P<function>[A-Z]\w*)\s*\((?P<places>[^()]{0,500})\)"
    r"|\b(?:var|let|const)\s+(?P<held>[A-Z]\w*)\s*=\s*function\s*\((?P<held_places>[^()]{0,500})\)"
    r"|\bclass\s+(?P<class>[A-Z]\w*)(?:(?!\bclass\b)[^(]){0,2000}?"
    r"\b(?:constructor|function\s+__construct)\s*\((?P<class_places>[^()]{0,500})\)"
)
_PLACE = re.compile(r"(\w+)\W*(?:[:=].*)?\Z", re.DOTALL)
"""The name of a place: the last word, without its type behind a colon and its default."""


def _signatures(program: str) -> Signatures:
    """Returns the names of the places of functions and constructors, as a program in JavaScript or PHP has them."""
    found: Signatures = {}
    for one in _SIGNATURE.finditer(program):
        name = one["function"] or one["held"] or one["class"]
        places = (one["places"] or one["held_places"] or one["class_places"] or "").split(",")
        found[name] = [place[1] for text in places if (place := _PLACE.search(text))]
    return found
