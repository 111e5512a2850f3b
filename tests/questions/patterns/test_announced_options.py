"""Options that words name, the keys that name them by number or in a list, and keys in a table at the end."""

from __future__ import annotations

from textwrap import dedent

import pytest

from questions import Question, Reading, read_bank


def read(text: str) -> Reading:
    reading = read_bank(dedent(text), name="quiz.md")
    assert reading.unaccounted() == ()
    return reading


def shown(question: Question) -> str:
    return " ".join(f"{'+' if option.right else '-'}{option.text}" for option in question.options)


def numbered(key: str, *, announced: bool = True) -> str:
    word = "**Options:**\n" if announced else ""
    return "\n\n".join(
        f"## Question {n} (1 pt)\nThe call is:\n\n`run({n})`\n\nWhat does it share?\n\n"
        f"{word}1. Memory {n}\n2. Strides {n}\n3. Nothing {n}\n\n{key}"
        for n in (1, 2, 3)
    )


def test_the_number_in_bold_with_its_explanation_is_the_key_below_a_word_for_options() -> None:
    questions = read(numbered("**Answer: 2** - It steps the same way.")).bank.questions
    assert [shown(one) for one in questions] == [f"-Memory {n} +Strides {n} -Nothing {n}" for n in (1, 2, 3)]
    assert questions[0].prompt == "The call is:\n\n`run(1)`\n\nWhat does it share?"
    assert {one.why for one in questions} == {"It steps the same way."}


@pytest.mark.parametrize("key", ["**Answer: 7** - It steps.", "**Hint: 2** - It steps."])
def test_a_number_of_no_option_or_behind_another_word_is_no_key(key: str) -> None:
    assert not any(option.right for one in read(numbered(key)).bank.questions for option in one.options)


def test_a_number_is_no_key_where_no_word_says_that_the_list_has_options() -> None:
    questions = read(numbered("**Answer: 2** - It steps.", announced=False)).bank.questions
    assert not any(one.options for one in questions)


EXPLAINED = """\
    **Question 1**: Which of these is lazy?

    Note: lazy means computed later.

    Option A: a generator

    Explanation: it waits for the next call.

    Option B: a list

    Explanation: it is filled at once.

    ---

    **Question 2**: The step follows this rule:

    $$x = x - d$$

    What will it do?

    Option A: go up
    Option B: go down
    Option C: stay

    Explanation: the sign of $d$ decides.

    ---

    **Question 3**: Which of these copies memory?

    Option A: clone
    Option B: view
    Option C: slice

    Explanation: a clone has memory of its own.

    ---

    **Question 4**: Which of these is a number?

    Option A: 3
    Option B: x
    Option C: y

    Explanation: a name is none.

    ---

    **Question 5**: Which of these is a word?

    Option A: one
    Option B: 1
    Option C: 2

    Explanation: a digit is none.
    """


def test_options_with_an_explanation_each_and_no_key_are_options_and_no_answer() -> None:
    reading = read(EXPLAINED)
    first, second, third, *_ = reading.bank.questions
    assert (shown(first), first.answer) == ("-a generator -a list", None)
    assert first.prompt.endswith("lazy means computed later.")
    assert first.why == "A) it waits for the next call.\n\nB) it is filled at once."
    assert (shown(second), second.answer) == ("-go up -go down -stay", None)
    assert second.prompt == "The step follows this rule:\n\n$$x = x - d$$\n\nWhat will it do?"
    assert (shown(third), third.answer) == ("-clone -view -slice", None)
    assert [one.code for one in reading.findings] == ["Q122"] * 5


def test_an_answer_above_a_further_question_with_options_does_not_belong_to_the_question() -> None:
    offered = "".join(
        f"## Which one is {n}?\n\nA. one {n}\nB. two {n}\nC. three {n}\n\nAnswer: B\n\n" for n in (1, 2, 3)
    )
    text = (
        f"{offered}## What is a clone?\n\nIt copies memory.\n\nWhich is last?\n\nA. first\nB. last\nC. none\n\nThink.\n"
    )
    assert not read(text).bank.questions[-1].options


