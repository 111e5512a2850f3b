"""Measures answers that passed: CPU time and memory of several runs on fresh inputs, each of which must be right again.

Trusted. The supervisor reads both numbers from the kernel, which counts the time of all threads of the answer's process
and its peak of resident memory. A child can start no other process, has no /proc and no clock that counts, so nothing
that it does changes how it is counted. The inputs of every run are drawn after the answers are final.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sandbox.judging.challenge import Challenge, NotJudgeable, Runs, judge_prepared, prepare_judgement
from sandbox.wire import Outcome


@dataclass(slots=True)
class Measured:
    """What the runs of one program used, in order."""

    cpu_ms: list[float] = field(default_factory=list)
    peak_mb: list[float] = field(default_factory=list)
    steady: bool = True
    """Whether every run was right. One that was not ends the measurement of the program."""

    def add(self, outcome: Outcome) -> None:
        """Adds one run."""
        self.cpu_ms.append(outcome.cpu_ms)
        self.peak_mb.append(outcome.peak_mb)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Measurements of the reference and of each answer, by its id. All ran on the same inputs."""

    reference: Measured
    answers: dict[int, Measured]


async def measure_answers(
    client: Runs, challenge: Challenge, answers: Mapping[int, str], *, runs: int, id: str = "measure"
) -> Measurement:
    """Runs each answer `runs` times on the CPU. Raises NotJudgeable if the question or the sandbox fails.

    One program runs at a time, in a new random order each time, so that they do not slow each other down, and what the
    machine does meanwhile falls on all alike.
    """
    challenge = replace(challenge, device="cpu")
    measurement = Measurement(Measured(), {answer: Measured() for answer in answers})
    for _ in range(runs):
        prepared = await prepare_judgement(client, challenge, secrets.randbits(128), id=id)
        measurement.reference.add(prepared.expected)
        for answer in random.SystemRandom().sample(list(answers), len(answers)):
            measured = measurement.answers[answer]
            if not measured.steady:
                continue
            judgement, outcome = await judge_prepared(client, prepared, answers[answer])
            if judgement.verdict == "system error":
                raise NotJudgeable(judgement.detail)
            measured.steady = judgement.verdict == "accepted"
            measured.add(outcome)
    return measurement
