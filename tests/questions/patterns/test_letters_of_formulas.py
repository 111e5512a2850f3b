"""Letters that are names in a formula, and not the word before a question."""

from __future__ import annotations

from questions import read_bank


def asked(*, between: str) -> str:
    return "".join(f"**{at}. What is attention {at}?**\n\n{between}\n\n" for at in range(1, 6))


def test_a_letter_that_is_explained_is_no_question() -> None:
    text = asked(between="- It weighs values\n- Q: queries, K: keys, V: values").replace("Q: queries", "none", 4)
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.prompt for one in questions] == [f"What is attention {at}?" for at in range(1, 6)]
    assert questions[-1].answer == "- It weighs values\n- Q: queries, K: keys, V: values"


def test_the_letter_of_a_formula_in_a_line_of_its_own_is_no_question() -> None:
    text = (
        asked(between="It is a sum of P and Q.")
        + "P(x) / Q(x)\n\nQ: the reference\n\n**6. What is a sum?**\n\nA total.\n"
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.number for one in questions] == ["1", "2", "3", "4", "5", "6"]


def test_a_single_label_that_asks_is_a_question() -> None:
    (question,) = read_bank("# Notes\n\nQ: What is a view?\n\nIt shares memory.\n", name="a.md").bank.questions
    assert question.prompt == "What is a view?"


def test_cards_beside_numbered_labels_are_questions() -> None:
    numbered = "".join(f"**Question {at}: What is hook {at}?**\n\n**Answer:** A call.\n\n" for at in (1, 2))
    cards = "".join(
        f"**Card {at}**\n- **Q:** What is leaf {at}?\n- **A:** A tensor.\n- **Tip:** none\n\n" for at in (1, 2)
    )
    text = f"# Day\n\n## Questions\n\n{numbered}## Cards\n\n{cards}"
    prompts = [one.prompt for one in read_bank(text, name="a.md").bank.questions]
    assert prompts == ["What is hook 1?", "What is hook 2?", "What is leaf 1?", "What is leaf 2?"]
