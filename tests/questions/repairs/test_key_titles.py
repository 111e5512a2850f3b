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


FOUR = "".join(
    f"{n}. What is {topic}?\nA) one\nB) two\nC) three\n\n"
    for n, topic in enumerate(("a view", "a leaf", "a hook", "a root"), 1)
)


@pytest.mark.parametrize(
    "keys", ["1. A\n2. C\n3. B\n4. A\n", "1. A) one\n2. C) three\n3. B) two\n4. A) one\n", "1) a\n2) c\n3) b\n4) a\n"]
)
def test_keys_that_end_a_document_need_no_title(keys: str) -> None:
    reading = read(f"{FOUR}\n{keys}")
    assert right(reading) == "acba"
    assert reading.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        f"{FOUR}\n1. A\n2. C\n3. B\n",  # few
        f"{FOUR}\n1. A\n2. C\n3. B\n4. A\n5. B\n",  # a number that no line above has
        f"{FOUR}\n2. A\n3. C\n4. B\n1. A\n",  # out of order
        f"{FOUR}\n1. A\n2. C\n3. B\n4. A\n\nThese are my own.\n",
        f"{FOUR.rstrip()}\n1. A\n2. C\n3. B\n4. A\n",  # no blank line
    ],
)
def test_other_numbered_letters_at_the_end_are_no_keys(text: str) -> None:
    assert read_bank(text, name="d.md").source.lines == tuple(text.split("\n"))


def test_keys_with_a_word_before_each_letter_in_two_lists_that_follow_each_other() -> None:
    questions = "".join(
        f"## Question {n}\n\nQue fait l'appel {n} ?\n\nA) copie\n\nB) partage\n\n" for n in (1, 2, 3, 4)
    )
    keys = "\n\n".join(f"**Question {n} : Réponse {'BAAB'[n - 1]}** - Il le fait." for n in (1, 2))
    more = "\n\n".join(f"**Question {n} : Réponse {'BAAB'[n - 1]}** - Il le fait." for n in (3, 4))
    lists = f"## Réponses - Module 3 (1/2)\n\n{keys}\n\n## Réponses - Module 3 (2/2)\n\n{more}\n"
    found = read_bank(f"# QCM\n\n{questions}{lists}", name="qcm.md").bank.questions
    right = [[option.id for option in one.options if option.right] for one in found]
    assert right == [["b"], ["a"], ["a"], ["b"]]
