"""Lists of terms in Org, described in the next line, and lists of AsciiDoc that are shown with letters."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.formats.pages.outlines import markdown_of_org, markdown_of_rst
from tests.questions.formats.readings import read_as


def test_the_mark_behind_a_term_is_no_part_of_its_description() -> None:
    text = (
        "* Networks\n"
        "  - What is a weight?  ::\n    A factor of an input.\n"
        "  - What are two rules?  ::\n    1. Delta rule\n    2. Descent\n"
        "  - Why is one layer too little? ::\n    The classes cannot be parted.\n"
    )
    questions = read_bank(text, name="cards.org").bank.questions
    assert [one.prompt for one in questions] == [
        "What is a weight?",
        "What are two rules?",
        "Why is one layer too little?",
    ]
    assert (questions[0].answer or "").strip() == "A factor of an input."
    assert not any((one.answer or "").startswith("::") for one in questions)


def test_a_description_in_the_line_of_its_term_and_other_colons_stay() -> None:
    text = "  - term :: what it is\ntext ::\n- std::"
    assert markdown_of_org(text) == text


def test_words_behind_the_end_of_a_block_do_not_leave_it_open() -> None:
    text = (
        "* What does this print?\n#+begin_src python\nprint(x.stride())\n#+end_src python\n"
        "* What is a stride?\nA step in memory.\n* What is a view?\nA tensor that shares memory.\n"
    )
    reading = read_bank(text, name="cards.org")
    assert [one.prompt.partition("\n")[0] for one in reading.bank.questions] == [
        "What does this print?",
        "What is a stride?",
        "What is a view?",
    ]


CHOICES = [
    "Which of these share memory? | + view | - clone | + transpose",
    "Which of these are optimizers? | - ReLU | + Adam | + SGD",
]


@pytest.mark.parametrize(
    "form",
    [
        "== {asked}\n\n* [{marks[0]}] {one}\n* [{marks[1]}] {two}\n* [{marks[2]}] {three}\n",
        ". {asked}\n.. {one}\n.. {two}\n.. {three}\n+\nAnswer: {letters}\n",
        "== {asked}\n\n[upperalpha]\n. {one}\n. {two}\n. {three}\n\n.Answer\n[%collapsible]\n====\n{letters}\n====\n",
        "== {asked}\n\n[loweralpha]\n. {one}\n. {two}\n. {three}\n\n*Answer:* {letters}\n",
    ],
)
def test_asciidoc_shows_letters_that_answers_name(form: str) -> None:
    text = "= Quiz\n\n" + "\n".join(
        form.format(asked=asked, one=one, two=two, three=three, marks=marks, letters=letters)
        for asked, one, two, three, marks, letters in (
            ("Which of these share memory?", "view", "clone", "transpose", "x x", "a, c"),
            ("Which of these are optimizers?", "ReLU", "Adam", "SGD", " xx", "b and c"),
        )
    )
    assert read_as("quiz.adoc", text) == CHOICES


def test_asciidoc_steps_stay_numbered() -> None:
    text = "= Quiz\n\n" + "".join(f". What is step {n}?\n.. Open it.\n.. Close it.\n\n" for n in (1, 2, 3))
    assert read_as("quiz.adoc", text) == [f"What is step {n}? | = 1. Open it.\n2. Close it." for n in (1, 2, 3)]


def test_cards_of_org_drill_ask_with_their_text() -> None:
    text = (
        "* Tensors\n\n** Views 1          :drill:\n:PROPERTIES:\n:ID: 12-34\n:END:\n\n"
        "Which call shares memory with its base?\n\n*** Answer\n\nThe call =view=.\n\n"
        "** Views 2  :torch:drill:\n\nName the call that copies the storage.\n\n*** Answer\n\nThe call =clone=.\n\n"
        "** Gap              :drill:\n\nTo copy, call [clone].\n"
    )
    assert read_as("cards.org", text) == [
        "Which call shares memory with its base? | = The call `view`.",
        "Name the call that copies the storage. | = The call `clone`.",
    ]


def test_headlines_of_org_drill_that_ask_stay_the_questions() -> None:
    card = "* What does a {name} hold? :drill:\nThink of strides.\n** Answer\nIts own kind of memory.\n\n"
    text = "".join(card.format(name=name) for name in ("view", "clone", "leaf"))
    asked = [line.split(" | ")[0].split("\n")[0] for line in read_as("cards.org", text)]
    assert asked == ["What does a view hold?", "What does a clone hold?", "What does a leaf hold?"]


def test_items_that_are_numbered_automatically_have_their_numbers() -> None:
    text = "Week 1\n------\n\n#) Derive it.\n\n#) Define a view.\n\nWeek 2\n------\n\n#. Prove it:\n\n   (#) First.\n"
    text += "   (#) Second.\n\n#. Compute it.\n\nThe norm.\n\n#. Draw it.\n"
    items = [line.strip() for line in markdown_of_rst(text).split("\n") if line.strip()[:1].isdigit()]
    assert items == [
        "1) Derive it.",
        "2) Define a view.",
        "1. Prove it:",
        "1) First.",
        "2) Second.",
        "2. Compute it.",
        "1. Draw it.",
    ]
