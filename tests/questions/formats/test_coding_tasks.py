"""Tasks for programmers in data: a description with the program that solves it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank
from questions.model import Question

SUM = "Write a function `total(xs)` that returns the sum of a list."
LAST = "Write a function `last(xs)` that returns the last entry of a list."
SOLVED = "def total(xs):\n    return sum(xs)"


def read(rows: list[dict[str, Any]]) -> tuple[Question, ...]:
    return read_bank(json.dumps({"level": "first", "problems": rows}), name="tasks.json").bank.questions


def task(**fields: Any) -> list[dict[str, Any]]:
    first = {"id": "a-1", "title": "Sums", **fields}
    return [first, {**first, "id": "a-2", "title": "Ends"}]


@pytest.mark.parametrize("name", ["description", "instructions", "task", "problemStatement", "challenge"])
def test_a_description_with_the_program_that_solves_it(name: str) -> None:
    rows = task(solutionCode=SOLVED, hints=["sum"])
    first, second = read([{**rows[0], name: SUM}, {**rows[1], name: LAST}])
    assert (first.prompt, first.title, first.answer) == (SUM, "Sums", f"```\n{SOLVED}\n```")
    assert (second.prompt, second.title) == (LAST, "Ends")


def test_the_program_that_a_task_begins_with_belongs_to_it_in_its_language() -> None:
    rows = task(solution=SOLVED, starterCode="def total(xs):\n    ...\n", language="Python")
    first, _ = read([{**rows[0], "description": SUM}, {**rows[1], "description": LAST}])
    assert first.prompt == f"{SUM}\n\n```python\ndef total(xs):\n    ...\n```"
    assert first.answer == f"```python\n{SOLVED}\n```"


def test_a_description_in_one_language_or_in_english() -> None:
    rows = task(solution=SOLVED, expected=6)
    first, second = read(
        [{**rows[0], "instructions": {"en": SUM}}, {**rows[1], "instructions": {"de": "x", "en": LAST}}]
    )
    assert [first.prompt, second.prompt] == [SUM, LAST]


@pytest.mark.parametrize("asking", ["text", "prompt"])
def test_tasks_of_a_data_set_with_the_solution_it_is_measured_by(asking: str) -> None:
    keyed = {"canonical_solution": SOLVED, "test": "assert total([1]) == 1", "entry_point": "total"}
    if asking == "text":
        keyed = {"code": SOLVED, "test_list": ["assert total([1]) == 1"]}  # type: ignore[dict-item]
    first, _ = read([{"task_id": 1, asking: SUM, **keyed}, {"task_id": 2, asking: LAST, **keyed}])
    assert (first.prompt, first.answer) == (SUM, f"```\n{SOLVED}\n```")


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "The server is down.", "solution": "Start it again."},
        {"description": "A box to sort letters.", "code": "def box(): ..."},
        {"description": SUM, "hints": ["sum"]},
        {"name": "Maximum", "description": "Most of them.", "tests": [], "code": "x = 1"},
    ],
    ids=["a fault", "a sample", "no solution", "a setting"],
)
def test_other_descriptions_are_no_tasks(fields: dict[str, Any]) -> None:
    assert read(task(**fields)) == ()


def test_a_question_keeps_its_own_answer() -> None:
    rows = task(question="What does `sum` return?", answer="The sum of all entries of a list.", solutionCode=SOLVED)
    assert [one.prompt for one in read(rows)] == ["What does `sum` return?"] * 2
    assert read(rows)[0].answer == "The sum of all entries of a list."
