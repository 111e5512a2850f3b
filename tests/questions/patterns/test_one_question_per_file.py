"""Collections with a file for each question, whose title is the question with its number."""

from __future__ import annotations

import pytest

from questions import read_bank

BODY = "**A view** shares memory.\n\n### How it works\n\nIt has strides.\n\n### Example\n\n```python\nx.view(2)\n```\n"


@pytest.mark.parametrize(
    ("title", "prompt"),
    [
        ("AI - Question 17 - What is a view?", "What is a view?"),
        ("AI-Question10 - How does a view copy? What are its limits?", "How does a view copy? What are its limits?"),
        ("C# Core: Pregunta 3: ¿Qué es una vista?", "¿Qué es una vista?"),
        ("CORE - Question 03 - Explain the purpose of a view", "Explain the purpose of a view"),
    ],
)
def test_the_text_below_such_a_title_answers_it(title: str, prompt: str) -> None:
    reading = read_bank(f"# {title}\n\n{BODY}", name="Question17.md")
    (question,) = reading.bank.questions
    assert (question.prompt, question.answer, reading.unaccounted()) == (prompt, BODY.strip(), ())


@pytest.mark.parametrize("title", ["Release 17 - What is new?", "AI - Question 17 - Views", "Views"])
def test_other_titles_are_none(title: str) -> None:
    assert read_bank(f"# {title}\n\n{BODY}", name="notes.md").bank.questions == ()
