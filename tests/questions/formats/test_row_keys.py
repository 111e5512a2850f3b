"""Tests keys in tables that give the letter of an option together with its text."""

from __future__ import annotations

import pytest

from questions import read_bank

HEADER = "question,option a,option b,option c,correct"


def keys(*rows: str) -> list[list[str]]:
    """Returns the texts of the right options of each row."""
    reading = read_bank("\n".join((HEADER, *rows)), name="a.csv")
    return [[option.text for option in question.options if option.right] for question in reading.bank.questions]


@pytest.mark.parametrize("key", ["b. a copy", "B) A copy", "(b) a copy", "b: a copy", "b - a copy", "B-\ta  copy"])
def test_a_letter_before_the_text_of_its_option_names_the_option(key: str) -> None:
    assert keys(f"What does clone return?,a view,a copy,nothing,{key}", "What is new?,sun,sea,sky,c") == [
        ["a copy"],
        ["sky"],
    ]


def test_a_letter_and_a_text_are_one_key_where_the_letter_is_a_text_too() -> None:
    assert keys("Which word is a verb?,has,a,big,a. has") == [["has"]]


@pytest.mark.parametrize("key", ["a. a copy", "c. a copy", "a. big"])
def test_a_letter_before_the_text_of_another_option_leaves_the_question_unanswered(key: str) -> None:
    assert keys(f"What does clone return?,has,a copy,big,{key}", "Which word?,has,a,big,b") == [[], ["a"]]


def test_letters_in_the_texts_of_options_are_texts() -> None:
    assert keys("What does clone return?,a. a copy,b. a view,a copy,b. a view") == [["b. a view"]]
