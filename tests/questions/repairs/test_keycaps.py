"""Numbers that are keycap emoji."""

from __future__ import annotations

import pytest

from questions import read_bank

TOPICS = ("a view", "a leaf", "a hook")
SIGN = "\ufe0f\u20e3"


@pytest.mark.parametrize("number", ["{n}" + SIGN, "{n}\u20e3", "{n}" + SIGN + "."])
def test_keycaps_are_the_numbers_of_headings(number: str) -> None:
    text = "".join(
        f"## {number.format(n=n)} What is {topic}?\n\nIt is {topic}.\n\n" for n, topic in enumerate(TOPICS, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.number, one.prompt) for one in questions] == [
        (str(n), f"What is {topic}?") for n, topic in enumerate(TOPICS, 1)
    ]


def test_a_keycap_of_ten_and_two_keycaps_are_one_number() -> None:
    text = (
        f"## 9{SIGN} What is a view?\n\nOne.\n\n## \U0001f51f What is a leaf?\n\nTwo.\n\n"
        f"## 1{SIGN}1{SIGN} What is a hook?\n\nThree.\n"
    )
    assert [one.number for one in read_bank(text, name="a.md").bank.questions] == ["9", "10", "11"]


@pytest.mark.parametrize(
    "line", [f"Press 1{SIGN} to go on.", f"```\n1{SIGN} of them\n```", f"A row of 1{SIGN}, 2{SIGN} and 3{SIGN}"]
)
def test_other_keycaps_stay_as_they_are(line: str) -> None:
    text = f"## What is a view?\n\n{line}\n"
    assert read_bank(text, name="a.md").source.lines == tuple(text.split("\n"))
