"""Headings that hold whole answers."""

from __future__ import annotations

import time

from questions import read_bank
from questions.labels import answer_in_heading

ASKED = ("What is a view?", "What is a stride?", "Why is a copy slow?", "What is a leaf?")


def test_a_long_answer_may_be_a_heading() -> None:
    long = "It shares the memory with another tensor. " * 20
    text = "".join(f"## {n}. {one}\n\n### Answer: {long}{n}\n\n" for n, one in enumerate(ASKED, 1))
    found = read_bank("# Interview\n\n" + text, name="a.md").bank.questions
    assert [one.prompt for one in found] == [*ASKED]
    assert all((one.answer or "").startswith("It shares") for one in found)


def test_a_long_heading_without_a_label_is_no_answer() -> None:
    assert answer_in_heading("Answers to this are many. " * 20) is None


def test_long_headings_take_linear_time() -> None:
    def cost(size: int) -> float:
        start = time.process_time()
        for text in ("Answer: " + "( " * size, "Answer" + " " * size + "x", "Answer " * size):
            answer_in_heading(text)
        return time.process_time() - start

    cost(10)
    assert cost(100_000) < 40 * max(cost(10_000), 0.005)
