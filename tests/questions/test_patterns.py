"""Every way to write questions, case by case: a document and all that is read of it, side by side in fixtures/*.md."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from questions import Question, Reading, read_bank
from questions.dialects import native
from questions.patterns.flash_cards import FLASH_CARDS
from questions.patterns.front_matter import FRONT_MATTER
from questions.patterns.starts.start import KINDS
from questions.patterns.tables import TABLES

FIXTURES = Path(__file__).parent / "fixtures"


class Case(NamedTuple):
    """A document as text and what is read of it as text."""

    id: str
    document: str
    expected: str


def cases() -> list[Case]:
    """Parses a file of cases: `# name`, the document, `....`, the expected reading; `----` between cases."""
    found: list[Case] = []
    for file in sorted(FIXTURES.glob("*.md")):
        for text in file.read_text("utf-8").split("\n----\n") if file.stem != "native" else ():
            head, _, rest = text.partition("\n")
            document, _, expected = rest.partition("....\n")
            found.append(Case(f"{file.stem}: {head.removeprefix('# ')}", document, expected.strip("\n")))
    return found


def shown(reading: Reading) -> str:
    """Formats a reading with a line per question and finding; `⏎` stands for a line break."""
    lines = [line for question in reading.bank.questions for line in _shown_question(question)]
    lines += [f"study {first}-{last}" for first, last in reading.study]
    for finding in reading.findings:
        span = finding.span
        place = f"{span.line}:{span.column}-{span.end_line}:{span.end_column}"
        lines.append(f"{finding.code} {finding.severity} {place} {finding.message}")
    return "\n".join(lines).replace("\t", "⇥")


def _shown_question(question: Question) -> list[str]:
    place = question.place
    head = f"{place.line}-{place.end_line} {question.kind}"
    for word, value in (
        ("number", question.number),
        ("level", question.level),
        ("title", question.title),
        ("under", " > ".join(question.section)),
    ):
        head += f", {word} {value}" if value else ""
    lines = [head, f"  asks {question.prompt}"]
    lines += [f"  {'+' if o.right else '-'} {o.id}: {o.text} ({o.reason})" for o in question.options]
    lines += [f"  says {question.answer}"] if question.answer is not None else []
    lines += [f"  code {block.language}@{block.line} {block.text}" for block in question.code_blocks]
    return [line.replace("\n", "⏎") for line in lines]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_is_read_as_written_beside_it(case: Case) -> None:
    reading = read_bank(case.document, name="case.md")
    assert shown(reading) == case.expected
    assert reading.unaccounted() == ()


def test_every_kind_of_place_has_cases() -> None:
    seen = {name for case in cases() for name in read_bank(case.document, name="case.md").bank.dialects}
    assert seen == {*KINDS, FLASH_CARDS, FRONT_MATTER, TABLES, native.NAME}


def test_plain_text_holds_no_questions() -> None:
    reading = read_bank("Plain text, and no more.\n", name="plain.md")
    assert reading.bank.dialects == ()
    assert reading.bank.questions == ()
