"""Cards in Markdown between `START` and `END`, the notation of a program that adds notes to Anki."""

from __future__ import annotations

from questions import Reading, read_bank


def read(text: str) -> Reading:
    reading = read_bank(text, name="deck.md")
    assert reading.unaccounted() == ()
    return reading


def card(front: str, *back: str) -> str:
    return "\n".join(("START", "Basic", front, *back, "<!--ID: 1700000000000-->", "END", "---", ""))


def test_a_card_is_a_question_with_its_answer_and_tags() -> None:
    text = "TARGET DECK: Tensors\n\n# Memory\n\n" + card(
        "A **view**\nof a tensor",
        "Back:",
        "It shares memory:",
        "",
        "```python",
        "x.view(-1)",
        "```",
        "Tags: views torch",
    )
    (question,) = read(text).bank.questions
    assert question.prompt == "A **view**\nof a tensor"
    assert question.answer == "It shares memory:\n\n```python\nx.view(-1)\n```"
    assert question.section == ("Memory",)
    assert question.tags == ("views", "torch")


def test_the_back_may_begin_in_its_line_or_have_no_colon() -> None:
    text = card("Front: What is a leaf?", "Back: A tensor without history.") + card("A stride", "Back", "A step.")
    assert [(one.prompt, one.answer) for one in read(text).bank.questions] == [
        ("What is a leaf?", "A tensor without history."),
        ("A stride", "A step."),
    ]


def test_one_line_may_hold_a_card() -> None:
    text = "- notes\n\nSTARTI [Basic] What is a hook? Back: A function. Tags: torch <!--ID: 17--> ENDI\n"
    (question,) = read(text).bank.questions
    assert (question.prompt, question.answer, question.tags) == ("What is a hook?", "A function.", ("torch",))


def test_a_card_without_a_back_is_named() -> None:
    text = card("A stride", "Back:", "A step.") + "START\nCloze\nA {1:view} shares memory.\nEND\n\n" + card("Nothing")
    reading = read(text)
    assert [one.prompt for one in reading.bank.questions] == ["A stride"]
    named = [(one.code, one.span.line, one.message) for one in reading.findings]
    assert named == [
        ("Q603", 9, "a card with a gap asks nothing that could be answered here"),
        ("Q603", 14, "the front or the back of this card is missing"),
    ]


def test_other_lines_between_start_and_end_are_no_cards() -> None:
    text = "# What is a loop?\n\nSTART\nread x\nprint x\nEND\n\n# What is a step?\n\nOne call.\n"
    assert [one.code for one in read_bank(text, name="deck.md").findings if one.code == "Q603"] == []
