"""Generates small changes to a JSON body, most of them invalid, to compare two checks of bodies."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

SIZES = (1, 26, 46, 76, 81, 101, 151, 256, 513, 1025, 2001, 3001, 4001)
COUNTS = (6, 11, 26, 41, 101)


def mutations_of(body: Any, deep: int = 4) -> Iterator[tuple[str, Any]]:
    """Yields copies of a body with one change each, and a description of it: names, types, lengths and counts.

    Changes fields at most `deep` levels down, and only the first item of a list.
    """
    for path in _paths(body, deep):
        value = _at(body, path)
        for what, other in _others(value):
            copy = deepcopy(body)
            if path:
                _at(copy, path[:-1])[path[-1]] = other
            else:
                copy = other
            yield f"{'/'.join(map(str, path))}: {what}", copy


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case dict():
            yield "an unknown field", {**value, "unheard_of": 1}
            yield "a list instead", [value]
            for name in value:
                yield f"without {name}", {other: part for other, part in value.items() if other != name}
        case list():
            yield "no items", []
            yield "an object instead", {}
            if value:
                for size in COUNTS:
                    yield f"{size} items", [deepcopy(value[0]) for _ in range(size)]
        case bool():
            yield "text instead", "yes"
        case str():
            yield "empty", ""
            yield "a number instead", 5
            yield "another word", "unheard-of"
            for size in SIZES:
                yield f"{size} characters", "x" * size
        case int() | float():
            yield "text instead", str(value)
            yield "negative", -1
            yield "large", 10**12


def _paths(body: Any, deep: int, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if len(path) == deep:
        return
    inner = body.items() if isinstance(body, dict) else enumerate(body[:1]) if isinstance(body, list) else ()
    for name, part in inner:
        yield from _paths(part, deep, (*path, name))


def _at(body: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        body = body[name]
    return body
