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


def exercises(title: str, forms: tuple[str, ...], program: str = "y{n} = x.sum()\nprint(y{n})") -> str:
    asked = ("Compute the sum of x.", "Create a tensor of ones.", "What is the mean of x?", "Sorted values by row")
    cells = [("markdown", title), ("code", "import torch")]
    for n, text in enumerate(asked, 1):
        form = forms[(n - 1) % len(forms)]
        cells += [("markdown", form.format(n=n, text=text)), ("code", program.format(n=n))]
    return notebook(*cells)


@pytest.mark.parametrize(
    ("title", "form"),
    [
        ("# Tensors", "Q{n}. {text}"),
        ("# Tensors", "## Exercise {n}: {text}"),
        ("# 100 torch puzzles", "**{n}.** {text}"),
        ("# Tensor exercises", "### Step {n}. {text}  "),
    ],
)
def test_the_program_below_a_numbered_task_answers_it(title: str, form: str) -> None:
    found = read_bank(exercises(title, (form,)), name="tensors.ipynb").bank.questions
    assert [(one.number, one.prompt, one.answer) for one in found][:3] == [
        (str(n), text, f"```python\ny{n} = x.sum()\nprint(y{n})\n```")
        for n, text in ((1, "Compute the sum of x."), (2, "Create a tensor of ones."), (3, "What is the mean of x?"))
    ]
    assert len(found) == 4


def test_text_above_a_task_in_its_cell_is_part_of_it() -> None:
    text = exercises("# Exercises", ("## Sums {n}\n\nx has {n} rows.\n\nQ{n}. {text}",))
    questions = read_bank(text, name="a.ipynb").bank.questions
    assert questions[1].prompt == "Create a tensor of ones.\n\nx has 2 rows."
    assert (questions[0].answer, questions[1].section[-1]) == ("```python\ny1 = x.sum()\nprint(y1)\n```", "Sums 2")


def test_text_below_a_task_is_part_of_it_and_several_programs_answer() -> None:
    cells = [("markdown", "# Exercises")]
    for n in (1, 2, 3):
        cells += [("markdown", f"Q{n}. Compute the sum.\n\nUse no loop."), ("code", f"x = {n}"), ("code", "x.sum()")]
    question = read_bank(notebook(*cells), name="a.ipynb").bank.questions[1]
    assert question.prompt == "Compute the sum.\n\nUse no loop."
    assert question.answer == "```python\nx = 2\n```\n\n```python\nx.sum()\n```"


@pytest.mark.parametrize(
    "program",
    [
        "y{n} = ...\nprint(y{n})",
        "def f{n}(x):\n    raise NotImplementedError",
        "# YOUR CODE HERE\ny{n} = None",
        "y{n} = ____",
        "def f{n}(x):\n    # TODO: sum\n    pass",
    ],
)
def test_a_program_with_a_place_to_fill_in_is_no_answer(program: str) -> None:
    found = read_bank(exercises("# Tensor exercises", ("Q{n}. {text}",), program), name="a.ipynb").bank.questions
    assert len(found) == 4 and not any(one.answered for one in found)


def test_dots_in_a_comment_are_no_place_to_fill_in() -> None:
    text = exercises("# Tensor exercises", ("Q{n}. {text}",), "x.sum()\n# or, shorter ...\nsum(x)")
    assert all(one.answered for one in read_bank(text, name="a.ipynb").bank.questions)


def test_numbered_sections_of_a_tutorial_are_no_tasks() -> None:
    cells = [("markdown", "# Training a model")]
    for n, title in enumerate(("Load the data of the images", "Train the model", "Plot the loss of each epoch"), 1):
        cells += [("markdown", f"## {n}. {title}"), ("code", f"step({n})")]
    assert read_bank(notebook(*cells), name="training.ipynb").bank.questions == ()


def test_a_list_of_questions_between_programs_is_not_answered_by_the_next_one() -> None:
    steps = ("Explore the data", "Setup of x", "Impurity", "Depth")
    cells = [
        cell
        for n, step in enumerate(steps, 1)
        for cell in (
            ("markdown", f"## {n}) {step}"),
            ("code", f"x = {n}"),
            (
                "markdown",
                f"### Review questions\n1. What does point {n} show?\n2. What does {step} cost?\n\n**Your answers:**",
            ),
        )
    ]
    found = read_bank(notebook(*cells), name="tree_assignment.ipynb").bank.questions
    assert [one.prompt for one in found] == [
        asked for n, step in enumerate(steps, 1) for asked in (f"What does point {n} show?", f"What does {step} cost?")
    ]
    assert not any(one.answered for one in found)
