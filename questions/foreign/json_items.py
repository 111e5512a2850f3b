"""JSON with the lines its items stand on: one level of an outermost object or list. Interprets nothing."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

_BLANK = " \t\n\r"


@dataclass(frozen=True, slots=True)
class Element:
    """A value of a list and the lines it stands on."""

    value: Any
    first: int
    last: int


@dataclass(slots=True)
class Outline:
    """An outermost object: plain values by key, and one list taken apart."""

    values: dict[str, Any] = field(default_factory=dict)
    elements: list[Element] | None = None
    """The elements of the wanted list; None where there is none."""


def outline(text: str, wanted: str) -> Outline:
    """Take `text` apart: an object whose list `wanted` matters, or that list by itself.

    Raises ValueError, with `pos` where it is a JSONDecodeError, for text that is no such JSON.
    """
    starts = _line_starts(text)
    position = _skip(text, 0)
    found = Outline()
    try:
        if text[position : position + 1] == "[":
            found.elements, position = _elements(text, position, starts)
        else:
            position = _members(text, position, wanted, found, starts)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _skip(text, position) != len(text):
        raise json.JSONDecodeError("more text behind the end", text, position)
    return found


def line_of(error: ValueError) -> int:
    """The line an error of `outline` speaks of."""
    return error.lineno if isinstance(error, json.JSONDecodeError) else 1


def _line_starts(text: str) -> list[int]:
    starts = [0]
    while (at := text.find("\n", starts[-1])) >= 0:
        starts.append(at + 1)
    return starts


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _expect(text: str, position: int, marks: str) -> int:
    position = _skip(text, position)
    if position >= len(text) or text[position] not in marks:
        raise json.JSONDecodeError(f"one of {marks} is missing", text, position)
    return position


def _value(text: str, position: int) -> tuple[Any, int]:
    return json.JSONDecoder().raw_decode(text, _skip(text, position))


def _members(text: str, position: int, wanted: str, found: Outline, starts: list[int]) -> int:
    position = _expect(text, position, "{") + 1
    if text[_skip(text, position) : _skip(text, position) + 1] == "}":
        return _skip(text, position) + 1
    while True:
        key, position = _value(text, _expect(text, position, '"'))
        position = _skip(text, _expect(text, position, ":") + 1)
        if key == wanted and text[position : position + 1] == "[":
            found.elements, position = _elements(text, position, starts)
        else:
            found.values[key], position = _value(text, position)
        position = _expect(text, position, ",}") + 1
        if text[position - 1] == "}":
            return position


def _elements(text: str, position: int, starts: list[int]) -> tuple[list[Element], int]:
    position += 1
    elements: list[Element] = []
    if text[_skip(text, position) : _skip(text, position) + 1] == "]":
        return elements, _skip(text, position) + 1
    while True:
        start = _skip(text, position)
        value, position = _value(text, start)
        elements.append(Element(value, bisect_right(starts, start), bisect_right(starts, position - 1)))
        position = _expect(text, position, ",]") + 1
        if text[position - 1] == "]":
            return elements, position
