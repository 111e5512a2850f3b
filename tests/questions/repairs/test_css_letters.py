"""Numbered lists that a style sheet shows with letters: the key names a letter."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank

OPTIONS = ("a copy of the storage", "a new shape over the same storage", "a gradient", "a kernel")


def quiz(opens: str, closes: str = "</div>", numbers: tuple[int, ...] = (1, 2, 3, 4)) -> Reading:
    shown = "\n".join(f"{number}. {text}" for number, text in zip(numbers, OPTIONS, strict=True))
    asked = [
        f"#### {n}. What does `{name}` give?\n\n{opens}\n{shown}\n{closes}\n\n"
        f'??? question "Show Answer"\n    The correct answer is **{key}**. It shares memory.\n'
        for n, (name, key) in enumerate((("view", "B"), ("clone", "A"), ("grad", "C")), 1)
    ]
    reading = read_bank("\n".join(asked), name="d.md")
    assert reading.unaccounted() == ()
    return reading


def right(reading: Reading) -> list[list[str]]:
    return [[option.text for option in one.options if option.right] for one in reading.bank.questions]


@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ('<div class="upper-alpha" markdown>', "</div>"),
        ("<div markdown class='quiz lower-alpha'>", "</div>"),
        ('<section style="list-style-type: upper-latin" markdown="1">', "</section>"),
    ],
)
def test_a_key_names_the_letter_that_the_site_shows(opens: str, closes: str) -> None:
    reading = quiz(opens, closes)
    assert right(reading) == [[OPTIONS[1]], [OPTIONS[0]], [OPTIONS[2]]]
    assert [len(one.options) for one in reading.bank.questions] == [4, 4, 4]
    assert all("<" not in one.prompt for one in reading.bank.questions)
    assert [one.place.line for one in reading.bank.questions] == [1, 13, 25]


def test_items_that_are_all_counted_as_one_have_letters_too() -> None:
    assert right(quiz('<div class="upper-alpha" markdown>', numbers=(1, 1, 1, 1))) == [
        [OPTIONS[1]],
        [OPTIONS[0]],
        [OPTIONS[2]],
    ]


@pytest.mark.parametrize("opens", ['<div class="note" markdown>', '<div class="upper-alphabet" markdown>'])
def test_no_letter_is_guessed_without_the_class(opens: str) -> None:
    assert right(quiz(opens)) == [[], [], []]


def test_numbers_out_of_order_get_no_letters() -> None:
    assert right(quiz('<div class="upper-alpha" markdown>', numbers=(1, 3, 2, 4))) == [[], [], []]


def test_a_list_in_a_program_is_left_as_it_is() -> None:
    program = '```html\n<div class="upper-alpha">\n1. one\n2. two\n</div>\n```'
    text = f"**Q:** How do I letter a list?\n\n**A:** So:\n\n{program}\n"
    (question,) = read_bank(text, name="d.md").bank.questions
    assert "1. one\n2. two" in str(question.answer)
