"""Lists of keys in which each key is in the heading of its question: `### Q2: **B. a copy**`."""

from __future__ import annotations

import pytest

from questions import read_bank

PROMPTS = ("`view` returns", "`clone` returns", "The default type is")
OPTIONS = ("a view", "a copy", "float32")


def _document(title: str, form: str) -> str:
    options = "".join(f"{letter}. {text}\n" for letter, text in zip("ABC", OPTIONS, strict=True))
    asked = "".join(f"### Q{n}. {text}: *(Remember)*\n{options}\n---\n\n" for n, text in enumerate(PROMPTS, 1))
    keys = "".join(
        f"### Q{n}: {form.format(letter='ABC'[n - 1], text=text)}\nReason {n}.\n\n" for n, text in enumerate(OPTIONS, 1)
    )
    return f"# Quiz\n\n## Questions\n\n{asked}## {title}\n\n{keys}---\n\n## Score\n\n- all: good\n"


@pytest.mark.parametrize("title", ["🎯 Answers + Explanations", "Answers & Reasons", "Answer Key"])
@pytest.mark.parametrize("form", ["**{letter}. {text}**", "{letter}", "**{letter}** – {text}"])
def test_a_key_in_the_heading_of_its_question_is_no_question(title: str, form: str) -> None:
    reading = read_bank(_document(title, form), name="quiz.md")
    assert [question.prompt for question in reading.bank.questions] == [f"{text}: *(Remember)*" for text in PROMPTS]
    right = [[option.text for option in one.options if option.right] for one in reading.bank.questions]
    assert right == [[text] for text in OPTIONS]


def test_the_text_below_such_a_heading_is_the_reason() -> None:
    first, *_ = read_bank(_document("Answers + Explanations", "**{letter}. {text}**"), name="quiz.md").bank.questions
    assert first.why == "Reason 1."
