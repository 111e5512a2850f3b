"""Joins the records of a program with their keys, where another variable holds these in a list of the same length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from questions.formats.data.roles import role_of, role_of_list

if TYPE_CHECKING:
    from collections.abc import Mapping

_FEWEST = 2


def with_key_column(data: Any, columns: Mapping[str, list[Any]]) -> Any:
    """Returns records with the keys of the only list of keys that is as long as theirs; other data as it is.

    `columns`: the lists that the variables of the program hold, by their names.
    """
    if not isinstance(data, list) or len(data) < _FEWEST or not all(map(_lacks_key, data)):
        return data
    fitting = [
        keys
        for name, keys in columns.items()
        if keys is not data
        and len(keys) == len(data)
        and role_of_list(name) in ("correct", "index")
        and all(isinstance(key, str | int) for key in keys)
    ]
    if len(fitting) != 1:
        return data
    return [
        {**record, "correct": key} if isinstance(record, dict) else [*record, key]
        for record, key in zip(data, fitting[0], strict=True)
    ]


def _lacks_key(record: Any) -> bool:
    """Returns whether a record has a question and its options, and nothing that says which is right."""
    if isinstance(record, dict):
        roles = {role_of(name): value for name, value in record.items()}
        plain = all(isinstance(one, str | int | float) for one in roles.get("options") or [None])
        return {"question", "options"} <= roles.keys() and roles.keys().isdisjoint(("correct", "index")) and plain
    match record:
        case [str(), [str(), *options]]:
            return bool(options) and all(isinstance(one, str) for one in options)
    return False
