"""Documents in the manner of public ones, written before the readers were extended for them: what is read right."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from questions import Question, Reading, read_bank
from questions.blocks import plain

HELDOUT = sorted((Path(__file__).parent / "heldout").glob("*.md"))


class Score(NamedTuple):
    """How much of a document was read as expected."""

    right: int
    expected: int
    extra: int
    """Questions read that the document does not ask."""
    findings: int


def score(file: Path) -> Score:
    """Reads a document and compares: a line per question, with its parts separated by bars."""
    document, _, rest = file.read_text("utf-8").partition("....\n")
    expected = [[part.strip().replace("\\|", "|") for part in line.split(" | ")] for line in rest.splitlines()]
    reading = read_bank(document, name=file.name)
    assert reading.unaccounted() == ()
    found = {_asked(question): question for question in reading.bank.questions}
    right = sum(parts[1] in found and _holds(found[parts[1]], parts, reading) for parts in expected)
    return Score(right, len(expected), len(found.keys() - {parts[1] for parts in expected}), len(reading.findings))


def _asked(question: Question) -> str:
    return plain(question.prompt.split("\n\n")[0].split("\n```")[0])


def _holds(question: Question, parts: list[str], reading: Reading) -> bool:
    answer = " ".join((question.answer or "").split())
    options = " ".join(option.id + "*" * option.right for option in question.options)
    match parts[0]:
        case "open":
            return question.kind == "open" and answer.startswith(parts[2]) and answer.endswith(parts[3])
        case "choice":
            return question.kind == "choice" and options == parts[2] and question.why.startswith(parts[3].strip(" |"))
        case "nokey":
            return question.kind == "choice" and options == parts[2] and _named(question, reading)
        case _:
            return question.kind == "open" and not question.answered and _named(question, reading)


def _named(question: Question, reading: Reading) -> bool:
    place = question.place
    return not question.answered and any(place.line <= f.span.line <= place.end_line for f in reading.findings)


@pytest.mark.parametrize("file", HELDOUT, ids=lambda file: file.stem)
def test_every_question_is_read_and_nothing_else(file: Path) -> None:
    found = score(file)
    assert (found.right, found.extra) == (found.expected, 0)


if __name__ == "__main__":
    for one in HELDOUT:
        print(one.stem, *score(one))
