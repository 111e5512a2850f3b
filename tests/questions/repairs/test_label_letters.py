"""Labels of one letter, such as `S:` and `C:` for the Turkish words for question and answer."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank

TOPICS = ("strides", "views", "dtypes", "hooks")


def read(text: str) -> Reading:
    reading = read_bank(text, name="d.md")
    assert reading.unaccounted() == ()
    return reading


def cards(asks: str, says: str) -> str:
    return "\n".join(f"{asks} about {topic}\n{says} It is {topic}.\n" for topic in TOPICS)


@pytest.mark.parametrize(
    ("asks", "says"),
    [("S:", "C:"), ("P:", "R:"), ("Q :", "R :"), ("F:", "A:"), ("В:", "О:"), ("문:", "답:"), ("D：", "R：")],
)
def test_pairs_of_letters_are_labels_where_all_lines_have_them(asks: str, says: str) -> None:
    reading = read(cards(asks, says))
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        (f"about {topic}", f"It is {topic}.") for topic in TOPICS
    ]


def test_a_label_in_bold_with_the_whole_question_is_read() -> None:
    lines = [f'**S: "{topic}" hatası alıyorum**\nC:\n- {topic} silin\n- yeniden deneyin\n' for topic in TOPICS]
    reading = read("\n".join(lines))
    assert [one.prompt for one in reading.bank.questions] == [f'"{topic}" hatası alıyorum' for topic in TOPICS]
    assert reading.bank.questions[0].answer == "- strides silin\n- yeniden deneyin"


@pytest.mark.parametrize(
    "text",
    [
        cards("S:", "X:"),
        cards("X:", "C:"),
        "\n".join(cards("S:", "C:").split("\n")[:6]),
        cards("S:", "C:") + "\n".join("S: alone\n" for _ in TOPICS),
        cards("S:", "C:") + "\n".join("C: too many\n" for _ in TOPICS),
        f"```\n{cards('S:', 'C:')}\n```\n",
    ],
)
def test_letters_that_are_no_pairs_are_no_labels(text: str) -> None:
    assert read(text).bank.questions == ()


def test_letters_in_a_program_stay_as_they_are() -> None:
    questions = read(cards("S:", "C:") + "\nS: What is printed?\nC:\n```\nS: 1\nC: 2\n```\n").bank.questions
    assert questions[-1].answer == "```\nS: 1\nC: 2\n```"


def test_letters_in_bullets_of_a_bullet_that_only_numbers() -> None:
    text = "# Lista\n\n" + "".join(
        f"- Q_{n}\n    - P : Sobre a visão {n}, é correto afirmar que\n    - R : Ela compartilha {n}.\n"
        for n in (1, 2, 3)
    )
    found = read_bank(text, name="lista.md").bank.questions
    assert [(one.prompt, one.answer) for one in found] == [
        (f"Sobre a visão {n}, é correto afirmar que", f"Ela compartilha {n}.") for n in (1, 2, 3)
    ]


def test_questions_without_their_letter_between_others() -> None:
    text = (
        "F: Was teilt eine Sicht?\n\nA:\n\nIhren Speicher.\n\nF: Was kopiert ein Klon?\n\nA:\n\nDie Daten.\n\n"
        "Wie misst man das? Nennen Sie zwei Wege.\n\nA:\n\nMit der Uhr.\n\nF: Was kostet es?\n\nA: Zeit.\n"
    )
    found = read_bank(text, name="fragen.md").bank.questions
    assert [(one.prompt, one.answer) for one in found] == [
        ("Was teilt eine Sicht?", "Ihren Speicher."),
        ("Was kopiert ein Klon?", "Die Daten."),
        ("Wie misst man das? Nennen Sie zwei Wege.", "Mit der Uhr."),
        ("Was kostet es?", "Zeit."),
    ]
