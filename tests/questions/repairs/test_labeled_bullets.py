"""Questions and answers that are two items of one list."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.repairs.labels import with_plain_labels
from questions.source import Source


@pytest.mark.parametrize("words", [("Question", "Answer"), ("Câu hỏi", "Trả lời"), ("Pregunta", "Respuesta")])
def test_each_answers_the_item_above(words: tuple[str, str]) -> None:
    question, answer = words
    text = "".join(
        f"### {n}. **Views {n}**\n   - **{question}:** What is view {n}?\n   - **{answer}:** It is one of {n}:\n"
        f"     - **Memory:** shared.\n     - Strides.\n\n---\n\n"
        for n in (1, 2, 3)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is view {n}?", f"It is one of {n}:\n- **Memory:** shared.\n- Strides.") for n in (1, 2, 3)
    ]


def test_programs_below_an_answer_keep_their_indentation() -> None:
    program = "  ```python\n  if x:\n      - **Question:** y\n  ```\n"
    text = "".join(f"- **Question:** What runs {n}?\n- **Answer:** This:\n{program}\n" for n in (1, 2))
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.answer for one in questions] == ["This:\n```python\nif x:\n    - **Question:** y\n```"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "- **Question:** one?\n- **Question:** two?\n- **Answer:** both\n",
        "- **Question:** one?\n\ntext\n\n- **Answer:** one\n- **Question:** two?\n\ntext\n\n- **Answer:** two\n",
        "- **Answer:** one\n- **Answer:** two\n",
        "- **Question:** one?\n  - **Answer:** one\n- **Question:** two?\n  - **Answer:** two\n",
    ],
    ids=["one answer", "text between", "no question", "nested"],
)
def test_other_lists_stay(text: str) -> None:
    source = Source("a.md", tuple(text.split("\n")))
    assert with_plain_labels(source) is source