@pytest.mark.parametrize(
    ("listed", "right"),
    [
        ("* strides\n* views", "-clones +strides +views -gradients"),
        ("- A\n- D", "+clones -strides -views +gradients"),
        ("- B) strides\n- D) gradients", "-clones +strides -views +gradients"),
    ],
)
def test_all_bullets_of_a_list_of_right_answers_are_keys(listed: str, right: str) -> None:
    (question,) = read(
        "### 1. Which are cheap?\n\n- A) clones\n- B) strides\n- C) views\n- D) gradients\n\n"
        f"**Correct Answers:**\n\n{listed}\n"
    ).bank.questions
    assert shown(question) == right


def test_bullets_that_name_an_option_twice_are_no_list_of_keys() -> None:
    (question,) = read(
        "### 1. Which are cheap?\n\n- A) clones\n- B) strides\n- C) views\n\n**Correct Answers:**\n\n- A\n- A\n"
    ).bank.questions
    assert not any(option.right for option in question.options)


def test_a_table_of_keys_may_have_columns_as_wide_as_their_titles() -> None:
    reading = read("""\
        # Test

        ### Question 1

        **Which copies?**

        - A) view
        - B) clone

        ---

        ### Question 2

        **A view has memory of its own.**

        ---

        ### Question 3

        **Which shares?**

        - A) clone
        - B) view

        \\newpage

        ---

        ## Answer Key

        | Question | Answer | Level |
        |----------|--------|-------|
        | 1        | B      | easy  |
        | 2        | False  | easy  |
        | 3        | B      | hard  |
        """)
    first, second, third = reading.bank.questions
    assert [shown(one) for one in (first, second, third)] == ["-view +clone", "-True +False", "-clone +view"]
    assert (third.why, reading.findings) == ("", ())


def test_a_finding_about_a_missing_key_goes_when_a_list_at_the_end_has_the_key() -> None:
    text = "".join(
        f"### {n}. Which one is {n}?\n\nA. one {n}\nB. two {n}\n\n**Answer:** see the end\n\n" for n in (1, 2, 3)
    )
    reading = read(f"{text}## Answer Key\n\n1. B\n2. A\n3. B\n")
    assert [shown(one) for one in reading.bank.questions] == ["-one 1 +two 1", "+one 2 -two 2", "-one 3 +two 3"]
    assert [one.code for one in reading.findings] == []


@pytest.mark.parametrize(
    ("gap", "options"),
    [
        ("[(a) squares (b) signs (c) ranks]", "squares, SIGNS, ranks"),
        ("【(a)二乗 (b)符号(sign) (c)順位】", "二乗, 符号(SIGN), 順位"),
        ("{A) squares, B) signs}", "squares, SIGNS"),
        ("[a) squares; b) signs]", "squares, SIGNS"),
        ("[(a) f(a) / (b) f(b)]", "f(a), F(B)"),
    ],
)
def test_options_in_the_gap_of_a_sentence_are_read_with_their_key(gap: str, options: str) -> None:
    text = "".join(f"### Q{n}. Loss {n} adds up {gap} of errors.\n\n**Answer:** b\n\nNote.\n\n" for n in (1, 2))
    for n, one in enumerate(read(text).bank.questions, 1):
        assert one.prompt == f"Loss {n} adds up ____ of errors."
        assert ", ".join(o.text.upper() if o.right else o.text for o in one.options) == options
        assert one.why == "Note."


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Loss 1 adds up [(a) squares (c) ranks].", "b"),
        ("Loss 1 adds up [(a) squares (b) signs](loss.md).", "b"),
        ("Loss 1 adds [(a) one (b) two] to [(a) all (b) none].", "b"),
        ("Loss 1 adds up [(a) squares (b) ].", "b"),
        ("Loss 1 adds up [(a) squares (b) signs].", "It depends."),
    ],
)
def test_brackets_without_a_key_or_without_letters_in_order_are_no_gap(asked: str, answer: str) -> None:
    (one,) = read(f"### Q1. {asked}\n\n**Answer:** {answer}\n").bank.questions
    assert (one.prompt, one.answer, one.options) == (asked, answer, ())
