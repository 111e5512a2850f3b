"""Whether data from outside has the shape of a question, field by field. Builds nothing."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from questions.model import DEVICES, KINDS, LEVELS, CodeBlock, CodeTask, Option, Question, Tolerance, Wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ID = re.compile(r"[^\W_][\w-]{0,120}")
_LONGEST = 200_000
"""Of a text; a document of prose may hold long ones."""
_MOST = 1_000
"""Items of a list within a question."""


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**9


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) <= _MOST and all(map(check, value))


def _record(kind: type, special: Mapping[str, Callable[[Any], bool]]) -> Callable[[Any], bool]:
    """A check for the data of a dataclass: its fields and no others, texts unless `special` says otherwise."""
    names = {one.name for one in dataclasses.fields(kind)}
    needed = {
        one.name
        for one in dataclasses.fields(kind)
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    }
    return lambda value: (
        isinstance(value, dict)
        and needed <= value.keys() <= names
        and all(special.get(name, _text)(inner) for name, inner in value.items())
    )


_TASK = _record(
    CodeTask,
    {
        "wrong": _list_of(_record(Wrong, {})),
        "tolerance": _record(Tolerance, {"rtol": _number, "atol": _number}),
        "wall_ms": _count,
        "memory_mb": _count,
        "device": lambda value: isinstance(value, str) and value in DEVICES,
    },
)
_SPECIAL: dict[str, Callable[[Any], bool]] = {
    "id": lambda value: isinstance(value, str) and _ID.fullmatch(value) is not None,
    "kind": lambda value: isinstance(value, str) and value in KINDS,
    "level": lambda value: value is None or (isinstance(value, str) and value in LEVELS),
    "place": lambda value: isinstance(value, dict),
    "answer": lambda value: value is None or _text(value),
    "options": _list_of(_record(Option, {"right": _flag})),
    "task": lambda value: value is None or _TASK(value),
    "code_blocks": _list_of(_record(CodeBlock, {"line": _count})),
    **dict.fromkeys(("key_points", "section", "links", "tags"), _list_of(_text)),
}
_FIELDS = {one.name for one in dataclasses.fields(Question)}
_IN_FULL = ("options", "task", "code_blocks", "key_points", "section", "links", "tags")
"""What `from_data` cannot do without."""


def fault_of(data: Any) -> str:
    """What keeps `data` from being a question as `as_data` writes it; empty where nothing does."""
    if not isinstance(data, dict):
        return "it is not an object"
    missing = [name for name in ("id", "kind", "prompt", *_IN_FULL) if name not in data]
    if missing:
        return f"`{missing[0]}` is missing"
    unknown = sorted(set(data) - _FIELDS)
    if unknown:
        return f"`{unknown[0][:40]}` is no field"
    wrong = next((name for name, value in data.items() if not _SPECIAL.get(name, _text)(value)), "")
    if wrong:
        return f"`{wrong}` is not what it must be"
    task = data["task"]
    if task is not None and ("wrong" not in task or "tolerance" not in task):
        return "`task` is not what it must be"
    return ""
