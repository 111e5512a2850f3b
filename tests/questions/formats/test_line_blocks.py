"""Blocks of lines with nothing between them, one of which has a line too many or too few."""

from __future__ import annotations

import pytest

from questions import read_bank

COUNT = 25


def block(number: int, *, first: bool, options: int = 3) -> list[str]:
    asked = [f"Which call has number {number}?", *(f"call_{number}_{n}" for n in range(options))]
    key = "AB"[number % 2]
    return [key, *asked] if first else [*asked, key]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("at", [1, COUNT // 2, COUNT])
def test_irregular_block_is_named_and_moves_no_other(first: bool, options: int, at: int) -> None:
    blocks = [block(n, first=first, options=options if n == at else 3) for n in range(1, COUNT + 1)]
    reading = read_bank("\n".join("\n".join(lines) for lines in blocks) + "\n", name="quiz.txt")
    read = {
        question.prompt: [option.text for option in question.options if option.right]
        for question in reading.bank.questions
    }
    assert read == {f"Which call has number {n}?": [f"call_{n}_{n % 2}"] for n in range(1, COUNT + 1) if n != at}
    start = sum(map(len, blocks[: at - 1])) + 1
    named = [one.span for one in reading.findings if one.code == "Q603"]
    assert [(one.line, one.end_line) for one in named] == [(start, start + len(blocks[at - 1]) - 1)]


@pytest.mark.parametrize("label", ["{n}. ", ""])
def test_the_right_option_again_at_the_end_of_each_block_is_the_key(label: str) -> None:
    lines = []
    for number in range(1, 8):
        options = [f"{label.format(n=n)}call {number} of kind {n}" for n in (1, 2, 3)]
        lines += [f"Call that copies a tensor {number} times", *options, options[number % 3]]
    questions = read_bank("\n".join(lines), name="quiz.txt").bank.questions
    assert [[o.text for o in one.options if o.right] for one in questions] == [
        [f"call {number} of kind {number % 3 + 1}"] for number in range(1, 8)
    ]


def test_a_last_line_of_its_own_in_one_block_makes_no_key() -> None:
    lines = []
    for number in range(1, 8):
        options = [f"{n}. call {number} of kind {n}" for n in (1, 2, 3)]
        lines += [f"Call that copies a tensor {number} times", *options, options[0] if number < 7 else "4. none"]
    assert not any(one.answered for one in read_bank("\n".join(lines), name="quiz.txt").bank.questions)
