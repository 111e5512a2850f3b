"""Checks data from outside before it becomes a question."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from pydantic import ValidationError

from questions.model import Question, from_json

_ID = re.compile(r"[^\W_][\w-]{0,120}")
_MAX_TEXT = 200_000
"""Longest text, characters; a document of prose may hold long ones."""
_MAX_ITEMS = 1_000
"""Longest list within a question, items."""
_MAX_DEPTH = 4
"""Depth of the deepest field, the code of a task's wrong answers."""
_FIELDS = {one.name for one in dataclasses.fields(Question)}
_REQUIRED = ("id", "kind", "prompt", "options", "task", "code_blocks", "key_points", "section", "links", "tags")
_REQUIRED_OF_TASK = {"wrong", "tolerance"}
_PLACE = {"source": "", "line": 1, "end_line": 1}


def question_of(data: Any) -> Question:
    """Returns the question that `as_data` wrote, without its place.

    Raises ValueError with the first fault, as a sentence's end, for any other data.
    """
    if not isinstance(data, dict):
        raise ValueError("it is not an object")
    missing = [name for name in _REQUIRED if name not in data]
    if missing:
        raise ValueError(f"`{missing[0]}` is missing")
    unknown = sorted(set(data) - _FIELDS)
    if unknown:
        raise ValueError(f"`{unknown[0][:40]}` is no field")
    wrong = next((name for name, value in data.items() if not _acceptable(name, value)), "")
    if not wrong:
        try:
            return from_json(json.dumps({**data, "place": _PLACE}))
        except ValidationError as error:
            path = error.errors(include_url=False, include_context=False)[0]["loc"]
            if not path:
                raise ValueError("its text is not valid Unicode") from None
            wrong = str(path[0])
    raise ValueError(f"`{wrong}` is not what it must be")


def _acceptable(name: str, value: Any) -> bool:
    match name:
        case "place":
            return isinstance(value, dict)
        case "id":
            return isinstance(value, str) and _ID.fullmatch(value) is not None
        case "task" if isinstance(value, dict):
            return value.keys() >= _REQUIRED_OF_TASK and _bounded(value)
        case _:
            return _bounded(value)


def _bounded(value: Any, depth: int = 0) -> bool:
    """Returns whether all texts, lists and numbers within a value are of an acceptable size."""
    match value:
        case str():
            return len(value) <= _MAX_TEXT
        case int() | float():
            return 0 <= value < 10**9
        case list() | dict():
            inner = value.values() if isinstance(value, dict) else value
            return len(value) <= _MAX_ITEMS and depth < _MAX_DEPTH and all(_bounded(one, depth + 1) for one in inner)
        case _:
            return True
