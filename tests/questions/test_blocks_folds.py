"""Parts folded away: where they stand and what they say."""

from __future__ import annotations

import pytest

from questions.blocks import Fold, find_folds, fold_text, split_blocks, unwrapped, without_tags
from questions.source import Source, open_source
from questions.wording.labels import answer_in_heading, is_answer_summary


def folds(text: str) -> tuple[Source, tuple[Fold, ...]]:
    source, _ = open_source(text, "a.md")
    return source, find_folds(source, split_blocks(source))


def test_a_fold_contains_what_is_between_its_tags() -> None:
    source, (fold,) = folds("<details>\n<summary><b>Why?</b></summary><br><b>\n\nBecause.\n* so\n</b></details>\n")
    assert (fold.first, fold.last, fold.summary) == (1, 6, "Why?")
    assert fold_text(source, fold) == "Because.\n* so"


def test_folds_lie_in_folds_and_on_one_line() -> None:
    source, found = folds("<details><summary>a</summary>\n<details><summary>b</summary>c</details>\n</details>")
    assert [(fold.summary, fold.depth, fold.first, fold.last) for fold in found] == [("a", 0, 1, 3), ("b", 1, 2, 2)]
    assert fold_text(source, found[1]) == "c"


def test_no_fold_in_a_program_in_code_or_without_an_end() -> None:
    assert folds("```\n<details>\n</details>\n```")[1] == ()
    assert folds("Write `<details>` and </details>")[1] == ()
    assert folds("<details><summary>a</summary>")[1] == ()


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("<p>a</p>", "a"),
        ("<br><b>\na\n</b>", "a"),
        ("<b>a</b> is b", "<b>a</b> is b"),
        ("a <code>b</code>", "a <code>b</code>"),
        ("", ""),
    ],
)
def test_surrounding_tags_are_removed(text: str, bare: str) -> None:
    assert unwrapped(text) == bare


def test_code_stays_code_in_a_summary() -> None:
    assert without_tags("<b>Why <code>x.t()</code>?</b><br/>") == "Why `x.t()`?"


@pytest.mark.parametrize(
    ("summary", "answers"),
    [
        ("Answer", True),
        ("Show the answer", True),
        ("Click to expand!", True),
        ("💡 Solution", True),
        ("What is the answer?", False),
        ("Table of contents", False),
        ("", False),
    ],
)
def test_summaries_that_hide_an_answer(summary: str, answers: bool) -> None:
    assert is_answer_summary(summary) is answers


@pytest.mark.parametrize(
    ("heading", "rest"),
    [("Answer", ""), ("**Answer:** D", "D"), ("Solution", ""), ("Answers vary", None), ("A tale", None)],
)
def test_answer_headings(heading: str, rest: str | None) -> None:
    assert answer_in_heading(heading) == rest
