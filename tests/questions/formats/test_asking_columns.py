"""Tables that have questions and no answers, and cards that have no back yet."""

from __future__ import annotations

from questions import read_bank

ASKED = ("What is a leaf?", "Why scale features?", "Which loss takes logits?", "How does dropout work?", "What is RRF?")


def test_a_table_may_have_one_column_for_questions_and_no_other() -> None:
    lines = ["Questions", *(f"{number}. {text}" for number, text in enumerate(ASKED, 1))]
    lines[2] = '"2. Why scale, and when?"'
    reading = read_bank("\n".join(lines), name="questions.csv")
    assert [one.prompt for one in reading.bank.questions] == [ASKED[0], "Why scale, and when?", *ASKED[2:]]


def test_the_only_column_of_texts_that_ask_is_the_question_by_any_name() -> None:
    rows = "".join(f"interview\teng\tnotes/README.md\t{text}\n" for text in ASKED)
    reading = read_bank(f"set_name\tlanguage\tmarked\toriginal_text\n{rows}", name="q.tsv")
    assert [one.prompt for one in reading.bank.questions] == list(ASKED)
    assert [one.message for one in reading.findings if one.code == "Q613"] == [
        "the table has no column for the question: column 4 asks"
    ]


def test_other_tables_of_texts_are_not_read() -> None:
    rows = "".join(f"eng\t{number}\tnotes/{number}.md\n" for number in range(6))
    assert read_bank(f"language\tplace\toriginal_text\n{rows}", name="q.tsv").bank.questions == ()
    assert read_bank("Words\none thing\nanother\nmore\nlast of all\nthe end", name="w.csv").bank.questions == ()


CARDS = """What is a leaf?; A node without inputs.

Code an iterative search; low, high = 0, n

Code a recursive search;

Why sort first?; Binary search needs order.

How fast is it?; O(log n).
"""


def test_a_card_may_have_no_back_yet() -> None:
    questions = read_bank(CARDS, name="cards.txt").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        ("What is a leaf?", "A node without inputs."),
        ("Code an iterative search", "low, high = 0, n"),
        ("Code a recursive search", None),
        ("Why sort first?", "Binary search needs order."),
        ("How fast is it?", "O(log n)."),
    ]
