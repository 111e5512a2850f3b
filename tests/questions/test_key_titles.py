"""Lines that announce the keys of all questions, and are no headings."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank


def read(text: str) -> Reading:
    reading = read_bank(text, name="d.md")
    assert reading.unaccounted() == ()
    return reading


def right(reading: Reading) -> str:
    return "".join(
        "".join(one.id for one in question.options if one.right) or "-" for question in reading.bank.questions
    )


QUESTIONS = "".join(
    f"{n}. What is {topic}?\nA. one\nB. two\nC. three\n\n" for n, topic in enumerate(("a view", "a leaf", "a hook"), 1)
)


@pytest.mark.parametrize("title", ["Answers", "Answer Key:", "**Answers**", "Respuestas", "KEY"])
@pytest.mark.parametrize("keys", ["1. A\n2. C\n3. B", "1) A\n2) C\n3) B", "1-A\n\n2-C\n\n3-B", "1. A  2. C  3. B"])
def test_a_line_above_nothing_but_keys_is_the_title_of_a_list(title: str, keys: str) -> None:
    reading = read(f"{QUESTIONS}{title}\n{keys}\n")
    assert right(reading) == "acb"
    assert reading.findings == ()


def test_each_chapter_may_have_its_keys() -> None:
    chapters = (
        f"## {name}\n\n{QUESTIONS}Answers\n1. {one}\n2. C\n3. B\n\n" for name, one in (("One", "A"), ("Two", "B"))
    )
    assert right(read("".join(chapters))) == "acbbcb"


@pytest.mark.parametrize(
    "text",
    [
        f"{QUESTIONS}Answers\n1. A view shares memory\n2. C is a language\n",
        f"{QUESTIONS}Answers\n1. A\n2. C\nand more\n",
        f"{QUESTIONS}Answers\n1. A\n",
        f"{QUESTIONS}```\nAnswers\n1. A\n2. C\n```\n",
        f"{QUESTIONS}The best ones are these\n1. A\n2. C\n",
    ],
)
def test_other_lines_stay_as_they_are(text: str) -> None:
    assert read(text).source.lines == tuple(text.split("\n"))
