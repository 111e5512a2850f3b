"""Our own JSON: what is exported is read again whole; anything else says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from questions import Reading, read_bank
from questions.model import Bank, Question, SourceLocation, as_data

QUESTION = as_data(Question("what-is-it", "open", "What is it?", SourceLocation("a.md", 3, 9), answer="A thing."))


def written(*questions: Any, **changes: Any) -> str:
    envelope = {
        "format": "dailygrad-bank",
        "version": 1,
        "bank": {"name": "b", "title": "A bank", "license": "MIT", "dialects": []},
        "questions": list(questions),
    }
    return json.dumps({**envelope, **changes}, indent=1)


def read(text: str) -> Reading:
    return read_bank(text, name="bank.json")


def test_a_bank_is_read_with_the_lines_of_its_questions() -> None:
    reading = read(written(QUESTION, {**QUESTION, "id": "other", "prompt": "And that?"}))
    one, two = reading.bank.questions
    assert reading.findings == ()
    assert reading.bank == Bank("b", "A bank", (one, two), "MIT", ("json",))
    assert (one.answer, one.license) == ("A thing.", "MIT")
    assert reading.source.line(one.place.line).strip() == "{" == reading.source.line(two.place.line).strip()
    assert one.place.end_line + 1 == two.place.line


@pytest.mark.parametrize("change", [{"prompt": "What\0?"}, {"options": [{"id": "a", "text": "\0b", "right": True}]}])
def test_a_text_that_no_database_stores_is_an_error_at_its_question(change: dict[str, Any]) -> None:
    reading = read(written(QUESTION, {**QUESTION, **change, "id": "other"}))
    (finding,) = [one for one in reading.findings if one.code == "Q010"]
    assert finding.severity == "error" and "U+0000" in finding.message
    assert finding.span.line == reading.bank.questions[1].place.line


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "riddle"}, "`kind` has an invalid value"),
        ({"kind": ["open"]}, "`kind` has an invalid value"),
        ({"level": 3}, "`level` has an invalid value"),
        ({"prompt": None}, "`prompt` has an invalid value"),
        ({"id": "a b"}, "`id` has an invalid value"),
        ({"tags": "abc"}, "`tags` has an invalid value"),
        ({"options": [{"id": "a", "text": "b", "right": "yes"}]}, "`options` has an invalid value"),
        ({"options": [{"id": "a", "text": "b", "right": True, "more": ""}]}, "`options` has an invalid value"),
        ({"task": {"entry": "f"}}, "`task` has an invalid value"),
        (
            {"task": {"entry": "f", "starter": "", "reference": "", "cases": "", "wall_ms": 1}},
            "`task` has an invalid value",
        ),
        ({"prompt": "a" * 300_000}, "`prompt` has an invalid value"),
        ({"code_blocks": [{"text": "a", "line": -1}]}, "`code_blocks` has an invalid value"),
        ({"more": 1}, "`more` is not a field"),
    ],
)
def test_a_question_of_another_shape_is_left_out(change: dict[str, Any], fault: str) -> None:
    reading = read(written({**QUESTION, **change}, QUESTION))
    assert [question.id for question in reading.bank.questions] == ["what-is-it"]
    (finding,) = reading.findings
    assert (finding.code, finding.skipped) == ("Q603", True)
    assert finding.message == f"this is not a question: {fault}"


@pytest.mark.parametrize("name", ["id", "kind", "prompt", "options", "task"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    reading = read(written({key: value for key, value in QUESTION.items() if key != name}))
    assert f"`{name}` is missing" in reading.findings[0].message


def test_what_is_no_object_is_left_out() -> None:
    assert [finding.code for finding in read(written(1, None, "a", [])).findings] == ["Q603"] * 4


@pytest.mark.parametrize("version", [2, "1", None, True, 1.5])
def test_another_version_is_refused(version: object) -> None:
    reading = read(written(QUESTION, version=version))
    assert reading.bank.questions == ()
    assert [finding.code for finding in reading.findings] == ["Q601"]


def test_numbers_that_are_none_are_refused() -> None:
    task = {"entry": "f", "starter": "", "reference": "", "cases": "", "wrong": []}
    for tolerance in ({"rtol": float("nan"), "atol": 0}, {"rtol": float("inf"), "atol": 0}, {"rtol": True, "atol": 0}):
        text = written({**QUESTION, "task": {**task, "tolerance": tolerance}})
        assert "`task` has an invalid value" in read(text).findings[0].message


def test_text_behind_the_end_is_an_error() -> None:
    reading = read(written(QUESTION) + "x")
    assert [finding.code for finding in reading.findings] == ["Q601"]


@pytest.mark.parametrize("wrapped", [lambda inner: [inner], lambda inner: {"data": inner}], ids=["list", "object"])
def test_questions_of_others_are_found_twelve_levels_deep(wrapped: Callable[[Any], Any]) -> None:
    data: Any = [
        {"question": "What is a view?", "answer": "A tensor."},
        {"question": "What is a stride?", "answer": "A"},
    ]
    for _ in range(12):
        data = wrapped(data)
    assert len(read(json.dumps(data)).bank.questions) == 2
    assert len(read(json.dumps(wrapped(data))).bank.questions) == 0


def test_a_list_of_questions_alone_is_read_as_unanswered_ones() -> None:
    reading = read(json.dumps([{"level": "Basics", "question": "What is a view?"}, {"question": "What is a stride?"}]))
    assert [(question.prompt, question.answered) for question in reading.bank.questions] == [
        ("What is a view?", False),
        ("What is a stride?", False),
    ]
    assert [finding.code for finding in reading.findings] == ["Q604", "Q604"]


@pytest.mark.parametrize("field", ["title", "text", "query", "prompt"])
def test_records_with_some_text_ask_nothing(field: str) -> None:
    assert read(json.dumps([{field: "What is new?"}, {field: "What is next?"}])).bank.questions == ()
