"""Tests questions in data that ask for an order, or for words in blanks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank
from tests.questions.formats.readings import all_asked


def read(question: dict[str, Any]) -> str:
    """Returns a question of data, in one line."""
    data = {"ordering": [question], "choices": [{"question": "Which copies?", "options": ["a", "b"], "answer": "b"}]}
    asked = all_asked(read_bank(json.dumps(data, indent=1), name="a.json"))
    return next(one for one in asked if not one.startswith("Which copies?"))


STEPS = ["step", "backward", "forward"]
LISTED = "Put the steps in order.\n\n- backward\n- forward\n- step"
ANSWER = "1. forward\n2. backward\n3. step"


@pytest.mark.parametrize("name", ["correct_order", "correctOrder", "right sequence"])
@pytest.mark.parametrize("order", [["forward", "backward", "step"], [2, 1, 0], [3, 2, 1]])
@pytest.mark.parametrize("offered", ["items", "options"])
def test_a_right_order_is_the_answer(name: str, order: list[Any], offered: str) -> None:
    assert read({"question": "Put the steps in order.", offered: STEPS, name: order}) == f"{LISTED} | = {ANSWER}"


def test_words_for_blanks_are_the_answer_in_one_line() -> None:
    question = {"question": "A view ___ its ___.", "words": ["shares", "memory", "copies"]}
    assert read({**question, "correct_sequence": ["shares", "memory"]}) == (
        "A view ___ its ___.\n\n- copies\n- memory\n- shares | = shares memory"
    )


@pytest.mark.parametrize("order", [[1, 2], [0, 1, 3], ["forward", "loss", "step"], [True, False, True], "forward"])
def test_an_order_of_other_things_than_are_offered_is_no_answer(order: Any) -> None:
    assert " = " not in read({"question": "Put the steps in order.", "options": STEPS, "correct_order": order})


def test_places_in_a_list_of_numbers_may_be_its_numbers() -> None:
    numbers = {"question": "Sort these numbers.", "items": ["3", "1", "2"], "correct_order": [1, 2, 3]}
    assert " = " not in read(numbers)


def test_an_order_beside_a_key_leaves_the_key() -> None:
    question = {"question": "Which is first?", "options": STEPS, "answer": "forward", "correct_order": [2, 1, 0]}
    assert read(question) == "Which is first? | - step | - backward | + forward"


def test_mappings_of_the_same_names_are_columns() -> None:
    data = {
        "questions": {"1": "Which copies?", "2": "Which views?", "5": "Which sorts?"},
        "answers": {
            "1": {"A": ["clone", True], "B": ["view", False]},
            "2": {"A": ["clone", False], "B": ["view", True]},
            "5": {"A": ["argsort", True], "B": ["view", False], "C": ["sort", True]},
        },
        "pictures": {"1": False, "2": False},
    }
    assert all_asked(read_bank(json.dumps(data, indent=1), name="a.json")) == [
        "Which copies? | + clone | - view",
        "Which views? | - clone | + view",
        "Which sorts? | + argsort | - view | + sort",
    ]
