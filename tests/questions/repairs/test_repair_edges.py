"""Repairs of single lines: the words they know, and the lines that look alike and stay as they are."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.repairs.exam_dumps import with_plain_questions
from questions.repairs.folds import with_folds
from questions.repairs.keys import with_key_headings
from questions.repairs.wide_lines import with_plain_lines
from questions.source import Source


def source(text: str) -> Source:
    return Source("a.md", tuple(text.split("\n")))


@pytest.mark.parametrize("sign", ["√", "✔", "○", "×", "✗", "✘"])
@pytest.mark.parametrize(
    ("word", "right", "wrong"),
    [("正解", "正しい", "誤り"), ("答え", "正しい", "誤り"), ("정답", "맞음", "틀림"), ("답", "맞음", "틀림")],
)
def test_a_sign_behind_a_label_becomes_a_word_of_its_language(word: str, right: str, wrong: str, sign: str) -> None:
    (line,) = with_plain_lines(source(f"{word}: {sign}")).lines
    assert line == f"{word}: {right if sign in '√✔○' else wrong}"


def test_numbers_in_brackets_count_questions_also_above_options_after_a_blank_line() -> None:
    text = "\n".join(f"（{n}）视图共享内存的条件\n\nA．步长\nB．复制\n" for n in (1, 2, 3))
    shown = with_plain_lines(source(text)).lines
    assert [line for line in shown if "视图" in line] == [f"{n}、视图共享内存的条件" for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "name",
    ["spoiler", "details", "detail", "expand", "collapse", "collapsible", "fold", "hidden", "reveal", "toggle", "hide"],
)
def test_each_name_of_a_block_that_folds_is_known(name: str) -> None:
    shown = with_folds(source(f'{{{{< {name} "Answer" >}}}}\nIt shares memory.\n{{{{< /{name} >}}}}')).lines
    assert shown[0] == "<details><summary>Answer</summary>"


def test_keys_below_their_own_title_get_no_other() -> None:
    asked = "\n".join(f"{n}. The statement about tensors" for n in range(1, 5))
    keys = "\n".join(f"{n}. a) the first" for n in range(1, 5))
    titled = source(f"{asked}\n\nAnswer key\n\n{keys}")
    assert with_key_headings(titled) == titled
    assert "# Answer Key" in with_key_headings(source(f"{asked}\n\n{keys}")).lines


def test_a_dump_in_capitals_is_one() -> None:
    text = "QUESTION 1 TOPIC 2\nWhich copies?\nA. view\nB. clone\nAnswer: B\n"
    (question,) = read_bank(text, name="a.txt").bank.questions
    assert question.prompt == "Which copies?"
    assert [one.text for one in question.options if one.right] == ["clone"]


def test_a_percentage_below_an_answer_without_votes_stays() -> None:
    text = "Question #1 Topic 1\nHow much is left?\nA. all\nB. half\nCorrect Answer: B\n- 50%\n"
    assert "- 50%" in with_plain_questions(source(text))[0].lines
    voted = text.replace("Answer: B\n", "Answer: B\nCommunity vote distribution\nB (50%)\n")
    assert "- 50%" not in with_plain_questions(source(voted))[0].lines
