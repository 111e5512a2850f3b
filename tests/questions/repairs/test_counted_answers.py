"""Answers with the number of their question: `A1. …` below `**Q1. …**`."""

from __future__ import annotations

from questions import read_bank
from questions.repairs.labels import with_answers_labeled
from questions.source import Source

QUIZ = "".join(f"**Q{n}. What is number {n}?**\n\nA{n}. It is {n}.\n\n" for n in range(1, 12))


def test_an_answer_loses_its_number_and_its_question_keeps_no_part_of_it() -> None:
    questions = read_bank(f"### Week 1\n{QUIZ}", name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        (f"What is number {n}?", f"It is {n}.") for n in range(1, 12)
    ]


def test_boxes_below_the_number_of_an_answer_are_options_also_below_a_picture() -> None:
    picture = "![](img/one.png)  \n"
    text = "".join(
        f"**Q{n}. Which of these is it? ({n})**  \nA{n}.  \n{picture if n == 2 else ''}"
        f"- \\[ ] one {n}\n- \\[x] two {n}\n{'' if n == 3 else f'- {chr(92)}[ ] three {n}{chr(10)}'}\n"
        for n in range(1, 4)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [[one.right for one in each.options] for each in questions] == [[False, True, False]] * 2 + [[False, True]]
    assert [each.prompt.startswith("Which of these is it?") and "A" not in each.prompt for each in questions] == [
        True
    ] * 3
    assert picture.strip() in questions[1].prompt


def test_one_slip_in_ten_is_none() -> None:
    lines = tuple(QUIZ.replace("A7.", "A6.").split("\n"))
    assert "**Answer 7:** It is 7." in with_answers_labeled(Source("a.md", lines)).lines


def test_other_numbers_behind_an_a_stay() -> None:
    for text in (QUIZ.replace("A2.", "A4.").replace("A3.", "A5."), "Q1. What?\nA1. one\nA2. two\nA3. three\n"):
        source = Source("a.md", tuple(text.split("\n")))
        assert with_answers_labeled(source) is source
