"""Headings of study text that are no questions, and those that are because the text above counts them."""

from __future__ import annotations

import pytest

from questions import read_bank


@pytest.mark.parametrize(
    "text",
    [
        # A lesson: the explanation of a step answers nothing.
        "## Split\n\nText.\n\n### Training and test\n\nWe split.\n\n#### Erläuterung:\n\nA picture.\n\n"
        "### Fit\n\nText.\n",
        # The end of an exam, above a scale of grades.
        "## 🎓 End of Exam\n\n- A: 54-60 points\n- B: 48-53 points\n- C: 42-47 points\n",
        # A title above headings that ask, and steps in the answer to one of these.
        "# 2.3 Describe how requests are routed\n\n### When do you need a router?\n\nRarely.\n\n"
        "### How do you handle missing pages?\n\n1. If the router catches an error, it forwards.\n\n"
        "1. If no route matches, it checks the last module.\n\n1. If nothing is found, it shows the default.\n",
    ],
)
def test_titles_of_study_text_are_no_questions(text: str) -> None:
    assert read_bank(text, name="notes.md").bank.questions == ()


def test_numbered_headings_are_questions_where_the_text_above_counts_as_many() -> None:
    headings = "".join(f"### {n}. Topic {n} and its form\n\nIt is form {n}.\n\n" for n in range(1, 7))
    told = read_bank(f"Notes from the video 6 SQL Interview Questions.\n\n{headings}", name="notes.md")
    assert [one.answer for one in told.bank.questions] == [f"It is form {n}." for n in range(1, 7)]
    for above in ("Notes from the video 7 SQL Interview Questions.", "Notes from a video."):
        assert read_bank(f"{above}\n\n{headings}", name="notes.md").bank.questions == ()


def test_a_line_that_names_the_source_is_no_question() -> None:
    text = "".join(
        f"### Question {n}\n\n**Source: Chapter {n} - Views**\n\nA view shares its **\\_\\_** with call {n}.\n\n"
        "<details>\n<summary>View answer</summary>\n\n**Answer**: memory\n\n</details>\n\n---\n\n"
        for n in (1, 2, 3)
    )
    found = read_bank(text, name="exam.md").bank.questions
    assert [one.prompt for one in found] == [f"A view shares its **\\_\\_** with call {n}." for n in (1, 2, 3)]
    assert [one.answer for one in found] == ["memory"] * 3


def test_what_is_below_the_tasks_of_an_exam_does_not_answer_them() -> None:
    given = ("", "A list of 2.", "", "A list of 4.", "")
    text = "# Exam of March\n\nTime limit: 1 hour.\n\n" + "".join(
        f"#### EXERCISE A{n}\n\n- 1. Describe method {n}.\n- 2. Explain its cost for this:\n\n{said}\n\n"
        for n, said in enumerate(given, 1)
    )
    found = read_bank(text, name="exam.md").bank.questions
    assert [one.answered for one in found] == [False] * 5
    assert found[1].prompt.endswith("A list of 2.")


def test_two_numbered_questions_under_review_questions_are_read() -> None:
    items = "1. What does a leaf hold?\n2. What does depth cost?"
    text = f"## Trees\n\nText.\n\n### Review questions\n{items}\n\n**Your answers:**\n"
    found = read_bank(text, name="lesson.md").bank.questions
    assert [one.prompt for one in found] == ["What does a leaf hold?", "What does depth cost?"]
