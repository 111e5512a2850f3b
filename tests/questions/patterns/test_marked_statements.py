"""Statements with a mark behind them that says whether they are true, and with such a word as their answer."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as


@pytest.mark.parametrize(
    ("true", "false"), [("（√）", "（×）"), ("( ✓ )", "( ✗ )"), ("（对）", "（错）"), ("【√】", "【×】")]
)
def test_a_mark_behind_a_statement_is_its_key(true: str, false: str) -> None:
    text = f"# 试卷\n\n## 一、判断题\n\n1. 视图共享内存。{true}\n2. 克隆共享内存。{false}\n3. 克隆拥有内存。{true}\n"
    assert read_as("test.md", text) == [
        "视图共享内存。 | + 对 | - 错",
        "克隆共享内存。 | - 对 | + 错",
        "克隆拥有内存。 | + 对 | - 错",
    ]


def test_one_statement_with_a_mark_is_no_question() -> None:
    text = "# Notes\n\n1. A view shares memory. (✓)\n2. Ask the team.\n3. Write it down.\n4. Ship it. (✗)\n"
    assert read_bank(text, name="notes.md").bank.questions == ()


def test_a_labeled_word_is_the_key_of_a_statement() -> None:
    text = "".join(f"{n}. 视图{n}共享内存。\n\n答案：{word}\n\n" for n, word in enumerate("对错对", 1))
    assert read_as("test.md", f"# 试卷\n\n## 一、判断题\n\n{text}")[1] == "视图2共享内存。 | - 对 | + 错"


def test_a_heading_that_names_options_is_no_question() -> None:
    text = (
        "### Question\n\nWhich types are there?\n\n### Options (for choices only)\n\nint\nfloat\n\n### Answer\n\n0,1\n"
    )
    assert not any(one.prompt.startswith("Options") for one in read_bank(text, name="form.md").bank.questions)


STATEMENTS = (
    ("Views share memory.", True, ""),
    ("Clones share memory.", False, " (Correct answer: they own it.)"),
    ("A leaf has a gradient.", True, ""),
    ("A stride is a shape.", False, "\n   (Correct answer: it is a step.)"),
    ("A graph has nodes.", True, ""),
)


@pytest.mark.parametrize(
    ("pair", "before"), [(("True", "False"), ""), (("Đúng", "Sai"), "Đúng / Sai: "), (("Vrai", "Faux"), "Vrai/Faux : ")]
)
def test_a_word_behind_an_arrow_is_the_key_of_a_statement(pair: tuple[str, str], before: str) -> None:
    said = "".join(
        f"{n}. {before}{text} → {pair[not true]}{why}\n" for n, (text, true, why) in enumerate(STATEMENTS, 1)
    )
    questions = read_bank(f"{said}6. Fill in the ____ of it.\n   Answer: size\n", name="test.md").bank.questions
    assert [one.prompt for one in questions[:5]] == [text for text, _, _ in STATEMENTS]
    assert [[option.text for option in one.options] for one in questions[:5]] == [list(pair)] * 5
    assert [one.options[0].right for one in questions[:5]] == [true for _, true, _ in STATEMENTS]
    assert [one.why for one in questions[1:4]] == ["Correct answer: they own it.", "", "Correct answer: it is a step."]


def test_arrows_to_other_words_are_no_keys() -> None:
    text = "".join(f"{n}. Step {n} of the deploy. → True\n" for n in range(1, 4)) + "4. Ask.\n5. Ship.\n6. Rest.\n"
    assert read_bank(text, name="notes.md").bank.questions == ()
