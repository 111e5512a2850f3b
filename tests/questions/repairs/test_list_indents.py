"""Bullets below numbers with two digits, indented as below those with one."""

from __future__ import annotations

from questions import read_bank
from questions.repairs.numbering import with_deeper_bullets
from questions.source import Source


def test_options_below_a_tenth_question_belong_to_it() -> None:
    text = "# Quiz\n\n" + "".join(
        f"{n}. Which one of these has number {n}? (Select TWO.)\n   - one {n}\n   - two {n}\n   - three {n}\n\n"
        for n in range(1, 13)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.number, len(one.options)) for one in questions] == [(str(n), 3) for n in range(1, 13)]


def test_bullets_stay_where_no_short_number_has_any_and_in_programs() -> None:
    for lines in (
        ("9. one", "10. two", "   - three"),
        ("1. one", "   - two", "", "10. three", "", "text", "   - four"),
        ("1. one", "   - two", "10. three", "```", "   - four", "```"),
    ):
        source = Source("a.md", lines)
        assert with_deeper_bullets(source) is source
