"""Tables of statements with a column that says which are true."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as

COPIES, SHARES = "Broadcasting copies data", "A view shares memory"


@pytest.mark.parametrize(
    ("header", "rows", "why"),
    [
        ("Statement | True?", ("{} | No", "{} | Yes"), ""),
        (
            "# | Statement | True/False | Why",
            ("1 | {} | **False** | It sets strides.", "2 | {} | True |"),
            "It sets strides.",
        ),
        ("Claim | T/F", ("{} | F", "{} | T"), ""),
        ("Statement | Correct? | Explanation", ("{} | ❌ | It sets strides.", "{} | ✅ | "), "It sets strides."),
        ("Statement | True | False", ("{} | | x", "{} | x | "), ""),
        ("Statement | Answer", ("{} | False", "{} | True"), ""),
    ],
)
def test_rows_are_true_or_false(header: str, rows: tuple[str, str], why: str) -> None:
    first, second = (row.format(said) for row, said in zip(rows, (COPIES, SHARES), strict=True))
    rule = "|".join("---" for _ in header.split("|"))
    told = f" | why {why}" if why else ""
    assert read_as("quiz.md", f"# Quiz\n\n| {header} |\n|{rule}|\n| {first} |\n| {second} |\n") == [
        f"{COPIES} | - True | + False{told}",
        f"{SHARES} | + True | - False",
    ]


def test_words_of_another_language_are_the_options() -> None:
    text = f"| Aussage | Wahr/Falsch |\n|---|---|\n| {COPIES} | falsch |\n| {SHARES} | wahr |\n"
    assert read_as("quiz.md", text) == [f"{COPIES} | - Wahr | + Falsch", f"{SHARES} | + Wahr | - Falsch"]


def test_a_row_that_does_not_say_is_kept_unanswered() -> None:
    reading = read_bank(f"| Statement | True? |\n|---|---|\n| {COPIES} | |\n| {SHARES} | Yes |\n", name="quiz.md")
    assert [(one.prompt, one.answered) for one in reading.bank.questions] == [(COPIES, False), (SHARES, True)]
    assert [(one.span.line, one.code) for one in reading.findings] == [(3, "Q101")]


@pytest.mark.parametrize(
    "text",
    [
        "| Statement | Answer |\n|---|---|\n| SELECT | reads rows |\n| INSERT | adds rows |\n",
        "| Statement | True | False |\n|---|---|---|\n| a loop | x | x |\n| a branch | x | |\n",
        "| Feature | True? |\n|---|---|\n| views | yes |\n| copies | no |\n",
    ],
)
def test_other_tables_are_no_questions(text: str) -> None:
    assert read_as("notes.md", text) == []
