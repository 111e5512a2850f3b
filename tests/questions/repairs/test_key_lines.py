"""Lines below lettered options that are nothing but a key, in the forms that people write it in."""

from __future__ import annotations

import pytest

from questions import read_bank

KEYS = ("B", "A", "C", "B")
FORMS = [
    *("Answer - KEY", "Answer – KEY", "**Answer** KEY", "Answer\nKEY", "`Answer: KEY`", "||KEY||", "||Answer: KEY||"),
    *("The correct answer is (KEY).", "✅ KEY", "✅ **KEY**", "[Answer: KEY]", "(Answer: KEY)", "Solution: KEY"),
    *("Correct answer → KEY", "> KEY", "Correct Answer: KEY ✅", "**Correct answer: KEY** \\", "Respuesta - KEY"),
]


def document(form: str, options: str, keys: tuple[str, ...] = KEYS) -> str:
    """Returns questions with options and a key in this form."""
    return "".join(
        f"### {at}. What is part {at}?\n\n{options}\n{form.replace('KEY', key)}\n\n" for at, key in enumerate(keys, 1)
    )


@pytest.mark.parametrize("options", ["- A) a view\n- B) a leaf\n- C) a clone\n", "A. a view\nB. a leaf\nC. a clone\n"])
@pytest.mark.parametrize("form", FORMS)
def test_a_line_with_nothing_but_a_key_is_the_key(form: str, options: str) -> None:
    reading = read_bank(document(form, options), name="a.md")
    right = ["".join(option.id for option in one.options if option.right) for one in reading.bank.questions]
    assert right == [key.lower() for key in KEYS]
    assert reading.unaccounted() == ()


def test_an_empty_option_is_no_key() -> None:
    text = document("C)", "A) a view\nB) a leaf", ("", "", ""))
    assert not any(one.answered for one in read_bank(text, name="a.md").bank.questions)


def test_few_letters_with_a_sign_are_no_keys() -> None:
    text = document("✅ KEY", "A. a view\nB. a leaf\nC. a clone\n", KEYS[:2])
    assert not any("**Answer:**" in line for line in read_bank(text, name="a.md").source.lines)


def test_a_key_that_is_not_below_an_option_stays_as_it_is() -> None:
    text = "## What is a view?\n\nIt shares memory.\n\nAnswer - A\n"
    assert "Answer - A" in read_bank(text, name="a.md").source.lines
