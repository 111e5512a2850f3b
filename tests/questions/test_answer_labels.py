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


@pytest.mark.parametrize("sign", ["❓{}. ", "❔ {}) ", "❓️ {}: "])
def test_a_picture_of_a_question_mark_and_a_number_announce_a_question(sign: str) -> None:
    titles = ("Memory of a view", "Leaves and roots", "Hooks")
    answers = ("```python\nx.view(-1)\n```", "- a leaf\n- a root", "It is called with the gradient.")
    numbered = "".join(f"**{n}. Topic {n}**\n\nSome notes.\n\n" for n in (1, 2, 3))
    pairs = [*zip(titles, answers, strict=True)]
    text = numbered + "".join(
        f"**{sign.format(n)}{title}**\n\n{answer}\n\n" for n, (title, answer) in enumerate(pairs, 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == pairs
