"""Plain text in which questions and answers take turns."""

from __future__ import annotations

from questions import read_bank
from questions.reader import Reading

ASKED = [
    "Call that copies a tensor:",
    "How do you share memory:",
    "Type of a shape:",
    "What does a hook return:",
    "Default type of a float:",
    "Call that counts the elements:",
    "Which attribute holds the graph:",
    "Call that drops a gradient:",
    "Dimension of a scalar:",
    "How do you move a tensor to the GPU:",
]
SAID = ["clone()", "With a view.", "Size", "Nothing.", "float32", "numel()", "grad_fn", "detach()", "0", "With to()."]


def read(text: str, name: str) -> list[tuple[str, str | None]]:
    return said(read_bank(text, name=name))


def said(reading: Reading) -> list[tuple[str, str | None]]:
    return [(one.prompt, one.answer) for one in reading.bank.questions]


PAIRS = list(zip(ASKED, SAID, strict=True))


def test_blocks_of_two_lines_are_questions_and_answers() -> None:
    text = "\n\n".join(f"{front}\n{back}" for front, back in PAIRS)
    assert read(text, "calls.txt") == PAIRS


def test_the_label_of_an_answer_is_not_part_of_it() -> None:
    text = "\n\n".join(f"    {front}\n        Answer: {back}" for front, back in PAIRS)
    assert read(text, "calls.txt") == PAIRS


def test_a_block_that_is_no_pair_is_named() -> None:
    text = "\n\n".join(f"{front}\n{back}" for front, back in PAIRS) + "\n\nCalls that view:\nview\nreshape\n"
    reading = read_bank(text, name="calls.txt")
    assert said(reading) == PAIRS
    assert [(one.span.line, one.span.end_line) for one in reading.findings if one.code == "Q603"] == [(31, 33)]
    assert reading.unaccounted() == ()


def test_pairs_of_lines_that_ask_nothing_are_no_questions() -> None:
    """Letters and addresses have lines that end in a colon too."""
    text = "\n\n".join(f"{name}:\nThey trained the model of week {n}." for n, name in enumerate("ABCDEFGHIJKL"))
    assert read(text, "people.txt") == []


def test_paragraphs_in_pairs_with_gaps_between_them_are_questions_and_answers() -> None:
    fronts = [*ASKED[:8], "A [...] shares memory with its base.", "The [which part?] of a tensor holds its values."]
    backs = [*SAID[:8], "view", "storage"]
    text = "\n\n\n\n".join(f"{front}\n\n{back}" for front, back in zip(fronts, backs, strict=True))
    assert read(text, "cards.txt") == list(zip(fronts, backs, strict=True))


def test_a_list_below_a_line_in_such_a_text_is_its_answer() -> None:
    text = "\n\n\n\n".join(f"{front}\n\n{back}" for front, back in PAIRS)
    text += "\n\n\nTwo kinds of tensors are:\n<ul>\n<li>leaves</li>\n<li>results</li>\n</ul>\n"
    assert read(text, "cards.txt")[-1] == ("Two kinds of tensors are:", "- leaves\n- results")


def test_a_sign_separates_the_sides_of_cards_where_the_name_says_cards() -> None:
    lines = [f"{front.rstrip(':')}*{back}" for front, back in PAIRS]
    reading = read_bank("\n".join([*lines, "a line of its own"]), name="flashcards.txt")
    assert said(reading) == [(front.rstrip(":"), back) for front, back in PAIRS]
    assert [one.span.line for one in reading.findings if one.code == "Q603"] == [11]
    assert read("\n".join(lines), "notes.txt") == []


def test_pairs_with_labels_are_read_by_their_labels() -> None:
    text = "\n\n".join(f"Q: {front}\nA: {back}" for front, back in PAIRS)
    assert read(text, "calls.txt") == PAIRS
