"""Tasks in comments of a notebook's programs."""

from __future__ import annotations

import json

import pytest

from questions import read_bank


def notebook(*cells: tuple[str, str]) -> str:
    return json.dumps({"cells": [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in cells]})


TASKS = (
    "#1.) Write a function that shares the memory of a tensor.\n\ndef share(x):\n    return x.view(-1)",
    "# 2: Count the elements of a tensor\n# without a loop.\ncount = x.numel()\ncount",
    "# Q3. Define a hook that prints the gradient.",
)


def test_a_numbered_comment_above_a_program_is_a_question() -> None:
    text = notebook(("markdown", "## Section A"), *(("code", task) for task in TASKS))
    found = read_bank(text, name="tasks.ipynb").bank.questions
    assert [(one.number, one.prompt, one.answer) for one in found] == [
        (
            "1",
            "Write a function that shares the memory of a tensor.",
            "```python\ndef share(x):\n    return x.view(-1)\n```",
        ),
        ("2", "Count the elements of a tensor without a loop.", "```python\ncount = x.numel()\ncount\n```"),
        ("3", "Define a hook that prints the gradient.", None),
    ]
    assert found[0].section == ("Section A",)


@pytest.mark.parametrize(
    "cells",
    [
        TASKS[:2],  # few
        (*TASKS, "import torch", "x = 1", "y = 2"),  # most programs have no task
        (TASKS[2], TASKS[1], TASKS[0]),  # numbers go down
        ("# 1. Setup\nimport torch", "# 2. Load data\nx = 1", "# 3. Train\ny = 2"),  # titles of steps
    ],
)
def test_other_comments_stay_in_their_programs(cells: tuple[str, ...]) -> None:
    reading = read_bank(notebook(*(("code", one) for one in cells)), name="tasks.ipynb")
    assert reading.bank.questions == ()
    assert not any(line.startswith("## ") for line in reading.source.lines)


def test_a_title_of_two_words_between_tasks_is_a_task_too() -> None:
    cells = [("code", f"{task}\n\nprint({at})") for at, task in enumerate(TASKS[:1])]
    cells += [("code", "# Q2: Contact list\n\nprint(2)"), ("code", TASKS[2])]
    found = read_bank(notebook(*cells), name="tasks.ipynb").bank.questions
    assert [one.number for one in found] == ["1", "2", "3"]
