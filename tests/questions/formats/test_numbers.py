"""Tests numeric answers with tolerances and ranges, as GIFT writes them."""

from __future__ import annotations

import pytest

from questions import read_bank


@pytest.mark.parametrize(
    ("braces", "answer", "accepted"),
    [
        ("#5", "5", ""),
        ("#4.0", "4.0", ""),
        ("#5:0", "5", ""),
        ("#5:2", "5", "Accepted: 3 to 7."),
        ("#5:-2", "5", "Accepted: 3 to 7."),
        ("#1.5:0.25", "1.5", "Accepted: 1.25 to 1.75."),
        ("#1..5", "3", "Accepted: 1 to 5."),
        ("#1..2", "1.5", "Accepted: 1 to 2."),
        ("#0:1e-20", "0", "Accepted: -1e-20 to 1e-20."),
        ("#0:1e-14", "0", "Accepted: -0.00000000000001 to 0.00000000000001."),
    ],
)
def test_a_number_is_read_with_what_else_is_accepted(braces: str, answer: str, accepted: str) -> None:
    reading = read_bank(f"::a::How many? {{{braces}}}\n", name="a.gift")
    (question,) = reading.bank.questions
    assert (question.kind, question.answer, question.why) == ("value", answer, accepted)
    assert [finding.code for finding in reading.findings] == (["Q606"] if accepted else [])


@pytest.mark.parametrize("braces", ["#many", "#5:many", "#5..1", "#x..5", "#1..x", "#"])
def test_what_is_not_a_number_leaves_the_question_unanswered(braces: str) -> None:
    reading = read_bank(f"::a::How many? {{{braces}}}\n", name="a.gift")
    (question,) = reading.bank.questions
    assert not question.answered
    assert reading.findings
