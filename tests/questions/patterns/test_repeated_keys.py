"""Keys at the end that repeat each question, lists with letters in bullets, and outlines of an answer."""

from __future__ import annotations

from questions import read_bank

ASKED = ("What is the most", "What does ISR stand for", "Which setting lasts", "What happens then")


def _document(answer: str) -> str:
    asked = "".join(f"### {n}. {text}?\n- a) one\n- b) two\n- c) three\n\n" for n, text in enumerate(ASKED, 1))
    keys = "".join(f"### {n}. {text}?\n{answer}\n\n" for n, text in enumerate(ASKED, 1))
    return f"# Quiz\n\n## Questions\n\n{asked}---\n\n## Answers\n\n{keys}---\n\n## Scores\n\n- all: good\n"


def test_keys_below_the_repeated_questions_may_have_a_label() -> None:
    reading = read_bank(_document("**Answer: b) two**\n\n**Explanation:** It is more than one."), name="quiz.md")
    for question in reading.bank.questions:
        assert [(one.text, one.right) for one in question.options] == [("one", False), ("two", True), ("three", False)]
        assert question.why == "It is more than one."
    assert (len(reading.bank.questions), reading.answered) == (4, 4)


def test_letters_in_bullets_are_not_part_of_the_options() -> None:
    first, *_ = read_bank(_document("**Answer: none of them**"), name="quiz.md").bank.questions
    assert ([one.text for one in first.options], first.answered) == (["one", "two", "three"], False)


OUTLINE = """# Central limit theorem

**Q:** What does it say and why does it matter?
- Statement
- Requirements
- Why it matters
- When it fails

**A:**

- **Statement**: the mean of samples is normal
- **Requirements**: finite variance
- **Why it matters**: it allows tests
"""


def test_bullets_that_the_answer_follows_are_an_outline_and_no_options() -> None:
    (question,) = read_bank(OUTLINE, name="card.md").bank.questions
    assert (question.kind, question.options) == ("open", ())
    assert question.answer is not None
    assert question.answer.startswith("- **Statement**: the mean")
    assert question.prompt.endswith("- When it fails")


FRONT = """---
quizName: "Python"
points: 750
correctAnswer: ["Like an attribute"]
options: [
  "Like an attribute",
  "As a class variable",
]
---

How is a property accessed?

```python
print(c.diameter)
```
"""


def test_text_below_options_and_a_key_in_the_front_matter_is_their_question() -> None:
    (question,) = read_bank(FRONT, name="question-1.md").bank.questions
    assert [(one.text, one.right) for one in question.options] == [
        ("Like an attribute", True),
        ("As a class variable", False),
    ]
    assert question.prompt.startswith("How is a property accessed?")
    assert "print(c.diameter)" in question.prompt


def test_front_matter_with_options_for_other_things_is_not_a_question() -> None:
    text = FRONT.replace("correctAnswer", "author")
    assert all(not one.options for one in read_bank(text, name="post.md").bank.questions)
    told = FRONT.replace("How is a property accessed?", "A property is accessed like an attribute.")
    assert read_bank(told, name="post.md").bank.questions == ()
