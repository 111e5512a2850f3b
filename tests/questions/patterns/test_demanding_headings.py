"""Headings of an exam, some of which demand an explanation and the others only name a topic."""

from __future__ import annotations

import pytest

from questions import read_bank

DEMANDS = [
    "Please describe the memory of a view",
    "Explain the steps of training a model",
    "Proszę opisać gradient funkcji straty",
    "Discuss the use of hooks in a module",
]
TOPICS = ["Strides of a tensor.", "Differences between views and copies", "Leaves and roots", "Types of layers"]
MORE = ["Sizes of batches", "The loss of a model", "Seeds"]


def exam(headings: list[str]) -> str:
    return "".join(f"## {heading}\n\nIt is told here.\n\n" for heading in headings)


def test_topics_among_headings_that_demand_are_questions() -> None:
    mixed = [one for pair in zip(DEMANDS, TOPICS, strict=True) for one in pair] + MORE
    questions = read_bank(exam(mixed), name="exam.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [(one, "It is told here.") for one in mixed]


def test_a_deeper_heading_that_demands_is_named() -> None:
    text = (
        exam([*DEMANDS, *TOPICS, *MORE[:2]])
        + "### Explain the loss of a model\n\nIt is told here.\n\n"
        + exam(MORE[2:])
    )
    reading = read_bank(text, name="exam.md")
    assert len(reading.bank.questions) == 11
    named = [one.span.line for one in reading.findings if one.skipped or one.code == "Q006"]
    assert named == [text.split("\n").index("### Explain the loss of a model") + 1]


def test_topics_of_other_documents_are_not() -> None:
    few_demand = [*DEMANDS[:2], *TOPICS, *MORE, "Dropout", "Momentum"]
    assert read_bank(exam(few_demand), name="notes.md").bank.questions == ()
    few = [DEMANDS[0], *TOPICS[:2]]
    assert read_bank(exam(few), name="notes.md").bank.questions == ()


def test_a_heading_that_asks_like_very_many_others_is_a_question_in_a_chapter_where_most_do_not() -> None:
    names = ("view", "leaf", "stride", "shape", "clone", "graph", "device", "hook", "batch", "seed", "loss", "epoch")
    many = "".join(
        f"### What is the {name} of a {kind}?\n\nIt is told here.\n\n" for name in names for kind in ("tensor", "model")
    )
    errors = "## Errors\n\n### Cannot call step\n\nIt is told.\n\n### Shapes differ at 2\n\nIt is told.\n\n"
    asking = "### What is binding in a module?\n\nIt is told here.\n"
    prompts = [
        one.prompt for one in read_bank(f"# Torch\n\n## Basics\n\n{many}{errors}{asking}", name="a.md").bank.questions
    ]
    assert len(prompts) == 25
    assert prompts[-1] == "What is binding in a module?"


def chapter(title: str, topics: tuple[str, ...]) -> str:
    return f"# {title}\n\n" + "".join(f"## {n}. {topic}\n\nThe {topic}.\n\n" for n, topic in enumerate(topics, 1))


RADIO = ("Spectrum of a signal", "Explain how sampling works.", "Filters", "Draw the block diagram.", "Antennas")


@pytest.mark.parametrize("title", ["Questions for radio", "Pytania kierunkowe", "Вопросы к экзамену"])
def test_numbered_topics_below_a_heading_for_questions_are_questions(title: str) -> None:
    asking = ("What is gain?", "What is noise?", "What is phase?", "What is a mode?", "What is a lobe?")
    questions = read_bank(chapter(title, RADIO) + chapter(f"{title} 2", asking), name="a.md").bank.questions
    assert [one.prompt for one in questions] == [*RADIO, *asking]


def test_numbered_topics_below_other_headings_are_study_text() -> None:
    assert read_bank(chapter("Signals", RADIO), name="a.md").bank.questions == ()
