"""Stars that mark right options where they are not directly before a letter at the start of its line."""

from __future__ import annotations

import pytest

from questions import read_bank

ASKED = (
    ("Which call returns a view?", ("clone", "view", "tolist"), 1),
    ("Which call copies?", ("clone", "detach", "t"), 0),
    ("Which call adds in place?", ("add", "sum", "add_"), 2),
)
RIGHT = [["view"], ["clone"], ["add_"]]


def document(right: str, other: str, *, first: str = "{n}. {asked}", always: int = -1) -> str:
    """Returns a quiz whose options have the given labels, `x` standing for the letter and `9` for the number."""
    lines: list[str] = []
    for number, (asked, options, place) in enumerate(ASKED, 1):
        lines.append(first.format(n=number, asked=asked))
        for at, option in enumerate(options):
            label = right if at == (place if always < 0 else always) else other
            lines.append(label.replace("x", "abc"[at]).replace("9", str(at + 1)) + option)
        lines.append("")
    return "\n".join(lines)


def right_of(text: str) -> list[list[str]]:
    reading = read_bank(text, name="quiz.md")
    assert [len(one.options) for one in reading.bank.questions] in ([3, 3, 3], [0, 0, 0])
    assert reading.unaccounted() == ()
    return [[option.text for option in one.options if option.right] for one in reading.bank.questions]


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("- *x) ", "- x) "),
        (r"\*x. ", "x. "),
        ("x)* ", "x) "),
        ("* x) ", "x) "),
        ("*9) ", "9) "),
        ("*9. ", "9. "),
        ("   *(x) ", "   (x) "),
    ],
)
@pytest.mark.parametrize("first", ["{n}. {asked}", "### Question {n}\n\n{asked}\n"])
def test_a_star_marks_the_right_option(right: str, other: str, first: str) -> None:
    assert right_of(document(right, other, first=first)) == RIGHT


@pytest.mark.parametrize(
    ("right", "other", "always"),
    [
        ("* x) ", "x) ", 0),  # the bullet of a list, of which the other marks were lost
        ("* x) ", "* x) ", -1),
        ("- *x) ", "- *x) ", -1),
    ],
)
def test_bullets_and_stars_that_all_have_mark_nothing(right: str, other: str, always: int) -> None:
    assert right_of(document(right, other, always=always)) == [[], [], []]


def test_options_in_emphasis_are_not_marked() -> None:
    text = document("- *x) ", "- x) ").replace("view\n", "view*\n").replace("- *a) clone", "- *a) clone*")
    assert right_of(text.replace("add_", "add_*")) == [[], [], []]


def test_a_star_that_contradicts_the_label_below_is_no_key() -> None:
    text = "\n".join(f"{n}. What is {n}?\na) one\nb)* two\nc) three\nAnswer: a\n" for n in range(1, 4))
    reading = read_bank(text, name="quiz.md")
    assert [one.code for one in reading.findings] == ["Q106"] * 3
    assert not any(option.right for one in reading.bank.questions for option in one.options)
