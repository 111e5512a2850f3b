"""Keys and options in forms that only the whole document shows."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.model import Question


def right(question: Question) -> str:
    """Returns the letters of the right options."""
    return "".join(option.id for option in question.options if option.right)


LETTERS = "bacb"
OPTIONS = ("red", "blue", "dim")


def lettered(mark: str) -> str:
    """Returns questions whose right option ends with its letter in brackets; `mark` stands behind each letter."""
    return "".join(
        f"### Q{at}: What is light {at}?\n"
        + "".join(
            f"- {name.upper()}{mark} {text}{f' ({name.upper()})' if name == key else ''}\n"
            for name, text in zip("abc", OPTIONS, strict=True)
        )
        + "---\n\n"
        for at, key in enumerate(LETTERS, 1)
    )


@pytest.mark.parametrize("mark", [":", ".", ")"])
def test_an_option_that_repeats_its_letter_is_right(mark: str) -> None:
    reading = read_bank(lettered(mark), name="a.md")
    assert [right(one) for one in reading.bank.questions] == list(LETTERS)
    assert [option.text for option in reading.bank.questions[0].options] == list(OPTIONS)


def test_statements_with_two_options_and_a_repeated_letter_are_choices() -> None:
    text = lettered(":") + "### Q5: Light is a wave\n- A: True (A)\n- B: False\n"
    last = read_bank(text, name="a.md").bank.questions[-1]
    assert (last.kind, right(last)) == ("choice", "a")


def test_the_letter_of_another_option_is_no_mark() -> None:
    text = lettered(":").replace("- C: dim\n", "- C: dim (A)\n", 1)
    assert not any(right(one) for one in read_bank(text, name="a.md").bank.questions)


def test_two_marked_options_in_one_question_leave_it_unanswered() -> None:
    text = lettered(":") * 3 + "### Q9: What is dark?\n- A: red (A)\n- B: blue (B)\n- C: dim\n"
    assert not read_bank(text, name="a.md").bank.questions[-1].answered


def fenced(key: str, language: str = "") -> str:
    """Returns questions below headings with a number alone, whose options are in a fence."""
    return "# Soal\n\n" + "".join(
        f"## {at}.\n\n- Warna cahaya {at} adalah....\n\n```{language}\na. merah\nb. biru\nc. hijau\n```\n\n"
        f"{key.replace('KEY', letter)}\n\n"
        for at, letter in enumerate(LETTERS, 1)
    )


@pytest.mark.parametrize("key", ["- jawaban: `KEY`", "- jawaban `KEY`", "**Answer:** KEY", "* Jawaban KEY"])
def test_options_in_fences_and_keys_in_bullets(key: str) -> None:
    reading = read_bank(fenced(key), name="a.md")
    assert [right(one) for one in reading.bank.questions] == list(LETTERS)
    assert "1." not in reading.bank.questions[0].prompt
    assert reading.unaccounted() == ()


def test_a_fence_with_a_language_is_a_program() -> None:
    reading = read_bank(fenced("**Answer:** KEY", "yaml"), name="a.md")
    assert not any(one.options for one in reading.bank.questions)


SENTENCES = ["**KEY) TEXT** is correct.", "KEY) TEXT is the correct answer.", "- **KEY. TEXT** is right"]


def said(form: str, texts: tuple[str, ...] = OPTIONS) -> str:
    """Returns questions with a sentence about the right option below."""
    return "".join(
        f"{at}. What is light {at}?\n   A) red\n   B) blue\n   C) dim\n\n"
        f"{form.replace('KEY', key.upper()).replace('TEXT', texts['abc'.index(key)])}\n\n"
        for at, key in enumerate(LETTERS, 1)
    )


@pytest.mark.parametrize("form", SENTENCES)
def test_a_sentence_with_the_letter_and_text_of_an_option_is_the_key(form: str) -> None:
    assert [right(one) for one in read_bank(said(form), name="a.md").bank.questions] == list(LETTERS)


def test_a_sentence_with_another_text_is_no_key() -> None:
    reading = read_bank(said(SENTENCES[0], ("gray", "gray", "gray")), name="a.md")
    assert not any(right(one) for one in reading.bank.questions)


def repeated(keys: tuple[str, ...]) -> str:
    """Returns questions with a list and one of these lines below it."""
    return "".join(f"{at}. What is light {at}?\n\n- red\n- blue\n- dim\n\n{key}\n\n" for at, key in enumerate(keys, 1))


def test_a_line_that_repeats_one_item_is_the_key() -> None:
    reading = read_bank(repeated(("blue", "red", "dim", "blue")), name="a.md")
    assert [right(one) for one in reading.bank.questions] == list(LETTERS)
    assert reading.unaccounted() == ()


def test_lines_that_mostly_repeat_no_item_are_no_keys() -> None:
    reading = read_bank(repeated(("blue", "Light has many colors.", "It depends.", "blue", "red")), name="a.md")
    assert not any(right(one) for one in reading.bank.questions)


def ending(keys: str, texts: tuple[str, ...] = OPTIONS, *, gap: str = "  ") -> str:
    """Returns questions whose right options end with their letters, without brackets."""
    return "".join(
        f"{at}. What is light {at}?\n\n"
        + "".join(
            f"{name}. {text}{f'{gap}{name.upper()}' if name == key else ''}\n\n"
            for name, text in zip("abc", texts, strict=False)
        )
        for at, key in enumerate(keys, 1)
    )


@pytest.mark.parametrize("gap", ["  ", " ", "\t"])
def test_an_option_may_end_with_its_letter(gap: str) -> None:
    text = ending("bacbab", gap=gap) + ending("ab", ("True", "False"), gap=gap).replace("1. ", "7. ", 1)
    questions = read_bank(text, name="a.md").bank.questions
    assert [right(one) for one in questions] == [*"bacbab", "a", "b"]
    assert [option.text for option in questions[0].options] == list(OPTIONS)
    assert [option.text for option in questions[-1].options] == ["True", "False"]


def test_few_letters_at_the_ends_of_options_are_part_of_them() -> None:
    questions = read_bank(ending("bacba"), name="a.md").bank.questions
    assert not any(map(right, questions))
    assert questions[0].options[1].text.split() == ["blue", "B"]


def test_letters_of_other_options_at_the_ends_are_part_of_them() -> None:
    text = ending("bacbab").replace("a. red\n", "a. vitamin C\n", 1)
    assert not any(right(one) for one in read_bank(text, name="a.md").bank.questions)


def test_a_reason_may_go_through_all_options() -> None:
    text = "".join(
        f"{n}) What does view {n} include?:\n\nStrides.  \nShapes.  \nOffsets.  \nAll of them.  \n"
        f"**Answer:** {key}\nA view includes:\n\n- Strides: the steps.\n- Shapes: the sizes.\n- Offsets: the start.\n\n"
        for n, key in enumerate(("All of them.", "Shapes.", "All of them."), 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [right(one) for one in questions] == ["d", "b", "d"]
    assert questions[0].why == "A view includes:\n\n- Strides: the steps.\n- Shapes: the sizes.\n- Offsets: the start."


def folded(reasons: dict[str, str]) -> str:
    options = "- B. a copy\n- A. a view\n- C. a leaf\n- D. a root\n"
    return "".join(
        f"**{at}. Memory.** What shares memory, case {at}?\n\n{options}\n"
        f"<details><summary>Answer and rationale</summary>\n\n**{key}.** {reason}\n\n</details>\n\n"
        for at, (key, reason) in enumerate(reasons.items(), 1)
    )


def test_other_options_in_the_reason_behind_a_key_are_no_parts_of_the_answer() -> None:
    text = folded({"B": "It shares, unlike what (A) and (D) do. A leaf (C) may.", "D": "Not a copy (B) but a root."})
    assert "".join(map(right, read_bank(text, name="a.md").bank.questions)) == "bd"


def test_the_letter_a_in_a_fold_is_a_key_where_others_have_other_letters() -> None:
    text = folded({"A": "It shares the memory.", "C": "Sometimes.", "D": "Always."})
    assert "".join(map(right, read_bank(text, name="a.md").bank.questions)) == "acd"


def test_the_letter_a_alone_before_an_answer_stays_its_label() -> None:
    text = "".join(
        f"### What is case {at}?\n\n<details><summary>Answer</summary>\n\n**A.** It shares.\n\n</details>\n\n"
        for at in range(3)
    )
    assert [one.answer for one in read_bank(text, name="a.md").bank.questions] == ["It shares."] * 3
