"""Lines that begin with an asking word and ask nothing: the rest of a sentence, and words with their meaning."""

from __future__ import annotations

import pytest

from questions import read_bank

PARTS = "   (a) the matrix in `a.txt`\n   (b) the matrix in `b.txt`\n   (c) the matrix in `c.txt`\n"


@pytest.mark.parametrize("above", ["$$\ns = \\sum_i x_i\n$$", "For example, the matrix,", "\\[ s = x \\]"])
@pytest.mark.parametrize("line", ["where $x_i$ is the row, and $s$ the sum:", "has eight ways to choose a row of it:"])
def test_the_rest_of_a_sentence_asks_nothing(above: str, line: str) -> None:
    text = f"# Matrices\n\n{above}\n\n{line}\n\n{PARTS}\n" * 3
    assert read_bank(text, name="a.md").bank.questions == ()


def test_a_line_in_small_letters_may_ask() -> None:
    text = "".join(f"what is tensor {n} a view of\n\na) the matrix\nb) the row\n\n**Answer:** a\n\n" for n in "123")
    assert len(read_bank(f"# Views\n\n{text}", name="a.md").bank.questions) == 3


def test_words_with_their_meaning_ask_nothing() -> None:
    words = (("Wer", "who"), ("Was", "what"), ("Wann", "when - a point in time"), ("Wo", "where"))
    text = "".join(f"- {word} ({meaning})\n          {word} sagst du - an example\n" for word, meaning in words)
    assert read_bank(text, name="Fragen.md").bank.questions == ()


TASKS = (
    "Write a program that reads a number.",
    "Let a, b and c be digits. Print their sum.",
    "Find the row with the greatest sum. For each of the matrices below, write its number.",
    "Draw the tree of this program.",
    "Extend the rule as follows:\n\n- IL is 49\n\nWrite a program that prints the number.",
)


@pytest.mark.parametrize("number", ["({}) ", "({}). ", "（{}）"])
def test_numbers_in_brackets_before_tasks_begin_questions(number: str) -> None:
    text = "\n\n".join(f"{number.format(at)}{task}" for at, task in enumerate(TASKS, 1))
    questions = read_bank(f"# Programming\n\n{text}\n", name="a.md").bank.questions
    assert [one.prompt for one in questions] == list(TASKS)


def test_what_a_task_is_set_for_is_a_part_of_it_and_no_option() -> None:
    text = "\n\n".join(f"({at}) {task}" for at, task in enumerate(TASKS, 1))
    text = text.replace("write its number.", f"write its number.\n\n{PARTS}")
    question = read_bank(f"{text}\n", name="a.md").bank.questions[2]
    assert (question.options, question.answer) == ((), None)
    assert question.prompt.endswith("(c) the matrix in `c.txt`")


def test_numbers_in_brackets_before_statements_begin_nothing() -> None:
    text = "\n\n".join(f"({at}) The sum of row {at} is even." for at in range(1, 7))
    assert read_bank(f"# Rows\n\n{text}\n", name="a.md").bank.questions == ()
