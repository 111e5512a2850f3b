"""Questions in the lists and dictionaries of programs in Python, which are parsed and never run."""

from __future__ import annotations

import pytest

from questions import read_bank

PROGRAM = """
import random


def quiz():
    # A few for now
    questions = [
        {
            "question": "What does `detach()` return?",
            "options": ("A copy", "A view", f"A leaf"),
            "answer": "A view",
            "explanation": (
                "It shares memory "
                "with its base."
            ),
        },
        {'question': 'Which call copies?', 'options': ['clone', 'view'], 'answer': "clone"},
    ]
    path = "C:\\data"
    return random.choice(questions)
"""


def test_a_list_inside_a_function_is_read_with_its_tuples_and_joined_strings() -> None:
    reading = read_bank(PROGRAM.replace('f"A', '"A'), name="quiz.py")
    first, second = reading.bank.questions
    assert [(one.text, one.right) for one in first.options] == [("A copy", False), ("A view", True), ("A leaf", False)]
    assert (first.why, first.place.line) == ("It shares memory with its base.", 9)
    assert [one.text for one in second.options if one.right] == ["clone"]


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM,  # a format string is no literal
        "questions = [",
        "x = " + "(" * 5_000,
        "x = [" + "-" * 100_000 + "1]",
        "x = [" + "a." * 100_000 + "b]",
        "questions = [open('/etc/passwd'), {'question': 'What?', 'answer': 'x'}]",
        "x = [10 ** 10 ** 10]",
        "x = '" + "a" * 400_000 + "'\nquestions = [{'question': 'What is it?', 'answer': 'x'}]",
    ],
    ids=["format string", "broken", "brackets", "signs", "attributes", "call", "power", "too long"],
)
def test_a_program_that_holds_no_literals_has_no_questions(program: str) -> None:
    assert read_bank(program, name="quiz.py").bank.questions == ()


ASKED = [f"What is a {name} and when would you use it?" for name in ("view", "leaf", "hook", "graph", "stream")]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("drill.py", "QUESTIONS = [\n{}]\n"),
        ("drill.ts", "export const QUESTIONS: Question[] = [\n{}];\n"),
    ],
)
def test_programs_with_questions_only(name: str, form: str) -> None:
    rows = "".join(f'  {{ "id": {n}, "text": "{asked}", "tag": "basics" }},\n' for n, asked in enumerate(ASKED))
    questions = read_bank(form.format(rows), name=name).bank.questions
    assert [one.prompt for one in questions] == ASKED


def test_texts_that_rarely_ask_are_no_questions() -> None:
    rows = "".join(f'  {{ "id": {n}, "text": "Row {n} says something here." }},\n' for n in range(6))
    assert read_bank(f"ROWS = [\n{rows}]\n", name="rows.py").bank.questions == ()
