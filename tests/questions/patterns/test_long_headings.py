"""Headings that hold whole answers."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.wording.labels import answer_in_heading

MANY = 1_000_000

ASKED = ("What is a view?", "What is a stride?", "Why is a copy slow?", "What is a leaf?")


def test_a_long_answer_may_be_a_heading() -> None:
    long = "It shares the memory with another tensor. " * 20
    text = "".join(f"## {n}. {one}\n\n### Answer: {long}{n}\n\n" for n, one in enumerate(ASKED, 1))
    found = read_bank("# Interview\n\n" + text, name="a.md").bank.questions
    assert [one.prompt for one in found] == [*ASKED]
    assert all((one.answer or "").startswith("It shares") for one in found)


def test_a_long_heading_without_a_label_is_no_answer() -> None:
    assert answer_in_heading("Answers to this are many. " * 20) is None


@pytest.mark.parametrize("text", ["Answer: " + "( " * MANY, "Answer" + " " * MANY + "x", "Answer " * MANY])
def test_long_headings_take_linear_time(text: str) -> None:
    """In quadratic time it would not end before the limit of a test."""
    assert answer_in_heading(text) is None
