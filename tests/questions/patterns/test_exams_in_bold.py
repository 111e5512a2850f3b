r"""Exams with bold questions, lines that end with a backslash, and nothing between options and the next question."""

from __future__ import annotations

import pytest

from questions import Question, read_bank

TEXTS = ("a view", "a copy", "a leaf", "a graph")


def asked(n: int, *, end: str = "", gap: str = "\n", key: str = "") -> str:
    options = gap.join(f"{letter}. {text}{end}" for letter, text in zip("abcd", TEXTS, strict=True))
    return f"**{n}) Which of these does call {n} return...**{end}{gap}{options}{gap}{key}"


def read(text: str) -> tuple[Question, ...]:
    reading = read_bank(f"# 2024-01\n\n{text}", name="exam.md")
    assert reading.unaccounted() == ()
    return reading.bank.questions


def test_a_backslash_at_the_end_of_a_line_is_no_text() -> None:
    questions = read("\n\n".join(asked(n, end=" \\") for n in range(1, 4)))
    assert [one.prompt for one in questions] == [f"Which of these does call {n} return..." for n in range(1, 4)]
    assert [option.text for option in questions[0].options] == list(TEXTS)


def test_few_backslashes_are_text() -> None:
    assert "end \\" in read("**1) What is the end \\**\n\n**2) What is it?**\n\n**3) What is this?**\n")[0].prompt


def test_a_bold_number_right_below_an_option_begins_a_question() -> None:
    questions = read("".join(asked(n) for n in range(1, 6)))
    assert [len(one.options) for one in questions] == [4] * 5


def test_a_picture_below_a_bold_question_is_part_of_it() -> None:
    text = "**1) A worker runs a machine. Choose the best model.** \\\n![models](img/1.png)\n\n"
    first, *_ = read(text + "\n\n".join(asked(n) for n in (2, 3)))
    assert first.prompt.startswith("A worker runs a machine. Choose the best model.")
    assert first.prompt.endswith("![models](img/1.png)")


@pytest.mark.parametrize(("keys", "right"), [("bdaca", "bdaca"), (("b", "a,c", "a, d", "d", "b"), None)])
def test_small_letters_alone_below_options_are_keys(keys: tuple[str, ...], right: str | None) -> None:
    questions = read("\n".join(asked(n, gap="\n\n", key=f"{key}\n") for n, key in enumerate(keys, 1)))
    found = ["".join(option.id for option in one.options if option.right) for one in questions]
    assert found == list(right or ("b", "ac", "ad", "d", "b"))
    assert [option.text for option in questions[0].options] == list(TEXTS)


@pytest.mark.parametrize("keys", ["bdac", "bdeca"])
def test_few_letters_and_those_of_no_option_are_no_keys(keys: str) -> None:
    questions = read("\n".join(asked(n, gap="\n\n", key=f"{key}\n") for n, key in enumerate(keys, 1)))
    assert not any(one.answered for one in questions)


TASKS = (
    "Consider this grammar.\n\n```\ns ::= a | b\n```\n\n(a) Define its syntax.\n\n(b) Write a type for it.",
    "What types are found for each of the following expressions?\n\nNote:\n\nAssume it.\n\n(a)\n`f x`\n\n(b)\n`g x`",
    "Consider the following block.\n\n```\nx := 3;\n```\n\n(a) Show the stack.\n\n(b) What is the last value?",
)


def test_below_points_all_text_asks_where_nothing_is_answered() -> None:
    text = "# Final\n\n" + "".join(
        f"## Question {at}\n\n1{at} points (?)\n\n{task}\n\n" for at, task in enumerate(TASKS, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answered, one.options) for one in questions] == [(task, False, ()) for task in TASKS]


def test_below_points_text_answers_where_labels_mark_other_answers() -> None:
    text = "".join(f"## Question {at}\n\n2 points\n\nWhat is a view?\n\n**Answer:** A tensor.\n\n" for at in range(3))
    assert all(one.answer == "A tensor." for one in read_bank(text, name="a.md").bank.questions)


def test_a_statement_of_a_problem_below_a_title_is_no_answer() -> None:
    text = "# Interview coding problems\n\n" + "".join(
        f"### {at}. Reverse kind {at}\n\n**Problem Statement**\nGiven a list, reverse it.\n\n**Example**\n`12` `21`\n\n"
        for at in range(1, 6)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.answer for one in questions] == [None] * 5
    assert questions[0].prompt.startswith("Reverse kind 1\n\n**Problem Statement**")
