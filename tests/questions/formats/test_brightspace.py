"""Rows of Brightspace's CSV that cannot be read are named, and those after them are read."""

from __future__ import annotations

from questions import read_bank

ONE = "NewQuestion,MC,,,\nQuestionText,Which call {asks}?,,,\nOption,100,view,,\nOption,0,clone,,\n"


def test_a_row_that_cannot_be_read_does_not_end_the_reading() -> None:
    broken = ONE.format(asks="x" * 140_000)
    found = read_bank(ONE.format(asks="shares") + broken + ONE.format(asks="copies"), name="a.csv")
    assert [one.prompt for one in found.bank.questions] == ["Which call shares?", "Which call copies?"]
    named = {one.span.line: one.message for one in found.findings}
    assert named == {
        5: "the question has no prompt",
        6: "this row cannot be read: field larger than field limit (131072)",
    }


def test_a_quote_that_is_never_closed_is_named() -> None:
    opened = ONE.format(asks="opens").replace("Which", '"Which')
    found = read_bank(ONE.format(asks="shares") + opened + ONE.format(asks="copies"), name="a.csv")
    assert [one.answered for one in found.bank.questions] == [True, False]
    assert ("Q601", 6) in [(one.code, one.span.line) for one in found.findings]
