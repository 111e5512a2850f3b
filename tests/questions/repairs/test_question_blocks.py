"""Blocks of sites that hold a question: `!!! question` with check boxes, an answer or gaps, and `<quiz>`."""

from __future__ import annotations

from questions import read_bank
from tests.questions.formats.readings import read_as


def test_a_block_with_check_boxes_is_a_question() -> None:
    text = (
        '# Views\n\nText.\n\n!!! exercise multicolumn "Copies"\n\n    Which call copies?\n\n    - [ ] view\n'
        "    - [x] clone\n\n    !!! solution\n\n        It owns its memory.\n\nMore text below.\n"
    )
    assert read_as("lesson.md", text) == ["Which call copies? | - view | + clone | why It owns its memory."]


def test_a_block_with_an_answer_in_it_is_a_question() -> None:
    text = (
        '!!! question "What does a view share?"\n\n    ??? success "Answer"\n\n        Its memory.\n\nMore text.\n\n'
        "??? question\n    What does a clone own?\n\n    ??? answer\n        Its memory.\n"
    )
    assert read_as("lesson.md", text) == [
        "What does a view share? | = Its memory.",
        "What does a clone own? | = Its memory.",
    ]


def test_gaps_that_say_what_fills_them_are_answered_by_it() -> None:
    text = (
        '!!! exercise "Gaps"\n\n    Fill in the blanks:\n\n    A {{view}} shares, a {{/clone|copy/clone/i}} copies.\n\n'
        "Text.\n"
    )
    assert read_as("lesson.md", text) == ["Fill in the blanks:\n\nA ____ shares, a ____ copies. | = view; clone"]


def test_a_quiz_element_is_a_question() -> None:
    inside = "Which call copies? <!-- (1)! -->\n- [x] clone\n- [ ] view\n\nIt owns memory."
    text = f"# Views\n\n<quiz>\n{inside}\n</quiz>\n\nEnd.\n"
    (question,) = read_bank(text, name="lesson.md").bank.questions
    assert question.prompt == "Which call copies?"
    assert [(one.text, one.right) for one in question.options] == [("clone", True), ("view", False)]


def test_programs_and_other_blocks_stay_as_they_are() -> None:
    text = (
        '```md\n!!! question "Which?"\n\n    - [x] this\n    - [ ] that\n```\n\n!!! question\n\n    Ask in chat.\n\n'
        "!!! note\n\n    - [x] done\n"
    )
    reading = read_bank(text, name="lesson.md")
    assert reading.bank.questions == ()
    assert reading.source.lines[1] == '!!! question "Which?"'
