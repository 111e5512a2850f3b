"""Data whose fields have no known name for questions: the only text of its own in each record asks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank
from tests.calls import calls_of
from tests.questions.formats.readings import read_as

NUMBERS = ("one", "two", "three")
ASKED = [f"This call number {number} copies it" for number in NUMBERS]


def read(records: list[dict[str, Any]]) -> list[str]:
    return read_as("a.json", json.dumps(records))


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"choices": ["view", "clone"], "answerIndex": 1}, "- view | + clone"),
        ({"options": ["view", "clone"], "correct": "clone"}, "- view | + clone"),
        ({"incorrect": ["view", "slice"], "correct": "clone"}, "+ clone | - view | - slice"),
    ],
)
def test_a_text_of_its_own_beside_options_and_a_key_asks(fields: dict[str, Any], options: str) -> None:
    found = read([{"clue": asked, **fields} for asked in ASKED])
    assert found == [f"{asked} | {options}" for asked in ASKED]


@pytest.mark.parametrize(
    "records",
    [
        [{"clue": asked, "choices": ["view", "clone"], "answerIndex": 1} for asked in ASKED[:2]],  # too few
        [{"clue": f"call {number}", "choices": ["view", "clone"], "answerIndex": 1} for number in NUMBERS],  # no words
        [{"clue": ASKED[0], "choices": ["view", "clone"], "answerIndex": 1} for _ in NUMBERS],  # the same text
        [{"clue": asked, "other": f"And {asked}", "choices": ["a", "b"], "answerIndex": 1} for asked in ASKED],  # two
        [{"clue": asked, "choices": ["view", "clone"]} for asked in ASKED],  # no key
        [{"clue": asked, "answerIndex": 1} for asked in ASKED],  # no options
    ],
)
def test_other_fields_ask_nothing(records: list[dict[str, Any]]) -> None:
    assert read(records) == []


def test_in_scripts_without_spaces_four_characters_are_a_word() -> None:
    asked = [f"この呼び出しはどれを複製{number}しますか" for number in NUMBERS]
    assert len(read([{"clue": one, "choices": ["view", "clone"], "answerIndex": 1} for one in asked])) == 3
    short = [f"どれ{number}" for number in "一二三"]
    assert read([{"clue": one, "choices": ["view", "clone"], "answerIndex": 1} for one in short]) == []


def keyed(*keys: Any, name: str = "loesungstext", **more: Any) -> list[str]:
    """Returns what is read of questions with the options view, clone and slice, and these keys."""
    options = ["view", "clone", "slice"]
    return read(
        [
            {"question": f"{asked}?", "options": options, name: key, **more}
            for asked, key in zip(ASKED, keys, strict=True)
        ]
    )


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["clone", "view", "slice"], ["- view | + clone | - slice", "+ view | - clone | - slice"]),
        ([["clone", "view"], ["slice"], ["view"]], ["+ view | + clone | - slice", "- view | - clone | + slice"]),
    ],
)
def test_the_only_field_that_names_options_is_the_key(keys: list[Any], options: list[str]) -> None:
    found = keyed(*keys)
    assert found[:2] == [f"{asked}? | {one}" for asked, one in zip(ASKED, options, strict=False)]


@pytest.mark.parametrize(
    ("name", "keys", "more"),
    [
        ("loesungstext", ["clone", "view", "roll"], {}),  # one names none
        ("loesungstext", ["clone", "view", "slice"], {"zweitens": "view"}),  # two name options
        ("my choice", ["clone", "view", "slice"], {}),  # what somebody answered
        ("stichworte", [["view", "clone", "slice"]] * 3, {}),  # all options
        ("punkte", [1, 2, 3], {}),  # a number could be anything
    ],
)
def test_other_fields_are_no_key(name: str, keys: list[Any], more: dict[str, Any]) -> None:
    assert not any("+ " in one for one in keyed(*keys, name=name, **more))


@pytest.mark.parametrize("name", ["dogru_cevap_indeksi", "correctAnswerIdx", "resposta_correta_indice"])
def test_a_word_for_the_right_answer_with_one_for_an_index_is_an_index(name: str) -> None:
    assert keyed(0, 1, 1, name=name)[0] == f"{ASKED[0]}? | + view | - clone | - slice"


@pytest.mark.parametrize("name", ["seite_index", "kapitel_indeksi", "question index"])
def test_an_index_of_something_else_is_no_key(name: str) -> None:
    assert not any("+ " in one for one in keyed(0, 1, 1, name=name))


def test_two_questions_do_not_show_which_field_is_the_key() -> None:
    found = read([{"question": f"{asked}?", "options": ["view", "clone"], "x": "clone"} for asked in ASKED[:2]])
    assert not any("+ " in one for one in found)


CODES = ("uryyb", "ivrj", "pbcl", "fgevqr")


def coded(**fields: str) -> list[dict[str, Any]]:
    return [
        {"question": "Decode this.", "code": code, "answer": f"word {number}", **fields}
        for number, code in enumerate(CODES)
    ]


def test_a_field_that_tells_apart_questions_that_repeat_is_part_of_them() -> None:
    found = read(coded(place="here"))
    assert [one.replace("\n", " ").split(" | ")[0] for one in found] == [f"Decode this.  {code}" for code in CODES]


@pytest.mark.parametrize(
    "records",
    [
        [{**one, "question": f"Decode number {number}."} for number, one in enumerate(coded())],  # they differ
        [{**one, "code": "uryyb"} for one in coded()],  # it repeats too
        [{**one, "code": f"It is {one['answer']}."} for one in coded()],  # it answers
        [{**one, "other": one["code"]} for one in coded()],  # two
        [{"question": one["question"], "answer": one["answer"], "id": one["code"]} for one in coded()],  # a name
    ],
)
def test_other_fields_are_no_part_of_a_question(records: list[dict[str, Any]]) -> None:
    assert not any("\n" in one.split(" | ")[0] for one in read(records))


def test_questions_by_place_may_have_options_by_label() -> None:
    options = {"1": "2", "2": "a view", "3": "1"}
    found = read([[asked, options, [1, 3]] for asked in ASKED])  # type: ignore[misc]
    assert found == [f"{asked} | + 2 | - a view | + 1" for asked in ASKED]


@pytest.mark.parametrize(
    "record", [["a", {"1": "x", "2": "y"}, [3]], ["a", {"1": "x"}, [1]], ["a", {"1": 2, "2": 3}, 1]]
)
def test_other_lists_with_mappings_are_no_questions(record: list[Any]) -> None:
    assert read_as("a.json", json.dumps([record] * 3)) == []


@pytest.mark.parametrize(
    ("options", "key", "found"),
    [
        # Letters, in a field of their own, are found whatever surrounds them and whatever their case is.
        ([{"mark": " A ", "wording": "view"}, {"mark": "B", "wording": "clone"}], "b", "- view | + clone"),
        # A field with the same letter in all options has not their letters.
        ([{"set": "A", "wording": "view"}, {"set": "A", "wording": "clone"}], "clone", "- view | + clone"),
        # A number can be a text; what is true or false is none.
        (
            [{"mark": "A", "wording": 2, "seen": True}, {"mark": "B", "wording": 3, "seen": False}],
            "A",
            "+ 2 | - 3",
        ),
    ],
)
def test_the_only_other_field_of_options_has_their_texts(options: list[dict[str, Any]], key: str, found: str) -> None:
    assert read([{"question": "Which one is it?", "options": options, "answer": key}]) == [
        f"Which one is it? | {found}"
    ]


def test_options_may_be_pairs_of_a_text_and_a_flag() -> None:
    offered = {"a1": ["a list", 0], "a2": ["a view", 1]}
    data = {f"q{at}": {"Q": f"What is it, {at}?", "answers": offered, "answer": "a view"} for at in range(3)}
    questions = read_bank(json.dumps(data, indent=1), name="a.json").bank.questions
    assert [[(one.text, one.right) for one in question.options] for question in questions] == [
        [("a list", False), ("a view", True)]
    ] * 3


def collection(count: int, twice: int = 0) -> dict[str, Any]:
    asked = [f"This call number {n} copies it" for n in range(count - twice)]
    fields = {"topic": "copies", "choices": ["view", "clone", "leaf"]}
    entries = [
        {"clue": clue, **fields, "answer": n % len(asked) % 3} for n, clue in enumerate([*asked, *asked[:twice]])
    ]
    return {"topics": ["copies"], "clues": entries}


def test_a_few_questions_of_a_large_collection_may_be_the_same() -> None:
    reading = read_bank(json.dumps(collection(40, twice=3), indent=1), name="a.json")
    assert len(reading.bank.questions) == 40
    assert all(one.answered for one in reading.bank.questions)
    assert {one.code for one in reading.findings} == {"Q302"}


@pytest.mark.parametrize(("count", "twice"), [(12, 1), (40, 15)])
def test_a_text_that_often_repeats_does_not_ask(count: int, twice: int) -> None:
    assert read_bank(json.dumps(collection(count, twice)), name="a.json").bank.questions == ()


def test_the_work_grows_with_the_number_of_records() -> None:
    few, many = (json.dumps(collection(count)) for count in (40, 160))
    once = calls_of(lambda: read_bank(few, name="a.json"))
    assert calls_of(lambda: read_bank(many, name="a.json")) < once * 8
