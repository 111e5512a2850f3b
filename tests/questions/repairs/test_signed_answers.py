"""Answers below questions behind a sign or an unusual label."""

from __future__ import annotations

import pytest

from questions import read_bank

ANSWERS = ("It shares memory.", "It was made by you.", "It runs in the backward pass.")
TOPICS = ("a view", "a leaf", "a hook")
HEADS = ("**Q{}.** What is {}?", "### {}. What is {}?", "Q{}: What is {}?")


def document(form: str, head: str, between: str = "\n\n") -> str:
    """Returns questions, each with an answer in this form."""
    pairs = enumerate(zip(TOPICS, ANSWERS, strict=True), 1)
    return "".join(f"{head.format(at, topic)}{between}{form.replace('TEXT', said)}\n\n" for at, (topic, said) in pairs)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize(
    "form",
    ["💡 TEXT", "👉 TEXT", "✅ TEXT", "=> TEXT", "-> TEXT", "→ TEXT", "||TEXT||", "Answer - TEXT", "Solution: TEXT"],
)
def test_a_sign_or_word_before_each_answer_is_a_label(form: str, head: str, between: str) -> None:
    reading = read_bank(document(form, head, between), name="a.md")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        (f"What is {topic}?", said) for topic, said in zip(TOPICS, ANSWERS, strict=True)
    ]
    assert reading.unaccounted() == ()


def test_a_reason_may_follow_an_answer_in_emphasis() -> None:
    questions = read_bank(document("**Answer: TEXT** — since.", HEADS[1]), name="a.md").bank.questions
    assert [one.answer for one in questions] == [f"{said} — since." for said in ANSWERS]


def test_the_letter_a_below_the_letter_q_is_a_label() -> None:
    questions = read_bank(document("A. TEXT", "Q. What is {1}?", "\n"), name="a.md").bank.questions
    assert [one.answer for one in questions] == list(ANSWERS)


def test_the_letter_a_before_an_option_is_no_label() -> None:
    questions = read_bank(document("A. TEXT\nB. a copy", "Q{}. What is {}?", "\n"), name="a.md").bank.questions
    assert not any(one.answered for one in questions)


def test_signs_of_options_are_no_labels() -> None:
    text = document("✅ TEXT\n❌ a copy", HEADS[1])
    assert not any("**Answer:**" in line for line in read_bank(text, name="a.md").source.lines)


def test_a_sign_that_is_mostly_elsewhere_is_no_label() -> None:
    text = document("💡 TEXT\n\n💡 Tip: read on.", HEADS[1])
    assert not any("**Answer:**" in line for line in read_bank(text, name="a.md").source.lines)
