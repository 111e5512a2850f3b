"""Fields of records with the key, the options or the question where they are not usually."""

from __future__ import annotations

import json
from typing import Any

from tests.questions.formats.readings import read_as

WANTED = ["Which shares memory? | + a view | - a clone", "Which one copies? | - a view | + a clone"]
OFFERED = ["a view", "a clone"]


def _read(data: Any, name: str = "quiz.json") -> list[str]:
    return read_as(name, json.dumps(data, indent=1))


def test_a_key_that_is_a_number_names_the_only_list_of_texts() -> None:
    rows: list[dict[str, Any]] = [
        {"question": "Which shares memory?", "nabór": OFFERED, "correct": 0},
        {"question": "Which one copies?", "nabór": OFFERED, "correct": 1},
    ]
    assert _read(rows) == WANTED
    answered = [{"question": row["question"], "nabór": OFFERED, "answer": row["correct"]} for row in rows]
    assert not any("+" in one for one in _read(answered))


def test_names_of_options_in_dutch() -> None:
    rows = [
        {"vraag": "Which shares memory?", "opties": OFFERED, "correct": 0},
        {"vraag": "Which one copies?", "opties": OFFERED, "correct": 1},
    ]
    assert _read(rows) == WANTED


def test_headers_in_traditional_chinese() -> None:
    table = "題目內容,選項A,選項B,正確答案\nWhich shares memory?,a view,a clone,A\nWhich one copies?,a view,a clone,B\n"
    assert read_as("quiz.csv", table) == WANTED


def test_what_stands_beside_lettered_options_is_no_option() -> None:
    rows = [
        {"question": "Which shares memory?", "options": {"kind": 1, "A": "a view", "B": "a clone"}, "answer": "A"},
        {"question": "Which one copies?", "options": {"kind": 2, "A": "a view", "B": "a clone"}, "answer": "B"},
    ]
    assert _read(rows) == WANTED


def test_a_name_that_is_called_key_gives_way_to_the_answers() -> None:
    options = [{"id": "A", "text": "a view"}, {"id": "B", "text": "a clone"}]
    rows = [
        {"key": "week_1_1", "question": "Which shares memory?", "answer": ["A"], "options": options},
        {"key": "week_1_2", "question": "Which one copies?", "answer": ["B"], "options": options},
    ]
    assert _read(rows) == WANTED


def test_a_mark_that_repeats_the_text_of_the_right_option() -> None:
    quiz = """<quiz><item><question>Which shares memory?</question>
<answer correct="a view">a view</answer><answer>a clone</answer></item>
<item><question>Which one copies?</question><answer>a view</answer>
<answer correct="a clone">a clone</answer></item></quiz>
"""
    assert read_as("quiz.xml", quiz) == WANTED


def test_spellings_that_are_accepted_are_no_options() -> None:
    rows = [
        {"question": "Which call shares memory?", "answer": "view", "options": ["view"]},
        {"question": "Which call copies?", "answer": "clone", "options": ["clone", "clone()"]},
        {"question": "Which call adds?", "answer": "sum", "options": ["sum"]},
        {"question": "Which call joins?", "answer": "cat", "options": ["cat"]},
    ]
    assert _read(rows)[1] == "Which call copies? | = clone\n\nAlso accepted: clone()"


def test_a_letter_among_many_words_is_an_answer() -> None:
    rows = {f"What is the symbol of unit {at}?": f"unit {at}" for at in range(30)}
    assert _read({**rows, "What is the symbol of inductance?": "H"})[-1] == "What is the symbol of inductance? | = H"
    assert _read({**rows, "Which one?": "B", "Which two?": "A"})[-1] == "Which two?"


def test_names_of_mappings_ask_beside_settings() -> None:
    quiz = """winner = "Well done!"
tries = 3

["Which shares memory?"]
options = ["a view", "a clone"]
correct = "a view"

["Which one copies?"]
options = ["a view", "a clone"]
correct = "a clone"

["To add, call:"]
options = ["sum", "cat"]
correct = "sum"
"""
    assert read_as("quiz.toml", quiz) == [*WANTED, "To add, call: | + sum | - cat"]


def test_options_in_the_lines_below_a_question() -> None:
    rows = [
        {"question": "Which shares memory?\na) a view\nb) a clone\n", "answer": "a"},
        {"question": "Which one copies?\na) a view\nb) a clone\n", "answer": "b"},
    ]
    assert _read(rows) == WANTED


def test_the_title_of_a_list_asks_where_its_entries_do_not() -> None:
    entries = [
        {"id": "q1", "question": "", "options": OFFERED, "answer": "a view"},
        {"id": "q2", "question": "Which one copies?", "options": OFFERED, "answer": "a clone"},
    ]
    assert _read([{"title": "Choose what shares memory.", "questions": entries}]) == [
        "Choose what shares memory. | + a view | - a clone",
        WANTED[1],
    ]


def test_keys_of_a_program_in_a_list_of_their_own() -> None:
    program = """
perguntas = [
    ("Which shares memory?", ["a view", "a clone"]),
    ("Which one copies?", ["a view", "a clone"]),
]
respostas_corretas = ["a view", "a clone"]
"""
    assert read_as("quiz.py", program) == WANTED


def test_columns_of_a_program() -> None:
    program = """
questions = ("Which shares memory?", "Which one copies?", "Which adds?")
options = (("A. a view", "B. a clone"), ("A. a view", "B. a clone"), ("A. sum", "B. cat"))
answers = ("A", "B", "A")
guesses = []
"""
    assert read_as("quiz.py", program) == [*WANTED, "Which adds? | + sum | - cat"]


def test_a_key_with_its_whole_name_beside_fields_of_one_letter() -> None:
    data = '- {id: 1, correct: b, q: "Which shares memory?", a: [a clone, a view]}\n'
    data += '- {id: 2, correct: a, q: "Which one copies?", a: [a clone, a view]}\n'
    assert read_as("quiz.yaml", data) == [
        "Which shares memory? | - a clone | + a view",
        "Which one copies? | + a clone | - a view",
    ]


def test_options_in_fields_of_their_letters_with_marks() -> None:
    options = {
        "a": {"-answer": "false", "#text": "a clone"},
        "b": {"-answer": "true", "#text": "a view"},
    }
    asked = {"-number": "1", "q": "Which shares memory?", **options, "explanation": "It has none of its own."}
    data = json.dumps({"questions": {"question": [asked, {**asked, "q": "Which one copies nothing?"}]}})
    assert read_as("quiz.json", data) == [
        "Which shares memory? | - a clone | + a view | why It has none of its own.",
        "Which one copies nothing? | - a clone | + a view | why It has none of its own.",
    ]
