"""Headings in HTML, headings that name a part of each question, and numbered lines between numbered headings."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as


def test_headings_in_html_ask_as_those_in_markdown_do() -> None:
    text = (
        "<h3> 1) What does a view share? </h3>\nIts memory.\n\n<h3>2) What does a clone own?</h3>\nIts memory.\n\n"
        "<h3 align='center'>3) How are weights drawn?</h3>\nFrom a normal distribution.\n"
    )
    assert read_as("notes.md", text) == [
        "What does a view share? | = Its memory.",
        "What does a clone own? | = Its memory.",
        "How are weights drawn? | = From a normal distribution.",
    ]


def test_titles_in_html_that_ask_nothing_stay_as_they_are() -> None:
    text = "<h1>Views</h1>\n\n<h2>Install</h2>\n\npip install views\n\n<h2>Why views?</h2>\n\nThey are fast.\n"
    reading = read_bank(text, name="readme.md")
    assert reading.bank.questions == ()
    assert reading.source.lines[0] == "<h1>Views</h1>"


PARTS = (
    "Question {n}:\n-----------\nWhich task is this?\n\n-{one}\n\n-{two}\n\n"
    "Explanantion:\n-----------\nThe target is a label.\n\nAnswer:\n------\n\n**-{one}**\n\n"
)


def test_headings_that_repeat_below_numbered_questions_name_their_parts() -> None:
    options = (("Classification", "Regression"), ("Ranking", "Clustering"), ("Sampling", "Search"))
    text = "".join(PARTS.format(n=n, one=one, two=two) for n, (one, two) in enumerate(options, 1))
    why = "why The target is a label."
    assert read_as("quiz.md", text) == [
        f"Which task is this? | + Classification | - Regression | {why}",
        f"Which task is this? | + Ranking | - Clustering | {why}",
        f"Which task is this? | + Sampling | - Search | {why}",
    ]


def test_an_explanation_above_the_answer_is_not_part_of_the_question() -> None:
    text = "".join(
        f"## Question {n}\n\nWhat does call {n} copy?\n\n**Explanation:**\n\nIt owns.\n\n**Answer:** the data\n\n"
        for n in (1, 2, 3)
    )
    assert read_as("quiz.md", text)[0] == "What does call 1 copy? | = the data\n\n**Explanation:**\n\nIt owns."


def test_numbered_lines_between_numbered_headings_are_headings_too() -> None:
    text = (
        "## Questions for the exam\n\n### 1. Views.\n\nThey share.\n\n2. Clones.\n3. Strides.\n"
        "### 4. Hooks.\n\nThey run.\n\n"
        "### 5. Buffers.\n\nThey stay.\n\n### 6. Gradients.\n\nThey add up.\n\n### 7. Seeds.\n\nThey fix.\n"
    )
    found = read_bank(text, name="exam.md").bank.questions
    assert [one.number for one in found] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [one.answer for one in found][:3] == ["They share.", None, None]


@pytest.mark.parametrize("between", ["2. Clones.\n2. Copies.", "4. Clones.\n5. Strides.", "1. First.\n2. Then."])
def test_other_numbered_lines_stay_in_the_answer(between: str) -> None:
    text = "## Questions for the exam\n\n" + "".join(
        f"### {n}. Topic {n}.\n\nText.\n\n{between if n == 1 else ''}\n\n" for n in (1, 4, 5, 6, 7, 8)
    )
    found = read_bank(text, name="exam.md").bank.questions
    assert [one.number for one in found] == ["1", "4", "5", "6", "7", "8"]


BLOCK = (
    "## Item {n}\n\n### Question\n\nWhich call {what}?\n\n### Options\n\n- A) clone\n- B) view\n- C) expand\n\n"
    "### Answer\n\n{key}\n\n### Explanation\n\n{why}\n\n"
)


def test_headings_for_the_parts_of_each_question_are_labels() -> None:
    text = "# Views\n\n" + "".join(
        BLOCK.format(n=n, what=what, key=key, why=why)
        for n, (what, key, why) in enumerate(
            (("copies", "A", "It owns its memory."), ("shares", "B", "It borrows.")), 1
        )
    )
    assert read_as("quiz.md", text) == [
        "Which call copies? | + clone | - view | - expand | why It owns its memory.",
        "Which call shares? | - clone | + view | - expand | why It borrows.",
    ]


def test_a_heading_that_only_names_questions_above_their_answers_is_none() -> None:
    names = ("a view share", "a clone own", "a leaf hold", "a hook see")
    links = "".join(
        f"{n}. [What does {name}?](#what-does-{name.replace(' ', '-')})\n" for n, name in enumerate(names, 1)
    )
    answers = "".join(f"### What does {name}?\n\nMemory of its own kind.\n\n" for name in names)
    assert read_as("notes.md", f"# Tensors\n\n## Questions\n\n{links}\n## Answers\n\n{answers}") == [
        f"What does {name}? | = Memory of its own kind." for name in names
    ]
