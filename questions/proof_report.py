"""Reports of what was proved, as text, JSON or GitHub workflow commands."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from questions.model import KINDS
from questions.report import count_words, finding_github, finding_text
from questions.source import SEVERITIES, Finding, Source

if TYPE_CHECKING:
    from questions.model import Kind

MutantState = Literal["noticed", "survived", "equivalent"]
GpuProofState = Literal["proved", "proved before", "not yet proved"]
"""`proved`: on a GPU in this run. `proved before`: no GPU was there, and the document names an earlier proof of it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A deliberate mistake in a key or a reference, and whether the proof noticed it."""

    question: str
    kind: Kind
    name: str
    """The mistake, in a few words."""
    state: MutantState
    """`equivalent`: no drawn case distinguishes the changed reference from the reference."""


@dataclass(frozen=True, slots=True)
class MutationScore:
    """How many mutants a proof noticed, of those that make a difference."""

    noticed: int
    survived: int
    equivalent: int

    @property
    def share(self) -> float:
        """Noticed mutants, from 0 to 1; 1 if there are none."""
        return self.noticed / (self.noticed + self.survived) if self.noticed + self.survived else 1.0


def mutation_score(mutants: Sequence[Mutant]) -> MutationScore:
    """Returns the score of the mutants."""
    states = Counter(mutant.state for mutant in mutants)
    return MutationScore(states["noticed"], states["survived"], states["equivalent"])


@dataclass(frozen=True, slots=True)
class GpuProof:
    """A question for a GPU, and whether one has proved it."""

    question: str
    state: GpuProofState
    fingerprint: str = ""
    """What the document has to say from now on, if a GPU proved it in this run."""


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
    mutants: tuple[Mutant, ...] = ()
    gpu: tuple[GpuProof, ...] = ()
    """Questions for a GPU whose reference holds."""


@dataclass(frozen=True, slots=True)
class ProofReport:
    """The proof results of all documents."""

    documents: tuple[DocumentProofs, ...]
    versions: dict[str, str]
    """Versions of torch and numpy in the sandbox."""
    seconds: float
    troubles: tuple[str, ...] = ()
    """What the sandbox could not run; not the fault of a document."""
    draws: int = 1
    """How often the cases were drawn for each wrong solution."""

    @property
    def wrong(self) -> int:
        """Number of wrong solutions that were rejected in every draw."""
        return sum(": wrong: " in name for document in self.documents for name, _ in document.parts)

    @property
    def has_errors(self) -> bool:
        """Whether a document contains a false claim, or something that could not be read."""
        return any(found.severity == "error" for document in self.documents for found in document.findings)

    @property
    def exit_status(self) -> int:
        """1 if a document has errors, 2 if something could not be run, 0 otherwise."""
        return 1 if self.has_errors else 2 if self.troubles else 0

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
        for question, names in _equivalent(document):
            text.append(f"  {question}: no drawn case distinguishes {'; '.join(names)}\n")
        text.append(_gpu_lines(document))
    for trouble in proving.troubles:
        text.append("could not run: ", "bold").append(f"{trouble}\n")
    text.append("\ntotal: ", "bold")
    text.append(f"{count_words(len(proving.documents), 'document')}, {_sums(proving.documents)}")
    text.append(f", with {_versions(proving)} in {proving.seconds:.1f} s\n")
    text.append(_rejections(proving)).append(_scores_by_kind(proving))
    if proving.codes:
        text.append(f"`dailygrad bank explain {proving.codes[0]}` explains it; all codes found: ")
        text.append(f"{', '.join(proving.codes)}\n")
    return text


def _sums(documents: Sequence[DocumentProofs]) -> str:
    held, programs = sum(one.held for one in documents), sum(one.programs for one in documents)
    parts = [f"{held} proved", f"{count_words(programs, 'shown program')} run"]
    for severity in SEVERITIES:
        number = sum(found.severity == severity for one in documents for found in one.findings)
        parts += [count_words(number, severity)] if number else []
    mutants = [mutant for one in documents for mutant in one.mutants]
    return ", ".join([*parts, *([_score(mutants)] if mutants else [])])


def _score(mutants: Sequence[Mutant]) -> str:
    score = mutation_score(mutants)
    words = f"{score.noticed} of {score.noticed + score.survived} mutants noticed ({score.share:.1%})"
    return f"{words} and {score.equivalent} equivalent" if score.equivalent else words


def _rejections(proving: ProofReport) -> str:
    """Says how often the wrong solutions were judged."""
    if not proving.wrong:
        return ""
    times = "one draw" if proving.draws == 1 else f"each of {proving.draws} draws"
    return f"  {count_words(proving.wrong, 'wrong solution')} rejected by {times} of the cases\n"


def _scores_by_kind(proving: ProofReport) -> str:
    lines = []
    for kind in KINDS:
        mutants = [mutant for one in proving.documents for mutant in one.mutants if mutant.kind == kind]
        lines += [f"  {kind:7} {_score(mutants)}\n"] if mutants else []
    return "".join(lines)


def _equivalent(document: DocumentProofs) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for mutant in document.mutants:
        if mutant.state == "equivalent":
            found.setdefault(mutant.question, []).append(mutant.name)
    return list(found.items())


def _gpu_lines(document: DocumentProofs) -> str:
    """Says which questions a GPU proved, and which still wait for one."""
    new = [f"  {one.question}: proved on a GPU; write `- gpu_proof: {one.fingerprint}` under its Limits\n"
           for one in document.gpu if one.fingerprint]  # fmt: skip
    return "".join(new) + (f"  {waiting}\n" if (waiting := _without_gpu(document.gpu)) else "")


def _without_gpu(proofs: Sequence[GpuProof]) -> str:
    waiting = [one.question for one in proofs if one.state == "not yet proved"]
    return f"not yet proved on a GPU ({len(waiting)}): {', '.join(waiting)}" if waiting else ""


def _versions(proving: ProofReport) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(proving.versions.items(), reverse=True))


def proof_report_json(proving: ProofReport) -> str:
    """Returns the content of `proof_report_text` as JSON."""
    return json.dumps(
        {
            **proving.versions,
            "seconds": round(proving.seconds, 3),
            "held": sum(one.held for one in proving.documents),
            "programs": sum(one.programs for one in proving.documents),
            "wrong": proving.wrong,
            "draws": proving.draws,
            "troubles": list(proving.troubles),
            "mutation": {
                kind: _score_data(
                    [mutant for one in proving.documents for mutant in one.mutants if mutant.kind == kind]
                )
                for kind in KINDS
            },
            "documents": [
                {
                    "name": one.source.name,
                    "held": one.held,
                    "programs": one.programs,
                    "proved": [{"name": name, "said": message} for name, message in one.parts],
                    "findings": [dataclasses.asdict(found) for found in one.findings],
                    "gpu": [dataclasses.asdict(proof) for proof in one.gpu],
                    "mutation": _score_data(one.mutants),
                    "survived": [dataclasses.asdict(mutant) for mutant in one.mutants if mutant.state == "survived"],
                    "equivalent": [
                        dataclasses.asdict(mutant) for mutant in one.mutants if mutant.state == "equivalent"
                    ],
                }
                for one in proving.documents
            ],
        },
        ensure_ascii=False,
        indent=2,
    )


def _score_data(mutants: Sequence[Mutant]) -> dict[str, float]:
    score = mutation_score(mutants)
    return {**dataclasses.asdict(score), "share": round(score.share, 4)}


def proof_report_github(proving: ProofReport) -> str:
    """Returns the findings as workflow commands, with the torch version as a notice."""
    lines = [finding_github(found, one.source) for one in proving.documents for found in one.findings]
    lines += [f"::warning title=could not run::{' '.join(trouble.split())}" for trouble in proving.troubles]
    if waiting := _without_gpu([proof for one in proving.documents for proof in one.gpu]):
        lines.append(f"::notice title=GPU::{waiting}")
    lines.append(f"::notice title=proved::{_sums(proving.documents)}, with {_versions(proving)}")
    return "\n".join(lines)
