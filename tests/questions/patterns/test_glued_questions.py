"""Questions that Markdown joins with other lines: right below an answer, behind a `<br>`, or with a tab before them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from questions import Reading, read_bank
from questions.document import open_document
from questions.repairs.layout import with_indented_questions
from questions.source import open_source
from questions.wording.line_starts import starting_lines


def read(text: str) -> Reading:
    reading = read_bank(dedent(text), name="notes.md")
    assert reading.unaccounted() == ()
    return reading


def pairs(text: str) -> list[tuple[str, str | None]]:
    return [(one.prompt, one.answer) for one in read(text).bank.questions]


def test_a_number_with_a_label_begins_a_question_right_below_an_answer() -> None:
    text = """\
        **1\\. Question:** What is a stride?

        **Answer:** A step.

        A note on it.
        **2\\. Question:** What is a view?

        **Answer:** A window.
        **3\\. Question:** Which differs from the others?

        **Answer:** The clone.
        """
    assert pairs(text) == [
        ("What is a stride?", "A step.\n\nA note on it."),
        ("What is a view?", "A window."),
        ("Which differs from the others?", "The clone."),
    ]
    # Two of them do not show that such lines begin questions.
    assert len(pairs(text[: text.index("        **3")])) == 1


def test_a_word_with_a_number_alone_begins_a_question_right_below_a_key() -> None:
    text = "".join(
        f"Question {n}  \nWhat does call {n} share?\n\n* a. nothing {n}\n* b. memory {n}\n* c. names {n}\n\n"
        f"Correct Answer: b. memory {n}  \n(Note: it is a view)  \n"
        for n in (1, 2, 3, 4)
    )
    questions = read(text).bank.questions
    assert [one.prompt for one in questions] == [f"What does call {n} share?" for n in (1, 2, 3, 4)]
    assert [[option.text for option in one.options if option.right] for one in questions] == [
        [f"memory {n}"] for n in (1, 2, 3, 4)
    ]


def test_a_word_with_a_number_begins_no_paragraph_in_a_text_without_blank_lines() -> None:
    printed = "".join(
        f"Question {n}\nDescribe call {n}.\nTheory\nIt shares.\nIt is fast.\nUse it.\n" for n in range(1, 9)
    )
    assert not starting_lines(open_source(printed, "a.md")[0])
    # The next question ends one too.
    short = "".join(f"Question {n}\nWhy {n}?\n" for n in (1, 2, 3))
    assert starting_lines(open_source(short, "a.md")[0]) == {1, 3, 5}


def test_what_is_given_below_a_label_with_a_number_belongs_to_the_question() -> None:
    text = "".join(
        f"**{n}. Question:** Given the definitions below:\n\n* $a = {n}$\n* $b$ = errors\n\n"
        f"Which of the formulas computes rate {n}?\n\n**Answer:** $a / b = {n}$\n\n"
        for n in (1, 2, 3)
    )
    assert pairs(text) == [
        (
            f"Given the definitions below:\n\n* $a = {n}$\n* $b$ = errors\n\nWhich of the formulas computes rate {n}?",
            f"$a / b = {n}$",
        )
        for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("end", ["<br>", "<br/> ", "<br><br>"])
def test_a_break_behind_a_question_belongs_to_no_prompt(end: str) -> None:
    text = f"""\
        **1. Explain stemming and lemmas.** {end}
        **Answer:** Words lose their endings.

        **2. What is a token?** {end}
        **Answer:** A piece of text.

        **3. What is a corpus?** {end}
        **Answer:** A body of text.
        """
    assert pairs(text) == [
        ("Explain stemming and lemmas.", "Words lose their endings."),
        ("What is a token?", "A piece of text."),
        ("What is a corpus?", "A body of text."),
    ]
    headings = "".join(f"## {n}. Q: What is word {n}?{end}\n#### Ans:\nIt is {n}.\n\n" for n in (1, 2, 3))
    assert [prompt for prompt, _ in pairs(headings)] == [f"What is word {n}?" for n in (1, 2, 3)]


def folded(lines: list[str]) -> str:
    return "#### Basics\n\n" + "".join(
        f"\t{line}\n\t\n <details>\n<summary>ANS</summary>\n<div>\n Because of {n}.\n</div>\n</details>\n\n\n"
        for n, line in enumerate(lines, 1)
    )


def test_lines_with_a_tab_before_them_ask_above_folded_answers() -> None:
    asked = ["Name a case where both are equal", "How is the loss chosen?", "What are skewed data?"]
    questions = read_bank(folded(asked), name="cards.md").bank.questions
    assert [one.prompt for one in questions] == asked
    assert ["Because of 2." in (one.answer or "") for one in questions] == [False, True, False]


def test_programs_above_folded_answers_stay_programs() -> None:
    reading = read_bank(folded(["x = view(y)", "print(x)", "y.fill_(3)"]), name="cards.md")
    assert not any("view(y)" in one.prompt for one in reading.bank.questions)
    # One line in three does not make questions of the others.
    source, _ = open_source(folded(["x = view(y)", "print(x)", "What is printed?"]), "cards.md")
    assert with_indented_questions(open_document(source)) is source


def test_a_line_that_asks_right_below_a_labeled_answer_begins_a_question() -> None:
    asked = "".join(
        f"What is dtype {n}?\n\nAnswer: A type of {n} bits.\nIt has no sign.\nHow is type {n} cast?\n\n"
        f"Answer:\nx.to(t{n})\ny = x\n\n"
        for n in (8, 16, 32)
    )
    found = pairs(asked)
    assert found[:2] == [
        ("What is dtype 8?", "A type of 8 bits.\nIt has no sign."),
        ("How is type 8 cast?", "x.to(t8)\ny = x"),
    ]
    assert len(found) == 6


def test_the_last_line_of_a_question_in_several_lines_is_part_of_it() -> None:
    text = "".join(f"Given are {n} rows.\nWhat is their sum?\n\nAnswer: {n}\n\n" for n in (8, 16, 32, 64))
    assert starting_lines(open_source(text, "a.md")[0]) == frozenset()
