"""Brings tasks for programmers to the fields of questions: a description with a program that solves it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import ROLE_OF
from questions.wording.imperatives import sets_task
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "title of the task"
"""The field with its title."""
_PROGRAMS = (
    *("solution code", "canonical solution", "reference solution", "code solution", "answer code", "correct code"),
    *("sample solution", "model solution", "example solution"),
)
"""Names of a field with a program that solves a task."""
_TASKS = ("problem statement", "task description", "problem description", "instructions", "task", "exercise", "problem")
_DESCRIBED = ("challenge", "assignment", "description")
_GIVEN = (
    "starter code",
    "start code",
    "initial code",
    "starter",
    "template",
    "boilerplate",
    "code template",
    "skeleton",
)
"""Names of a field with the program that a task begins with."""
_TESTED = (
    *("tests", "test", "test cases", "testcases", "test list", "hidden tests", "test code", "validation", "hints"),
    *("expected", "expected output", "before", "entry point", "function name", *_GIVEN),
)
"""Names of fields that only a task for programmers has."""
_ANSWERED = ("options", "correct", "index", "wrong", "answer")
"""Roles of fields that answer a question otherwise."""
_IS_PROGRAM = re.compile(r"[\n(=;{\[<]")


def of_task(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a question for a task with its solution; those of other records are left as they are."""
    solving = (*_PROGRAMS, "solution")
    if any(ROLE_OF.get(name) in _ANSWERED and name not in solving for name in fields):
        return fields
    tested = sum(name in fields for name in _TESTED)
    solved = next((name for name in _PROGRAMS if _text_of(fields.get(name))), "")
    if not solved and tested:
        # A solution in words is an answer anyway; what is to be written is a program where it can be tested.
        solved = "solution" if _text_of(fields.get("solution")) else "code" if _text_of(fields.get("code")) else ""
    if not solved or (solved == "code" and "test list" not in fields):
        return fields
    rest = dict(fields)
    asked = next((name for name in fields if _asks(name) and _text_of(fields[name])), "")
    if not asked:
        asked = next((name for name in (*_TASKS, *_DESCRIBED) if _text_of(fields.get(name))), "")
        text = _text_of(fields.get(asked))
        if not asked or not (tested or "code" in solved or sets_task(text) or ends_asking(text)):
            return fields
        title = next((name for name in ("title", "name") if _text_of(rest.get(name))), "")
        if title:
            rest[TITLE] = rest.pop(title)
    text, program = _text_of(rest.pop(asked)), _text_of(rest.pop(solved))
    given = next((name for name in _GIVEN if _text_of(rest.get(name))), "")
    if given:
        text = f"{text.rstrip()}\n\n{_fenced(_text_of(rest.pop(given)), fields)}"
    answer = _fenced(program, fields) if _IS_PROGRAM.search(program) else program
    return {"question": text, "answer": answer, **{name: one for name, one in rest.items() if name != "answer"}}


def _asks(name: str) -> bool:
    return ROLE_OF.get(name) == "question" and name not in ("title", "titel", "titre", "titulo", "titolo")


def _text_of(value: Any) -> str:
    """Returns a text, also in the only language that it is there in, or in English; empty for other values."""
    if isinstance(value, dict) and value and all(isinstance(one, str) for one in value.values()):
        value = value.get("en", next(iter(value.values())) if len(value) == 1 else "")
    return value if isinstance(value, str) and value.strip() else ""


def _fenced(program: str, fields: Mapping[str, Any]) -> str:
    if "```" in program:
        return program
    language = fields.get("language") or fields.get("lang")
    named = language.lower() if isinstance(language, str) and language.isalpha() else ""
    return f"```{named}\n{program.strip(chr(10)).rstrip()}\n```"
