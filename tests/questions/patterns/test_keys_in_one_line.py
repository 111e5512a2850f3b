"""Keys of several questions in one line, with and without numbers."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.reader import Reading

ASKED = (
    "1. Which call returns a view?\n   A) `x.clone()`\n   B) `x.view(-1)`",
    "2. Which call copies?\n   A) `x.clone()`\n   B) `x.t()`",
    "3. Which one adds in place?\n   A) `x.add_(1)`\n   B) `x + 1`",
)
RIGHT = ["`x.view(-1)`", "`x.clone()`", "`x.add_(1)`"]


def read(questions: int, line: str, more: str = "") -> Reading:
    asked = "\n".join(ASKED[:questions])
    return read_bank(f"# Tensor quiz\n\n{asked}\n\n{line}\n{more}", name="quiz.md")


def right(reading: Reading) -> list[list[str]]:
    return [[option.text for option in one.options if option.right] for one in reading.bank.questions]


@pytest.mark.parametrize("line", ["Answers: 1-B, 2-A", "**Answers:** 1B 2A", "Answer key: 1) B; 2) A"])
@pytest.mark.parametrize("mark", ["", "## "])
def test_keys_of_two_questions_are_not_the_answer_to_the_last(line: str, mark: str) -> None:
    reading = read(2, mark + line)
    assert right(reading) == [[one] for one in RIGHT[:2]]
    assert reading.unaccounted() == ()


@pytest.mark.parametrize("line", ["Answers: B, A, A", "Answers: BAA", "Answer key: b a a", "## Answers: B, A, A"])
def test_keys_without_numbers_are_in_the_order_of_the_questions(line: str) -> None:
    reading = read(3, line)
    assert right(reading) == [[one] for one in RIGHT]
    assert reading.findings == ()


def test_keys_in_ascending_order_are_those_of_one_question() -> None:
    reading = read(1, "Answers: A, B")
    assert right(reading) == [["`x.clone()`", "`x.view(-1)`"]]


def test_keys_of_one_question_may_be_in_any_order() -> None:
    """Each of the questions before has a key of its own."""
    text = "\n\n".join(f"## {one}\n\nAnswer: {key}" for one, key in zip(ASKED, ("B", "A"), strict=False))
    last = "\n\n## 3. Which two share memory?\n\nA) `x.t()`\nB) `x.clone()`\nC) `x[0]`\n\nAnswers: C, A\n"
    assert right(read_bank(f"# Tensor quiz\n\n{text}{last}", name="quiz.md")) == [
        ["`x.view(-1)`"],
        ["`x.clone()`"],
        ["`x.t()`", "`x[0]`"],
    ]


def test_more_or_fewer_keys_than_questions_are_given_to_nobody() -> None:
    reading = read(3, "Answers: B, A, A, B")
    assert right(reading) == [[], [], []]
    (finding,) = (one for one in reading.findings if one.code == "Q109")
    assert finding.note == "4 keys without numbers, and 3 questions with options above them; the key was not used"


def test_two_keys_below_a_question_that_is_explained_are_its_own() -> None:
    reading = read(2, "Answers: B, A", "\nBoth share memory.\n")
    assert right(reading)[0] == []


def test_each_part_of_a_document_may_have_its_line_of_keys() -> None:
    part = "\n".join(ASKED)
    text = f"# Tensor quiz\n\n## Part 1\n\n{part}\n\nAnswers: B, A, A\n\n## Part 2\n\n{part}\n\nAnswers: A, B, B\n"
    wrong = ["`x.clone()`", "`x.t()`", "`x + 1`"]
    assert right(read_bank(text, name="quiz.md")) == [[one] for one in (*RIGHT, *wrong)]


def test_keys_without_numbers_are_given_to_nobody_where_a_question_has_its_own() -> None:
    reading = read_bank(
        f"# Tensor quiz\n\n{ASKED[0]}\n\nAnswer: A\n\n{ASKED[1]}\n{ASKED[2]}\n\nAnswers: B, A, A\n", name="quiz.md"
    )
    assert right(reading) == [["`x.clone()`"], [], []]
    assert "Q109" in [one.code for one in reading.findings]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("CA", ["`x.t()`", "`x[0]`"]),
        ("AC", ["`x.t()`", "`x[0]`"]),
        ("CAD", []),  # there is no such option
        ("CAC", []),
    ],
)
def test_letters_of_one_question_without_marks_between_them_may_be_in_any_order(key: str, expected: list[str]) -> None:
    options = "A) `x.t()`\nB) `x.clone()`\nC) `x[0]`"
    asked = f"1. Which two share memory?\n{options}\nAnswers: {key}\n\n2. Which one copies?\n{options}\nAnswer: B\n"
    assert right(read_bank(asked, name="quiz.md")) == [expected, ["`x.clone()`"]]


def test_letters_that_are_the_text_of_an_option_name_it() -> None:
    asked = "".join(
        f"{n}. Which word is hidden?\nA) CAB\nB) BAD\nC) ACE\nD) DAB\nAnswer: {word}\n\n"
        for n, word in enumerate(("BAD", "DAB"), 1)
    )
    assert right(read_bank(asked, name="quiz.md")) == [["BAD"], ["DAB"]]
