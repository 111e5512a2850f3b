"""Reads Jupyter notebooks as Markdown.

A numbered comment at the start of a code cell (`# 3) Write a function …`) becomes a heading above its program, if most
of the code cells have one.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from questions.formats.markdown import fence

_TASK = re.compile(
    r"#{1,6}[ ]*(?:[A-Za-z]{1,12}[ ]?)?(?P<number>\d{1,3})[ ]?[.):–-]{1,2}[ ]*(?P<text>[^\W\d_][^\n]*)", re.UNICODE
)
_MORE = re.compile(r"#{1,6}[ ]*(?P<text>[^\s#].*)")
_HEADING = re.compile(r"^(#{1,6})[ ]", re.MULTILINE)
_FEWEST = 3
"""Minimum number of code cells that begin with a task."""
_WORDS = 3
"""Minimum number of words of a task."""
_TITLE = 2
"""Minimum number of words of a task next to another one."""


class _Task(NamedTuple):
    number: int
    text: str
    program: str


def markdown_of_notebook(text: str) -> str | None:
    """Returns the Markdown of the cells of a notebook; None for other JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(found, list):
        return None
    cells = [(str(cell.get("cell_type")), _source(cell)) for cell in found if isinstance(cell, dict)]
    cells = [(kind, source) for kind, source in cells if source.strip()]
    tasks = _tasks(cells)
    levels = [len(mark) for kind, source in cells if kind == "markdown" for mark in _HEADING.findall(source)]
    mark = "#" * min(max(levels, default=1) + 1, 6)
    shown: list[str] = []
    for at, (kind, source) in enumerate(cells):
        if task := tasks.get(at):
            shown.append(f"{mark} Question {task.number}: {task.text}")
            source = task.program
        if kind == "code" and source.strip():
            shown.append(fence(source.strip("\n"), "python"))
        elif kind == "markdown":
            shown.append(source)
    return "\n\n".join(shown)


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _tasks(cells: list[tuple[str, str]]) -> dict[int, _Task]:
    """Returns the tasks in comments by the index of their cell; none if they are few or their numbers go down."""
    tasks = {at: task for at, (kind, source) in enumerate(cells) if kind == "code" and (task := _task(source))}
    worded = {task.number for task in tasks.values() if len(task.text.split()) >= _WORDS}
    # Between others, `# Task 3: Contact list` is a task too.
    tasks = {at: task for at, task in tasks.items() if {task.number, task.number - 1, task.number + 1} & worded}
    programs = sum(kind == "code" for kind, _ in cells)
    numbers = [task.number for task in tasks.values()]
    regular = len(tasks) >= _FEWEST and len(tasks) * 2 > programs and numbers == sorted(set(numbers))
    return tasks if regular else {}


def _task(source: str) -> _Task | None:
    """Returns the task in the comment at the start of a program."""
    lines = source.strip().split("\n")
    found = _TASK.fullmatch(lines[0].strip())
    if found is None or len(found["text"].split()) < _TITLE:
        return None
    text = [found["text"].strip()]
    end = 1
    while end < len(lines) and (more := _MORE.fullmatch(lines[end].strip())):
        text.append(more["text"].strip())
        end += 1
    return _Task(int(found["number"]), " ".join(text), "\n".join(lines[end:]))
