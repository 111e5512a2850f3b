"""What a document says about a question beside it: difficulty, tags and points are no part of prompt or answer."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.model import Level
from tests.questions.formats.readings import read_as

FIELDS = "**Difficulty:** Hard\n**Tags:** autograd, memory\n"
AT = ("Why call `detach()`?", "It ends the history."), ("What is a leaf?", "A tensor made by the user.")


@pytest.mark.parametrize(
    "form",
    [
        "## {n}. {asked}\n\n{fields}\n{said}\n",
        "## {n}. {asked}\n*Difficulty: Hard | Tags: autograd, memory*\n\n{said}\n",
        "## Question {n}\n\n{fields}**Question:** {asked}\n\n**Answer:** {said}\n",
        "**Q{n}: {asked}**\n\n**A:** {said}\n\n{fields}\n---\n",
        "**Question:** {asked}\n**Difficulty:** Hard\n**Answer:** {said}\n**Tags:** autograd, memory\n",
        "{n}. {asked}\n   - Difficulty: Hard\n   - Tags: autograd, memory\n   - Answer: {said}\n",
    ],
)
def test_difficulty_and_tags_are_no_part_of_the_question(form: str) -> None:
    text = "# Quiz\n\n" + "\n".join(
        form.format(n=n, asked=asked, said=said, fields=FIELDS) for n, (asked, said) in enumerate(AT, 1)
    )
    questions = read_bank(text, name="quiz.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == list(AT)
    told: list[tuple[Level | None, tuple[str, ...]]] = [(one.level, one.tags) for one in questions]
    assert told == [("senior", ("Hard", "autograd", "memory"))] * 2


def test_fields_behind_a_key_are_no_explanation() -> None:
    text = "".join(
        f"**Question {n}:** What is {n}?\n\nA) One\nB) Two\n\n**Answer:** B\n**Topic:** maths\n**Difficulty:** Easy\n\n"
        for n in (1, 2)
    )
    assert read_as("quiz.md", text) == ["What is 1? | - One | + Two", "What is 2? | - One | + Two"]


def test_what_an_answer_says_of_its_subject_stays() -> None:
    said = "Type: supervised\nCategory: regression"
    first, last = "Topic: clusters.", "```\ntags: 1\n```"
    text = f"## What is ridge?\n\n{said}\n\n## What is k-means?\n\n{first}\n\n## What is it?\n\n{last}\n"
    assert [one.answer for one in read_bank(text, name="quiz.md").bank.questions] == [
        said,
        "Topic: clusters.",
        "```\ntags: 1\n```",
    ]


def test_the_line_that_asks_below_a_title_belongs_to_the_question() -> None:
    text = "".join(
        f"### Q: Why is {name} slow?\n\n**Level:** Easy\n**Question:** The {name} takes a day. Where do you look?\n"
        "**A strong answer:**\n\n- Measures.\n\n"
        for name in ("training", "loading")
    )
    assert read_as("quiz.md", text) == [
        f"Why is {name} slow?\n\nThe {name} takes a day. Where do you look? | = **A strong answer:**\n\n- Measures."
        for name in ("training", "loading")
    ]


@pytest.mark.parametrize(
    ("first", "below"),
    [
        ("{n}. (2 points) Which call copies?", ""),
        ("{n}. Which call copies? (1/2 points)", ""),
        ("## Which call copies? 1/1", ""),
        ("## Which call copies? 1 / 2 points", ""),
        ("{n}. Which call copies?", "   1/1 point\n\n"),
        ("**Question {n}** (2 points)", "Which call copies?\n\n"),
        ("**Question {n}**", "(2 points)\nWhich call copies?\n\n"),
    ],
)
def test_points_are_no_part_of_the_question(first: str, below: str) -> None:
    options = "- [x] clone\n- [ ] view\n"
    options = options if not first.startswith("{n}.") else "   - [x] clone\n   - [ ] view\n"
    gap = "" if below else "\n"
    text = "".join(f"{first.replace('{n}', number)}\n{gap}{below}{options}\n" for number in "12")
    assert read_as("quiz.md", text) == ["Which call copies? | + clone | - view"] * 2


@pytest.mark.parametrize("answer", ["2 points", "It is 1/1"])
def test_points_in_an_answer_stay(answer: str) -> None:
    assert read_as("quiz.md", f"Q: How much is it?\nA: {answer}\n\nQ: What is a view?\nA: A tensor.\n")[0] == (
        f"How much is it? | = {answer}"
    )


@pytest.mark.parametrize("word", ["Possible question", "Interview Question", "Follow-up question", "Возможный вопрос"])
def test_words_that_say_which_question_it_is_are_no_part_of_it(word: str) -> None:
    text = "# Notes\n\n" + "".join(f"**{word}: What is {name}?**\n\nIt is {name}.\n\n" for name in ("a view", "a leaf"))
    assert read_as("notes.md", text) == [f"What is {name}? | = It is {name}." for name in ("a view", "a leaf")]


def test_words_that_end_like_a_word_for_questions_stay() -> None:
    asked = "Voici des listes alphabétiques. Quelle étape les convertit ?"
    text = f"## {asked}\n\nA) L'ajustement\nB) L'encodage\n\nRéponse : B\n"
    assert read_as("quiz.md", text) == [f"{asked} | - L'ajustement | + L'encodage"]
