"""Reads banks exported as JSON: a versioned envelope with questions as data. All fields are validated."""

from __future__ import annotations

import dataclasses
import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from questions.formats.draft import ImportDraft
from questions.model import Question, SourceLocation, from_json
from questions.recipes import valid_recipe

if TYPE_CHECKING:
    from questions.source import Source

NAME = "json"
ENVELOPE = "dailygrad-bank"
VERSION = 1

_SIGN = re.compile(rf'"format"\s*:\s*"{ENVELOPE}"')


def sniff(source: Source) -> bool:
    """Returns whether the text is a bank exported as JSON."""
    text = "\n".join(source.lines).lstrip()
    return text[:1] == "{" and bool(_SIGN.search(text))


def read(source: Source) -> ImportDraft:
    """Reads all questions of an exported bank."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    try:
        found = outline("\n".join(source.lines), "questions")
    except ValueError as error:
        problem = str(error).partition(": line ")[0]
        return draft.unreadable(f"invalid JSON: {problem}", "export the bank again", line_of(error))
    version = found.values.get("version")
    if version != VERSION or isinstance(version, bool):
        return draft.unreadable(
            f"unsupported format version {str(version)[:20]}",
            f"export it as version {VERSION}, or update Dailygrad",
        )
    bank = found.values.get("bank")
    texts = {key: value for key, value in bank.items() if isinstance(value, str)} if isinstance(bank, dict) else {}
    draft.name, draft.title = texts.get("name", ""), texts.get("title", "") or draft.title
    draft.license = texts.get("license", "")
    draft.recipe = valid_recipe(texts.get("recipe", ""))
    for element in found.elements or ():
        _question(draft, element)
    if not found.elements:
        draft.unreadable("this bank has no questions", "export it again")
    return draft


def _question(draft: ImportDraft, element: JsonElement) -> None:
    lines = (element.first, element.last)
    if not draft.accepts(*lines, 0):
        return
    try:
        question = question_of(element.value)
    except ValueError as error:
        draft.add_skipped(f"this is not a question: {error}", "export the bank again", lines)
        return
    place = draft.place(*lines)
    blocks = tuple(dataclasses.replace(block, line=place.line) for block in question.code_blocks)
    draft.questions.append(
        dataclasses.replace(
            question, place=SourceLocation(place.source, place.line, place.end_line), code_blocks=blocks
        )
    )


# JSON with the line numbers of one list's items

_BLANK = " \t\n\r"


@dataclass(frozen=True, slots=True)
class JsonElement:
    """A list item with its line numbers."""

    value: Any
    first: int
    last: int


@dataclass(slots=True)
class Outline:
    """The outermost object: its plain values, and the elements of one list."""

    values: dict[str, Any] = field(default_factory=dict)
    elements: list[JsonElement] | None = None
    """Elements of the wanted list; None if there is none."""


def outline(text: str, wanted: str) -> Outline:
    """Parses an object with the list `wanted`, or that list alone.

    Raises ValueError for other JSON, and JSONDecodeError for invalid JSON.
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
        raise json.JSONDecodeError("extra text after the end", text, position)
    return found


def line_of(error: ValueError) -> int:
    """Returns the line of an error from `outline`."""
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


def _elements(text: str, position: int, starts: list[int]) -> tuple[list[JsonElement], int]:
    position += 1
    elements: list[JsonElement] = []
    if text[_skip(text, position) : _skip(text, position) + 1] == "]":
        return elements, _skip(text, position) + 1
    while True:
        start = _skip(text, position)
        value, position = _value(text, start)
        elements.append(JsonElement(value, bisect_right(starts, start), bisect_right(starts, position - 1)))
        position = _expect(text, position, ",]") + 1
        if text[position - 1] == "]":
            return elements, position


# Validation of questions from outside

_ID = re.compile(r"[^\W_][\w-]{0,120}")
_MAX_TEXT = 200_000
"""Maximum length of a text, characters; a prose document may have long ones."""
_MAX_ITEMS = 1_000
"""Maximum length of a list within a question, items."""
_MAX_DEPTH = 4
"""Depth of the deepest field, the code of a task's wrong solutions."""
_FIELDS = {one.name for one in dataclasses.fields(Question)}
_REQUIRED = ("id", "kind", "prompt", "options", "task", "code_blocks", "key_points", "section", "links", "tags")
_REQUIRED_OF_TASK = {"wrong", "tolerance"}
_PLACE = {"source": "", "line": 1, "end_line": 1}


def question_of(data: Any) -> Question:
    """Returns the question that `as_data` wrote, without its place.

    Raises ValueError with the first problem for any other data.
    """
    if not isinstance(data, dict):
        raise ValueError("it is not an object")
    missing = [name for name in _REQUIRED if name not in data]
    if missing:
        raise ValueError(f"`{missing[0]}` is missing")
    unknown = sorted(set(data) - _FIELDS)
    if unknown:
        raise ValueError(f"`{unknown[0][:40]}` is not a field")
    wrong = next((name for name, value in data.items() if not _acceptable(name, value)), "")
    if not wrong:
        try:
            return from_json(json.dumps({**data, "place": _PLACE}))
        except ValidationError as error:
            path = error.errors(include_url=False, include_context=False)[0]["loc"]
            if not path:
                raise ValueError("its text is not valid Unicode") from None
            wrong = str(path[0])
    raise ValueError(f"`{wrong}` has an invalid value")


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
    """Returns whether the sizes of all texts, lists and numbers in a value are acceptable."""
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
