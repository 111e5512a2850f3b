"""The whole road from a document to a bank: text → blocks → dialects → checks → Bank."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.checks import check_bank
from questions.diagnostics import Finding, Span
from questions.dialects import DIALECTS
from questions.document import Document, open_document, scalar
from questions.foreign import SUFFIXES as FOREIGN_SUFFIXES
from questions.foreign import Sheet, read_foreign
from questions.foreign.anki_package import MOST_PACKAGE
from questions.ids import with_ids
from questions.leftovers import text_findings, unread
from questions.model import Bank, Question
from questions.source import Source, open_source

if TYPE_CHECKING:
    from collections.abc import Iterable

SHIPPED = "pytorch-core"
"""Name of the bank that comes with Dailygrad; questions once imported under it are known by it for ever."""

SUFFIXES = (".md", ".txt", *FOREIGN_SUFFIXES)
"""Names of the documents taken from a directory end so."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading one document. Every line that is not blank is in a question, in `study` or
    under a finding."""

    bank: Bank
    findings: tuple[Finding, ...]
    """In the order of their lines."""
    study: tuple[tuple[int, int], ...]
    """First and last lines of the stretches that are no question: titles, study text, front matter."""
    source: Source

    @property
    def answered(self) -> int:
        """How many questions may be asked."""
        return sum(question.answered for question in self.bank.questions)

    @property
    def unanswered(self) -> int:
        """How many questions the document asks without answering."""
        return len(self.bank.questions) - self.answered

    @property
    def has_errors(self) -> bool:
        """Whether the bank must not be imported as it is."""
        return any(finding.severity == "error" for finding in self.findings)

    def unaccounted(self) -> tuple[int, ...]:
        """Lines that are not blank and in no question, no study text and no finding; never any."""
        known = _marked(self.source, self.bank.questions)
        for first, last in (*self.study, *((f.span.line, f.span.end_line) for f in self.findings)):
            _mark(known, first, last)
        return tuple(number for number, line in enumerate(self.source.lines, 1) if not known[number] and line.strip())


def read_bank(text: str | bytes, *, name: str) -> Reading:
    """Read one document. `name` is what findings and places call it. Never raises, whatever the text."""
    foreign = read_foreign(text, name)
    if foreign is not None:
        return _foreign_reading(foreign)
    source, encoding = open_source(text, name)
    document = open_document(source)
    questions, dialects, found = _read_dialects(document)
    licence = scalar(document.front, "licence") or scalar(document.front, "license")
    if licence:
        questions = tuple(dataclasses.replace(question, licence=licence) for question in questions)
    bank = Bank(
        name=scalar(document.front, "bank") or Path(name).stem or "bank",
        title=_title(document) or Path(name).stem or "bank",
        questions=questions,
        licence=licence,
        dialects=dialects,
    )
    findings = [*encoding, *text_findings(document), *found, *check_bank(bank, source)]
    if questions and "native" not in dialects:
        findings += unread(document.without(questions), questions)
    elif not questions and "native" not in dialects:
        findings.append(_nothing(source))
    findings.sort(key=lambda finding: (finding.span, finding.code))
    return Reading(bank, tuple(findings), _study(source, questions, found), source)


def _foreign_reading(sheet: Sheet) -> Reading:
    questions = with_ids(
        dataclasses.replace(question, licence=question.licence or sheet.licence) for question in sheet.questions
    )
    bank = Bank(sheet.name or sheet.stem, sheet.title or sheet.stem, questions, sheet.licence, (sheet.dialect,))
    findings = sorted(
        (*sheet.findings, *check_bank(bank, sheet.source)), key=lambda finding: (finding.span, finding.code)
    )
    return Reading(bank, tuple(findings), _study(sheet.source, questions, sheet.findings), sheet.source)


def read_path(path: Path) -> list[Reading]:
    """Read a file, or by name every file of a directory that ends as a document does. Raises OSError.

    A link that leads out of the directory is left alone: whoever wrote the documents may not choose from the rest.
    """
    if path.is_dir():
        inside = path.resolve()
        named = (one for one in path.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file())
        files = sorted(one for one in named if one.resolve().is_relative_to(inside))
    else:
        files = [path]
    return [read_bank(_content(file), name=str(file)) for file in files]


def _content(file: Path) -> bytes:
    """All of a file, or of one that is too large as much as tells so."""
    with file.open("rb") as stream:
        return stream.read(MOST_PACKAGE + 1)


def shipped_bank() -> Bank:
    """The questions that come with Dailygrad, of all its documents, as one bank.

    Raises ValueError if a document has an error, or two questions the same id.
    """
    folder = resources.files("questions") / "banks"
    readings = [
        read_bank(file.read_bytes(), name=file.name)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".md")
    ]
    broken = [reading.source.name for reading in readings if reading.has_errors]
    if broken:
        raise ValueError(f"shipped bank {', '.join(broken)} has errors: run `dailygrad bank check` on it")
    questions = tuple(question for reading in readings for question in reading.bank.questions)
    twice = [id for id, count in Counter(question.id for question in questions).items() if count > 1]
    if twice:
        raise ValueError(f"shipped bank: these ids are used twice: {', '.join(sorted(twice))}")
    return Bank(SHIPPED, "PyTorch", questions, licence="MIT", dialects=("native",))


def _read_dialects(document: Document) -> tuple[tuple[Question, ...], tuple[str, ...], list[Finding]]:
    questions: list[Question] = []
    findings: list[Finding] = []
    names: list[str] = []
    for dialect in DIALECTS:
        if not dialect.sniff(document):
            continue
        draft = dialect.read(document)
        names.append(dialect.name)
        questions += draft.questions
        findings += draft.findings
        document = document.without(draft.questions)
        if dialect.whole:
            break
    questions.sort(key=lambda question: (question.place.line, question.place.end_line))
    return with_ids(questions), tuple(names), findings


def _title(document: Document) -> str:
    """The front matter's title, or the one heading of the first depth; several are sections, not a title."""
    tops = [block for block in document.blocks if block.kind == "heading" and block.level == 1]
    return scalar(document.front, "title") or (plain(tops[0].text) if len(tops) == 1 else "")


def _marked(source: Source, questions: Iterable[Question]) -> bytearray:
    """For each line from 0 whether it is a question's; sets of numbers would take more memory than the document."""
    lines = bytearray(len(source.lines) + 1)
    for question in questions:
        _mark(lines, question.place.line, question.place.end_line)
    return lines


def _mark(lines: bytearray, first: int, last: int) -> None:
    last = min(last, len(lines) - 1)
    lines[first : last + 1] = b"\x01" * max(last + 1 - first, 0)


def _study(source: Source, questions: tuple[Question, ...], findings: Iterable[Finding]) -> tuple[tuple[int, int], ...]:
    """The stretches between questions, blank lines inside them included."""
    other = _marked(source, questions)
    for finding in findings:
        if finding.skipped:
            _mark(other, finding.span.line, finding.span.end_line)
    stretches: list[tuple[int, int]] = []
    start = last = 0
    for number, line in enumerate(source.lines, 1):
        if other[number]:
            if start:
                stretches.append((start, last))
                start = 0
        elif line.strip():
            start, last = start or number, number
    return (*stretches, (start, last)) if start else tuple(stretches)


def _nothing(source: Source) -> Finding:
    return Finding(
        "Q005",
        "note",
        "no question was recognised",
        Span(1, 1, max(len(source.lines), 1), 1),
        note="the whole document was taken as study text",
        help="begin each question with `### 1. Question?` and its answer with `**Answer:**`",
    )
