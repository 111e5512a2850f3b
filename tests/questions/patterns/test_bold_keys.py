"""Several bold options, in a document where bold type marks the right option of most questions."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank

TOPICS = ("a view", "a leaf", "a hook", "a root", "a step")


def alone(options: str = "    **A. one**  \n    B. two  \n    C. three\n") -> str:
    return "".join(f"{n}. What is {topic}?\n\n{options}\n" for n, topic in enumerate(TOPICS, 1))


def last(reading: Reading) -> list[tuple[str, bool]]:
    return [(option.text, option.right) for option in reading.bank.questions[-1].options]


@pytest.mark.parametrize("blank", ["", "  "])
def test_several_options_in_bold_are_right_ones(blank: str) -> None:
    text = alone() + f"6. Which of these copy?\n\n    **A. clone**{blank}\n    B. view{blank}\n    **C. repeat**\n"
    reading = read_bank(text, name="quiz.md")
    assert last(reading) == [("clone", True), ("view", False), ("repeat", True)]
    assert [one.code for one in reading.findings] == ["Q107"] * 6
    assert (reading.findings[-1].span.line, reading.findings[-1].severity) == (33, "note")
    assert "the bold options" in reading.findings[-1].message


@pytest.mark.parametrize(
    "text",
    [
        alone() + "6. Which of these copy?\n\n    **A. clone**  \n    **B. tile**  \n    **C. repeat**\n",  # all
        alone("    A. one\n    B. two\n    C. three\n\n    Answer: A\n")
        + "6. Which of these copy?\n\n    **A. clone**\n    B. view\n    **C. repeat**\n",  # bold type marks no others
    ],
)
def test_where_bold_type_tells_nothing_no_key_is_guessed(text: str) -> None:
    reading = read_bank(text, name="quiz.md")
    assert [right for _, right in last(reading)] == [False] * 3
    assert reading.findings[-1].code == "Q101"


def bulleted(mark: str) -> str:
    """Returns statements in four parts; `mark` stands around the right word of each."""
    words = [("True", "False"), ("False", "True")]
    return "".join(
        f"# Part {part}\n"
        + "".join(
            f"### {at}. Views of kind {part}{at} share memory.\n"
            + "".join(f"* {mark + word + mark if word == right else word}\n" for word in ("True", "False"))
            + "\n"
            for at, (right, _) in enumerate(words * 3, 1)
        )
        for part in "ABCD"
    )


@pytest.mark.parametrize("mark", ["**", "***"])
def test_headings_that_only_state_ask_where_one_item_below_each_is_bold(mark: str) -> None:
    questions = read_bank(bulleted(mark), name="quiz.md").bank.questions
    assert len(questions) == 24
    assert [option.text for one in questions for option in one.options if option.right] == ["True", "False"] * 12


def test_a_bold_text_behind_the_letter_of_a_bullet_is_the_key() -> None:
    text = "\n".join(
        f"{n}. Which call has number {n}?\n   - a) one\n   - b) **two of {n}**\n   - c) three\n" for n in range(1, 7)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [[o.text for o in one.options if o.right] for one in questions] == [[f"two of {n}"] for n in range(1, 7)]
