"""Sheets of exercises: numbered tasks without answers."""

from __future__ import annotations

import pytest

from questions import read_bank

TASKS = [
    "Write a function that returns the mean of a tensor.",
    "Implement a layer that adds its inputs.",
    "Count the leaves of a graph.",
    "Compute the norm of each row.",
    "Draw the graph of two layers.",
]


def read(text: str) -> list[tuple[str, str | None]]:
    return [(one.prompt, one.answer) for one in read_bank(text, name="a.md").bank.questions]


def test_numbered_tasks_below_a_title_for_exercises_are_questions() -> None:
    text = "### Tasks for the reading week\n\n" + "\n".join(f"{n}. {task}" for n, task in enumerate(TASKS, 1))
    assert read(text) == [(task, None) for task in TASKS]


def test_steps_below_such_a_title_are_none() -> None:
    steps = ["It starts here.", "The first layer is in line 3.", "It has a bias.", "Write its shape.", "Then it ends."]
    assert read("### Tasks for the reading week\n\n" + "\n".join(f"{n}. {one}" for n, one in enumerate(steps, 1))) == []


def test_calls_with_their_results_below_tasks_are_examples() -> None:
    shown = [f"```python\nsolve_{n}({n}) == {n}\nsolve_{n}(0) == 0\n```" for n in range(5)]
    text = "### Tasks\n\n" + "\n\n".join(
        f"{n}. {task}\n\n{program}" for n, (task, program) in enumerate(zip(TASKS, shown, strict=True), 1)
    )
    questions = read(text)
    assert [answer for _, answer in questions] == [None] * 5
    assert all(program in prompt for (prompt, _), program in zip(questions, shown, strict=True))


def test_programs_that_define_something_answer_tasks() -> None:
    shown = [f"```python\ndef solve_{n}(x):\n    return x == {n}\n```" for n in range(5)]
    text = "### Tasks\n\n" + "\n\n".join(
        f"{n}. {task}\n\n{program}" for n, (task, program) in enumerate(zip(TASKS, shown, strict=True), 1)
    )
    assert [answer for _, answer in read(text)] == shown


def test_the_program_below_a_task_that_points_at_it_belongs_to_the_task() -> None:
    tasks = ["`[2 points]` Modify the following program:", "[3 points] Draw the graph of the facts below:"]
    tasks += ["(1 point) Fill in the gaps of the following loop:"]
    tasks += ["(1 point) Write the following call in one line:", "(2 points) Find the error in the code below:"]
    program = "```python\nx = f(x)\n```"
    text = "# Exam\n\n" + "\n\n".join(f"{n}) {task}\n\n{program}" for n, task in enumerate(tasks, 1))
    text += "\n\nExplain the result.\n"
    questions = read(text)
    assert [prompt.partition("\n")[0].partition(" ")[0] for prompt, _ in questions] == [
        *("Modify", "Draw", "Fill", "Write", "Find")
    ]
    assert [answer for _, answer in questions] == [None] * 5
    assert questions[4][0].endswith(f"{program}\n\nExplain the result.")


def test_a_sentence_that_stops_at_a_gap_asks_in_a_list_of_questions() -> None:
    asked = ["What is 2 x 3?", "4 x 5 = ...", "The mean of 1 and 3 is ...", "How much is 7 - 2?", "9 : 3 = ..."]
    text = "\n".join(f"{n}. {one}" for n, one in enumerate(asked, 1))
    assert read(text) == [(one, None) for one in asked]


def test_tasks_below_letters_are_parts_and_not_options() -> None:
    parts = "a. Compute its determinant.\nb. Find its eigenvalues.\nc. Explain why it has no inverse."
    text = f"# Sheet\n\n1. Consider the matrix A with rank 2.\n{parts}\n\n2. Let f be convex.\n{parts}\n"
    reading = read_bank(text, name="sheet.md")
    assert [(one.kind, one.prompt, one.answer) for one in reading.bank.questions] == [
        ("open", f"Consider the matrix A with rank 2.\n\n{parts}", None),
        ("open", f"Let f be convex.\n\n{parts}", None),
    ]


@pytest.mark.parametrize(
    "asked", ["What do you do first?", "Choose the first step.", "The first step is to", "To debug it, you:"]
)
def test_tasks_below_letters_are_options_of_what_asks_or_stops_before_them(asked: str) -> None:
    parts = "a. Compute the loss.\nb. Find a smaller batch.\nc. Plot the weights."
    text = f"# Quiz\n\n1. {asked}\n{parts}\n\n2. {asked[:-1]} and then?\n{parts}\n"
    assert [len(one.options) for one in read_bank(text, name="quiz.md").bank.questions] == [3, 3]


def test_a_key_makes_options_of_tasks_below_letters() -> None:
    parts = "a. Compute the loss.\nb. Find a smaller batch.\nc. Plot the weights."
    text = f"# Quiz\n\n1. Memory runs out.\n{parts}\nAnswer: b\n\n2. The loss is nan.\n{parts}\nAnswer: c\n"
    right = [[o.id for o in one.options if o.right] for one in read_bank(text, name="quiz.md").bank.questions]
    assert right == [["b"], ["c"]]
