"""Words that announce an answer or a question in emphasis, in several languages."""

from __future__ import annotations

import pytest

from questions import read_bank

TOPICS = ("a view", "a leaf", "a hook")


@pytest.mark.parametrize(
    "label",
    [
        "Sample Answers",
        "Expected answer",
        "Réponse attendue",
        "Respuesta esperada",
        "Resposta esperada",
        "Risposta attesa",
        "Erwartete Antwort",
        "Oczekiwana odpowiedź",
        "Ожидаемый ответ",
        "Beklenen cevap",
    ],
)
def test_a_label_in_emphasis_is_no_part_of_its_answer(label: str) -> None:
    text = "".join(
        f"{n}. **Question:** What is {one}?\n\n   **{label}:** It is {n}.\n\n" for n, one in enumerate(TOPICS, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?", f"It is {n}.") for n, one in enumerate(TOPICS, 1)
    ]


def test_a_heading_the_answer_is_no_part_of_a_prompt() -> None:
    text = "".join(f"## What is {one}?\n\n### The Answer\n\nIt is {n}.\n\n" for n, one in enumerate(TOPICS, 1))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is {one}?", f"It is {n}.") for n, one in enumerate(TOPICS, 1)
    ]
