"""Judges one code answer: generator, reference and answer each in a child of its own, the comparison here.

Trusted orchestration over the client; imports no torch. The answer's child never holds the seed, the reference,
an expected value or the tolerance.

What more than returned values is judged, and how:
- Gradients and effects on arguments by a driver (`Run.driver`), never by a switch: three lines of a driver say which
  leaf, which upstream gradient and which of the arguments count, and the answer is called as its task describes. A
  switch that compared every argument would forbid harmless scratch work, and one for gradients would have to guess.
- Random numbers by a driver that returns `{"draws": tensor}`, one draw in each row: the distribution of every place
  is compared (`sandbox.judging.comparing`), and a right answer fails less than once in a million judgements.
- Complexity by size: a cases program may define `growing(rng)`. Its cases are run last, in their order, and a time
  limit that ends them is told as such. For such a task the limit is of CPU time, which the kernel counts and no other
  program on the machine uses up; the wall clock only ends what has had twice as long. Where the reference, run at
  the same time, needed more than a fifth of it, the machine or the question is to blame and no answer. The author
  chooses sizes at which what is too slow takes ten times the limit, and a wrong solution in the bank proves that it
  fails. No time is measured inside the answer's process, and every result still has to be right.
- Devices by asking again: with `both`, an answer that is right on the CPU meets the same cases on a GPU, and what it
  returns there is compared, here, with what the reference returned on the CPU. One GPU run judges it, and a reference
  that is wrong on a GPU cannot vouch for itself. With `cuda` alone reference and answer both run there.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from sandbox.judging.comparing import NumberTolerance, brief
from sandbox.judging.judge import CaseVerdict, Judgement, judge_outcome, system_error
from sandbox.values import Caps, Value, decode, encode, split
from sandbox.wire import MAX_BODY, Limits, Outcome, Run

_MOST_CASES = 1000
DeviceAsked = Literal["cpu", "cuda", "both"]
NO_GPU = "Judged on the CPU: this sandbox has no GPU."
NEEDS_GPU = (
    "This question is judged on a GPU, and our sandbox has none right now. "
    "It costs you nothing, and your answer is kept."
)
_LOADING_MS = 5000
"""More time on a GPU, where each kernel is loaded when it is first called."""
_STARVED = 0.25
"""Of the wall time: a program that is out of it with less CPU time has waited, perhaps for a busy machine."""
_GENERATE = "_dailygrad_generate"
_SPARE = 5
"""How many times the reference's CPU time the limit must be where cases grow."""
# Appended to the cases program: one call returns examples, hidden cases and those that grow, all plain values.
_GENERATOR = f"""

def {_GENERATE}(seed):
    import random
    rng = random.Random(seed)
    grow = globals().get("growing")
    return list(examples()), list(cases(rng)), list(grow(rng)) if grow else []
"""


class Runs(Protocol):
    """What is needed of `sandbox.client.SandboxClient`."""

    async def run(self, run: Run) -> Outcome:
        """The Outcome of `run`."""
        ...


@dataclass(frozen=True, slots=True)
class _Cases:
    """The cases of one grading."""

    arguments: list[Value]
    """Tuples; the examples first, those that grow last."""
    examples: int
    growing: int = 0

    def order(self, seed: int) -> list[int]:
        """Any order but that of those that grow, which come last."""
        mixed = list(range(len(self.arguments) - self.growing))
        random.Random(seed).shuffle(mixed)  # noqa: S311 - the seed is what must not be guessed
        return mixed + list(range(len(mixed), len(self.arguments)))


class _Ours(Exception):
    """The question is at fault, or we are."""


async def judge_code(
    client: Runs,
    *,
    entry: str,
    cases_program: str,
    reference: str,
    answer: str,
    limits: Limits,
    tolerance: NumberTolerance,
    seed: int,
    driver: str = "",
    id: str = "code",
    device: DeviceAsked = "cpu",
) -> Judgement:
    """The judgement of `answer`. `seed` is fresh per grading, 128 bits; the cases are drawn from it.

    With a `driver` (see `Run.driver`) the entry may be a class, and what is compared is what the driver returns.
    With `both` the verdict of the CPU stands where there is no GPU, and a note says so.

    A fault in the cases program or the reference is a `system error` with a detail for the operator.
    """
    try:
        made = await _generate(client, cases_program, limits, seed, id)
    except _Ours as problem:
        return system_error(str(problem))
    total, order = len(made.arguments), made.order(seed)
    if total == 0:
        return system_error("the cases program gives no cases")
    try:
        packed = encode([made.arguments[at] for at in order], Caps(total=MAX_BODY, items=10**7))
    except ValueError as problem:
        return system_error(f"the cases are too large: {problem}")
    allowed = replace(limits, wall_ms=2 * limits.wall_ms) if made.growing else limits
    shared = Run(id, "", entry, packed, _derived(seed), allowed, driver)
    first = _on_gpu(shared) if device == "cuda" else shared
    expected, got = await asyncio.gather(
        client.run(replace(first, id=f"{id}/reference", code=reference)),
        _answered(client, replace(first, id=f"{id}/answer", code=answer)),
    )
    if "device" in (expected.refused, got.refused):
        return replace(system_error(expected.detail or got.detail), note=NEEDS_GPU)
    fault = _reference_fault(expected, total)
    if fault:
        return system_error(fault)
    against = _Against(expected, made, order, tolerance, limits, "case " if driver else entry)
    judgement = await against.judged(got)
    if device != "both" or judgement.verdict != "accepted":
        return judgement
    got = await _answered(client, replace(_on_gpu(shared), id=f"{id}/answer", code=answer))
    if got.refused == "device":
        return replace(judgement, note=NO_GPU)
    return _both(judgement, await against.judged(got))


