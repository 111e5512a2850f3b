"""Key points are the answer's own words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from questions.keypoints import key_points_of


def test_the_items_of_lists_come_first() -> None:
    answer = "Two **kinds**:\n\n- a view,\n  which shares\n  - nested\n- a copy\n\n1. more\n"
    assert key_points_of(answer) == ("a view, which shares", "a copy", "more")


def test_without_lists_the_sentences_with_emphasis() -> None:
    answer = "A tensor is an array. It has a **dtype**, e.g. `int8`. It lives\non a **device**. Done.\n"
    assert key_points_of(answer) == ("It has a **dtype**, e.g. `int8`.", "It lives on a **device**.")


def test_without_emphasis_the_first_sentence_of_each_paragraph() -> None:
    assert key_points_of("One is so. Two.\n\nThree is so. Four.\n\n```\nx\n```") == ("One is so.", "Three is so.")


def test_points_are_few_and_different() -> None:
    assert key_points_of("\n".join(f"- {number}" for number in range(20))) == tuple("01234567")
    assert key_points_of("- a\n- a\n") == ("a",)
    assert key_points_of("```\nx\n```") == ()
    assert key_points_of("") == ()


@given(st.lists(st.sampled_from(["- a **b**.", "c. D", "", "  e", "1. f", "```"]), max_size=12).map("\n".join))
def test_nothing_is_invented(answer: str) -> None:
    said = " ".join(answer.split())
    assert all(point in said for point in key_points_of(answer))
