"""The programs that prove a question's key, and findings about what does not hold. The service runs the programs.

The prover prints a fingerprint of each task that it proved on a GPU, which the author writes into the document:
`- gpu_proof: 3f2a9c41d07b`. The fingerprint covers all that is proved, so a task that is changed later counts as not
yet proved. The mark states that the author proved the task; only running the prover again shows it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from questions.facts import NAMES
from questions.model import CodeTask
from questions.source import Finding, Source, Span

if TYPE_CHECKING:
    from questions.model import Question

Expect = Literal["passes", "prints"]
Part = Literal[
    "proof",
    "output",
    "reference",
    "wrong",
    "family",
    "key",
    "binding",
    "constant",
    "coverage",
    "oracle",
    "difference",
    "raises",
    "example",
    "mutant",
]
"""What is proved of a question."""


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
    `task.wrong`. A proof that binds names of `questions.facts` has to do more than pass.
    """
    found: list[Proof] = []
    if question.proof:
        found.append(Proof(f"{question.id}: proof", question.proof, "passes"))
    if question.kind == "output" and question.program:
        found.append(Proof(f"{question.id}: output", question.program, "prints", question.answer or ""))
    return found


@dataclass(frozen=True, slots=True)
class _About:
    """How a part that does not hold is reported."""

    code: str
    message: str
    help: str


_ABOUT: dict[Part, _About] = {
    "proof": _About("P120", "the proof of `{id}` fails", "correct the proof"),
    "output": _About("P121", "the program of `{id}` prints something else", "copy the actual output"),
    "reference": _About("P122", "the reference of `{id}` fails its own cases", "run the reference on the cases"),
    "wrong": _About(
        "P123",
        "the cases of `{id}` do not always reject this wrong solution",
        "add a case that is in every draw and where it differs from the reference",
    ),
    "family": _About("P124", "the family `{id}` does not generate valid questions", "correct its `draw(rng)`"),
    "key": _About("P125", "the key of `{id}` differs from what its proof computes", "correct the key or the proof"),
    "binding": _About(
        "P126",
        "the proof of `{id}` does not compute the key",
        "bind `{names}` to what the program computes",
    ),
    "constant": _About("P127", "the proof of `{id}` states a fact instead of computing it", "compute it"),
    "coverage": _About(
        "P128",
        "the proof of `{id}` does not cover the key exactly once",
        "name each option by its text, or by a part of it that no other option has",
    ),
    "oracle": _About(
        "P129", "nothing independent judges the reference of `{id}`", "add `### Oracle`: solve it another way"
    ),
    "difference": _About(
        "P130", "the reference of `{id}` differs from its oracle", "find out which of the two is wrong"
    ),
    "raises": _About(
        "P131",
        "the reference of `{id}` raises where no case declares it",
        "define `raises(*arguments)` in the cases, or correct the reference",
    ),
    "example": _About(
        "P132",
        "the examples of `{id}` do not say what to expect",
        "define `expected()` in the cases: the list of the examples' results",
    ),
    "mutant": _About("P133", "a mistake in the key of `{id}` goes unnoticed", "make the proof depend on it"),
}
_LINE = re.compile(r'File "<answer>", line (\d+)')


@dataclass(frozen=True, slots=True)
class FailedPart:
    """A part of a question that does not hold."""

    part: Part
    program: str
    reason: str
    printed: str = ""
    at: str = ""
    """Text of the question to point at, instead of the program."""


def describe_failure(question: Question, source: Source, failed: FailedPart) -> Finding:
    """Returns the finding about a part that does not hold."""
    part, program, reason = failed.part, failed.program, failed.reason
    inside = _LINE.findall(reason)
    first = _first_line(question, source, program)
    label = ""
    span = source.span(first or question.place.line)
    if failed.at:
        span = source.span_of(question.place.line, question.place.end_line, failed.at)
    elif part == "output" and not inside:
        span, label = _output_line(question, source, failed.printed)
        reason = "" if reason.startswith("ok;") else reason
    elif inside and first:
        span, label = source.span(first + int(inside[-1]) - 1), "raised here"
    lines = [line for line in reason.strip().splitlines() if line.strip()]
    note = " ".join((lines[-1] if inside else reason).split())[:400]
    about = _ABOUT[part]
    message = about.message.format(id=question.id)
    names = "` or `".join(NAMES[question.kind])
    return Finding(about.code, "error", message, span, label=label, note=note, help=about.help.format(names=names))


def _first_line(question: Question, source: Source, program: str) -> int:
    """Returns the line of the document where a program starts; 0 if the document does not contain it unchanged."""
    return source.line_of(question.place.line, question.place.end_line, program)


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


NONE = "none"
"""What a document says in place of a fingerprint if no GPU has proved the task."""
_DIGITS = 12
"""Hexadecimal digits of a digest."""
_NOT_PROVED = ("starter", "gpu_proof")
"""Fields of a task that no proof depends on."""


def gpu_fingerprint(task: CodeTask) -> str:
    """Returns the fingerprint of a task, 12 hex digits."""
    data = {name: value for name, value in dataclasses.asdict(task).items() if name not in _NOT_PROVED}
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def lacks_gpu_proof(task: CodeTask | None) -> bool:
    """Returns whether a task is for a GPU and none has proved it as it is now."""
    return task is not None and task.device != "cpu" and task.gpu_proof != gpu_fingerprint(task)


def without_stale_proof(task: CodeTask) -> CodeTask:
    """Returns the task without a fingerprint that is not its own, or that it does not need."""
    stale = task.device == "cpu" or lacks_gpu_proof(task)
    return dataclasses.replace(task, gpu_proof="") if stale and task.gpu_proof else task
