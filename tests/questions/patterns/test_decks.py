"""Headings in a document whose title says that it is a deck of cards."""

from __future__ import annotations

import pytest

from questions import read_bank

CARDS = {
    "Memory of a view": "It is shared.",
    "Leaf": "A tensor without history.",
    "Stride": "A step.",
    "What is a hook?": "A function.",
    "What is a batch?": "Several examples.",
    "What is a seed?": "A number.",
    "How many steps has an epoch?": "One for each batch.",
    "Steps of training": "- forward\n- backward",
}


def deck(title: str) -> str:
    cards = [f"### {front}\n\n{back}\n" for front, back in CARDS.items()]
    return "\n".join((title, "## Tensors\n", *cards[:3], "## Training\n", *cards[3:]))


@pytest.mark.parametrize(
    "title",
    [
        "# Torch Deck\n",
        "# Flash cards about tensors\n",
        "# Anki cards about tensors\n",
        "---\ntitle: Tensors\ndescription: Torch flashcards\n---\n\n# Tensors\n",
    ],
)
def test_each_heading_of_the_level_of_most_is_a_card(title: str) -> None:
    questions = read_bank(deck(title), name="torch.md").bank.questions
    assert {one.prompt: one.answer for one in questions} == CARDS


@pytest.mark.parametrize("title", ["# Torch\n", "# Slide deck\n", "# Deckard's notes\n"])
def test_headings_of_other_documents_are_no_cards(title: str) -> None:
    questions = read_bank(deck(title), name="torch.md").bank.questions
    assert {one.prompt for one in questions} <= {front for front in CARDS if "?" in front}


def test_headings_that_never_ask_are_no_cards() -> None:
    text = "# Flashcards\n\n" + "".join(
        f"## {name}\n\nSome words.\n\n" for name in ("Setup", "Use", "Tests", "FAQ", "License")
    )
    assert read_bank(text, name="README.md").bank.questions == ()


def test_problems_and_solutions_are_cards_beside_questions_and_answers() -> None:
    text = (
        "# Algebra\n\nQ: What is a root?\nA: A zero.\n\nP: Solve $x^2 = 1$.\n\nS:\n**PLAN**: take roots\n\n1. $x = 1$\n"
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        ("What is a root?", "A zero."),
        ("Solve $x^2 = 1$.", "**PLAN**: take roots\n\n1. $x = 1$"),
    ]


def test_one_problem_and_solution_alone_are_no_card() -> None:
    assert read_bank("# Design\n\nP: too slow\nS: a cache\n", name="a.md").bank.questions == ()


@pytest.mark.parametrize("marks", ["#", "##"])
def test_headings_may_name_the_sides_of_one_card(marks: str) -> None:
    back = "```python\ngroupby(xs)\n```\n\n**Note:** sort first."
    text = f"---\ntags: [views]\n---\n\n{marks} Front\nGroup equal items\n\n{marks} Back\n{back}\n"
    (question,) = read_bank(text, name="card.md").bank.questions
    assert (question.prompt, question.answer) == ("Group equal items", back)


def test_a_document_may_be_one_card() -> None:
    (question,) = read_bank(
        "How do you strip tags?\n?\n\n```js\nhtml.replace(x)\n```\n\nDone.\n", name="card.md"
    ).bank.questions
    assert (question.prompt, question.answer) == ("How do you strip tags?", "```js\nhtml.replace(x)\n```\n\nDone.")
