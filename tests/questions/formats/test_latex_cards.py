"""Cards of commands in LaTeX documents, and commands that stand before answers."""

from __future__ import annotations

from questions import read_bank
from tests.questions.formats.readings import messages, read_as

BODY = "\\documentclass{article}\n\\begin{document}\n%s\n\\end{document}\n"
NAMES = ("view", "leaf", "stride", "clone", "graph")


def test_the_arguments_of_a_command_are_a_front_and_a_back() -> None:
    cards = "\n".join(f"\\card{{{name}}}{{It is a \\emph{{{name}}}.}}" for name in NAMES)
    read = read_as("a.tex", BODY.replace("%s", cards))
    assert read == [f"{name} | = It is a *{name}*." for name in NAMES]


def test_cards_may_be_in_drawings_and_have_more_arguments() -> None:
    drawn = "\\begin{tikzpicture}\n%s\n\\end{tikzpicture}\n"
    cards = [
        f"\\node at (0,{at}) {{\\flashcard{{{name}}}{{a word}}{{It is one.}}{{7}}}};" for at, name in enumerate(NAMES)
    ]
    reading = read_bank(BODY.replace("%s", drawn.replace("%s", "\n".join(cards)) * 2), name="a.tex")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        (one, "a word\n\nIt is one.") for one in NAMES
    ]
    assert messages(reading) == ["Q603 this card is there already"] * len(NAMES)
    assert reading.unaccounted() == ()


def test_a_picture_alone_asks_nothing() -> None:
    cards = [f"\\card{{{name}}}{{It is one.}}" for name in NAMES]
    cards[2] = "\\card{\\centering\\includegraphics[width=1cm]{a/b.png}}{It is one.}"
    reading = read_bank(BODY.replace("%s", "\n".join(cards)), name="a.tex")
    assert [one.prompt for one in reading.bank.questions] == [*NAMES[:2], *NAMES[3:]]
    (found,) = reading.findings
    assert (found.span.line, found.message) == (5, "the front of this card is only a picture")


def test_a_command_at_the_start_of_a_line_stands_before_the_answer() -> None:
    body = (
        "\\question Is a view a copy?\n\n\\reponse Faux\n\n\\question What is a leaf?\n\\reponse It was made by you,"
        "\n\nand by no call.\n\n\\question Why?"
    )
    assert read_as("a.tex", BODY.replace("%s", body)) == [
        "Is a view a copy? | = Faux",
        "What is a leaf? | = It was made by you,\n\nand by no call.",
        "Why?",
    ]


def test_an_answer_in_braces_has_a_name_in_several_languages() -> None:
    body = "\\question Is a view a copy? \\antwort{Nein.}\n\\question Is a clone one? \\antwort{Ja.}"
    assert read_as("a.tex", BODY.replace("%s", body)) == [
        "Is a view a copy? | = Nein.",
        "Is a clone one? | = Ja.",
    ]
