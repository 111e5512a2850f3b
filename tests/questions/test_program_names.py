"""Titles of programs for quizzes, below which steps and parts are no questions."""

from __future__ import annotations

import pytest

from questions import read_bank

STEPS = ("Clone this repository:", "Create a token of your own.", "Put it in a file.", "Run the program:", "Open it.")


@pytest.mark.parametrize(
    "title", ["Simple Quiz bot for Telegram", "Trivia Game", "Quiz-App", "A flashcards web app", "Exam generator"]
)
def test_steps_below_the_name_of_a_program_are_no_questions(title: str) -> None:
    steps = "\n".join(f"{at}. {step}" for at, step in enumerate(STEPS, 1))
    assert read_bank(f"# {title}\n\n{steps}\n", name="a.md").bank.questions == ()


@pytest.mark.parametrize("title", ["Quiz 3", "Exam questions on apps", "Interview questions: game engines"])
def test_other_titles_announce_questions(title: str) -> None:
    topics = "\n".join(f"{at}. {topic}" for at, topic in enumerate(("Views", "Leaves", "Hooks", "Steps", "Loops"), 1))
    assert len(read_bank(f"# {title}\n\n{topics}\n", name="a.md").bank.questions) == len(STEPS)
