"""Records whose fields have no known names: read where their texts show which asks, otherwise described with a recipe
that reads them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from questions import read_bank

THINGS = ("view", "leaf", "stride")
TOPICS = [
    {"zagadnienie": f"{at}. The {name} of a tensor", "opracowanie": f"It is the {name} that a tensor has."}
    for at, name in enumerate(THINGS, 1)
]
CARDS = [{"clue me": f"What is a {name}?", "say this": f"It is the {name} of a tensor"} for name in THINGS]


@pytest.mark.parametrize(
    "data",
    [
        TOPICS,
        {"parts": [{"dział": "one", "items": TOPICS}]},
        [{"dział": "all", **one, "lp": at} for at, one in enumerate(TOPICS)],
        [{"name: of, it": one["zagadnienie"], '"text"s': one["opracowanie"]} for one in TOPICS],
    ],
)
def test_records_are_described_and_the_recipe_named_reads_them(data: Any) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1)
    (found,) = read_bank(text, name="a.json").findings
    assert found.message == "no field of these 3 records is known to hold questions"
    for name, value in TOPICS[0].items() if "zagadnienie" in text else ():
        assert f"`{name}`: `{value}`" in found.note
    recipe = "\n".join(re.findall("`((?:prompt|answer): [^`]*)`", found.help))
    read = read_bank(text, name="a.json", recipe=recipe).bank.questions
    cards = [(one["zagadnienie"].partition(". ")[2], one["opracowanie"]) for one in TOPICS]
    assert [(one.prompt, one.answer) for one in read] == cards


def test_few_records_are_not_described() -> None:
    (found,) = read_bank(json.dumps(TOPICS[:2]), name="a.json").findings
    assert found.message == "this data has no list of questions"


def test_what_asks_in_each_record_is_read_and_named() -> None:
    more = [{"uuid": f"a-{at}", "part": "one", **card} for at, card in enumerate(CARDS)]
    for data in (CARDS, more):
        reading = read_bank(json.dumps(data), name="a.json")
        assert [(one.prompt, one.answer) for one in reading.bank.questions] == [tuple(one.values()) for one in CARDS]
        (found,) = reading.findings
        assert (found.code, found.severity) == ("Q613", "note")
        assert found.message == "the field `clue me` was read as the question, and `say this` as its answer"


@pytest.mark.parametrize(
    "data",
    [
        [*CARDS, {"clue me": "The hook of a tensor", "say this": "It is called"}],  # one does not ask
        [*CARDS, {"clue me": "What is a hook?", "say this": "Is it called?"}],  # an answer asks
        [{**one, "or that": f"Another {one['say this']}"} for one in CARDS],  # two may answer
        [{**one, "say this": "Yes"} for one in CARDS],  # the answers are the same
    ],
)
def test_what_may_not_ask_is_described_only(data: Any) -> None:
    reading = read_bank(json.dumps(data), name="a.json")
    assert reading.bank.questions == ()
    assert any("is known to hold questions" in one.message for one in reading.findings)


CHOICES = [
    {"f": f"What is a {name}?", "l": ["a word", f"a {name} of a tensor", "a number"], "a": at}
    for at, name in ((2, "view"), (2, "leaf"), (3, "stride"))
]


def test_the_only_list_beside_what_asks_has_the_options_and_the_only_place_is_the_key() -> None:
    reading = read_bank(json.dumps({"part one": CHOICES[:1], "part two": CHOICES[1:]}), name="a.json")
    right = [[option.text for option in one.options if option.right] for one in reading.bank.questions]
    assert right == [["a view of a tensor"], ["a leaf of a tensor"], ["a number"]]
    (found,) = reading.findings
    assert found.message == "the field `f` was read as the question, `l` as its options, and `a` as the key"


@pytest.mark.parametrize("change", [{"k": 1}, {"m": ["one", "two"]}, {"a": 4}, {"a": True}])
def test_nothing_is_read_where_several_fields_could_be_the_options_or_the_key(change: dict[str, Any]) -> None:
    reading = read_bank(json.dumps([{**one, **change} for one in CHOICES]), name="a.json")
    assert reading.bank.questions == ()


@pytest.mark.parametrize("name", ["stars", "weight", "p"])
def test_a_number_that_may_count_something_else_is_no_key(name: str) -> None:
    data = [{"f": one["f"], "l": one["l"], name: one["a"]} for one in CHOICES]
    assert read_bank(json.dumps(data), name="a.json").bank.questions == ()


def test_an_explanation_answers_the_only_field_with_texts_of_its_own() -> None:
    data = [
        {"kind": "gap", "body": f"The {name} has a ____.", "explanation": f"It is the {name} that has it."}
        for name in THINGS
    ]
    reading = read_bank(json.dumps(data), name="a.json")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        (f"The {name} has a ____.", f"It is the {name} that has it.") for name in THINGS
    ]
    (found,) = reading.findings
    assert found.message == "the field `body` was read as the question, and the explanation as its answer"


@pytest.mark.parametrize(("name", "read"), [("q", True), ("prompt", True), ("text", False), ("title", False)])
def test_questions_alone_are_read_from_a_field_that_may_ask(name: str, read: bool) -> None:
    data = [{"id": at, name: text} for at, text in enumerate(("What is a view?", "Why is it one?", "Name two views."))]
    text = "# from a course\n" + "\n".join(map(json.dumps, data))
    reading = read_bank(text, name="a.jsonl")
    assert [one.prompt for one in reading.bank.questions] == ([one[name] for one in data] if read else [])
    slip = "invalid JSON was read, because it has only one meaning: comments (line 1)"
    assert slip in [one.message for one in reading.findings]


def test_a_program_in_a_field_of_its_own_belongs_to_the_question() -> None:
    rows = [
        {
            "question": "What does this print?",
            "code": f"print({n} + 1)",
            "language": "Python",
            "options": [n, n + 1],
            "answer": n + 1,
        }
        for n in (1, 2)
    ]
    questions = read_bank(json.dumps(rows), name="quiz.json").bank.questions
    assert [one.prompt for one in questions] == [
        f"What does this print?\n\n```python\nprint({n} + 1)\n```" for n in (1, 2)
    ]


@pytest.mark.parametrize("row", [{"code": "Q-17", "options": ["a view", "a copy"]}, {"code": "def f():\n    return 1"}])
def test_a_number_or_a_program_that_answers_is_no_part_of_the_question(row: dict[str, object]) -> None:
    rows = [{"question": f"Write function {n}", "answer": "a view", **row} for n in (1, 2)]
    questions = read_bank(json.dumps(rows), name="quiz.json").bank.questions
    assert [one.prompt for one in questions] == ["Write function 1", "Write function 2"]


def test_the_description_asks_where_a_title_only_names_the_question() -> None:
    rows = [
        {"title": f"Case {n}", "description": f"Which one is {n}?", "options": ["one", "two"], "answer": "one"}
        for n in (1, 2)
    ]
    questions = read_bank(json.dumps(rows), name="quiz.json").bank.questions
    assert [one.prompt for one in questions] == ["Which one is 1?", "Which one is 2?"]
