"""Lists of keys in which each key is in the line below its number."""

from __future__ import annotations

from questions import read_bank

QUESTIONS = """# Views

Q1) What is a view in this library?
A) A tensor that shares memory.
B) A copy of a tensor.

Q2) What does a clone hold at the end?
A) The same memory.
B) Memory of its own.

Q3) Which call frees the memory?
A) free
B) none

"""
KEYS = """## Answer key / Rubric
### Correct answer (for MCQ)
Q1)
- Correct: A
- Why correct: It shares the memory.
- Why B is wrong: A copy has its own.

Q2)
- Correct: B
- Why correct: It copies all.

Q3)
- Correct: B
- Why correct: Nothing frees it.

## Common mistakes
- Views are taken for copies.
"""


def _right(text: str) -> list[tuple[str, str]]:
    questions = read_bank(text, name="a.md").bank.questions
    return [(one.prompt, "".join(option.id for option in one.options if option.right)) for one in questions]


def test_keys_are_given_to_the_questions_with_their_numbers() -> None:
    assert [key for _, key in _right(QUESTIONS + KEYS)] == ["a", "b", "b"]


def test_reasons_below_keys_stay_with_them() -> None:
    questions = read_bank(QUESTIONS + KEYS, name="a.md").bank.questions
    assert "It shares the memory." in questions[0].why
    assert "Common mistakes" not in questions[2].why


def test_numbers_in_emphasis_and_words_for_answers_are_known() -> None:
    keys = KEYS.replace("Q1)", "**1.**").replace("Q2)", "**2.**").replace("Q3)", "**3.**")
    assert [key for _, key in _right(QUESTIONS + keys.replace("Correct:", "Answer:"))] == ["a", "b", "b"]


def test_keys_whose_numbers_do_not_ascend_are_given_to_nobody() -> None:
    assert all(not key for _, key in _right(QUESTIONS + KEYS.replace("Q3)", "Q1)")))
