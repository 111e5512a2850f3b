"""What is said of data and tables that have a mistake: once for each mistake, with its place, and nothing is lost."""

from __future__ import annotations

import json

import pytest

from questions import Reading, read_bank

ASKED = ("What is a view?", "What is a leaf?", "What is a root?", "What is a step?", "What is a hook?")


def said(reading: Reading, code: str) -> list[tuple[int, str]]:
    return [(one.span.line, one.message) for one in reading.findings if one.code == code]


def test_lists_side_by_side_of_different_lengths_are_named() -> None:
    text = json.dumps({"questions": ASKED, "answers": ["one", "two", "three", "four"], "tags": ["x"]}, indent=1)
    reading = read_bank(text, name="a.json")
    assert [one.prompt for one in reading.bank.questions] == [*ASKED]
    assert not any(one.answered for one in reading.bank.questions)
    assert said(reading, "Q606") == [(2, "lists side by side have different lengths: `questions` 5, `answers` 4")]


def test_lists_side_by_side_of_the_same_length_are_read() -> None:
    reading = read_bank(json.dumps({"questions": ASKED, "answers": [*"12345"], "explanations": ["a"]}), name="a.json")
    assert [one.answer for one in reading.bank.questions] == [*"12345"]
    assert said(reading, "Q606") == []


def test_settings_of_the_same_names_are_no_questions() -> None:
    settings = {kind: {"prefix": "\\item", "suffix": "one", "type": "format"} for kind in ("question", "ticket")}
    topics = [{"variants": [{"content": f"Strides, part {at}"} for at in range(5)]}]
    reading = read_bank(json.dumps({"settings": settings, "questions": topics}), name="a.json")
    assert reading.bank.questions == ()
    assert len(said(reading, "Q601")) == 1


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_repeated_names_are_named_and_no_answer_is_guessed(name: str) -> None:
    if name == "a.json":
        text = '[{"question": "What is a view?", "answer": "me", "answer": "us"},\n{"question": "So?", "answer": "it"}]'
    else:
        text = "- question: What is a view?\n  answer: one\n  answer: two\n- question: So?\n  answer: it\n"
    reading = read_bank(text, name=name)
    assert [(one.prompt, one.answered) for one in reading.bank.questions] == [
        ("What is a view?", False),
        ("So?", True),
    ]
    ((_, message),) = said(reading, "Q605")
    assert message == "names are repeated in one mapping, with different values: `answer`"


def test_lists_under_a_repeated_name_are_all_read() -> None:
    lists = [json.dumps([{"question": one, "answer": "it"}]) for one in ASKED[:3]]
    reading = read_bank(f'{{"easy": {lists[0]}, "easy": {lists[1]},\n"easy": {lists[2]}}}', name="a.json")
    assert sorted(one.prompt for one in reading.bank.questions) == sorted(ASKED[:3])
    assert len(said(reading, "Q605")) == 1


def test_a_repeated_name_with_the_same_value_is_no_mistake() -> None:
    reading = read_bank('[{"question": "What is a view?", "answer": "it", "answer": "it"}]', name="a.json")
    assert reading.findings == ()
    assert [one.answer for one in reading.bank.questions] == ["it"]


def test_the_last_record_ends_before_other_data() -> None:
    data = {"questions": [{"question": one, "answer": "a } b"} for one in ASKED[:2]], "meta": {"by": "x", "in": ["y"]}}
    reading = read_bank(json.dumps(data, indent=1), name="a.json")
    assert [(one.place.line, one.place.end_line) for one in reading.bank.questions] == [(4, 7), (8, 10)]
    text = "questions:\n- question: What is a view?\n  answer: |\n    a\n\n    b\nmeta:\n- by: x\n"
    (question,) = read_bank(text, name="a.yaml").bank.questions
    assert (question.place.line, question.place.end_line) == (2, 6)


def test_records_in_one_line_have_its_place() -> None:
    text = "\n" + json.dumps([{"question": one, "answer": "it"} for one in ASKED]) + "\n\n"
    assert {one.place.line for one in read_bank(text, name="a.json").bank.questions} == {2}


def test_rows_with_too_many_cells_are_one_finding() -> None:
    rows = [f"{one},it,more" for one in ASKED[:3]] + ["What is a b?,it,more,and more"]
    reading = read_bank("question,answer\n" + "\n".join(rows), name="a.csv")
    found = [(one.span.line, one.message, one.note) for one in reading.findings if one.code == "Q606"]
    assert found == [
        (2, "rows have more cells than columns", "the header has 2 columns, the rows in lines 2, 3, 4 have 3 cells"),
        (5, "a row has more cells than columns", "the header has 2 columns, the row has 4 cells"),
    ]


def test_fields_of_notes_that_are_not_imported_are_one_finding() -> None:
    notes = "\n".join(f"{one}\tit\tpy torch" for one in ASKED)
    reading = read_bank(f"#separator:tab\n{notes}\n", name="a.txt")
    assert said(reading, "Q610") == [(2, "fields not imported: field 3 (no name) in 5 notes")]
    with_tags = read_bank(f"#separator:tab\n#tags column:3\n{notes}\n", name="a.txt")
    assert said(with_tags, "Q610") == []
    assert {one.tags for one in with_tags.bank.questions} == {("py", "torch")}


@pytest.mark.parametrize("date", ['"May 5, 2024"', "May 5, 2024"])
def test_a_column_that_asks_is_read_whatever_it_is_called(date: str) -> None:
    rows = "\n".join(f'{one},"It is, so",{date}' for one in ASKED)
    reading = read_bank(f"Name,Answer,Created\n{rows}\n", name="a.csv")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [(one, "It is, so") for one in ASKED]
    assert (1, "the table has no column for the question: column 1 asks") in said(reading, "Q613")


def test_answers_found_in_a_passage_are_all_right() -> None:
    found = [{"text": text, "answer_start": at} for at, text in enumerate(("a clone", "clone", "clone"))]
    asked = [{"question": "What copies it?", "answers": found}, {"question": "Who made it?", "answers": []}]
    reading = read_bank(json.dumps({"data": [{"paragraphs": [{"context": "so", "qas": asked}]}]}), name="a.json")
    assert [(one.answer, one.options) for one in reading.bank.questions] == [
        ("a clone\n\nAlso accepted: clone", ()),
        (None, ()),
    ]


def test_other_accepted_answers_beside_a_key_are_read() -> None:
    answer = 'answer.answer = "memory"\nanswer.alternatives = ["storage"]'
    text = f'[[questions]]\nprompt.prompt = "What is shared?"\n{answer}\n'
    (question,) = read_bank(text, name="a.toml").bank.questions
    assert question.answer == "memory\n\nAlso accepted: storage"


def test_a_table_without_a_column_that_asks_is_refused_once_and_a_recipe_reads_it() -> None:
    rows = "\n".join(f"{at},Part,It is the {name} of a tensor,The {name}" for at, name in enumerate("abcdefg", 1))
    text = f"ID,theme,explanation,image\n{rows}\n"
    (found,) = read_bank(text, name="a.csv").findings
    assert found.message == "none of the columns `ID`, `theme`, `explanation`, `image` is known to hold questions"
    reading = read_bank(text, name="a.csv", recipe="prompt: explanation\nanswer: image")
    assert len(reading.bank.questions) == 7
