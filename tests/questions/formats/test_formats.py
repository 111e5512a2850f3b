"""Every foreign format of text, case by case: a document and what is read of it stand together in fixtures/*.txt."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from questions import Question, Reading, read_bank
from questions.formats import IMPORT_FORMATS

FIXTURES = Path(__file__).parent / "fixtures"


class Case(NamedTuple):
    """A document as text and what is read of it as text."""

    id: str
    file: str
    document: str
    expected: str


def cases(folder: Path = FIXTURES) -> list[Case]:
    """Parses a file of cases: `# file: name`, the document, `....`, the expected reading; `----` between cases."""
    found: list[Case] = []
    for path in sorted(folder.glob("*.txt")):
        for text in path.read_text("utf-8").split("\n----\n"):
            head, _, rest = text.partition("\n")
            file, _, name = head.removeprefix("# ").partition(": ")
            document, _, expected = rest.partition("....\n")
            found.append(Case(f"{path.stem}: {name}", file, document, expected.strip("\n")))
    return found


def shown(reading: Reading) -> str:
    """Formats a reading with a line per question and finding; `⏎` stands for a line break, `⍽` for a kept space."""
    lines = [line for question in reading.bank.questions for line in _shown_question(question)]
    lines += [f"study {first}-{last}" for first, last in reading.study]
    for finding in reading.findings:
        span = finding.span
        lines.append(f"{finding.code} {finding.severity} {span.line}-{span.end_line} {finding.message}")
        lines.append(f"  {finding.note} | {finding.help}")
    return "\n".join(lines).replace("\t", "⇥").replace("\N{NO-BREAK SPACE}", "⍽")


def _shown_question(question: Question) -> list[str]:
    place = question.place
    head = f"{place.line}-{place.end_line} {question.kind} {question.id}"
    for word, value in (
        ("level", question.level),
        ("title", question.title),
        ("topic", question.topic),
        ("under", " > ".join(question.section)),
        ("tags", ", ".join(question.tags)),
        ("links", ", ".join(question.links)),
        ("license", question.license),
    ):
        head += f"; {word} {value}" if value else ""
    lines = [head, f"  asks {question.prompt}"]
    lines += [f"  runs {question.program}"] if question.program else []
    lines += [f"  {'+' if o.right else '-'} {o.id}: {o.text} ({o.reason})" for o in question.options]
    lines += [f"  says {question.answer}"] if question.answer is not None else []
    lines += [f"  wants {point}" for point in question.key_points]
    lines += [f"  since {question.why}"] if question.why else []
    lines += [f"  code {block.language}@{block.line} {block.text}" for block in question.code_blocks]
    return [line.replace("\n", "⏎") for line in lines]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_is_read_as_written_beside_it(case: Case) -> None:
    reading = read_bank(case.document, name=case.file)
    assert shown(reading) == case.expected
    assert reading.unaccounted() == ()


def test_every_format_of_text_has_cases_and_a_name_of_its_own() -> None:
    names = [foreign.name for foreign in IMPORT_FORMATS]
    assert len(set(names)) == len(names)
    seen = {name for case in cases() for name in read_bank(case.document, name=case.file).bank.dialects}
    assert seen == set(names) - {"json"}  # our own JSON is tested with its export
