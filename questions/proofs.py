"""The programs that prove a question's key, and reports of their results. The service runs them in the sandbox."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from questions.report import finding_github, finding_text
from questions.source import SEVERITIES, Finding, Source, Span

if TYPE_CHECKING:
    from questions.model import Question


Expect = Literal["passes", "prints"]
Part = Literal["proof", "output", "reference", "wrong", "family"]
"""The part of a question that is proved."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A program and its expected result."""

    name: str
    """`question-id` and the proved part, for reports."""
    program: str
    expect: Expect
    """`passes`: ends without an error. `prints`: also prints `output`."""
    output: str = ""
    """For `prints`: the exact text; a final line break is ignored."""

    def holds(self, *, finished: bool, printed: str) -> bool:
        """Returns whether a run that finished without an error and wrote `printed` to stdout proves the key."""
        if self.expect == "passes":
            return finished
        return finished and printed.removesuffix("\n") == self.output.removesuffix("\n")


def proofs_of(question: Question) -> list[Proof]:
    """Returns the programs to run for a question.

    Empty for a `code` task without its own proof: there the judge has to accept the reference and reject each of
    `task.wrong`.
    """
    found: list[Proof] = []
    if question.proof:
        found.append(Proof(f"{question.id}: proof", question.proof, "passes"))
    if question.kind == "output" and question.program:
        found.append(Proof(f"{question.id}: output", question.program, "prints", question.answer or ""))
    return found


_CODES: dict[Part, str] = {"proof": "P120", "output": "P121", "reference": "P122", "wrong": "P123", "family": "P124"}
_MESSAGES: dict[Part, str] = {
    "proof": "the proof of `{id}` fails",
    "output": "the program of `{id}` prints something else",
    "reference": "the reference of `{id}` fails its own cases",
    "wrong": "no case of `{id}` rejects this wrong solution",
    "family": "the family `{id}` does not generate valid questions",
}
_HELP: dict[Part, str] = {
    "proof": "correct the key or the proof",
    "output": "copy the actual output",
    "reference": "run the reference on the cases",
    "wrong": "add a case where it differs from the reference",
    "family": "correct its `draw(rng)`",
}
_LINE = re.compile(r'File "<answer>", line (\d+)')


def failed_part(question: Question, source: Source, part: Part, program: str, said: str, printed: str = "") -> Finding:
    """Returns the finding for a part that does not hold. `program` is its text, `said` the reason."""
    inside = _LINE.findall(said)
    first = _first_line(question, source, program)
    label = ""
    span = source.span(first or question.place.line)
    if part == "output" and not inside:
        span, label = _output_line(question, source, printed)
        said = "" if said.startswith("ok;") else said
    elif inside and first:
        span, label = source.span(first + int(inside[-1]) - 1), "raised here"
    told = [line for line in said.strip().splitlines() if line.strip()]
    note = " ".join((told[-1] if inside else said).split())[:400]
    message = _MESSAGES[part].format(id=question.id)
    return Finding(_CODES[part], "error", message, span, label=label, note=note, help=_HELP[part])


def _first_line(question: Question, source: Source, program: str) -> int:
    """Returns the line of the document where a program starts; 0 if the document does not contain it unchanged."""
    wanted = [line.strip() for line in program.strip("\n").split("\n")]
    place = question.place
    lines = [source.line(number).strip() for number in range(place.line, place.end_line + 1)]
    found = (at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted and any(wanted))
    return next((place.line + at for at in found), 0)


def _output_line(question: Question, source: Source, printed: str) -> tuple[Span, str]:
    """Returns the first line of an Output part that differs from the printed text, and a label with the printed
    line."""
    wanted, got = (question.answer or "").split("\n"), printed.removesuffix("\n").split("\n")
    at = next((n for n, line in enumerate(wanted) if n >= len(got) or got[n] != line), len(wanted) - 1)
    first = _first_line(question, source, question.answer or "")
    label = f"it prints `{got[at]}`" if at < len(got) else "no more output"
    if len(got) > len(wanted) and got[: len(wanted)] == wanted:
        label = f"after this it prints `{got[len(wanted)]}`"
    return source.span(first + at if first else question.place.line), label


