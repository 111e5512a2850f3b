"""Data in which questions are about a text: it stands above each of them, wherever the data has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank
from questions.model import Question

STORED = "PyTorch stores a tensor in a storage. A view shares it."
LEAF = "A leaf of a graph has no function of its own."
SHARES, WHERE, LACKS = "What does a view share?", "Where is a tensor stored?", "What does a leaf lack?"


def read(data: Any, name: str = "a.json") -> list[Question]:
    reading = read_bank(data if isinstance(data, str) else json.dumps(data), name=name)
    assert [one.message for one in reading.findings if one.code not in ("Q604", "Q613")] == []
    return list(reading.bank.questions)


def found(text: str) -> dict[str, Any]:
    return {"text": text, "answer_start": 9}


def test_a_text_above_several_questions_is_part_of_each() -> None:
    asked = [{"question": SHARES, "answers": [found("the storage")]}, {"question": WHERE, "answers": []}]
    paragraphs = [
        {"context": STORED, "qas": asked},
        {"context": LEAF, "qas": [{"question": LACKS, "answers": [found("a function"), found("a function")]}]},
    ]
    one, two, three = read({"data": [{"title": "Tensors", "paragraphs": paragraphs}]})
    assert [one.prompt, two.prompt] == [f"{STORED}\n\n{SHARES}", f"{STORED}\n\n{WHERE}"]
    assert (three.prompt, three.answer) == (f"{LEAF}\n\n{LACKS}", "a function")
    assert (one.answer, two.answered) == ("the storage", False)


def test_answers_in_lists_side_by_side_are_answers_and_no_options() -> None:
    rows = [
        {"context": STORED, "question": SHARES, "answers": {"text": ["the storage"], "answer_start": [45]}},
        {"context": STORED, "question": WHERE, "answers": {"text": ["a storage", "there"], "answer_start": [9, 9]}},
        {"context": LEAF, "question": LACKS, "answers": {"text": [], "answer_start": []}},
    ]
    one, two, three = read("\n".join(map(json.dumps, rows)), "a.jsonl")
    assert (one.kind, one.answer, one.prompt) == ("open", "the storage", f"{STORED}\n\n{SHARES}")
    assert not one.options
    assert (two.answer or "").startswith("a storage")
    assert not three.answered


def test_a_text_beside_lists_of_questions_and_options_is_part_of_each() -> None:
    data = {
        "id": "high1.txt",
        "article": STORED,
        "questions": [SHARES, WHERE, LACKS],
        "options": [["the copy", "the storage"], ["in a storage", "in a list"], ["a name", "a function"]],
        "answers": ["B", "A", "B"],
    }
    assert [one.prompt for one in read(data)] == [f"{STORED}\n\n{text}" for text in (SHARES, WHERE, LACKS)]


@pytest.mark.parametrize("name", ["Context", "Reading passage", "Contexto", "Отрывок", "文章"])
def test_a_column_with_the_text_is_part_of_the_question(name: str) -> None:
    rows = [f'{name},Question,A,B,Answer\n"{STORED}",{SHARES},the copy,the storage,B']
    rows.append(f'"{LEAF}",{LACKS},a name,a function,B')
    assert [one.prompt for one in read("\n".join(rows), "a.csv")] == [f"{STORED}\n\n{SHARES}", f"{LEAF}\n\n{LACKS}"]


def test_questions_that_repeat_are_told_apart_by_the_text_alone() -> None:
    texts = [f"{LEAF} Its number is {number}." for number in range(4)]
    data = [
        {"context": one, "question": "What is it about?", "answer": "Leaves", "remark": f"the remark about {one[-9:]}"}
        for one in texts
    ]
    assert [one.prompt for one in read(data)] == [f"{one}\n\nWhat is it about?" for one in texts]


def test_a_text_of_its_own_wins_over_one_above() -> None:
    asked = [
        {"question": SHARES, "answer": "the storage"},
        {"question": LACKS, "context": LEAF, "answer": "a function"},
    ]
    one, two = read({"parts": [{"context": STORED, "items": asked}]})
    assert [one.prompt, two.prompt] == [f"{STORED}\n\n{SHARES}", f"{LEAF}\n\n{LACKS}"]


@pytest.mark.parametrize("context", ["Chapter 2", "", None, ["a", "b"], 7])
def test_a_few_words_are_no_such_text(context: object) -> None:
    data = [{"context": context, "question": text, "answer": "the storage"} for text in (SHARES, WHERE)]
    assert [one.prompt for one in read(data)] == [SHARES, WHERE]


def test_a_question_that_has_the_text_already_is_left_as_it_is() -> None:
    assert [one.prompt for one in read([{"context": LEAF, "question": f"{LEAF} {LACKS}", "answer": "a function"}])] == [
        f"{LEAF} {LACKS}"
    ]


def test_a_text_does_not_make_a_question_of_a_placeholder() -> None:
    data = [{"context": LEAF, "question": text, "answer": "a function"} for text in (LACKS, "N/A")]
    reading = read_bank(json.dumps(data), name="a.json")
    assert [one.prompt for one in reading.bank.questions] == [f"{LEAF}\n\n{LACKS}"]
    assert any("asks nothing" in one.message for one in reading.findings)


@pytest.mark.parametrize(("name", "shown"), [("context", False), ("scenario", False), ("passage", True)])
def test_what_a_whole_document_is_for_is_no_such_text(name: str, shown: bool) -> None:
    asked = [{"question": text, "answer": "the storage"} for text in (SHARES, WHERE)]
    above = f"{STORED}\n\n" if shown else ""
    assert [one.prompt for one in read({name: STORED, "questions": asked})] == [f"{above}{SHARES}", f"{above}{WHERE}"]
