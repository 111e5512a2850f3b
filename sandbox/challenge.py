"""Judges one code answer: generator, reference and answer each in a child of its own, the comparison here.

Trusted orchestration over the client; imports no torch. The answer's child never holds the seed, the reference,
an expected value or the tolerance.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from dataclasses import dataclass, replace
from typing import Protocol

from sandbox.comparing import Tolerance, brief
from sandbox.judge import CaseVerdict, Judgement, judge_outcome, system_error
from sandbox.values import Caps, Value, decode, encode, split
from sandbox.wire import MAX_BODY, Limits, Outcome, Run

_MOST_CASES = 1000
_GENERATE = "_dailygrad_generate"
# Appended to the cases program: one call returns examples and hidden cases, plain values both.
_GENERATOR = f"""

def {_GENERATE}(seed):
    import random
    return list(examples()), list(cases(random.Random(seed)))
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
    """Tuples; the examples first."""
    examples: int


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
    tolerance: Tolerance,
    seed: int,
    driver: str = "",
    id: str = "code",
) -> Judgement:
    """The judgement of `answer`. `seed` is fresh per grading, 128 bits; the cases are drawn from it.

    With a `driver` (see `Run.driver`) the entry may be a class, and what is compared is what the driver returns.

    A fault in the cases program or the reference is a `system error` with a detail for the operator.
    """
    try:
        made = await _generate(client, cases_program, limits, seed, id)
    except _Ours as problem:
        return system_error(str(problem))
    total = len(made.arguments)
    order = list(range(total))
    random.Random(seed).shuffle(order)  # noqa: S311 - the seed is what must not be guessed
    if total == 0:
        return system_error("the cases program gives no cases")
    try:
        packed = encode([made.arguments[at] for at in order], Caps(total=MAX_BODY, items=10**7))
    except ValueError as problem:
        return system_error(f"the cases are too large: {problem}")
    shared = Run(id, "", entry, packed, _derived(seed), limits, driver)
    expected, got = await asyncio.gather(
        client.run(replace(shared, id=f"{id}/reference", code=reference)),
        client.run(replace(shared, id=f"{id}/answer", code=answer)),
    )
    fault = _reference_fault(expected, total)
    if fault:
        return system_error(fault)
    # Megabytes may be compared: not in the loop that serves everyone else.
    judgement = await asyncio.to_thread(
        judge_outcome, expected.results, got, cases=total, examples=made.examples, tolerance=tolerance, order=order
    )
    return replace(judgement, cases=tuple(_shown(case, entry, made) for case in judgement.cases))


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
        case ("ok", (list(examples), list(hidden))) if _fit(examples) and _fit(hidden):
            return _Cases([*examples, *hidden], len(examples))
        case ("raised", str(name), str(message)):
            raise _Ours(f"the cases program raised {name}: {message}")
        case ("unsupported", _, str(message)):
            raise _Ours(f"the cases program gave what is no argument: {message}")
    raise _Ours("examples() and cases(rng) must return lists of argument tuples, not more than 1000 each")


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


def _shown(case: CaseVerdict, entry: str, made: _Cases) -> CaseVerdict:
    if not case.visible:
        return case
    arguments = made.arguments[case.index]
    words = [brief(argument, 300) for argument in arguments] if isinstance(arguments, tuple) else []
    return replace(case, shown=f"{entry}({', '.join(words)})")
