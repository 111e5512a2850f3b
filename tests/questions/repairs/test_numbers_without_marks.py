"""Keys that repeat the number and the text of an option without a mark between them."""

from __future__ import annotations

from questions import read_bank

OPTIONS = "1. A tensor that shares memory\n2. A copy\n3. A picture\n"


def test_a_number_with_the_text_of_its_option_is_a_key() -> None:
    text = f"## Question 1\nWhat is a clone in this library?\n\n{OPTIONS}\nAnswer: 2 A copy\n"
    question = read_bank(text, name="a.md").bank.questions[0]
    assert [option.text for option in question.options if option.right] == ["A copy"]


def test_a_number_with_another_text_is_none() -> None:
    text = f"## Question 1\nWhat is a clone in this library?\n\n{OPTIONS}\nAnswer: 2 tensors\n"
    question = read_bank(text, name="a.md").bank.questions[0]
    assert not any(option.right for option in question.options)
    assert question.answer == "2 tensors"


def test_the_text_of_an_option_may_begin_with_a_number() -> None:
    options = "1. 2 copies\n2. 3 copies\n3. 4 copies\n"
    text = f"## Question 1\nWhat does it return?\n\nOptions:\n{options}\nAnswer: 3 copies\n"
    question = read_bank(text, name="a.md").bank.questions[0]
    assert [option.text for option in question.options if option.right] == ["3 copies"]
