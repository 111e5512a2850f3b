"""Layouts of data from quiz programs: lists in texts, answers in parts, paths of files, and texts with colons."""

from __future__ import annotations

import json

import pytest

from questions import read_bank
from tests.questions.formats.readings import all_asked, messages, read_as

MDBOOK = """[[questions]]
type = "MultipleChoice"
prompt.prompt = "What does a view do?"
prompt.distractors = ["It copies.", "It adds."]
answer.answer = "It shares memory."
context = "Only `clone` copies."

[[questions]]
type = "ShortAnswer"
prompt.prompt = "Which call copies?"
answer.answer = "clone"
context = "A view shares memory."
"""


def test_the_context_of_a_quiz_of_mdbook_explains() -> None:
    assert read_as("quiz.toml", MDBOOK) == [
        "What does a view do? | + It shares memory. | - It copies. | - It adds. | why Only `clone` copies.",
        "Which call copies? | = clone | why A view shares memory.",
    ]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_place_at_which_mdbook_shows_the_answer_is_no_key(place: int) -> None:
    text = MDBOOK.replace("answer.answer", f"prompt.answerIndex = {place}\nanswer.answer", 1)
    assert read_as("quiz.toml", text) == read_as("quiz.toml", MDBOOK)
    assert read_bank(text, name="quiz.toml").findings == ()


def test_an_answer_in_parts_names_all_of_them() -> None:
    data = [
        {"text": "Which calls copy?", "answer": [["clone"], ["tolist", "to list"]]},
        {"text": "Which call adds?", "answer": ["add", "plus"]},
    ]
    assert read_as("quiz.json", json.dumps(data)) == [
        "Which calls copy? | = - clone\n- tolist (or to list)",
        "Which call adds? | = add\n\nAlso accepted: plus",
    ]


def test_options_may_be_written_as_json_in_a_text() -> None:
    data = [
        {"question": "Which ones copy?", "options": '["view", "clone", "tolist"]', "correct": '["clone", "tolist"]'},
        {"question": "Which one adds?", "options": '{"a": "add", "b": "cat"}', "correct": "a"},
    ]
    assert read_as("quiz.json", json.dumps(data)) == [
        "Which ones copy? | - view | + clone | + tolist",
        "Which one adds? | + add | - cat",
    ]


def test_the_path_of_a_file_is_no_question() -> None:
    rounds = "rounds:\n  - title: One\n    questions:\n      - question: What copies?\n        answer: clone\n"
    text = rounds + "      - question: questions/views.tex\n        answer: a view\n"
    text += "      - question: What adds?\n        answer: add\n"
    reading = read_bank(text, name="quiz.yaml")
    assert all_asked(reading) == ["What copies? | = clone", "What adds? | = add"]
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q603", 6)]


COLONS = """questions:
  - question: Complete the sentence: a view shares
    options:
      - memory
      - nothing
    answer: memory
    explanation: There are two kinds: views and copies
  - question: Which call copies?
    answer: clone
"""


def test_a_text_with_a_colon_is_read_and_named() -> None:
    reading = read_bank(COLONS, name="quiz.yaml")
    assert all_asked(reading) == [
        "Complete the sentence: a view shares | + memory | - nothing | why There are two kinds: views and copies",
        "Which call copies? | = clone",
    ]
    said = "Q616 invalid YAML was read, because it has only one meaning: texts with a colon, without quotes"
    assert messages(reading) == [f"{said} (line 2 and 1 more)"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("sentence: a view shares", "sentence: a view # shares", 2),
        ("sentence: a view shares", "sentence: a\n      view", 3),
        ("question: Complete", "question: [Complete", 3),
    ],
)
def test_other_mistakes_in_yaml_are_refused_with_their_line(old: str, new: str, line: int) -> None:
    reading = read_bank(COLONS.replace(old, new), name="quiz.yaml")
    assert reading.bank.questions == () and reading.findings[0].code == "Q601"
    assert abs(reading.findings[0].span.line - line) < 2


def test_options_in_several_languages_are_read_in_english() -> None:
    data = [
        {
            "question_text": {"zh": "哪个复制？", "en": "Which copies?"},
            "options": {"A": {"zh": "视图", "en": "a view"}, "B": {"zh": "克隆", "en": "a clone"}},
            "correct_answers": ["B"],
            "explanation": {"zh": "视图共享。", "en": "A view shares."},
        },
        {
            "question_text": {"zh": "哪个相加？", "en": "Which adds?"},
            "options": [{"zh": "加", "en": "add"}, {"zh": "连接", "en": "cat"}],
            "correct_answers": ["A"],
        },
    ]
    reading = read_bank(json.dumps(data), name="quiz.json")
    assert all_asked(reading) == [
        "Which copies? | - a view | + a clone | why A view shares.",
        "Which adds? | + add | - cat",
    ]
    assert messages(reading) == ["Q610 other languages were not imported: `question zh`"]


def test_options_with_two_sides_are_pairs() -> None:
    sides = [{"left": "a view", "right": "shares"}, {"left": "a clone", "right": "copies"}]
    key = {"a view": "shares", "a clone": "copies"}
    data = [
        {"question": "What does it do?", "type": "MATCHING", "options": sides, "correctAnswer": key},
        {"question": "Which one adds?", "type": "MCQ", "options": ["add", "cat"], "correctAnswer": "add"},
    ]
    asked = read_as("quiz.json", json.dumps({"questions": data}))
    assert asked == [
        "What does it do?\n\na view | - copies | + shares",
        "What does it do?\n\na clone | + copies | - shares",
        "Which one adds? | + add | - cat",
    ]


@pytest.mark.parametrize("key", [[2, 0, 1], ["2", "0", "1"]])
def test_a_key_of_a_question_about_an_order_is_the_order(key: list[object]) -> None:
    lines = ["loss", "step", "backward"]
    data: list[dict[str, object]]
    data = [{"question": "Sort.", "question_type": "re-order", "options": lines, "correct": key}]
    data += [{"question": "Which adds?", "question_type": "single", "options": ["add", "cat"], "correct": 0}]
    assert read_as("quiz.json", json.dumps(data))[0] == (
        "Sort.\n\n- backward\n- loss\n- step | = 1. backward\n2. loss\n3. step"
    )
    unsure = [{**data[0], "correct": [0, 7, 1]}, data[1]]
    assert read_bank(json.dumps(unsure), name="quiz.json").bank.questions[0].answer is None


def test_what_is_said_of_a_number_is_not_an_option() -> None:
    numeric = [
        {"type": "value", "value": 3.14, "correct": True, "feedback": "Correct."},
        {"type": "range", "range": [-9, 0], "correct": False, "feedback": "Too small."},
        {"type": "range", "range": [4, 9], "correct": False, "feedback": "Too large."},
    ]
    data = [{"question": "What is pi to two decimal places?", "type": "numeric", "answers": numeric}]
    (question,) = read_bank(json.dumps(data), name="a.json").bank.questions
    assert (question.kind, question.answer, question.options) == ("open", "3.14", ())
