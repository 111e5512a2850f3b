"""Questions whose numbers have a bullet behind them."""

from __future__ import annotations

from questions import read_bank

SAID = ["Views share memory.", "A leaf has a history.", "Hooks run twice.", "A copy is a view."]


def test_bullets_behind_numbers_are_not_part_of_a_statement() -> None:
    keys = ["True", "False (It has none)", "False (They run once)", "False"]
    text = "## True/False Questions\n\n" + "\n".join(
        f"{at}. - {said}\n**Answer: {key}**\n" for at, (said, key) in enumerate(zip(SAID, keys, strict=True), 1)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.number, one.prompt) for one in questions] == [(str(at), said) for at, said in enumerate(SAID, 1)]
    assert ["".join(option.text for option in one.options if option.right) for one in questions] == ["True"] + [
        "False"
    ] * 3
    assert questions[1].why == "(It has none)"


def test_two_lists_in_lists_stay_as_they_are() -> None:
    text = "1. - one\n   - two\n2. - three\n   - four\n"
    assert read_bank(text, name="a.md").bank.questions == ()
