"""Test banks, whose keys have points, levels and pages behind or below them."""

from __future__ import annotations

import pytest

from questions import read_bank


@pytest.mark.parametrize(
    "behind",
    [
        "\tPTS: 1\tDIF: Easy\tREF: p. 12",
        "   PTS: 1   DIF: Easy",
        "\nPTS: 1\nDIF: Easy\nTOP: Views",
        "\n\nPTS: 1\n\nDIF: Easy",
    ],
)
def test_what_stands_behind_a_key_is_no_part_of_it(behind: str) -> None:
    text = "".join(f"{n}. Which shares?\na. clone\nb. view\nc. copy\nANS: B{behind}\n\n" for n in (1, 2))
    reading = read_bank(text.replace("2. Which shares", "2. Which is lent"), name="a.txt")
    assert reading.unaccounted() == () and reading.findings == ()
    for question in reading.bank.questions:
        assert [one.text for one in question.options if one.right] == ["view"]
        assert question.why == ""


@pytest.mark.parametrize("text", ["PTS: 1 is a label\n", "REF: p. 1\nREF: p. 2\n", "a\nPTS: x\nPTS: y\n"])
def test_other_documents_stay_as_they_are(text: str) -> None:
    assert read_bank(text, name="a.md").source.lines == tuple(text.split("\n"))


@pytest.mark.parametrize("key", ["Correct: B", "Correct：B", "CORRECT: B", "**Correct:** B"])
def test_a_word_before_nothing_but_letters_is_a_label(key: str) -> None:
    text = "".join(f"Question: {one}?\nType: MC\nA: clone\nB: view\nC: copy\n{key}\n\n" for one in ("One", "Two"))
    reading = read_bank(text, name="a.txt")
    assert [one.prompt for one in reading.bank.questions] == ["One?", "Two?"]
    assert [[one.id for one in question.options if one.right] for question in reading.bank.questions] == [["b"], ["b"]]


def test_correct_in_a_sentence_is_no_label() -> None:
    text = "Question: One?\nAnswer: yes\nCorrect: it shares memory.\n\nQuestion: Two?\nAnswer: no\n"
    assert read_bank(text, name="a.txt").bank.questions[0].answer == "yes\nCorrect: it shares memory."
