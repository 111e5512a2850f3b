"""Keys in the emphasis of their labels, with a reason behind it: `**Answer: C** — it copies`."""

from __future__ import annotations

import pytest

from questions import read_bank

KEYS = ("C", "B", "C", "A")


def document(form: str) -> str:
    """Returns questions with options and a key in this form."""
    options = "- A) a view\n- B) a leaf\n- C) a clone\n"
    return "".join(
        f"**Q{at}.** What is part {at}?\n{options}\n{form.replace('KEY', key)}\n\n---\n\n"
        for at, key in enumerate(KEYS, 1)
    )


@pytest.mark.parametrize(
    "form",
    [
        "**Answer: KEY** — it is one.",
        "**Correct Answer: KEY**. it is one.",
        "**Answer: (KEY)** it is one.",
        "_Answer: KEY_ - it is one.",
        "> **Answer: KEY** — it is one.",
        "✅ **Answer: KEY** — it is one.",
        "**Respuesta: KEY** — it is one.",
    ],
)
def test_the_emphasis_of_a_label_may_end_behind_the_key(form: str) -> None:
    questions = read_bank(document(form), name="a.md").bank.questions
    right = ["".join(option.id for option in one.options if option.right) for one in questions]
    assert right == [key.lower() for key in KEYS]
    assert [one.why for one in questions] == ["it is one."] * len(KEYS)


def test_a_program_keeps_such_a_line() -> None:
    text = "## What is printed?\n\n```text\n**Answer: C** — it copies\n```\n\nThe line.\n"
    assert "**Answer: C** — it copies" in read_bank(text, name="a.md").source.lines


def test_a_word_behind_the_label_is_no_key() -> None:
    text = "".join(f"## What is part {at}?\n\n**Answer: Clone** — it copies.\n\n" for at in range(2))
    assert "**Answer: Clone** — it copies." in read_bank(text, name="a.md").source.lines
