"""A violated limit is explained: which value, and what is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from service.wire import QuestionRef, ScheduleSpec, Short, Who, limit_words

WHO: dict[str, Any] = {"platform": "web", "workspace": "home", "member": "ada"}


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (Short, "x" * 201, "that is too long; at most 200 characters fit"),
        (ScheduleSpec, {"open_minutes": 0}, "open minutes: that is too little; at least 1 is needed"),
        (ScheduleSpec, {"open_minutes": 10**6}, "open minutes: that is too much; at most 10,080 is taken"),
        (ScheduleSpec, {"memory_days": -5}, "memory days: that is too little; at least 0 is needed"),
        (Who, {**WHO, "name": ""}, "name: that is empty"),
    ],
)
def test_a_limit_is_explained(kind: Any, value: object, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    assert limit_words(caught.value.errors()) == said


def test_the_places_to_leave_out_are_left_out_and_other_errors_keep_their_words() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, int]).validate_python({"points": "many"})
    assert limit_words(caught.value.errors()).startswith("points: Input should be a valid integer")
    assert limit_words(caught.value.errors(), skip=1).startswith("Input should be a valid integer")


@pytest.mark.parametrize("text", ["r12", "p34", "r0", "p" + "9" * 18])
def test_a_question_reference_is_written_as_it_was_read(text: str) -> None:
    assert str(QuestionRef.parse(text)) == text


def test_a_question_reference_names_a_round_or_a_question_version_in_practice() -> None:
    assert QuestionRef.parse("r12") == QuestionRef("round", 12)
    assert QuestionRef.parse("p34") == QuestionRef("practice", 34)


@pytest.mark.parametrize("text", ["", "r", "12", "x12", "r-1", "r1 ", "r12\n", "R12", "p" + "9" * 19, "p34,code,,"])
def test_what_is_no_question_reference_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="question reference"):
        QuestionRef.parse(text)
