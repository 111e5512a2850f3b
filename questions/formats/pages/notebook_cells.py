"""Reads Jupyter notebooks as Markdown.

A numbered comment at the start of a code cell (`# 3) Write a function …`) becomes a heading above its program, if most
of the code cells have one. In a notebook of exercises, the code cells below a numbered task (`Q3. Create …`) and the
program below such a comment are the answer, unless they have places to fill in.
"""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import PurePath
from typing import Any, NamedTuple

from questions.formats.markdown import fence
from questions.wording.imperatives import announces_tasks, asks_or_demands

_TASK = re.compile(
    r"#{1,6}[ ]*(?:[A-Za-z]{1,12}[ ]?)?(?P<number>\d{1,3})[ ]?[.):–-]{1,2}[ ]*(?P<text>[^\W\d_][^\n]*)", re.UNICODE
)
_MORE = re.compile(r"#{1,6}[ ]*(?P<text>[^\s#].*)")
_HEADING = re.compile(r"^(#{1,6})[ ]", re.MULTILINE)
_ANSWER = "**Answer:**"
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


def markdown_of_notebook(text: str, name: str = "") -> str | None:
    """Returns the Markdown of the cells of a notebook, whose name may announce exercises; None for other JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(found, list):
        return None
    cells = [(str(cell.get("cell_type")), _source(cell)) for cell in found if isinstance(cell, dict)]
    cells = [(kind, source) for kind, source in cells if source.strip()]
    cells = _with_answers(cells, name)
    tasks = _tasks(cells)
    levels = [len(mark) for kind, source in cells if kind == "markdown" for mark in _HEADING.findall(source)]
    mark = "#" * min(max(levels, default=1) + 1, 6)
    shown: list[str] = []
    for at, (kind, source) in enumerate(cells):
        if task := tasks.get(at):
            shown.append(f"{mark} Question {task.number}: {task.text}")
            source = task.program
            if source.strip() and not _TO_FILL_IN.search(source):
                shown.append(_ANSWER)
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


_NUMBERED = re.compile(
    r"(?P<mark>#{1,6}[ ]+)?(?:\*\*|__)?(?P<word>Q|Question|Exercise|Task|Problem|Puzzle|Challenge|Step|Ex|Aufgabe|Übung"
    r"|Ejercicio|Exercice|Exercício|Esercizio|Задание|Упражнение|Вопрос|练习|题目|问题)?[ ]?#?(?P<number>\d{1,3})"
    r"(?:[ ]?[.):]|[ ][-–—][ ])(?:\*\*|__)?[ ]*(?P<text>\S.*)",
    re.IGNORECASE,
)
"""The line of a task with its number."""
_TO_FILL_IN = re.compile(
    r"(?m)^(?![ \t]*#).*(?<!\.)\.\.\.(?!\.)[ \t)\]]*(?:#.*)?$|=[ ]*None[ ]*#|_{4,}|NotImplementedError"
    r"|\bTODO\b|\bFIXME\b"
    r"|\b(?:your|student)s?[ _](?:code|answer|solution|work)\b|\bfill (?:in|me)\b|^[ \t]*pass[ \t]*(?:#.*)?$",
    re.IGNORECASE,
)
"""A place in a program that is left to fill in."""
_EXERCISES = re.compile(r"puzzle|\bkatas?\b|\bkoans?\b|\bdrills?\b|challenge", re.IGNORECASE)


def _with_answers(cells: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    """Returns the cells; in a notebook of exercises, each numbered task as a heading, and a label above the code cells
    that answer it."""
    tasks = {
        at: found for at, (kind, source) in enumerate(cells) if kind == "markdown" and (found := _last_number(source))
    }
    tasks = {at: found for at, found in tasks.items() if found["mark"] != "# "}  # that is the title
    below = {at: _programs_below(cells, at) for at in tasks}
    solved = {at for at, programs in below.items() if programs and not any(map(_TO_FILL_IN.search, programs))}
    titles = [PurePath(name).stem, *(source for kind, source in cells[:2] if kind == "markdown")]
    announced = any(announces_tasks(one) or _EXERCISES.search(one) for one in titles)
    asked = {at for at, found in tasks.items() if (found["word"] and found["word"].lower() != "step") or announced}
    asking = sum(asks_or_demands(tasks[at]["text"]) for at in asked)
    regular = len(asked & solved) >= _FEWEST and len(asked & solved) * 2 >= len(asked)
    if not regular or asking * (3 if announced else 2) < len(asked):
        return cells
    levels = [len(mark) for kind, source in cells if kind == "markdown" for mark in _HEADING.findall(source)]
    mark = "#" * min(max(levels, default=1) + 1, 6)
    shown: list[tuple[str, str]] = []
    for at, (kind, source) in enumerate(cells):
        if at in asked:
            found = tasks[at]
            title = f"{mark} Question {found['number']}: {found['text'].rstrip('*_ ')}"
            above, given = _at_last_heading(source[: found.start()])
            parts = (above, title, given, source[found.end() :])
            shown.append((kind, "\n\n".join(part.strip() for part in parts if part.strip())))
            if at in solved:
                shown.append((kind, _ANSWER))
        else:
            shown.append((kind, source))
    return shown


def _at_last_heading(text: str) -> tuple[str, str]:
    """Returns a text up to its last heading, and the text below that, which belongs to the task it is above."""
    headings = [*_HEADING_LINE.finditer(text)]
    end = headings[-1].end() if headings else 0
    return text[:end], text[end:]


_HEADING_LINE = re.compile(r"^#{1,6}[ ].*$", re.MULTILINE)


def _last_number(source: str) -> re.Match[str] | None:
    """Returns the last line of a cell that has a number; None if it is an item in a list of questions: the program
    below answers none of them."""
    at = 0
    found: list[re.Match[str]] = []
    for line in source.split("\n"):
        if one := _NUMBERED.match(source, at, at + len(line)):
            found.append(one)
        at += len(line) + 1
    listed = [*reversed([*takewhile(_is_item, reversed(found))])]
    counted = [one["number"] for one in listed] == [str(n) for n in range(1, len(listed) + 1)]
    if len(listed) > 1 and counted and all(asks_or_demands(one["text"]) for one in listed):
        return None
    return found[-1] if found else None


def _is_item(found: re.Match[str]) -> bool:
    return not found["mark"] and not found["word"]


def _programs_below(cells: list[tuple[str, str]], at: int) -> list[str]:
    """Returns the code cells right below a cell."""
    return [source for _, source in takewhile(lambda cell: cell[0] == "code", cells[at + 1 :])]
