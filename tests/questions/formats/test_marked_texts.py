"""Options whose texts, marks and names could be taken for one another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as

ASKED = ["Does a view copy?", "Does a clone copy?", "Is a leaf a tensor?"]


def read(rows: list[dict[str, Any]]) -> list[str]:
    return read_as("a.json", json.dumps(rows))


def test_options_true_and_false_are_no_marks() -> None:
    options = [{"text": "TRUE", "image": ""}, {"text": "FALSE", "image": ""}]
    keyed = [
        {"question": text, "options": options, "correctIndex": at} for text, at in zip(ASKED, (1, 0, 0), strict=True)
    ]
    assert read(keyed) == [
        "Does a view copy? | - TRUE | + FALSE",
        "Does a clone copy? | + TRUE | - FALSE",
        "Is a leaf a tensor? | + TRUE | - FALSE",
    ]
    rows = [{"question": text, "options": options} for text in ASKED]
    assert not any(one.answered for one in read_bank(json.dumps(rows), name="a.json").bank.questions)


def test_a_truth_value_beside_the_text_of_an_option_is_its_mark() -> None:
    options = [{"option": "view"}, {"option": "clone", "answer": True}, {"option": "slice", "answer": False}]
    assert read([{"question": "Which copies?", "options": options}]) == ["Which copies? | - view | + clone | - slice"]


def test_descriptions_of_a_question_and_its_options() -> None:
    options = [{"description": "view"}, {"description": "clone", "isCorrect": True}]
    assert read([{"description": "Which call copies?", "options": options}]) == [
        "Which call copies? | - view | + clone"
    ]
    assert read([{"description": "Format of the output", "options": options}]) == []


@pytest.mark.parametrize("zero", [0, "0"])
def test_texts_with_one_for_the_right_ones(zero: int | str) -> None:
    options = {"a view": zero, "a clone": type(zero)(1)}
    assert read([{"question": "Which copies?", "choices": options}]) == ["Which copies? | - a view | + a clone"]
    lettered = {"a": zero, "b": type(zero)(1)}
    assert read([{"question": "How many?", "choices": lettered, "answer": "a"}]) == ["How many? | + 0 | - 1"]


@pytest.mark.parametrize("names", [("user", "assistant"), ("human", "gpt")])
def test_a_question_and_its_answer_by_who_says_them(names: tuple[str, str]) -> None:
    one, two = names
    rows = [{one: text, two: "It shares the memory of its base."} for text in ASKED]
    assert read(rows)[0] == "Does a view copy? | = It shares the memory of its base."
    assert read([{one: f"kim{at}", two: "robot"} for at in range(3)]) == []


def test_the_answer_that_a_data_set_is_measured_by() -> None:
    row = {"chunk_text": "A view shares.", "ground_truth_answer": "It shares memory.", "question": ASKED[0]}
    assert read([row]) == [f"{ASKED[0]} | = It shares memory."]


def test_numbers_are_places_in_a_table_with_numbered_columns_although_one_key_is_words() -> None:
    rows = [f"What is {at}?,multiple,one {at},two {at},1" for at in range(30)]
    text = "\n".join(["question,type,option_1,option_2,correct_answer", *rows, "Which copy?,multiple,to,clone,clone"])
    questions = read_bank(text, name="a.csv").bank.questions
    assert [option.text for one in questions for option in one.options if option.right] == [
        *(f"one {at}" for at in range(30)),
        "clone",
    ]
    lettered = text.replace("option_1", "option_a").replace("option_2", "option_b")
    assert sum(one.answered for one in read_bank(lettered, name="a.csv").bank.questions) <= 1


def test_a_theme_is_a_topic() -> None:
    text = "Thème,Question,Réponse A,Réponse B,Bonne réponse\nMémoire,Qui copie ?,vue,clone,B\n"
    assert [one.topic for one in read_bank(text, name="a.csv").bank.questions] == ["memoire"]


def test_letters_with_a_colon_before_options_in_a_cell_and_names_of_sections() -> None:
    rows = [f'{at},The graph,What is {at}?,"a:one,b:two, or so,c:three",b' for at in range(3)]
    text = "\n".join(["section-num,section-name,question,options,correct-answer", *rows])
    reading = read_bank(text, name="a.csv")
    assert read_as("a.csv", text)[0] == "What is 0? | - one | + two, or so | - three"
    assert {one.topic for one in reading.bank.questions} == {"the-graph"}


def test_one_finding_names_all_ids_that_cannot_be_kept() -> None:
    text = "id,question,answer\nA_1,What copies?,clone\nA_2,What adds?,add\nA_3,What divides?,div\n"
    found = [one for one in read_bank(text, name="a.csv").findings if one.code == "Q612"]
    assert [(one.span.line, one.note.endswith("; the same in lines 3, 4")) for one in found] == [(2, True)]


def test_a_record_with_the_number_of_a_question_may_have_no_answer_yet() -> None:
    rows = [
        {"question_number": at, "text": f"{at}. Read this text.\nA. Describe a view.", "rubric": {"points": 3}}
        for at in range(1, 4)
    ]
    reading = read_bank(json.dumps(rows), name="a.json")
    assert [one.prompt for one in reading.bank.questions] == ["Read this text.\nA. Describe a view."] * 3
    said = [{"question_number": at, "text": f"It is {at} of them."} for at in range(1, 4)]
    assert read(said) == []
