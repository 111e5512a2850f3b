"""Lines such as `Question 7` right below an option of the question before, as in texts of PDF files."""

from __future__ import annotations

from questions import read_bank

EXAM = """Practice exam

Question 1
Which of the following describes a benefit of a view that is not there in a
copy of a tensor?
A. It has its own memory.
B. It shares memory.
Question 2
Which of the following locations holds the driver of a
managed cluster?
A. Data plane
B. Control plane
Question 3
An engineer designs a model that works for videos and audits.
Which of the following describes how it helps?
A. It needs little modeling.
B. It scales.
Correct Answers
1. B
2. A
3. B
"""


def _read(text: str) -> list[tuple[str, str]]:
    questions = read_bank(text, name="a.md").bank.questions
    return [(one.number, "".join(option.id for option in one.options if option.right)) for one in questions]


def test_each_line_starts_a_question() -> None:
    assert _read(EXAM) == [("1", "b"), ("2", "a"), ("3", "b")]


def test_keys_at_the_end_are_not_part_of_the_last_question() -> None:
    last = read_bank(EXAM, name="a.md").bank.questions[-1]
    assert [option.text for option in last.options] == ["It needs little modeling.", "It scales."]
    assert "Correct Answers" not in last.prompt


def test_lines_in_programs_and_underlined_ones_stay_as_they_are() -> None:
    for text in (f"```\n{EXAM}```\n", EXAM.replace("Question 2\n", "Question 2\n---\n")):
        assert read_bank(text, name="a.md").source.lines[7] == "Question 2" or text.startswith("```")
    assert read_bank(f"```\n{EXAM}```\n", name="a.md").bank.questions == ()
