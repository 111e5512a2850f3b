"""Questions with options and a key among labeled ones whose own label was forgotten."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank

OPTIONS = "A. a copy\nB. a view\nC. a leaf\n\n"


def labeled(topic: str, key: str = "A") -> str:
    return f"Question: What does {topic} give?\n{OPTIONS}Answer: {key}\n\n"


def quiz(*parts: str) -> Reading:
    reading = read_bank("".join(parts), name="a.md")
    assert reading.unaccounted() == ()
    return reading


def right(reading: Reading) -> list[tuple[str, list[str]]]:
    return [
        (one.prompt.removesuffix("?"), [option.text for option in one.options if option.right])
        for one in reading.bank.questions
    ]


def test_lettered_options_and_a_key_are_a_question_of_their_own() -> None:
    reading = quiz(
        labeled("`clone`"),
        f"Which method shares the storage?\n\n{OPTIONS}Answer: B\nIt copies nothing.\n\n",
        labeled("`detach`", "C"),
        labeled("`view`", "B"),
    )
    assert right(reading) == [
        ("What does `clone` give", ["a copy"]),
        ("Which method shares the storage", ["a view"]),
        ("What does `detach` give", ["a leaf"]),
        ("What does `view` give", ["a view"]),
    ]


def test_bullets_and_the_text_of_one_are_a_question_of_their_own() -> None:
    listed = "Which method shares the storage?\n- clone\n- view\n- leaf\n\nAnswer:\n- view\n\nIt copies nothing.\n\n"
    gap = "A tensor without a graph is a ____\n- clone\n- view\n- leaf\n\nAnswer:\n- leaf\n\n"
    reading = quiz(labeled("`clone`"), labeled("`detach`", "C"), listed, gap)
    assert right(reading)[2:] == [
        ("Which method shares the storage", ["view"]),
        ("A tensor without a graph is a ____", ["leaf"]),
    ]


@pytest.mark.parametrize(
    "inside",
    [
        f"Which method shares the storage?\n\n{OPTIONS}",  # no key
        "Which method shares the storage? A view does.\n\n",  # no options
    ],
)
def test_what_has_no_key_of_its_own_stays_in_the_answer(inside: str) -> None:
    reading = quiz(labeled("`clone`"), inside, labeled("`detach`", "C"), labeled("`view`", "B"))
    assert len(reading.bank.questions) == 3
