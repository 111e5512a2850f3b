"""What stands between a question and its answer and is part of neither, and tasks that end with a semicolon."""

from __future__ import annotations

import pytest

from questions import read_bank

TOPICS = ("a view", "a leaf", "a hook")


@pytest.mark.parametrize("between", ["<br>\n", "<br/><br>\n   ", " <br>\n", "\n<br> ", " <br/>\n\n   "])
def test_a_line_break_is_not_part_of_the_answer(between: str) -> None:
    text = "".join(f"{n}. What is {one}?{between}It is number {n}.\n\n" for n, one in enumerate(TOPICS, 1))
    questions = read_bank(f"## Questions\n\n{text}", name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?", f"It is number {n}.") for n, one in enumerate(TOPICS, 1)
    ]


def test_a_task_among_paragraphs_that_ask_may_end_with_a_semicolon() -> None:
    asked = [f"O que é {at} e como funciona?" for at in range(10)]
    asked += ["Explique a diferença entre row; e column;"]
    text = "\n\n".join(f"{one}\nÉ o número {at}." for at, one in enumerate(asked))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (one, f"É o número {at}.") for at, one in enumerate(asked)
    ]
