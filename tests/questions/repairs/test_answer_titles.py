"""Headings above answers, and short words before questions."""

from __future__ import annotations

import pytest

from questions import read_bank


def test_a_heading_below_a_question_without_one_is_its_answer() -> None:
    text = "".join(f"Q{at}:\n\nWhat is light {at}?\n\n#### Answer\n\nA wave of kind {at}.\n\n" for at in range(1, 5))
    reading = read_bank(text, name="a.md")
    assert [one.answer for one in reading.bank.questions] == [f"A wave of kind {at}." for at in range(1, 5)]
    assert reading.unaccounted() == ()


@pytest.mark.parametrize("label", ["Ques. N:", "Ques N.", "ques. :", "Ques."])
def test_short_words_for_questions_are_labels(label: str) -> None:
    text = "".join(f"# {label.replace('N', str(at))} Tell me about light {at}\n\nIt is a wave.\n\n" for at in (1, 2, 3))
    reading = read_bank(text, name="a.md")
    assert [one.prompt for one in reading.bank.questions] == [f"Tell me about light {at}" for at in (1, 2, 3)]
