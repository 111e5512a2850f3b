"""Records in the fields of data sets that are published for language models, and of small card files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from questions import read_bank
from questions.model import Question

SHARES, LEAF, STRIDE = "What does a view share?", "What is a leaf of a graph?", "What is a stride of a tensor?"
STORAGE = "A view shares the storage of its base, so that both see a change."


def read(data: Any, name: str = "a.json", codes: tuple[str, ...] = ()) -> tuple[Question, ...]:
    text = data if isinstance(data, str) else json.dumps(data)
    reading = read_bank(text, name=name)
    assert tuple(one.code for one in reading.findings) == codes
    return reading.bank.questions


def options(question: Question) -> str:
    return " | ".join(f"{'*' * option.right}{option.text}" for option in question.options)


def test_an_input_with_scores_of_its_options() -> None:
    first = {"input": SHARES, "target_scores": {"its storage": 1, "its name": 0}}
    second = {"input": LEAF, "target_scores": {"a sum": 0, "a parameter": 1, "an input": 1.0}}
    one, two = read({"name": "a", "examples": [first, second]})
    assert [one.prompt, options(one)] == [SHARES, "*its storage | its name"]
    assert [two.prompt, options(two)] == [LEAF, "a sum | *a parameter | *an input"]


def test_scores_between_right_and_wrong_are_no_key() -> None:
    rows = [{"input": text, "target_scores": {"its storage": 1, "its name": 0.5}} for text in (SHARES, LEAF)]
    for question in read({"examples": rows}, codes=("Q604", "Q604")):
        assert "its name" in question.prompt and not question.answered


@pytest.mark.parametrize("name", ["target", "targets", "ideal"])
def test_an_input_with_its_target(name: str) -> None:
    one, two, three = read(
        [
            {"input": SHARES, name: "its storage"},
            {"input": LEAF, name: ["an input", "a parameter"]},
            {"input": STRIDE, name: 7},
        ]
    )
    assert [one.prompt, one.answer] == [SHARES, "its storage"]
    assert (two.prompt, two.options) == (LEAF, ())
    assert (three.prompt, three.answer) == (STRIDE, "7")


def test_messages_with_an_ideal_answer() -> None:
    rows = [
        {"input": [{"role": "system", "content": "Answer."}, {"role": "user", "content": text}], "ideal": "the storage"}
        for text in (SHARES, LEAF)
    ]
    assert [(one.prompt, one.answer) for one in read("\n".join(map(json.dumps, rows)), "a.jsonl")] == [
        (SHARES, "the storage"),
        (LEAF, "the storage"),
    ]


def test_several_messages_of_the_user_are_no_question() -> None:
    shots = [{"role": "user", "content": text} for text in (SHARES, LEAF)]
    reading = read_bank(json.dumps([{"input": shots, "ideal": "the storage"}] * 3), name="a.json")
    assert reading.bank.questions == ()


def test_an_input_without_a_target_is_no_question() -> None:
    reading = read_bank(json.dumps([{"input": SHARES, "size": 3}, {"input": LEAF, "size": 4}]), name="a.json")
    assert reading.bank.questions == ()


def test_options_beside_labels_under_a_name_of_their_own() -> None:
    rows = [
        {
            "question": text,
            "mc1_targets": {"choices": ["its storage", "its name"], "labels": [1, 0]},
            "mc2_targets": {"choices": ["its storage", "its bytes", "its name"], "labels": [1, 1, 0]},
        }
        for text in (SHARES, LEAF)
    ]
    assert [options(one) for one in read(rows)] == ["*its storage | its name"] * 2


def test_options_of_their_own_win_over_choices_beside_labels() -> None:
    more = {"choices": ["one", "two"], "labels": [1, 0]}
    rows = [{"question": text, "options": ["a", "b"], "answer": "b", "more": more} for text in (SHARES, LEAF)]
    assert [options(one) for one in read(rows)] == ["a | *b"] * 2


def test_wrong_options_in_fields_with_numbers_and_the_right_one_in_words() -> None:
    row = {
        "distractor10": "its size",
        "distractor1": "its name",
        "distractor2": "nothing",
        "correct_answer": "its storage",
    }
    (one,) = read([{"question": SHARES, **row}])
    assert options(one) == "*its storage | its name | nothing | its size"


@pytest.mark.parametrize(
    ("keys", "right"), [((0, 2), ("its storage", "an input")), ((1, 3), ("its storage", "an input"))]
)
def test_options_whose_names_differ_by_the_last_letter(keys: tuple[int, int], right: tuple[str, str]) -> None:
    first = {
        "question": SHARES,
        "opa": "its storage",
        "opb": "its name",
        "opc": "its size",
        "cop": keys[0],
        "exp": STORAGE,
    }
    second = {"question": LEAF, "opa": "a sum", "opb": "a list", "opc": "an input", "cop": keys[1], "exp": None}
    one, two = read([first, second])
    assert [option.text for question in (one, two) for option in question.options if option.right] == list(right)
    assert one.why == STORAGE


def test_experience_that_a_game_gives_explains_nothing() -> None:
    for given in (10, "10"):
        rows = [{"question": text, "answer": "its storage", "exp": given} for text in (SHARES, LEAF)]
        reading = read_bank(json.dumps(rows), name="a.json")
        assert [one.why for one in reading.bank.questions] == ["", ""]


def test_places_that_may_count_from_0_or_1_are_no_key() -> None:
    rows = [{"question": text, "opa": "one", "opb": "two", "opc": "three", "cop": 1} for text in (SHARES, LEAF)]
    assert not any(one.answered for one in read(rows, codes=("Q604", "Q604", "Q606")))


def test_a_sentence_is_completed_by_the_option_of_its_label() -> None:
    endings = ["starts to sing.", "shares its storage.", "falls."]
    rows = [{"ind": at, "ctx": f"The view {at} of a tensor", "endings": endings, "label": at} for at in range(3)]
    for place, one in enumerate(read(rows)):
        assert one.prompt == f"The view {place} of a tensor"
        assert [option.text for option in one.options if option.right] == [endings[place]]


def test_a_goal_is_reached_by_one_of_two_solutions() -> None:
    rows = [{"goal": f"To copy tensor {at}", "sol1": "call clone", "sol2": "call view", "label": at} for at in (0, 1)]
    assert [options(one) for one in read(rows)] == ["*call clone | call view", "call clone | *call view"]


def test_a_sentence_with_two_options_and_its_answer() -> None:
    rows = [
        {"sentence": f"The _ of {at} shares.", "option1": "view", "option2": "copy", "answer": at} for at in ("1", "2")
    ]
    assert [options(one) for one in read(rows)] == ["*view | copy", "view | *copy"]


@pytest.mark.parametrize("label", ["", -1, None, "x"])
def test_a_label_that_is_no_place_is_no_key(label: object) -> None:
    rows = [{"ctx": f"The view {at}", "endings": ["sings", "shares"], "label": label} for at in range(3)]
    assert not any(one.answered for one in read_bank(json.dumps(rows), name="a.json").bank.questions)


@pytest.mark.parametrize("name", ["goal", "sentence", "ctx"])
def test_options_of_a_goal_without_a_key_are_settings(name: str) -> None:
    rows = [{name: f"Run job {at} each night", "options": {"retries": 3, "quiet": "yes"}} for at in range(4)]
    assert read_bank(json.dumps(rows), name="a.json").bank.questions == ()


@pytest.mark.parametrize("name", ["sentence", "text", "ctx"])
def test_texts_with_a_class_each_are_no_questions(name: str) -> None:
    rows = [{name: f"It shares the storage of {at}.", "label": at % 2} for at in range(5)]
    assert read_bank(json.dumps(rows), name="a.json").bank.questions == ()


@pytest.mark.parametrize(
    "text",
    [
        "a ) its name , b ) its storage , c ) nothing",
        "(A) its name (B) its storage (C) nothing",
        "A. its name\nB. its storage\nC. nothing",
    ],
)
def test_lettered_options_in_one_text(text: str) -> None:
    rows = [{"question": asked, "options": text, "correct": "b"} for asked in (SHARES, LEAF)]
    assert [options(one) for one in read(rows)] == ["its name | *its storage | nothing"] * 2


def test_a_text_that_only_mentions_letters_has_no_options() -> None:
    rows = [
        {"question": asked, "options": "the storage (a) or the name (b)", "correct": "b"} for asked in (SHARES, LEAF)
    ]
    reading = read_bank(json.dumps(rows), name="a.json")
    assert not any(one.options or one.answered for one in reading.bank.questions)


def test_answers_with_other_names_for_the_same() -> None:
    row = {"Value": "the storage", "Aliases": ["the storage", "its memory"], "Type": "FreeForm"}
    (one,) = read({"Data": [{"Question": SHARES, "Answer": row}]})
    assert (one.answer or "").startswith("the storage") and "its memory" in (one.answer or "") + (one.why or "")


def test_an_instruction_with_a_text_and_a_response() -> None:
    row = {"instruction": SHARES, "context": STORAGE, "response": "the storage", "category": "closed_qa"}
    (one,) = read([row])
    assert (one.prompt, one.answer) == (f"{STORAGE}\n\n{SHARES}", "the storage")


def test_a_column_with_all_wrong_options_beside_the_best_answer() -> None:
    header = "Question,Best Answer,Correct Answers,Incorrect Answers"
    first, second = "its storage,its storage; its bytes,its name; its size", 'an input,an input,"a sum, or none"'
    rows = f"{header}\n{SHARES},{first}\n{LEAF},{second}"
    assert [options(one) for one in read(rows, "a.csv")] == [
        "*its storage | its name | its size",
        "*an input | a sum, or none",
    ]


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.toml"])
def test_cards_with_fields_of_one_letter(name: str) -> None:
    cards = [{"q": SHARES, "a": "the storage"}, {"q": LEAF, "a": "an input"}]
    toml = "\n".join(f'[[cards]]\nq = "{one["q"]}"\na = "{one["a"]}"' for one in cards)
    found = read(toml if name.endswith("toml") else json.dumps(cards, indent=1), name)
    assert [(one.prompt, one.answer) for one in found] == [(SHARES, "the storage"), (LEAF, "an input")]


def test_a_field_a_beside_b_is_an_option() -> None:
    rows = [{"q": text, "a": "its storage", "b": "its name", "answer": "a"} for text in (SHARES, LEAF)]
    assert [options(one) for one in read(rows)] == ["*its storage | its name"] * 2


def test_fields_a_and_b_without_a_key_are_no_answer() -> None:
    rows = [{"q": text, "a": "its storage", "b": "its name"} for text in (SHARES, LEAF)]
    assert not any(one.answered for one in read_bank(json.dumps(rows), name="a.json").bank.questions)


def test_an_answer_with_its_name_wins_over_one_of_one_letter() -> None:
    rows = [{"q": text, "answer": "its storage", "a": "Ada"} for text in (SHARES, LEAF)]
    assert [one.answer for one in read_bank(json.dumps(rows), name="a.json").bank.questions] == ["its storage"] * 2


def test_a_header_of_letters_for_options() -> None:
    found = read(f"q,a,b,correct\n{SHARES},its name,its storage,B\n{LEAF},an input,a sum,A\n", "a.csv")
    assert [options(one) for one in found] == ["its name | *its storage", "*an input | a sum"]


def test_a_header_of_two_letters() -> None:
    assert [one.prompt for one in read(f"Q,A\n{SHARES},the storage\n{LEAF},an input\n", "a.csv")] == [SHARES, LEAF]


def test_terms_with_their_definitions() -> None:
    rows = [
        {"term": "view", "definition": "A tensor that shares."},
        {"term": "leaf", "definition": "A tensor without."},
    ]
    assert [(one.prompt, one.answer) for one in read(rows)] == [(row["term"], row["definition"]) for row in rows]


def test_numbers_before_all_questions_are_no_part_of_them() -> None:
    asked = [SHARES, LEAF, STRIDE]
    rows = [{"question": f"{number}) {text}", "answer": "its storage"} for number, text in enumerate(asked, 7)]
    assert [one.prompt for one in read(rows)] == asked
    table = "\n".join(["question,answer", *(f"Q{number}. {text},its storage" for number, text in enumerate(asked, 1))])
    assert [one.prompt for one in read(table, "a.csv")] == asked


@pytest.mark.parametrize("numbers", [(1, 2, 4), (3, 2, 1), (2, 2, 2), (1, 2)])
def test_numbers_that_do_not_count_stay(numbers: tuple[int, ...]) -> None:
    asked = [f"{number}. {text}" for number, text in zip(numbers, (SHARES, LEAF, STRIDE), strict=False)]
    assert [one.prompt for one in read([{"question": text, "answer": "its storage"} for text in asked])] == asked


def numbered(key: Any, at: int = 0, texts: tuple[str, ...] = ("storage", "name", "size")) -> dict[str, Any]:
    asked = (SHARES, LEAF, STRIDE)[at]
    return {"question": asked, **{f"option{n}": text for n, text in enumerate(texts, 1)}, "answer": key}


@pytest.mark.parametrize("key", [2, "2", "option2", "Option 2", "name"])
def test_the_number_in_a_field_of_an_option_is_what_the_key_names(key: Any) -> None:
    for question in read([numbered(key), numbered(key, 1)]):
        assert options(question) == "storage | *name | size"


def test_a_key_of_zero_shows_that_keys_are_places_and_no_numbers_of_fields() -> None:
    first, second = read([numbered(0), numbered(1, 1)])
    assert (options(first), options(second)) == ("*storage | name | size", "storage | *name | size")


def test_a_number_that_is_also_the_text_of_another_option_is_that_text() -> None:
    first, second = read([numbered("2", 0, ("3", "1", "2")), numbered("3", 1, ("3", "1", "2"))])
    assert (options(first), options(second)) == ("3 | 1 | *2", "*3 | 1 | 2")


def test_a_gap_with_two_numbered_options_and_the_number_of_the_first() -> None:
    rows = [
        {"sentence": f"The view of {name} shares _ .", "option1": "storage", "option2": "names", "answer": "1"}
        for name in ("x", "y", "z")
    ]
    assert [options(one) for one in read(rows)] == ["*storage | names"] * 3


@pytest.mark.parametrize("generated", ["response", "answer"])
@pytest.mark.parametrize("reference", ["reference", "ground_truth"])
def test_a_reference_is_the_answer_and_not_what_a_model_said(reference: str, generated: str) -> None:
    rows = [{"user_input": text, generated: "no idea", reference: STORAGE, "contexts": []} for text in (SHARES, LEAF)]
    assert [(one.prompt, one.answer) for one in read(rows)] == [(SHARES, STORAGE), (LEAF, STORAGE)]


def test_an_address_is_no_reference() -> None:
    rows = [{"question": text, "answer": STORAGE, "reference": "https://a.example/b"} for text in (SHARES, LEAF)]
    assert [one.answer for one in read(rows)] == [STORAGE, STORAGE]


def test_letters_glued_to_options_are_not_part_of_them() -> None:
    rows = [{"question": text, "options": ["A)21", "B)21.5", "C)22"], "correct": "B"} for text in (SHARES, LEAF)]
    assert [options(one) for one in read(rows)] == ["21 | *21.5 | 22"] * 2
