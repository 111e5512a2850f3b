"""Questions and answers in LaTeX at bold labels in a text, and cards in lines of their own."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank
from tests.questions.formats.readings import all_asked

BODY = "\\documentclass{article}\n\\begin{document}\n%s\n\\end{document}\n"


def read(body: str) -> Reading:
    """Reads the body of a document; each of its lines is accounted for."""
    reading = read_bank(BODY.replace("%s", body), name="a.tex")
    assert reading.unaccounted() == ()
    return reading


def items(*texts: str) -> str:
    return "\\begin{enumerate}\n" + "\n".join(f"\\item {text}" for text in texts) + "\n\\end{enumerate}"


LABELED = r"\textbf{Q} Say what a view is. \textbf{A} It shares memory."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\textbf{Question:} Is it new? \textbf{Answer:} No.", "Is it new? | = No."),
        (r"\textbf{Q1.} Is it new? \text{A} No.", None),
        (r"Take $x$. \textbf{Q} Is it new? \textbf{A}. No.", "Take $x$. Is it new? | = No."),
        (
            r"Say \textbf{Q a)} what is new. \textbf{A a} A copy. \textbf{Q b)} And why? \textbf{A b} It is kept.",
            "Say **Q a)** what is new. **Q b)** And why? | = **A a** A copy.\n\n**A b** It is kept.",
        ),
        (r"\textbf{Q} Is this one open, with nothing below?", "**Q** Is this one open, with nothing below?"),
    ],
)
def test_bold_labels_in_an_item_part_the_question_from_its_answer(text: str, shown: str | None) -> None:
    asked = all_asked(read(items(LABELED, text)))
    assert asked == ["Say what a view is. | = It shares memory.", shown or "Is it new? | = No."]


def test_the_answer_of_an_item_is_not_shown_with_its_parts() -> None:
    inner = items(r"\textbf{Q} Is it a copy? \textbf{A} Yes.")
    assert all_asked(read(items(f"{LABELED}\n{inner}"))) == [
        "Say what a view is.\n\nIs it a copy? | = Yes.",
        "Say what a view is. | = It shares memory.",
    ]


def test_a_labeled_question_outside_of_lists_is_named() -> None:
    reading = read(f"{items(LABELED)}\n\n{LABELED}")
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q006", 7)]


def test_a_bold_letter_is_no_label_where_no_question_has_one() -> None:
    assert all_asked(read(items(r"Is the set \textbf{A} open?", r"Is it closed in \textbf{A}?"))) == [
        "Is the set **A** open?",
        "Is it closed in **A**?",
    ]


CARDS = [
    r"What is a view?; \begin{itemize} \item shares memory; always \item no copy \end{itemize}",
    r"State the norm $\{x; y\}$ of $x$ in words.; Its length; the root of its square.",
    "Describe a leaf in one sentence.; (Exam) TODO",
    "How many axes has a matrix?; 2",
    "Is a clone new?; Yes.",
]


def test_lines_with_a_front_and_a_back_are_cards() -> None:
    assert all_asked(read("\n\n".join(CARDS))) == [
        "What is a view? | = - shares memory; always\n- no copy",
        r"State the norm $\{x; y\}$ of $x$ in words. | = Its length; the root of its square.",
        "Describe a leaf in one sentence.",
        "How many axes has a matrix? | = 2",
        "Is a clone new? | = Yes.",
    ]


def test_a_line_between_cards_without_a_back_is_named() -> None:
    cards = [f"What is number {number} of these?; It is {number}." for number in range(11)]
    reading = read("\n".join((*cards[:5], "What has no back?", *cards[5:])))
    assert len(reading.bank.questions) == len(cards)
    assert [(one.span.line, one.skipped) for one in reading.findings] == [(8, True)]


@pytest.mark.parametrize(
    "lines",
    [CARDS[:4], [*CARDS, "A line.", "Another line."], [f"We take {at} now; then we go on." for at in range(9)]],
)
def test_other_lines_with_semicolons_are_no_cards(lines: list[str]) -> None:
    assert not read("\n".join(lines)).bank.questions