# Reports: text, JSON or GitHub workflow commands


@dataclass(frozen=True, slots=True)
class DocumentProofs:
    """The proof results of one document."""

    source: Source
    findings: tuple[Finding, ...]
    """In line order."""
    held: int
    """Number of proofs, challenges and claims that hold."""
    programs: int
    """Number of shown programs that ran."""
    parts: tuple[tuple[str, str], ...] = ()
    """Names of the parts that hold, with details; for a wrong solution, what rejected it."""


@dataclass(frozen=True, slots=True)
class ProofReport:
    """The proof results of all documents."""

    documents: tuple[DocumentProofs, ...]
    versions: dict[str, str]
    """Versions of torch and numpy in the sandbox."""
    seconds: float
    troubles: tuple[str, ...] = ()
    """What the sandbox could not run; not the fault of a document."""

    @property
    def has_errors(self) -> bool:
        """Whether a document contains a false claim."""
        return any(found.severity == "error" for document in self.documents for found in document.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all findings, each once."""
        return tuple(sorted({found.code for document in self.documents for found in document.findings}))


def proof_report_text(proving: ProofReport) -> Text:
    """Returns all findings with line and caret, then the totals."""
    text = Text()
    for document in proving.documents:
        for found in document.findings:
            text.append_text(finding_text(found, document.source)).append("\n")
    for document in proving.documents:
        text.append(f"{document.source.name}: ", "bold")
        text.append(_sums([document])).append("\n")
    for trouble in proving.troubles:
        text.append("could not run: ", "bold").append(f"{trouble}\n")
    text.append("\ntotal: ", "bold")
    text.append(f"{_count(len(proving.documents), 'document')}, {_sums(proving.documents)}")
    text.append(f", with {_versions(proving)} in {proving.seconds:.1f} s\n")
    if proving.codes:
        text.append(f"`dailygrad bank explain {proving.codes[0]}` explains it; all codes found: ")
        text.append(f"{', '.join(proving.codes)}\n")
    return text


def _sums(documents: Sequence[DocumentProofs]) -> str:
    held, programs = sum(one.held for one in documents), sum(one.programs for one in documents)
    said = [f"{held} proved", f"{_count(programs, 'shown program')} run"]
    for severity in SEVERITIES:
        number = sum(found.severity == severity for one in documents for found in one.findings)
        said += [_count(number, severity)] if number else []
    return ", ".join(said)


def _versions(proving: ProofReport) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(proving.versions.items(), reverse=True))


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def proof_report_json(proving: ProofReport) -> str:
    """Returns the content of `proof_report_text` as JSON."""
    return json.dumps(
        {
            **proving.versions,
            "seconds": round(proving.seconds, 3),
            "held": sum(one.held for one in proving.documents),
            "programs": sum(one.programs for one in proving.documents),
            "troubles": list(proving.troubles),
            "documents": [
                {
                    "name": one.source.name,
                    "held": one.held,
                    "programs": one.programs,
                    "proved": [{"name": name, "said": said} for name, said in one.parts],
                    "findings": [dataclasses.asdict(found) for found in one.findings],
                }
                for one in proving.documents
            ],
        },
        ensure_ascii=False,
        indent=2,
    )


def proof_report_github(proving: ProofReport) -> str:
    """Returns the findings as workflow commands, with the torch version as a notice."""
    lines = [finding_github(found, one.source) for one in proving.documents for found in one.findings]
    lines += [f"::warning title=could not run::{' '.join(trouble.split())}" for trouble in proving.troubles]
    lines.append(f"::notice title=proved::{_sums(proving.documents)}, with {_versions(proving)}")
    return "\n".join(lines)
