"""Topics of an exam, numbered through all parts of a document whose title announces questions."""

from __future__ import annotations

import pytest

from questions import read_bank

PARTS = (
    ("Tensors", ("Strides", "Views", "Broadcasting", "Types")),
    ("Gradients", ("Leaves", "Hooks", "Graphs")),
    ("Layers", ("Attention", "Dropout", "Norms", "Embeddings", "Pooling")),
)


def exam(title: str, *, starts_over: bool = False, prose: str = "") -> str:
    number = 0
    parts = []
    for name, topics in PARTS:
        number = 0 if starts_over else number
        items = "".join(f"{number + n}. **{topic}.** What they cost.\n" for n, topic in enumerate(topics, 1))
        parts.append(f"## {name}\n\n{prose}{items}\n")
        number += len(topics)
    return f"# {title}\n\n{''.join(parts)}"


@pytest.mark.parametrize("title", ["Questions of the exam", "Перечень вопросов к курсу", "Lista pytań", "Zagadnienia"])
def test_topics_that_count_on_are_questions_without_answers(title: str) -> None:
    reading = read_bank(exam(title), name="a.md")
    assert [one.prompt for one in reading.bank.questions][:2] == [
        "**Strides.** What they cost.",
        "**Views.** What they cost.",
    ]
    assert [one.number for one in reading.bank.questions] == [str(number) for number in range(1, 13)]
    assert all(not one.answered for one in reading.bank.questions)
    assert {one.code for one in reading.findings} <= {"Q101"}


@pytest.mark.parametrize(
    "text",
    [
        exam("Notes about tensors"),
        exam("Questions of the exam", starts_over=True),
        exam("Questions of the exam", prose="Some prose about this part.\n\nMore of it.\n\nAnd more.\n\n"),
    ],
)
def test_other_numbered_lists_are_text(text: str) -> None:
    assert read_bank(text, name="a.md").bank.questions == ()
