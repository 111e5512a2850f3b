"""Words and marks that stand for nothing, in tables and data: no questions and no answers."""

from __future__ import annotations

import json

import pytest

from questions import read_bank
from questions.wording.labels import stands_for_no_answer, stands_for_nothing

NOTHING = ["N/A", "n/a", "n.a.", "–", "---", "TBD", "tba", "ToDo", "TODO", "none", "???", "...", "…", "____"]
SOMETHING = [
    "-",
    "?",
    "pending",
    "None",
    "[]",
    "{}",
    "()",
    "#",
    "**",
    "*",
    "_",
    "==",
    "0",
    "no",
    "null",
    "-1",
    "a - b",
    "N/A is not a number",
]


@pytest.mark.parametrize("word", [*NOTHING, "[TBD]", "**N/A**", "(none)", "[To be filled]"])
def test_these_stand_for_nothing(word: str) -> None:
    assert stands_for_nothing(word)
    assert stands_for_nothing(f" {word} ")


@pytest.mark.parametrize("word", ["", *SOMETHING])
def test_these_are_values(word: str) -> None:
    assert not stands_for_nothing(word)


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
@pytest.mark.parametrize("word", NOTHING)
def test_they_ask_nothing_and_answer_nothing(name: str, word: str) -> None:
    pairs = [("What is a view?", "no copy"), (word, "no copy"), ("What is a leaf?", word), ("What is a root?", "it")]
    rows = "\n".join(f'"{asked}","{answer}"' for asked, answer in pairs)
    records = ",\n".join(json.dumps({"question": asked, "answer": answer}) for asked, answer in pairs)
    text = f"question,answer\n{rows}\n" if name.endswith("csv") else f"[\n{records}\n]\n"
    reading = read_bank(text, name=name)
    answers = [(one.prompt, one.answered) for one in reading.bank.questions]
    assert answers == [("What is a view?", True), ("What is a leaf?", False), ("What is a root?", True)]
    assert [(one.span.line, f"`{word}`" in one.message, one.skipped) for one in reading.findings] == [
        (3, True, True),
        (4, True, False),
    ]


@pytest.mark.parametrize("word", SOMETHING)
def test_other_marks_and_words_answer(word: str) -> None:
    text = json.dumps([{"question": "What is written there?", "answer": word}])
    (question,) = read_bank(text, name="a.json").bank.questions
    assert question.answered


@pytest.mark.parametrize("word", ["Your answer here", "[Answer here]", "not answered yet", "待补充", "(to be added)"])
@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_words_for_a_missing_answer_are_none(name: str, word: str) -> None:
    assert stands_for_no_answer(word)
    pairs = [("What is a view?", "no copy"), ("What is a leaf?", word), ("What is a root?", "it")]
    rows = "\n".join(f'"{asked}","{answer}"' for asked, answer in pairs)
    records = json.dumps([{"question": asked, "answer": answer} for asked, answer in pairs])
    reading = read_bank(f"question,answer\n{rows}\n" if name.endswith("csv") else records, name=name)
    assert [one.answered for one in reading.bank.questions] == [True, False, True]
    (finding,) = reading.findings
    assert f"`{word}` is not an answer" in finding.message