@dataclass(frozen=True, slots=True)
class _Against:
    """What an outcome is judged against."""

    expected: Outcome
    made: _Cases
    order: list[int]
    tolerance: NumberTolerance
    limits: Limits
    called: str

    async def judged(self, got: Outcome) -> Judgement:
        """The judgement, its visible cases shown."""
        # Megabytes may be compared: not in the loop that serves everyone else.
        judgement = await asyncio.to_thread(
            judge_outcome,
            self.expected.results,
            got,
            cases=len(self.made.arguments),
            examples=self.made.examples,
            tolerance=self.tolerance,
            order=self.order,
        )
        cases = tuple(_shown(case, self.called, self.made) for case in judgement.cases)
        return _timed(replace(judgement, cases=cases), self.made, self.expected, self.limits)


def _on_gpu(run: Run) -> Run:
    limits = run.limits
    longer = replace(limits, wall_ms=limits.wall_ms + _LOADING_MS, cpu_ms=limits.cpu_ms + _LOADING_MS)
    return replace(run, device="cuda", limits=longer)


def _both(cpu: Judgement, gpu: Judgement) -> Judgement:
    """One judgement of two: the GPU's cases are numbered on behind those of the CPU, which were all right."""
    if gpu.verdict == "system error":
        return gpu
    behind = tuple(
        replace(case, index=len(cpu.cases) + case.index, message=case.message and f"on the GPU: {case.message}")
        for case in gpu.cases
    )
    message = gpu.message and f"On the GPU: {gpu.message}"
    return replace(gpu, cases=cpu.cases + behind, share=(cpu.share + gpu.share) / 2, message=message)


async def _answered(client: Runs, run: Run) -> Outcome:
    """What came of the answer. One that was out of time but had little of the processor is run once more."""
    outcome = await client.run(run)
    starved = outcome.status == "time" and outcome.cpu_ms < run.limits.wall_ms * _STARVED
    return await client.run(run) if starved else outcome


def _timed(judgement: Judgement, made: _Cases, expected: Outcome, limits: Limits) -> Judgement:
    """A time limit where cases grow: told as such, and only believed where the reference had time to spare."""
    if judgement.verdict != "time limit" or not made.growing:
        return judgement
    took = f"{max(expected.cpu_ms, 1):,.0f} ms"
    if expected.cpu_ms * _SPARE > limits.cpu_ms:
        return system_error(
            f"the time ran out where cases grow, and the reference took {took} of CPU, more than a fifth of the "
            f"limit of {limits.cpu_ms:,} ms: the machine is busy, or the sizes are too large"
        )
    first = min(case.index for case in judgement.cases if case.verdict == "time limit")
    total = len(made.arguments)
    if first < total - made.growing:
        return judgement
    text = (
        f"Too slow for its size: the cases grow, and the time ran out in case {first + 1} of {total}. "
        f"All may take {limits.cpu_ms:,} ms together; ours took {took}."
    )
    return replace(judgement, message=text)


async def _generate(client: Runs, program: str, limits: Limits, seed: int, id: str) -> _Cases:
    run = Run(
        id=f"{id}/cases",
        code=program + _GENERATOR,
        entry=_GENERATE,
        cases=encode([(seed,)]),
        seed=seed,
        limits=replace(limits, result_bytes=Limits().result_bytes),
    )
    outcome = await client.run(run)
    if outcome.status != "ok":
        raise _Ours(f"the cases program ended with {outcome.status}: {outcome.detail or outcome.stderr[-1000:]}")
    try:
        (data,) = split(outcome.results)
        entry = decode(data, Caps(total=MAX_BODY, items=10**7))
    except ValueError as problem:
        raise _Ours(f"the cases program's result cannot be read: {problem}") from None
    match entry:
        case ("ok", (list(examples), list(hidden), list(growing))) if all(map(_fit, (examples, hidden, growing))):
            return _Cases([*examples, *hidden, *growing], len(examples), len(growing))
        case ("raised", str(name), str(message)):
            raise _Ours(f"the cases program raised {name}: {message}")
        case ("unsupported", _, str(message)):
            raise _Ours(f"the cases program gave what is no argument: {message}")
    raise _Ours("examples(), cases(rng) and growing(rng) must return lists of argument tuples, not more than 1000 each")


def _fit(cases: list[Value]) -> bool:
    return len(cases) <= _MOST_CASES and all(isinstance(case, tuple) for case in cases)


def _derived(seed: int) -> int:
    """The seed of the generators of reference and answer, from which that of the cases cannot be told."""
    return int.from_bytes(hashlib.sha256(f"run {seed}".encode()).digest()[:8], "big")


def _reference_fault(expected: Outcome, total: int) -> str:
    if expected.status != "ok":
        return f"the reference ended with {expected.status}: {expected.detail or expected.stderr[-1000:]}"
    try:
        count = len(split(expected.results))
    except ValueError as problem:
        return f"the reference's results cannot be read: {problem}"
    return "" if count == total else f"the reference gave {count} results for {total} cases"


def _shown(case: CaseVerdict, called: str, made: _Cases) -> CaseVerdict:
    if not case.visible:
        return case
    arguments = made.arguments[case.index]
    words = [brief(argument, 300) for argument in arguments] if isinstance(arguments, tuple) else []
    return replace(case, shown=f"{called}({', '.join(words)})")
