"""Blackboard's text: what is no such text, and marks that are none."""

from __future__ import annotations

from questions import read_bank


def test_an_unknown_mark_leaves_the_question_unanswered() -> None:
    text = "MC\tWhich shares memory?\tview\tcorrect\tclone\tperhaps\n"
    found = read_bank(text + "TF\tA view copies.\tfalse\n", name="a.txt")
    assert [one.answered for one in found.bank.questions] == [False, True]
    assert "Q604" in [one.code for one in found.findings]


def test_abbreviations_and_what_they_mean_are_cards() -> None:
    text = "MC\tmean of the class\nNUM\ta number of samples\nCALC\ta part of the program\n"
    found = read_bank(text, name="a.txt")
    assert [(one.prompt, one.answer) for one in found.bank.questions][:1] == [("MC", "mean of the class")]
