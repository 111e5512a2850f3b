"""What the proof of a question came to, and the runs it is made of."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from questions.proof_report import Mutant
from questions.proofs import Part
from sandbox.judging.challenge import Runs
from sandbox.wire import Limits, Outcome, Run

PROOF_LIMITS = Limits(wall_ms=20_000, cpu_ms=20_000, memory_mb=1024)
DRAWS = 3
"""Number of times the cases are drawn for each wrong solution."""


@dataclass(frozen=True, slots=True)
class ProofSettings:
    """How thoroughly questions are proved."""

    mutation: bool = True
    """Whether every key and every reference is changed, too."""
    draws: int = DRAWS
    """Number of draws of the cases that have to reject each wrong solution."""
    seed: int | None = None
    """Seed of the first draw, such as one that a finding names."""

    def draw_seeds(self) -> list[int]:
        """Returns a seed for each draw: new ones, as members' answers get them."""
        seeds = [secrets.randbits(128) for _ in range(self.draws)]
        return seeds if self.seed is None else [self.seed, *seeds[1:]]


@dataclass(frozen=True, slots=True)
class ProofCheck:
    """The result of one proof, solution or family."""

    question: str
    name: str
    holds: bool
    reason: str = ""
    """Why it does not hold: the output or the end of the traceback. For a wrong solution, what rejected it."""
    part: Part = "proof"
    program: str = ""
    printed: str = ""
    trouble: str = ""
    """Why it could not be checked: the sandbox's fault, never the question's."""
    at: str = ""
    """Text of the question to point at, instead of the program."""
    mutants: tuple[Mutant, ...] = ()
    gpu_fingerprint: str = ""
    """Fingerprint of the task, if a GPU judged its reference and accepted it."""


async def run_twice(sandbox: Runs, run: Run) -> Outcome:
    """Returns the outcome of a run, retried once if the sandbox failed."""
    outcome = await sandbox.run(run)
    return await sandbox.run(run) if outcome.status == "internal" else outcome


def trouble_of(outcome: Outcome) -> str:
    """Returns why the sandbox failed, or ""."""
    return outcome.detail or "the sandbox failed" if outcome.status == "internal" else ""
