"""Questions in records within records, and texts in mappings of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank

NAMES = ("view", "leaf", "stride")


def read(data: Any) -> list[tuple[str, str | None, list[tuple[str, bool]]]]:
    """Returns the prompts, answers and options of the questions in data."""
    questions = read_bank(json.dumps(data, indent=1), name="a.json").bank.questions
    return [(one.prompt, one.answer, [(option.text, option.right) for option in one.options]) for one in questions]


def test_a_mapping_that_is_only_a_text_is_that_text() -> None:
    options = [{"content": {"text": "a copy"}, "correct": False}, {"content": {"text": "shared"}, "correct": True}]
    data = [{"name": name, "data": {"body": {"html": f"What is a {name}?"}, "choices": options}} for name in NAMES]
    assert read(data) == [(f"What is a {name}?", None, [("a copy", False), ("shared", True)]) for name in NAMES]


@pytest.mark.parametrize("answer", ["Answer", "Solution"])
def test_questions_in_lists_of_records_have_their_answer_beside_them(answer: str) -> None:
    data = [
        {"Id": at, "Variants": [{"Content": f"What is a {one}?", answer: f"a {one}."}]} for at, one in enumerate(NAMES)
    ]
    assert read(data) == [(f"What is a {name}?", f"a {name}.", []) for name in NAMES]


def test_questions_alone_in_lists_of_records_have_no_answer() -> None:
    data = [{"Id": at, "Variants": [{"Content": f"What is a {name}?"}]} for at, name in enumerate(NAMES)]
    reading = read_bank(json.dumps(data), name="a.json")
    assert [(one.prompt, one.answered) for one in reading.bank.questions] == [
        (f"What is a {name}?", False) for name in NAMES
    ]
    assert "the field `Content` was read as the question, without an answer" in [
        one.message for one in reading.findings
    ]


@pytest.mark.parametrize("texts", [("What is it?", "It is.", "No."), ("It is.", "It was.", "No.")])
def test_texts_that_rarely_ask_are_no_questions(texts: tuple[str, ...]) -> None:
    assert read([{"remark": text} for text in texts]) == []


@pytest.mark.parametrize("text", ["text", "value", "content", "answer"])
@pytest.mark.parametrize("reason", ["why", "explanation", "rationale"])
def test_an_answer_in_a_mapping_with_its_explanation_is_both(text: str, reason: str) -> None:
    data = [{"question": f"What is a {name}?", "answer": {text: f"a {name}", reason: "because"}} for name in NAMES]
    questions = read_bank(json.dumps(data), name="a.json").bank.questions
    assert [(one.answer, one.why) for one in questions] == [(f"a {name}", "because") for name in NAMES]


@pytest.mark.parametrize("name", ["answer", "correct_answer"])
@pytest.mark.parametrize("key", ["letter", "option", "choice", "key"])
def test_a_key_in_a_mapping_with_its_explanation_is_both(name: str, key: str) -> None:
    options = {"A": "a copy", "B": "shared"}
    data = [
        {"question": f"What is a {one}?", "options": options, name: {key: "B", "explanation": "because"}}
        for one in NAMES
    ]
    assert read(data) == [(f"What is a {one}?", None, [("a copy", False), ("shared", True)]) for one in NAMES]
    assert {one.why for one in read_bank(json.dumps(data), name="a.json").bank.questions} == {"because"}


def test_an_answer_in_a_mapping_with_more_than_its_explanation_stays_unread() -> None:
    data = [{"question": "What is a view?", "answer": {"text": "a", "why": "b", "value": "c"}}]
    assert read_bank(json.dumps(data), name="a.json").answered == 0
