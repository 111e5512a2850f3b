"""Slips in the word before the number of a question."""

from __future__ import annotations

import pytest

from questions import read_bank


def document(*headings: str) -> str:
    """Returns a document with a text that asks and an answer below each heading."""
    parts = [
        f"# {heading}\n\nSort table {at} by age.\n\n## Solution\n\nUse sort.\n" for at, heading in enumerate(headings)
    ]
    return "\n".join(parts)


@pytest.mark.parametrize("slip", ["Questions 2", "**Quesiton 2**", "Qestion #2", "QUESTIONS 2:"])
def test_a_slip_in_the_word_before_a_number_is_a_question_among_others(slip: str) -> None:
    reading = read_bank(document("**Question 1**", slip, "**Question 3**", "**Question 4**"), name="a.md")
    assert [question.prompt for question in reading.bank.questions] == [f"Sort table {at} by age." for at in range(4)]
    assert all(question.answered for question in reading.bank.questions)


@pytest.mark.parametrize("heading", ["Questions 5-9", "Questions 2 to 4", "Questions"])
def test_a_heading_of_several_questions_is_none(heading: str) -> None:
    reading = read_bank(document("**Question 1**", heading, "**Question 3**", "**Question 4**"), name="a.md")
    assert "Sort table 1 by age." not in [question.prompt for question in reading.bank.questions]
