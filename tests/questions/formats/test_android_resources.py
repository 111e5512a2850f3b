"""Questions in the resources of apps for Android."""

from __future__ import annotations

from questions import read_bank
from tests.questions.formats.readings import read_as

COLUMNS = """<?xml version="1.0" encoding="utf-8"?>
<resources>
    <string-array name="questions"><item>Which shares memory?</item><item>Which one\\'s a copy?</item>
        <item>Which adds?</item></string-array>
    <string-array name="option_a"><item>a view</item><item>a view</item><item>sum</item></string-array>
    <string-array name="option_b"><item>a clone</item><item>a clone</item><item>cat</item></string-array>
    <string-array name="answers"><item>a view</item><item>a clone</item><item>sum</item></string-array>
</resources>
"""
NUMBERED = """<resources>
    <string name="app_name">Tensors</string>
    <string name="question1">A view shares memory.</string>
    <string name="hint1">Look at its strides.</string>
    <bool name="answer1">true</bool>
    <string name="question2">A clone is a view.</string>
    <bool name="answer2">false</bool>
</resources>
"""


def test_arrays_are_columns() -> None:
    assert read_as("questions.xml", COLUMNS) == [
        "Which shares memory? | + a view | - a clone",
        "Which one's a copy? | - a view | + a clone",
        "Which adds? | + sum | - cat",
    ]


def test_values_with_the_same_number_are_a_question() -> None:
    assert read_as("questions.xml", NUMBERED) == [
        "A view shares memory. | + True | - False",
        "A clone is a view. | - True | + False",
    ]


def test_an_array_of_questions_alone_is_read_without_answers() -> None:
    items = "".join(f"<item>{at}. What is a tensor of order {at}?</item>" for at in range(1, 7))
    text = f'<resources><string-array name="radio_questions">{items}</string-array></resources>'
    assert read_as("questions.xml", text)[0] == "What is a tensor of order 1?"


def test_texts_of_an_app_are_no_questions() -> None:
    strings = "".join(f'<string name="label{at}">Do you want to save tensor {at}?</string>' for at in range(9))
    assert not read_bank(f"<resources>{strings}</resources>", name="strings.xml").bank.questions
