"""Questions as records in the front matter of a document in Markdown, beside those of its text."""

from __future__ import annotations

from questions import read_bank

CARDS = """---
id: views
title: Views
tags: [torch]
sources:
- url: https://pytorch.org/docs
  label: 'PyTorch: what is a view?'
cards:
- id: 1
  type: flip
  front: What does a view share?
  back: Its storage. Writing to
    one changes the other.
- id: 2
  type: mcq
  front: Which call copies?
  back: ''
  choices:
  - key: a
    text: detach
    correct: false
  - key: b
    text: clone
    correct: true
---

# Views

A view has its own strides.
"""


def test_cards_in_the_front_matter_are_questions_at_their_lines() -> None:
    reading = read_bank(CARDS, name="views.md")
    flip, choice = reading.bank.questions
    assert (flip.prompt, flip.answer) == (
        "What does a view share?",
        "Its storage. Writing to one changes the other.",
    )
    assert [(one.text, one.right) for one in choice.options] == [("detach", False), ("clone", True)]
    assert [(one.place.line, one.place.end_line) for one in reading.bank.questions] == [(11, 15), (16, 24)]
    assert reading.bank.title == "Views"
    assert reading.findings == ()
    assert reading.explanation == ("2 in the front matter: a list of records",)


def test_the_text_below_them_is_read_too() -> None:
    text = CARDS + "\n## Questions\n\n**Q:** What is a stride?\n\n**A:** A step.\n"
    prompts = [one.prompt for one in read_bank(text, name="views.md").bank.questions]
    assert prompts == ["What does a view share?", "Which call copies?", "What is a stride?"]


def test_a_title_that_asks_is_answered_by_the_text_beside_a_quiz() -> None:
    text = (
        "---\ntitle: What is a leaf?\nquestions:\n  [{ question: 'Is a view a leaf?', answer: [true, false],"
        " correctAnswer: false }]\n---\n\nA tensor without history.\n"
    )
    reading = read_bank(text, name="leaf.md")
    quiz, title = reading.bank.questions
    assert [(one.text, one.right) for one in quiz.options] == [("True", False), ("False", True)]
    assert (title.prompt, title.answer) == ("What is a leaf?", "A tensor without history.")
    assert reading.findings == ()


def test_other_lists_in_the_front_matter_are_no_questions() -> None:
    text = CARDS.partition("cards:")[0] + "---\n\n**Q:** What is a stride?\n\n**A:** A step.\n"
    reading = read_bank(text, name="views.md")
    assert [one.prompt for one in reading.bank.questions] == ["What is a stride?"]
    assert reading.findings == ()


def test_with_a_recipe_only_what_it_says_is_read() -> None:
    recipe = "question: '### {prompt}'"
    reading = read_bank(CARDS + "\n### What is a stride?\n\nA step.\n", name="views.md", recipe=recipe)
    assert [one.prompt for one in reading.bank.questions] == ["What is a stride?"]


def test_a_quiz_between_two_rules_is_no_front_matter() -> None:
    cards = "".join(f"**Front:** What is a {name}?\n**Back:** A tensor.\n\n" for name in ("leaf", "view"))
    assert len(read_bank(f"---\n\n{cards}---\n", name="a.md").bank.questions) == 2


def test_a_document_that_is_one_record_is_one_question() -> None:
    text = "---\nquestion: What is a leaf?\nanswer: A tensor without history.\n---\n\nMore about leaves.\n"
    (question,) = read_bank(text, name="leaf.md").bank.questions
    assert (question.prompt, question.answer) == ("What is a leaf?", "A tensor without history.")
