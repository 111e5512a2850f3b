"""Texts with gaps whose answers are in them, as Moodle writes them, in Moodle XML and in GIFT."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import all_asked, messages


def moodle(text: str) -> str:
    question = (
        f'<question type="cloze"><questiontext format="html"><text><![CDATA[{text}]]></text></questiontext></question>'
    )
    return f"<quiz>\n{question}\n</quiz>"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "<p>A view {1:MC:copies~=shares#Yes.} memory.</p>",
            "A view \\_\\_\\_\\_\\_ memory. | - copies | + shares",
        ),
        (
            "<p>A {1:SA:=view~%100%alias} shares.</p>",
            "A \\_\\_\\_\\_\\_ shares. | = view\n\nAlso accepted: alias",
        ),
        ("<p>One and one: {2:NUMERICAL:=2}</p>", "One and one: \\_\\_\\_\\_\\_ | = 2"),
        (
            "<p>A view {1:MCV:copies~=shares}, a clone {1:SA:=copies}.</p>",
            "A view \\_\\_\\_\\_\\_ (copies / shares), a clone \\_\\_\\_\\_\\_. | = 1. shares\n2. copies",
        ),
        (r"<p>A brace {:SHORTANSWER:=\}} closes.</p>", "A brace \\_\\_\\_\\_\\_ closes. | = }"),
    ],
)
def test_gaps_are_filled_by_the_answers_in_them(text: str, wanted: str) -> None:
    reading = read_bank(moodle(text), name="a.xml")
    assert all_asked(reading) == [wanted]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<p>A {1:MC:view~clone} shares.</p>", "Q603 a gap has no right answer"),
        ("<p>No gap.</p>", "Q603 the text has no gap with an answer"),
        ("{1:SA:=view}", "Q603 a text of nothing but gaps asks nothing"),
    ],
)
def test_other_texts_are_named(text: str, said: str) -> None:
    reading = read_bank(moodle(text), name="a.xml")
    assert reading.bank.questions == () and messages(reading) == [said]


def test_gift_with_gaps_of_moodle_shows_no_answer_in_the_question() -> None:
    text = "::Gaps::A view {1:MC:copies~=shares}, a clone {1:SA:=copies}.\n\n::Next::One? {=1 ~2}\n"
    reading = read_bank(text, name="a.gift")
    assert all_asked(reading) == [
        "A view \\_\\_\\_\\_\\_ (copies / shares), a clone \\_\\_\\_\\_\\_. | = 1. shares\n2. copies",
        "One? | + 1 | - 2",
    ]


def test_gift_with_several_answers_in_one_text_fills_all_of_its_gaps() -> None:
    text = "::Gaps::A {=view =alias} shares memory, a {~view =clone} copies it.\n\n::Next::One? {=1 ~2}\n"
    assert all_asked(read_bank(text, name="a.gift"))[0] == (
        "A \\_\\_\\_\\_\\_ shares memory, a \\_\\_\\_\\_\\_ (view / clone) copies it. | = 1. view / alias\n2. clone"
    )
