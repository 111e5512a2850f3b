"""Questions with options and no blank line between them, as texts copied from PDF files have them."""

from __future__ import annotations

from questions import read_bank

TOPICS = ["a view", "a copy", "a leaf", "a hook", "a graph", "a stride"]


def choice(number: int, topic: str, mark: str = "") -> str:
    options = f"a. call {number}\nb. other {number}\nc. none\n"
    return f"{number}{mark} Which call creates {topic} of a tensor\nin one step?\n{options}"


def test_numbers_without_a_mark_begin_questions_right_below_an_answer() -> None:
    text = "".join(f"{choice(n, topic, '.' if n < 3 else '')}Answer: b\n" for n, topic in enumerate(TOPICS, 1))
    questions = read_bank(f"# Quiz\n\n{text}", name="a.md").bank.questions
    assert [one.number for one in questions] == list("123456")
    assert [[o.text for o in one.options if o.right] for one in questions] == [[f"other {n}"] for n in range(1, 7)]
    assert questions[3].prompt == "Which call creates a hook of a tensor\nin one step?"


def test_words_for_an_answer_without_one_and_lines_between_pages_say_nothing() -> None:
    page = "Week {n} Page {n} of 6 Tensors (2021)\n"
    text = "".join(f"{choice(n, topic)}Answer:\n{page.format(n=n)}" for n, topic in enumerate(TOPICS, 1))
    questions = read_bank(f"# Quiz\n\n{text}", name="a.md").bank.questions
    assert [(one.answered, len(one.options), one.why) for one in questions] == [(False, 3, "")] * 6


def test_numbers_in_a_text_without_options_stay_as_they_are() -> None:
    text = "# Notes\n\n" + "".join(f"{n} tensors share memory.\nThey are views.\n" for n in range(1, 8))
    assert read_bank(text, name="a.md").bank.questions == ()
