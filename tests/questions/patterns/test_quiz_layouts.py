"""One quiz in the many layouts that people, and the programs they ask, write it in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from questions import Question, read_bank
from questions.repairs.layout import with_unquoted_lines
from questions.source import Source

Layout = Callable[[int, str, tuple[str, ...], int, str], str]

QUIZ = (
    ("What does `detach()` return?", ("A copy", "A view without history", "A leaf", "Nothing"), 1, "It shares memory."),
    ("Which call zeroes gradients?", ("`zero_()`", "`zero_grad()`", "`backward()`", "`step()`"), 1, "See its docs."),
    ("Which dtype is the default?", ("float16", "float64", "float32", "bfloat16"), 2, "It can be changed."),
    ("What is a leaf?", ("A result", "A module", "A hook", "A tensor made by the user"), 3, "It has no history."),
)
LETTERS = "ABCD"
BREAK = "  \n"


def rows(options: tuple[str, ...], form: str, between: str = "\n") -> str:
    return between.join(
        form.format(letter=letter, small=letter.lower(), number=at, text=option)
        for at, (letter, option) in enumerate(zip(LETTERS, options, strict=True), 1)
    )


CHOICES: dict[str, Layout] = {
    "key with text, reason, rule": lambda n, asked, options, key, why: (
        f"### Question {n}\n**{asked}**\n\n{rows(options, '{letter}) {text}', BREAK)}\n\n"
        f"**Correct Answer:** {LETTERS[key]}) {options[key]}\n\n**Explanation:** {why}\n\n---\n"
    ),
    "nested lists": lambda n, asked, options, key, why: (
        f"{n}. **{asked}**\n{rows(options, '   - {letter}) {text}')}\n\n"
        f"   **Answer:** {LETTERS[key]}) {options[key]}\n   **Explanation:** {why}\n"
    ),
    "key in bold as a whole": lambda n, asked, options, key, why: (
        f"**Q{n}. {asked}**\n{rows(options, '{small}) {text}')}\n"
        f"**Answer: {LETTERS[key].lower()}) {options[key]}**\n{why}\n"
    ),
    "fold": lambda n, asked, options, key, why: (
        f"#### {n}. {asked}\n{rows(options, '* **{letter}.** {text}')}\n"
        f"<details>\n<summary>Show answer</summary>\n\n**{LETTERS[key]}.** {options[key]}. {why}\n\n</details>\n"
    ),
    "plain lines": lambda n, asked, options, key, why: (
        f"Question {n}: {asked}\n{rows(options, '{letter}. {text}')}\nAnswer: {LETTERS[key]}\nExplanation: {why}\n"
    ),
    "bullets for all": lambda n, asked, options, key, why: (
        f"- **{asked}**\n{rows(options, '  - {letter}: {text}')}\n  - **Answer:** {LETTERS[key]}\n  - **Why:** {why}\n"
    ),
    "table without a header": lambda n, asked, options, key, why: (
        f"### {n}. {asked}\n| | |\n|---|---|\n{rows(options, '| {letter} | {text} |')}\n\n"
        f"**Answer:** {LETTERS[key]}\n\n**Explanation:** {why}\n"
    ),
    "emoji for letters, a sign before the text": lambda n, asked, options, key, why: (
        f"**{asked}**\n"
        + "\n".join(f"{sign} {one}" for sign, one in zip("🇦🇧🇨🇩", options, strict=True))
        + f"\n✅ **{options[key]}**\n{why}\n"
    ),
    "numbers": lambda n, asked, options, key, why: (
        f"### {asked}\n\n{rows(options, '{number}. {text}')}\n\n**Answer:** {key + 1}\n\n**Explanation:** {why}\n"
    ),
    "a title above each, and a list of letters": lambda n, asked, options, key, why: (
        f"__Practice Question__\n\n{asked}\n\n{rows(options, '{letter}. {text}')}\n\n__Suggested Answers__\n\n"
        + "\n".join(f"- {letter}{' - Correct' if at == key else ''}" for at, letter in enumerate(LETTERS))
        + f"\n\n{why}\n"
    ),
}
PROSE: dict[str, Layout] = {
    "labels": lambda n, asked, options, key, why: f"Q: {asked}\nA: {options[key]}. {why}\n",
    "items": lambda n, asked, options, key, why: f"- {asked}\n    {options[key]}. {why}\n",
    "a dash": lambda n, asked, options, key, why: f"**{asked}** — {options[key]}. {why}\n",
    "arrows": lambda n, asked, options, key, why: f"{asked} >> {options[key]}. {why}\n",
    "brackets": lambda n, asked, options, key, why: f"[Q{n}] {asked}\n[A] {options[key]}. {why}\n",
    "quotes": lambda n, asked, options, key, why: f"> **Q{n}:** {asked}\n>\n> **A:** {options[key]}. {why}\n",
    "sides": lambda n, asked, options, key, why: f"## Card {n}\n**Front:** {asked}\n**Back:** {options[key]}. {why}\n",
    "italics": lambda n, asked, options, key, why: f"**Q{n}: {asked}**\n*{options[key]}. {why}*\n",
    "Seiten": lambda n, asked, options, key, why: f"Vorderseite: {asked}\nRückseite: {options[key]}. {why}\n",
}


def read(layout: Layout, title: str = "# PyTorch Quiz\n\n") -> tuple[Question, ...]:
    text = title + "\n".join(layout(at, *one) for at, one in enumerate(QUIZ, 1))
    reading = read_bank(text, name="quiz.md")
    assert reading.unaccounted() == () and reading.unanswered == 0
    return reading.bank.questions


@pytest.mark.parametrize("name", CHOICES)
def test_a_quiz_with_options_is_the_same_in_each_layout(name: str) -> None:
    found = [
        (one.prompt, tuple(o.text for o in one.options), [o.right for o in one.options].index(True), one.why)
        for one in read(CHOICES[name])
    ]
    folded = name == "fold"
    assert found == [
        (asked, options, key, f"{options[key]}. {why}" if folded else why) for asked, options, key, why in QUIZ
    ]


@pytest.mark.parametrize("name", PROSE)
def test_a_quiz_without_options_is_the_same_in_each_layout(name: str) -> None:
    found = [(one.prompt, (one.answer or "").strip("*")) for one in read(PROSE[name])]
    assert found == [(asked, f"{options[key]}. {why}") for asked, options, key, why in QUIZ]


def test_a_number_below_questions_for_numbers_is_no_key() -> None:
    counts = "".join(
        f"### How many of these share memory?\n\n1. a{n}\n2. b\n3. c\n\n**Answer:** 2\n\n" for n in range(4)
    )
    prints = "".join(f"### What does line {n} print?\n\n1. a{n}\n2. b\n3. c\n\n**Answer:** 2\n\n" for n in range(4))
    others = "".join(f"### Which is a view {n}?\n\n1. a{n}\n2. b\n3. c\n\n**Answer:** 2\n\n" for n in range(3))
    for text in (counts, prints, prints + others):
        assert {one.kind for one in read_bank(text, name="a.md").bank.questions} == {"open"}


def test_two_texts_below_a_sign_are_no_keys_and_flags_are_no_letters() -> None:
    asked = "".join(f"**What is number {n}?**\nA) one\nB) two\n✅ two\n\n" for n in range(2))
    assert read_bank(asked, name="a.md").answered == 0
    flags = "**Q:** Which flags?\n\n**A:** These two:\n\n🇫🇷 France\n🇩🇪 Germany\n"
    (question,) = read_bank(flags, name="a.md").bank.questions
    assert question.answer == "These two:\n\n🇫🇷 France\n🇩🇪 Germany"


def test_callouts_are_no_quotes() -> None:
    text = "".join(f"> [!question]\n> **Q:** {asked}\n> **A:** {options[key]}\n\n" for asked, options, key, _ in QUIZ)
    document = Source("a.md", tuple(text.split("\n")))
    assert with_unquoted_lines(document) is document


def test_quotes_that_answer_stay_quotes_and_a_single_card_has_no_sides() -> None:
    text = "**Q1:** What is a view?\n\n> **A:** It shares memory.\n\n**Q2:** What is a leaf?\n\n> **A:** A tensor.\n"
    assert [one.answer for one in read_bank(text, name="a.md").bank.questions] == ["It shares memory.", "A tensor."]
    assert read_bank("# Notes\n\nFront: the door\nBack: the garden\n", name="a.md").bank.questions == ()


def test_a_table_of_letters_below_a_question_whose_answer_is_no_letter_stays_a_part_of_it() -> None:
    table = "| | |\n|---|---|\n| A | view |\n| B | t |"
    text = f"### What do these have in common?\n\n{table}\n\n**Answer:** They share memory.\n"
    (question,) = read_bank(text, name="a.md").bank.questions
    assert (question.kind, question.answer) == ("open", "They share memory.") and "view" in question.prompt


TRUTHS: dict[str, str] = {
    "behind it": "{n}. {said} (True/False)\n\n**Answer:** {key}\n\n**Explanation:** {why}\n",
    "before it, in the same paragraph": "**{n}. True or False:** {said}\n**Answer:** {key}. {why}\n",
    "short": "{n}. T/F: {said}\n   - Answer: {letter}. {why}\n",
    "a statement in bold": "### Question {n}\n**Type**: true-false\n\n**{said}**\n\n**Answer**: {key}\n\n{why}\n",
    "a section": "{n}. {said}\n\n   **Answer:** {key}, because {why}\n",
}


@pytest.mark.parametrize("name", TRUTHS)
def test_statements_are_true_or_false_in_each_layout(name: str) -> None:
    said = [("A view shares memory.", True, "it is one"), ("A clone is a view.", False, "it is none")]
    said += [("A leaf has a grad_fn.", False, "it has none"), ("Hooks run in backward.", True, "they do")]
    text = "# True or false\n\n" + "\n".join(
        TRUTHS[name].format(n=n, said=one, key=str(key), letter=str(key)[0], why=why)
        for n, (one, key, why) in enumerate(said, 1)
    )
    found = read_bank(text, name="a.md").bank.questions
    assert [[(o.text, o.right) for o in one.options] for one in found] == [
        [("True", key), ("False", not key)] for _, key, _ in said
    ]
    assert [one.why.removeprefix("because ") for one in found] == [why for *_, why in said]
    assert all(statement in one.prompt for one, (statement, *_) in zip(found, said, strict=True))


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Explain when `allclose` returns true/false.", "True when all numbers are close."),
        ("What does `bool(x)` mean?", "True."),
        ("True or false: a view copies?", "Truly false."),
    ],
)
def test_an_answer_that_begins_with_true_is_no_key_by_itself(prompt: str, answer: str) -> None:
    (question,) = read_bank(f"**Q:** {prompt}\n\n**A:** {answer}\n", name="a.md").bank.questions
    assert (question.kind, question.answer) == ("open", answer)


def test_statements_with_a_table_of_keys_are_true_or_false() -> None:
    said = {"Robots think like people do.": "False", "You use a GPU when you train a model.": "True"}
    asked = "".join(f"### Question {n}\n\n**{one}**\n\n---\n\n" for n, one in enumerate(said, 1))
    keys = "".join(f"| {n} | {key} | easy |\n" for n, key in enumerate(said.values(), 1))
    text = (
        f"# Quiz\n\n{asked}\n## Answer Key\n\n| Question | Answer | Level |\n|---|---|---|\n{keys}\n---\n\n## Scoring\n"
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [[o.text for o in one.options if o.right] for one in questions] == [["False"], ["True"]]
    assert [one.prompt for one in questions] == [*said]


def test_true_and_false_with_letters_and_no_key_are_options_and_no_answer() -> None:
    said = ("A view shares memory with its base", "A clone does not", "A leaf has no history")
    text = "# Quiz\n\n" + "".join(f"{n}. {one}\n    a. True\n    b. False\n\n" for n, one in enumerate(said, 1))
    reading = read_bank(text, name="a.md")
    assert [[(o.text, o.right) for o in one.options] for one in reading.bank.questions] == [
        [("True", False), ("False", False)]
    ] * 3
    assert reading.answered == 0


def test_a_word_behind_an_item_marks_it_in_two_lists_and_bold_type_alone_does_not() -> None:
    def listed(mark: str) -> str:
        things = ("view", "transpose", "clone")
        lists = f"- {mark.format('the first')}\n- the second\n\n"
        return "".join(f"## What is a part of a {thing}?\n\n{lists}" for thing in things)

    for mark in ("{} (correct)", "{} *(correct)*", "{} ✅"):
        questions = read_bank(listed(mark), name="a.md").bank.questions
        assert [[(o.text, o.right) for o in one.options] for one in questions] == [
            [("the first", True), ("the second", False)]
        ] * 3
    assert not any(one.options for one in read_bank(listed("**{}**"), name="a.md").bank.questions)


def test_a_task_among_headings_that_are_only_numbers_is_a_question() -> None:
    options = "- A. `28`\n- B. `None`\n- C. `0`\n"
    text = "".join(f"### {n} (1 point)\n\nWhat does call {n} return:\n\n{options}\n" for n in range(1, 5))
    task = "### 5 (2 points)\n\nWrite a function `mean` of three numbers.\n\n```python\n|\n|\n```\n\n"
    questions = read_bank(f"# Python\n\n{text}{task}", name="quiz.md").bank.questions
    assert [len(one.options) for one in questions] == [3, 3, 3, 3, 0]
    assert questions[-1].prompt.startswith("Write a function `mean` of three numbers.")
