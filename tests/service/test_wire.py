"""Broken limits become refusals that name the value and the limit, and question references read as written."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from service.wire import AnswerInput, InvalidInput, QuestionRef, ScheduleSpec, Short, Who, invalid_input

WHO: dict[str, Any] = {"platform": "web", "workspace": "home", "member": "ada"}


@pytest.mark.parametrize(
    ("kind", "value", "refusal"),
    [
        (Short, "x" * 201, InvalidInput(field="", problem="too long", limit=200)),
        (ScheduleSpec, {"open_minutes": 0}, InvalidInput(field="open minutes", problem="too small", limit=1)),
        (ScheduleSpec, {"open_minutes": 10**6}, InvalidInput(field="open minutes", problem="too large", limit=10_080)),
        (ScheduleSpec, {"memory_days": -5}, InvalidInput(field="memory days", problem="too small", limit=0)),
        (Who, {**WHO, "name": ""}, InvalidInput(field="name", problem="too short", limit=1)),
    ],
)
def test_a_broken_limit_becomes_a_refusal(kind: Any, value: object, refusal: InvalidInput) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    assert invalid_input(caught.value.errors()) == refusal


def test_the_places_to_leave_out_are_left_out_and_other_errors_say_what_to_write() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, int]).validate_python({"points": "many"})
    found = invalid_input(caught.value.errors())
    assert (found.field, found.problem) == ("points", "invalid")
    assert found.detail == "write a whole number in digits, such as 3"
    assert invalid_input(caught.value.errors(), skip=1) == found.model_copy(update={"field": ""})


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


def test_what_a_newer_version_stored_is_read_and_what_a_newer_bot_sends_is_refused() -> None:
    newer = {"text": "42", "added": {"by": "the next version"}}
    assert AnswerInput.from_stored(newer) == AnswerInput(text="42")
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(AnswerInput).validate_python(newer)
    assert invalid_input(caught.value.errors()).field == "added"
