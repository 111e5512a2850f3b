"""Cells of tables that hold options: several in one cell, labels in them, and words that stand for no option."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.formats.tables.option_cells import parts_of, without_labels, without_letters, without_placeholders
from tests.questions.formats.readings import read_as

ASKED = ("What does `cat` join?", "What does `view` share?", "What does `sum` add up?")


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("a;b;c", ["a", "b", "c"]),
        ("&&;and;||", ["&&", "and", "||"]),  # a bar that parts nothing else does not hide the semicolons
        ("a|b;c", ["a", "b;c"]),
        ("a, b", ["a", "b"]),
        ("one", ["one"]),
        ("", []),
    ],
)
def test_the_clearest_mark_parts_a_cell(cell: str, parts: list[str]) -> None:
    assert parts_of(cell) == parts


@pytest.mark.parametrize(
    ("texts", "bare"),
    [
        (["a: one", "b: two"], ["one", "two"]),
        (["A : one", "B : two", "C : 3"], ["one", "two", "3"]),
        (["b: one", "a: two"], ["b: one", "a: two"]),  # do not go on from A
        (["x: one", "y: two"], ["x: one", "y: two"]),  # names of variables
        (["a: one", "two"], ["a: one", "two"]),
        (["a:b", "b:c"], ["a:b", "b:c"]),
        (["a: one"], ["a: one"]),
        (["A) one", "B) two"], ["one", "two"]),
    ],
)
def test_letters_before_colons_are_labels_where_they_go_on(texts: list[str], bare: list[str]) -> None:
    assert without_labels(texts) == bare


def test_words_for_no_option_are_left_out() -> None:
    rows = [f"{asked},view,clone,N/A,{key}\n" for asked, key in zip(ASKED, "ABA", strict=True)]
    table = "question,A,B,C,answer\n" + "".join(rows)
    assert read_as("a.csv", table)[0] == f"{ASKED[0]} | + view | - clone"


@pytest.mark.parametrize(
    "rows",
    [
        [({0: "a", 1: "b", 2: "N/A"}, "A"), ({0: "a", 1: "b", 2: "c"}, "A")],  # once only
        [({0: "a", 1: "b", 2: "N/A"}, "C"), ({0: "a", 1: "b", 2: "N/A"}, "A")],  # named by a key
        [({0: "a", 1: "b", 2: "N/A"}, "3"), ({0: "a", 1: "b", 2: "N/A"}, "1")],
        [({0: "a", 1: "b", 2: "N/A"}, "n/a"), ({0: "a", 1: "b", 2: "N/A"}, "a")],
        [({0: "a", 1: "N/A", 2: "b"}, "A"), ({0: "a", 1: "N/A", 2: "b"}, "A")],  # between options
        [({0: "a", 1: "N/A"}, "A"), ({0: "a", 1: "N/A"}, "A")],  # one option would be left
        [({0: "a", 1: "b", 2: "None"}, "A"), ({0: "a", 1: "b", 2: "None"}, "A")],
    ],
)
def test_options_stay(rows: list[tuple[dict[int, str], str]]) -> None:
    assert without_placeholders(rows) == [options for options, _ in rows]


def table(cells: list[str], keys: list[str], name: str = "Sagot", more: str = "") -> str:
    lines = [f'Easy,{asked},"{cell}",{key}{more}\n' for asked, cell, key in zip(ASKED, cells, keys, strict=True)]
    return f"Difficulty,Question,Mga pili,{name}{more and ',Iba'}\n" + "".join(lines)


def test_a_column_that_repeats_a_part_of_another_is_the_key() -> None:
    found = read_as("a.csv", table(["view;clone", "3;4.0", "&&;and;||"], ["clone", "4.0", "and"]))
    assert [one.partition(" | ")[2] for one in found] == ["- view | + clone", "- 3 | + 4.0", "- && | + and | - ||"]


@pytest.mark.parametrize(
    ("cells", "keys", "more"),
    [
        (["view;clone", "3;4", "a;b"], ["x", "4", "b"], ""),  # one names no part
        (["view,clone", "3,4", "a,b"], ["view", "4", "b"], ""),  # commas are in any sentence
        (["view;clone", "3;4", "a"], ["clone", "4", "a"], ""),
    ],
)
def test_other_columns_are_no_options_and_no_key(cells: list[str], keys: list[str], more: str) -> None:
    assert not any("+ " in one for one in read_as("a.csv", table(cells, keys, more=more)))


def test_rows_with_many_parts_take_linear_time() -> None:
    """In quadratic time it would not end before the limit of a test."""
    many = 2_500_000
    assert len(without_labels(parts_of("x;" * many))) == many
    assert [len(part) for part in parts_of("a: x;" + "x;" * many + "b: y")] == [len("a: x") + many * len("; x"), 4]
    assert len(without_placeholders([({0: "a", 1: "b", 2: "-" * many}, "A" * many)] * 3)) == 3


@pytest.mark.parametrize("form", ["{}. ", "{}) ", "({}) ", "({})"])
@pytest.mark.parametrize("letters", ["ABC", "abc"])
def test_letters_of_options_that_go_on_from_a_are_left_out(form: str, letters: str) -> None:
    texts = ["view", "clone", "both"]
    lettered = [form.format(letter) + text for letter, text in zip(letters, texts, strict=True)]
    assert without_letters(lettered) == texts
    answers = (
        f'<answer fraction="{100 * (text == texts[1])}"><text>{shown}</text></answer>'
        for text, shown in zip(texts, lettered, strict=True)
    )
    asked = "<questiontext><text>Which copies?</text></questiontext>"
    quiz = f'<quiz><question type="multichoice">{asked}{"".join(answers)}</question></quiz>'
    assert read_as("a.xml", quiz)[0] == "Which copies? | - view | + clone | - both"


@pytest.mark.parametrize(
    "texts",
    [
        ["A. view", "B. clone", "C. A and B"],
        ["A. view", "C. clone", "B. both"],
        ["A. view", "B) clone"],
        ["A. view", "clone"],
        ["A. view"],
        ["B. view", "C. clone"],
    ],
)
def test_other_letters_are_part_of_the_options(texts: list[str]) -> None:
    assert without_letters(texts) == texts


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("a:one,b:two, or so,c:three", ["a:one", "b:two, or so", "c:three"]),
        ("a) It adds; b) It copies, so to say; c) None", ["a) It adds", "b) It copies, so to say", "c) None"]),
        ("a: Go; the way is free,b: Wait,c: Turn", ["a: Go; the way is free", "b: Wait", "c: Turn"]),
        ("b: two, a: one, c: three", ["a: one", "b: two", "c: three"]),
        ("one, two; or so", ["one, two", "or so"]),
        ("b: two, c: three", ["b: two", "c: three"]),
        ("a: one, a: two", ["a: one", "a: two"]),
        ("one", ["one"]),
        ("", []),
    ],
)
def test_letters_before_options_part_a_cell(cell: str, parts: list[str]) -> None:
    assert parts_of(cell) == parts


def test_a_key_names_the_letter_before_an_option_in_whatever_order_they_are() -> None:
    rows = ['Which copies?,"b: view, a: clone, c: slice",a', 'Which adds?,"a: cat, b: add, c: div",b']
    first, second = read_bank("\n".join(["question,options,answer", *rows]), name="a.csv").bank.questions
    assert [one.text for one in (*first.options, *second.options) if one.right] == ["clone", "add"]
