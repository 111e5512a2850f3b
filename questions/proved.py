"""What came of proving documents, as people and machines read it: text, JSON, GitHub's workflow commands."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from questions.diagnostics import SEVERITIES, Finding
from questions.report import finding_github, finding_text
from questions.source import Source


@dataclass(frozen=True, slots=True)
class ProvedDocument:
    """What came of one document."""

    source: Source
    findings: tuple[Finding, ...]
    """In the order of their lines."""
    held: int
    """Proofs, challenges and claims that hold."""
    programs: int
    """Programs it shows that were run."""
    parts: tuple[tuple[str, str], ...] = ()
    """What holds of its questions, by name; of a wrong solution also what rejected it."""


@dataclass(frozen=True, slots=True)
class Proving:
    """What came of proving."""

    documents: tuple[ProvedDocument, ...]
    versions: dict[str, str]
    """Of torch and numpy, as the sandbox runs them."""
    seconds: float
    troubles: tuple[str, ...] = ()
    """What the sandbox could not run: its fault, no document's."""

    @property
    def has_errors(self) -> bool:
        """Whether a document says what is not so."""
        return any(found.severity == "error" for document in self.documents for found in document.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all findings, each once."""
        return tuple(sorted({found.code for document in self.documents for found in document.findings}))


def proving_text(proving: Proving) -> Text:
    """Every finding with its line and a caret, then the sums."""
    text = Text()
    for document in proving.documents:
        for found in document.findings:
            text.append_text(finding_text(found, document.source)).append("\n")
    for document in proving.documents:
        text.append(f"{document.source.name}: ", "bold")
        text.append(_sums([document])).append("\n")
    for trouble in proving.troubles:
        text.append("could not be run: ", "bold").append(f"{trouble}\n")
    text.append("\ntotal: ", "bold")
    text.append(f"{_count(len(proving.documents), 'document')}, {_sums(proving.documents)}")
    text.append(f", with {_versions(proving)} in {proving.seconds:.1f} s\n")
    if proving.codes:
        text.append(f"`dailygrad bank explain {proving.codes[0]}` says more; there is a page on each of ")
        text.append(f"{', '.join(proving.codes)}\n")
    return text


def _sums(documents: Sequence[ProvedDocument]) -> str:
    held, programs = sum(one.held for one in documents), sum(one.programs for one in documents)
    said = [f"{held} proved", f"{_count(programs, 'shown program')} run"]
    for severity in SEVERITIES:
        number = sum(found.severity == severity for one in documents for found in one.findings)
        said += [_count(number, severity)] if number else []
    return ", ".join(said)


def _versions(proving: Proving) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(proving.versions.items(), reverse=True))


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def proving_json(proving: Proving) -> str:
    """Everything `proving_text` says, for a program."""
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


def proving_github(proving: Proving) -> str:
    """The findings as workflow commands, and in the log which torch ran."""
    lines = [finding_github(found, one.source) for one in proving.documents for found in one.findings]
    lines += [f"::warning title=could not be run::{' '.join(trouble.split())}" for trouble in proving.troubles]
    lines.append(f"::notice title=proved::{_sums(proving.documents)}, with {_versions(proving)}")
    return "\n".join(lines)
