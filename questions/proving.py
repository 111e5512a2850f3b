"""The programs that show a question's key to be true. Pure: whoever has the sandbox runs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from questions.model import Question

Expect = Literal["passes", "prints"]


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
