"""Brings the resources of apps for Android to data: arrays of texts as columns, values with numbers as records."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import spelled
from questions.formats.data.roles import role_of_list

if TYPE_CHECKING:
    from questions.formats.xml import XmlElement

_ARRAYS = ("string-array", "array", "integer-array")
_VALUES = ("string", "bool", "integer")
_NUMBERED = re.compile(r"(?P<stem>[A-Za-z_]*?[A-Za-z])_?(?P<number>\d{1,4})")
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|(?P<sign>['\"@?n\\]))")


def are_resources(root: XmlElement) -> bool:
    """Returns whether an element has the resources of an app."""
    return root.name == "resources"


def data_of_resources(root: XmlElement) -> Any:
    """Returns the resources as data: a mapping of columns, or a list of records of the values whose names have the same
    number, such as `question1` and `answer1`."""
    columns: dict[str, list[Any]] = {}
    records: dict[int, dict[str, Any]] = {}
    for child in root.children:
        name = child.attributes.get("name", "")
        if child.name in _ARRAYS:
            columns[_role_name(name)] = [_text(item) for item in child.all("item")]
        elif child.name in _VALUES and (found := _NUMBERED.fullmatch(name)):
            records.setdefault(int(found["number"]), {})[_role_name(found["stem"])] = _text(child)
    asked = [one for _, one in sorted(records.items()) if any(role_of_list(name) == "question" for name in one)]
    alone = [name for name in columns if role_of_list(name) == "question"]
    if len(columns) == len(alone) == 1:
        return [{"question": text} for text in columns[alone[0]]]
    return [columns, asked] if columns and asked else columns or asked


def _role_name(name: str) -> str:
    """Returns a name, or its last word where that says what it holds: `week_questions` as `questions`. An array has one
    text of each question, so `answers` are the right ones."""
    last = spelled(name).rpartition(" ")[2]
    if last == "answers":
        return "answer"
    return last if not role_of_list(name) and role_of_list(last) not in ("", "option") else name


def _text(element: XmlElement) -> str:
    text = " ".join(element.all_text().split())
    return _ESCAPE.sub(_unescaped, text.strip('"'))


def _unescaped(found: re.Match[str]) -> str:
    if found["code"]:
        return chr(int(found["code"], 16))
    return "\n" if found["sign"] == "n" else found["sign"]
