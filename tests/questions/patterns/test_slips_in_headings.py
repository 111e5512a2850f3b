"""Slips in the word before the number of a question, and what else stands around what asks."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.wording.stems import reads_as_question


def document(*headings: str) -> str:
    """Returns a document with a text that asks and an answer below each heading."""
    parts = [
        f"# {heading}\n\nSort table {at} by age.\n\n## Solution\n\nUse sort.\n" for at, heading in enumerate(headings)
    ]
    return "\n".join(parts)


@pytest.mark.parametrize("slip", ["Questions 2", "**Quesiton 2**", "Qestion #2", "QUESTIONS 2:"])
def test_a_slip_in_the_word_before_a_number_is_a_question_among_others(slip: str) -> None:
    reading = read_bank(document("**Question 1**", slip, "**Question 3**", "**Question 4**"), name="a.md")
    assert [question.prompt for question in reading.bank.questions] == [f"Sort table {at} by age." for at in range(4)]
    assert all(question.answered for question in reading.bank.questions)


@pytest.mark.parametrize("heading", ["Questions 5-9", "Questions 2 to 4", "Questions"])
def test_a_heading_of_several_questions_is_none(heading: str) -> None:
    reading = read_bank(document("**Question 1**", heading, "**Question 3**", "**Question 4**"), name="a.md")
    assert "Sort table 1 by age." not in [question.prompt for question in reading.bank.questions]


CHAPTERS = ["Diffusion models", "State space models", "Scaling at inference", "Mixtures of experts"]


def test_links_to_numbered_headings_are_a_table_of_contents() -> None:
    links = "".join(f"- [Q0{number} · {one}](#q0{number})\n" for number, one in enumerate(CHAPTERS, 1))
    parts = "".join(
        f"## Q0{number} · {one} in short\n\nIt is a way to {one}.\n\n" for number, one in enumerate(CHAPTERS, 1)
    )
    questions = read_bank(f"# Frontier\n\n## Contents\n\n{links}\n---\n\n{parts}", name="a.md").bank.questions
    assert [(one.number, one.prompt) for one in questions] == [
        (f"0{number}", f"{one} in short") for number, one in enumerate(CHAPTERS, 1)
    ]


@pytest.mark.parametrize(
    ("marks", "levels"),
    [
        (("[E]", "[M]", "[H]"), ["mid", "mid", "senior"]),
        (("[Easy]", "(Medium)", "[Hard]"), ["mid", "mid", "senior"]),
        (("🟢", "🔴", "🚀"), ["mid", "senior", "principal"]),
    ],
)
def test_a_level_before_a_question_is_no_part_of_it(marks: tuple[str, ...], levels: list[str]) -> None:
    asked = ["What is a view?", "What is a stride?", "What is a leaf?"]
    for form in ("**{} {}**", "### {} {}", "### 7. {} {}"):
        parts = [
            f"{form.format(mark, text)}\n\nIt is part of PyTorch.\n" for mark, text in zip(marks, asked, strict=True)
        ]
        questions = read_bank("# Tensors\n\n" + "\n".join(parts), name="a.md").bank.questions
        assert [(one.prompt, one.level) for one in questions] == list(zip(asked, levels, strict=True))


def test_other_words_in_brackets_before_a_question_stay() -> None:
    asked = ["[PyTorch] What is a view?", "[CUDA] What is a stream?", "[A] What is a leaf?"]
    text = "# Tensors\n\n" + "\n".join(f"### {one}\n\nIt is part of PyTorch.\n" for one in asked)
    assert [one.prompt for one in read_bank(text, name="a.md").bank.questions] == asked


@pytest.mark.parametrize(
    "text",
    [
        "can train on more examples",
        "in output that other programs read",
        "will often fail on long texts",
        "under load it is slow",
    ],
)
def test_a_part_of_a_sentence_asks_nothing(text: str) -> None:
    assert not reads_as_question(text)
    assert reads_as_question(f"{text}?")


def test_questions_in_small_letters_without_a_mark_ask() -> None:
    items = ["can tensors share memory", "in which order are hooks called", "what does a view share with its base"]
    text = "# Questions\n\n" + "\n".join(f"{at}. {one}" for at, one in enumerate(items, 1))
    assert [one.prompt for one in read_bank(text, name="a.md").bank.questions] == items


def test_a_link_with_an_answer_below_it_is_a_question() -> None:
    items = [(f"Q0{at}", one, f"It is a way to {one}.") for at, one in enumerate(CHAPTERS, 1)]
    text = "# Frontier\n\n" + "".join(f"- [{number} · {one}](#top)\n\n  {said}\n\n" for number, one, said in items)
    found = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in found] == [(one, said) for _, one, said in items]


SAID = ["Tell me about yourself", "Describe a project that failed", "Walk me through a decision without data"]


def test_headings_in_quotes_are_what_an_interviewer_says() -> None:
    answers = "Your pitch of two minutes.\n\n1. Current role and team\n2. Why you are interested in this\n"
    text = "# Interview questions\n\n" + "\n".join(f'### "{one}"\n\n{answers}' for one in SAID)
    found = read_bank(text, name="a.md").bank.questions
    assert [one.prompt for one in found] == [f'"{one}"' for one in SAID]
    assert all(one.answered for one in found)


def test_headings_in_quotes_elsewhere_ask_nothing() -> None:
    text = "# Songs of the year\n\n" + "\n".join(f'### "{one}"\n\nIt came out in May.\n' for one in SAID)
    titles = text.replace("Tell me about yourself", "Blue moon over here").replace("Describe a", "My first")
    assert read_bank(titles.replace("Walk me through", "Far beyond"), name="a.md").bank.questions == ()
