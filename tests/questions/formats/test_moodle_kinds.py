"""Kinds of questions of Moodle's plugins: orders, gaps with a list of words, statements, and tasks for programmers."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import all_asked, messages


def quiz(kind: str, asked: str, inner: str) -> str:
    text = f'<questiontext format="html"><text>{asked}</text></questiontext>'
    return f'<quiz>\n<question type="{kind}">{text}\n{inner}</question>\n</quiz>'


def answer(text: str, fraction: int = 0) -> str:
    return f'<answer fraction="{fraction}"><text>{text}</text></answer>'


WORDS = "".join(
    f"<selectoption><text>{word}</text><group>{group}</group></selectoption>\n"
    for word, group in (("view", 1), ("shares", 2), ("clone", 1))
)
ROWS = "".join(
    f'<row number="{number}"><optiontext format="html"><text>{text}</text></optiontext></row>\n'
    for number, text in ((1, "A view shares."), (2, "A view copies."))
)
COLUMNS = "".join(
    f'<column number="{number}"><responsetext><text>{text}</text></responsetext></column>\n'
    for number, text in ((1, "True"), (2, "False"))
)


def weights(*right: tuple[int, int]) -> str:
    return "".join(
        f'<weight rownumber="{row}" columnnumber="{column}"><value> {int((row, column) in right)}.000</value></weight>'
        for row in (1, 2)
        for column in (1, 2)
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            quiz("oumultiresponse", "Which copy?", answer("view") + answer("clone", 100) + answer("tolist", 100)),
            ["Which copy? | - view | + clone | + tolist"],
        ),
        (
            quiz("ordering", "Sort.", answer("loss", 1) + answer("backward", 2)),
            ["Sort.\n\n- backward\n- loss | = 1. loss\n2. backward"],
        ),
        (quiz("gapselect", "A [[1]] shares.", WORDS), ["A \\_\\_\\_ shares. | + view | - clone"]),
        (
            quiz("ddwtos", "A [[3]] copies, a view [[2]].", WORDS.replace("selectoption", "dragbox")),
            ["A \\_\\_\\_ copies, a view \\_\\_\\_. | = 1. clone\n2. shares"],
        ),
        (
            quiz("kprime", "Views:", ROWS + COLUMNS + weights((1, 1), (2, 2))),
            ["Views:\n\nA view shares. | - False | + True", "Views:\n\nA view copies. | + False | - True"],
        ),
        (
            quiz("mtf", "Views:", ROWS + COLUMNS + weights((1, 1), (2, 1))),
            ["Views:\n\nA view shares. | - False | + True", "Views:\n\nA view copies. | - False | + True"],
        ),
        (
            quiz("coderunner", "Write add.", "<answer>def add(a, b):\n    return a + b</answer>"),
            ["Write add. | = ```\ndef add(a, b):\n    return a + b\n```"],
        ),
    ],
    ids=["several", "order", "gap", "gaps", "statements", "all true", "program"],
)
def test_a_kind_of_a_plugin_is_read(text: str, wanted: list[str]) -> None:
    assert all_asked(read_bank(text, name="a.xml")) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (quiz("gapselect", "A [[7]] shares.", WORDS), "a gap of the text has no word that fills it"),
        (quiz("kprime", "Views:", ROWS + COLUMNS + weights((1, 1))), "a statement has no single right answer"),
        (
            quiz("coderunner", "Write add.", "<answer>x</answer><prototypetype>2</prototypetype>"),
            "a prototype of other questions is none itself",
        ),
    ],
)
def test_what_has_no_key_is_named(text: str, said: str) -> None:
    reading = read_bank(text, name="a.xml")
    assert reading.bank.questions == () and messages(reading) == [f"Q603 {said}"]
