"""Question marks that ask nothing: an encoding put them where emoji were."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.wording.stems import ends_asking, reads_as_question


@pytest.mark.parametrize("line", ["? Keep loops short", "? Look for copies ? Use views", "Good luck! ??"])
def test_signs_that_an_encoding_lost_do_not_ask(line: str) -> None:
    assert not reads_as_question(line)
    assert not ends_asking(line)


@pytest.mark.parametrize("line", ["? What is a view?", "Qu'est-ce que c'est ? Donnez un exemple", "A view ?"])
def test_other_question_marks_ask(line: str) -> None:
    assert reads_as_question(line)


def test_lists_with_lost_signs_belong_to_the_answers_above() -> None:
    tips = "**Tips:**\n* ? Keep views short\n* ? Add names to steps\n* ? Avoid loops in loops\n\n"
    text = "".join(f"## What is view {at}?\n\nIt shares memory.\n\n{tips}" for at in range(4))
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.prompt for one in questions] == [f"What is view {at}?" for at in range(4)]
