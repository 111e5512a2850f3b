"""Folds with only a question's number, numbers of all questions behind it, and marks before numbers of statements."""

from __future__ import annotations

from questions import read_bank
from tests.questions.formats.readings import read_as

FOLD = (
    "<details>\n<summary>Question {n}</summary>\n\nWhich call {what}?\n\nA) clone\nB) view\nC) expand\n\n"
    "**Answer:** {key}\n\n</details>\n\n"
)


def test_folds_with_only_the_number_of_a_question_hold_it() -> None:
    text = "# Views\n\n" + FOLD.format(n=1, what="copies", key="A") + FOLD.format(n=2, what="shares", key="B")
    assert read_as("quiz.md", text) == [
        "Which call copies? | + clone | - view | - expand",
        "Which call shares? | - clone | + view | - expand",
    ]


def test_folds_within_folds_of_questions_hide_the_answer() -> None:
    fold = (
        "<details><summary><b>Question {n}</b></summary>\n\n{asks}\n\n<details>\n<summary>Answer</summary>\n\n"
        "{answer}\n\n</details>\n\n</details>\n\n"
    )
    text = fold.format(n=1, asks="What does a view share?", answer="Its memory.") + fold.format(
        n=2, asks="What does a clone own?", answer="A copy of it."
    )
    assert read_as("quiz.md", text) == [
        "What does a view share? | = Its memory.",
        "What does a clone own? | = A copy of it.",
    ]


def test_a_single_fold_with_a_number_stays_as_it_is() -> None:
    reading = read_bank("# Views\n\n" + FOLD.format(n=1, what="copies", key="A"), name="quiz.md")
    assert "<summary>Question 1</summary>" in reading.source.lines


def test_the_number_of_all_questions_is_no_part_of_one() -> None:
    block = "**Question #{n} (of 16)**\n\nWhich call {what}?\n\nA. clone\nB. view\nC. expand\n\n**Answer: {key}**\n\n"
    text = "# Views\n\n" + block.format(n=1, what="copies", key="A") + block.format(n=2, what="shares", key="B")
    assert read_as("quiz.md", text) == [
        "Which call copies? | + clone | - view | - expand",
        "Which call shares? | - clone | + view | - expand",
    ]


def test_marks_before_the_numbers_of_statements_say_whether_they_are_true() -> None:
    text = "判断题\n\n（√）1. 视图共享内存。\n\n（×）2. 克隆共享内存。\n\n（√）3. 扩展不复制数据。\n"
    assert read_as("exam.md", text) == [
        "视图共享内存。 | + 对 | - 错",
        "克隆共享内存。 | - 对 | + 错",
        "扩展不复制数据。 | + 对 | - 错",
    ]
