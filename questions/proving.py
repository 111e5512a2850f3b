"""The programs that show a question's key to be true. Pure: whoever has the sandbox runs them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from questions.diagnostics import Finding, Span

if TYPE_CHECKING:
    from questions.model import Question
    from questions.source import Source

Expect = Literal["passes", "prints"]
Part = Literal["proof", "output", "reference", "wrong", "family"]
"""What of a question has to hold."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A program and what running it must come to."""

    name: str
    """`question-id` and what is proved, for a report."""
    program: str
    expect: Expect
    """`passes`: it ends without an error. `prints`: it does, and prints `output`."""
    output: str = ""
    """For `prints`: the exact text, where one line ending at the end does not count."""

    def holds(self, *, finished: bool, printed: str) -> bool:
        """Whether a run that ended well (`finished`) and wrote `printed` to stdout proves the key."""
        if self.expect == "passes":
            return finished
        return finished and printed.removesuffix("\n") == self.output.removesuffix("\n")


def proofs(question: Question) -> list[Proof]:
    """What to run for a question.

    Empty for a `code` task without a proof of its own: there the reference must be accepted and each
    of `task.wrong` rejected, which the judge does.
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
    "output": "the program of `{id}` does not print this",
    "reference": "the reference of `{id}` is not accepted by its own cases",
    "wrong": "no case of `{id}` rejects this wrong solution",
    "family": "the family `{id}` cannot be drawn as it must",
}
_HELP: dict[Part, str] = {
    "proof": "correct the key, or the program that proves it",
    "output": "copy what it prints",
    "reference": "run the reference on the cases by itself",
    "wrong": "add a case on which it differs from the reference",
    "family": "correct its `draw`, which the sandbox calls with a generator of random numbers",
}
_LINE = re.compile(r'File "<answer>", line (\d+)')


def failed_part(question: Question, source: Source, part: Part, program: str, said: str, printed: str = "") -> Finding:
    """What to tell the author of a part that does not hold; `program` is its text, `said` why."""
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
    """The line of the document on which a program of a question begins; 0 where it does not stand there as it is."""
    wanted = [line.strip() for line in program.strip("\n").split("\n")]
    place = question.place
    lines = [source.line(number).strip() for number in range(place.line, place.end_line + 1)]
    found = (at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted and any(wanted))
    return next((place.line + at for at in found), 0)


def _output_line(question: Question, source: Source, printed: str) -> tuple[Span, str]:
    """The first line of an Output that is not what is printed, and what is."""
    wanted, got = (question.answer or "").split("\n"), printed.removesuffix("\n").split("\n")
    at = next((n for n, line in enumerate(wanted) if n >= len(got) or got[n] != line), len(wanted) - 1)
    first = _first_line(question, source, question.answer or "")
    label = f"it prints `{got[at]}`" if at < len(got) else "it prints no more"
    if len(got) > len(wanted) and got[: len(wanted)] == wanted:
        label = f"behind this it prints `{got[len(wanted)]}`"
    return source.span(first + at if first else question.place.line), label
