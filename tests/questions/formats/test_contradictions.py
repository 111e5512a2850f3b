"""Two keys of one question that name different options: it stays unanswered, and a finding names both."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import Reading, read_bank

MARKED = [{"text": "a view", "correct": True}, {"text": "a copy", "correct": False}]
PLAIN = ["a view", "a copy"]


def read(*records: dict[str, Any]) -> Reading:
    asked = [{"question": f"What is returned by call {at}?", **one} for at, one in enumerate(records)]
    return read_bank(json.dumps(asked), name="a.json")


def notes(reading: Reading) -> list[str]:
    return [one.note for one in reading.findings if "different right options" in one.message]


@pytest.mark.parametrize(
    ("record", "note"),
    [
        ({"options": MARKED, "answer": "a copy"}, "`answer` says `a copy`, and another field or mark `a view`"),
        ({"options": MARKED, "answer": "B"}, "`answer` says `B`, and another field or mark `a view`"),
        ({"options": MARKED, "answer": ["A", "B"]}, "`answer` says `['A', 'B']`, and another field or mark `a view`"),
        ({"options": PLAIN, "correct": "A", "answer": "B"}, "`answer` says `B`, and another field or mark `a view`"),
        ({"options": PLAIN, "answer": "B", "correct": "A"}, "`answer` says `B`, and another field or mark `a view`"),
        (
            {"options": PLAIN, "answerIndex": 0, "answer": "a copy"},
            "`answer` says `a copy`, and another field or mark `a view`",
        ),
    ],
)
def test_keys_that_contradict_each_other_leave_the_question_unanswered(record: dict[str, Any], note: str) -> None:
    reading = read(record)
    assert [one.answered for one in reading.bank.questions] == [False]
    assert notes(reading) == [note]


@pytest.mark.parametrize(
    "record",
    [
        {"options": MARKED, "answer": "A"},
        {"options": MARKED, "answer": "A view."},
        {"options": MARKED, "answer": 0},  # counted from 0
        {"options": MARKED, "answer": 1},  # counted from 1
        {"options": MARKED, "answer": "It shares memory."},  # explains
        {"options": MARKED, "answer": ""},
        {"options": PLAIN, "correct": "A", "answer": "a view"},
        {"options": PLAIN, "answerIndex": 0, "answer": "a view"},
        {"options": PLAIN, "correct": "A", "solution": "It shares memory."},
    ],
)
def test_keys_that_agree_or_explain_count(record: dict[str, Any]) -> None:
    reading = read(record)
    assert [[one.right for one in question.options] for question in reading.bank.questions] == [[True, False]]
    assert notes(reading) == []


HEADER = "question,a,b,correct,answer\n"


def test_columns_that_contradict_each_other_leave_the_question_unanswered() -> None:
    rows = [
        "What is it?,a view,a copy,A,a view",
        "What is he?,a view,a copy,A,a copy",
        "What is she?,a view,a copy,B,so",
    ]
    reading = read_bank(HEADER + "\n".join(rows), name="a.csv")
    assert [one.answered for one in reading.bank.questions] == [True, False, True]
    assert [(one.span.line, one.note) for one in reading.findings if "different right" in one.message] == [
        (3, "one says `a view`; one says `a copy`")
    ]


def test_flags_and_a_key_that_contradict_each_other_leave_the_question_unanswered() -> None:
    header = "question,option 1,option 2,correct 1,correct 2,answer\n"
    rows = ["What is it?,a view,a copy,1,0,a view", "What is he?,a view,a copy,1,0,a copy"]
    reading = read_bank(header + "\n".join(rows), name="a.csv")
    assert [one.answered for one in reading.bank.questions] == [True, False]
