"""Tests numbers as keys in data: texts of options, places, or either."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank


def keys(*questions: tuple[list[Any], Any]) -> list[list[str]]:
    """Returns the texts of the right options of each question."""
    data = [{"question": f"Which one is it, {at}?", "options": o, "answer": a} for at, (o, a) in enumerate(questions)]
    reading = read_bank(json.dumps(data, indent=1), name="a.json")
    return [[option.text for option in question.options if option.right] for question in reading.bank.questions]


@pytest.mark.parametrize("kind", [int, str])
def test_a_number_among_keys_that_are_texts_is_a_text(kind: type) -> None:
    options = [kind(one) for one in (2, 3, 4, 8)]
    assert keys((options, kind(4)), (["red", "blue"], "blue")) == [["4"], ["blue"]]


@pytest.mark.parametrize("kind", [int, str])
def test_a_number_beyond_the_options_shows_that_keys_are_texts(kind: type) -> None:
    options = [kind(one) for one in (1, 2, 3, 40)]
    assert keys((options, kind(40)), (options, kind(2))) == [["40"], ["2"]]


@pytest.mark.parametrize("kind", [int, str])
def test_a_number_among_keys_that_are_places_is_a_place(kind: type) -> None:
    options = [kind(one) for one in (1, 2, 3, 4)]
    assert keys((["red", "blue"], kind(0)), (options, kind(2))) == [["red"], ["3"]]


@pytest.mark.parametrize("kind", [int, str])
def test_a_number_among_both_kinds_of_keys_leaves_its_question_unanswered(kind: type) -> None:
    options = [kind(one) for one in (1, 2, 3, 4)]
    others: list[tuple[list[Any], Any]] = [(["red", "blue"], kind(0)), (["red", "blue"], "blue")]
    assert keys((options, kind(2)), *others) == [[], ["red"], ["blue"]]


def test_a_number_alone_that_may_be_a_place_leaves_its_question_unanswered() -> None:
    reading = read_bank('[{"question": "How many?", "options": [2, 3, 4, 8], "answer": 4}]', name="a.json")
    assert not reading.bank.questions[0].answered
    assert "the number of the right answer is the text of one option and may be the place of another" in [
        finding.message for finding in reading.findings
    ]


def test_a_number_that_is_the_text_at_its_own_place_is_a_key() -> None:
    assert keys(([0, 1, 2, 3], 0)) == [["0"]]
