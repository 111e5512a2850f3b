"""Folds in AsciiDoc whose tags are passed through as HTML."""

from __future__ import annotations

from questions import read_bank
from questions.formats.pages.asciidoc import markdown_of_asciidoc

FOLD = """+++ <details><summary> +++
    {title}
    +++ </summary><div> +++
----
{answer}

on two lines
----
+++ </div></details> +++
"""


def test_folds_hold_the_answers() -> None:
    text = "\n".join(
        f"What is a {name}?\n\n{FOLD.format(title='Answer', answer=f'The {name}')}\n//next\n"
        for name in ("view", "leaf", "stride")
    )
    reading = read_bank(text, name="quiz.adoc")
    assert [question.prompt for question in reading.bank.questions] == [
        "What is a view?",
        "What is a leaf?",
        "What is a stride?",
    ]
    assert reading.bank.questions[1].answer == "```\nThe leaf\n\non two lines\n```"


def test_the_lines_of_a_fold_keep_their_number() -> None:
    text = FOLD.format(title="Hint", answer="x")
    assert markdown_of_asciidoc(text).split("\n") == [
        "<details><summary>Hint</summary>",
        "",
        "",
        "```",
        "x",
        "",
        "on two lines",
        "```",
        "</details>",
        "",
    ]


def test_tags_without_a_fold_are_left_out() -> None:
    assert markdown_of_asciidoc("Answer\n+++ </summary><div> +++\nx +++<b>y</b>+++\n+++ </div></details> +++") == (
        "Answer\n\nx <b>y</b>\n"
    )
