"""Topics in files named for questions, lists with Roman numbers, and headings with subjects in brackets."""

from __future__ import annotations

import pytest

from questions import read_bank

TOPICS = ("Light and its speed", "Sound in water", "Heat and work", "Waves on a string", "Lenses and mirrors")
TEXT = "# Physics\n\n" + "".join(
    f"## {at}. {topic}\n\n- a note\n- and one more\n\n" for at, topic in enumerate(TOPICS, 1)
)


@pytest.mark.parametrize("name", ["otázky.md", "questions.md", "notes/вопросы.md", "面试题.md"])
def test_numbered_headings_in_a_file_named_for_questions_are_questions(name: str) -> None:
    reading = read_bank(TEXT, name=name)
    assert [one.prompt for one in reading.bank.questions] == list(TOPICS)
    assert reading.unaccounted() == ()


@pytest.mark.parametrize("name", ["notes.md", "questions-of-style.md", "quest.md"])
def test_numbered_headings_of_notes_are_none(name: str) -> None:
    assert read_bank(TEXT, name=name).bank.questions == ()


ROMAN = ("i", "ii", "iii", "iv", "v", "vi")


def tasks(above: str = "") -> str:
    """Returns a document of tasks with Roman numbers."""
    return f"# Sorting | questions\n\n## Lists\n\n{above}" + "\n".join(
        f"{number}. Given a list of {at} numbers, find the largest of them." for at, number in enumerate(ROMAN, 1)
    )


def test_items_with_roman_numbers_are_read() -> None:
    reading = read_bank(tasks(), name="a.md")
    assert len(reading.bank.questions) == len(ROMAN)
    assert reading.bank.questions[3].prompt == "Given a list of 4 numbers, find the largest of them."
    assert reading.unaccounted() == ()


def test_roman_numbers_below_a_text_are_parts_of_it() -> None:
    source = read_bank(tasks("Which of these are true?\n\n"), name="a.md").source
    assert "iv. Given a list of 4 numbers, find the largest of them." in source.lines


def test_roman_numbers_in_an_answer_stay_as_they_are() -> None:
    text = "".join(f"## What is light {at}?\n\nA wave.\n\nIt has a speed.\n\n" for at in range(9)) + tasks()
    assert any(line.startswith("iv. ") for line in read_bank(text, name="a.md").source.lines)


TAGGED = "".join(
    f"## [{tag}] {text}\n\nIt is a box.\n\n"
    for tag, text in (
        ("css", "What is a margin?"),
        ("js", "Write a function that copies"),
        ("html", "What is a title?"),
        ("css", "Why does it wrap?"),
    )
)


def test_headings_with_a_subject_in_brackets_are_read_like_those_that_ask() -> None:
    assert len(read_bank(TAGGED, name="a.md").bank.questions) == 4


def test_headings_with_a_subject_are_topics_if_few_ask() -> None:
    assert len(read_bank(TAGGED.replace("?", ""), name="a.md").bank.questions) == 0
