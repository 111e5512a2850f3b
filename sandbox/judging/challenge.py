"""Judges one code answer: has the generator, the reference and the answer run in separate children, and compares here.

Trusted. The answer's child never holds the seed, the reference, an expected value or the tolerance. It holds hidden
cases, so what a wrong answer wrote is shown from another run, which has the examples only.

How more than returned values is judged:
- Gradients and effects on arguments: by a driver (`Run.driver`). A few lines of a driver state which leaf, which
  upstream gradient and which arguments count, and the answer is called as its task describes. A fixed rule that
  compared every argument would forbid harmless scratch work, and one for gradients would have to guess.
- Random numbers: by a driver that returns `{"draws": tensor}`, one draw per row. The distribution at every place is
  compared (`sandbox.judging.comparison`). A right answer fails less than once in a million judgements.
- Complexity: by size. A cases program may define `growing(rng)`; its cases run last, in order, and a time limit that
  ends them is reported as too slow. For such a task the limit applies to CPU time, which the kernel counts and other
  programs do not use up; the wall clock allows twice as long. If the reference, run at the same time, needed more than
  a fifth of the limit, the machine or the question is blamed. Authors choose sizes at which a too slow answer takes ten
  times the limit, and a wrong solution in the bank proves that it fails. No time is measured in the answer's process.
- Devices: by running again. With `both`, an answer that is right on the CPU gets the same cases on a GPU, and its
  results are compared with those of the reference on the CPU. One GPU run judges it, and a reference that is wrong on a
  GPU cannot vouch for itself. With `cuda`, reference and answer both run on the GPU.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from sandbox.causes import TimeExceeded, TooSlow
from sandbox.differences import HiddenDiffers, aspect_of
from sandbox.judging.judge import CaseVerdict, Judgement, judge_outcome, shown_result, system_error
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Caps, Value, decode, encode, join, split
from sandbox.wire import MAX_BODY, Driving, Limits, Outcome, Run

JudgingDevice = Literal["cpu", "cuda", "both"]
"""Device an answer is judged on."""
_MAX_CASES = 1000
"""Maximum number of cases of each kind."""
_CAPS = Caps(total=MAX_BODY, items=10**7)
_GPU_EXTRA_MS = 5000
"""Additional time on a GPU, where each kernel is loaded on its first call."""
_DELAYED_SHARE = 0.25
"""Share of the wall time that a program waited for a core: from here on, a time limit may be the machine's fault."""
_BUSY_SHARE = 0.5
"""Share of the wall time that it computed: with more than this, it had its turn."""
_REFERENCE_SHARE = 5
"""The limit of growing cases must be this many times the reference's CPU time."""
_MAX_ARGUMENT_TEXT = 300
"""Longest text of one argument of a shown call, characters."""
_MAX_STDERR = 1000
"""Longest part of standard error in a cause, characters."""
_GENERATE = "_dailygrad_generate"
# Appended to the cases program: one call returns the examples, the hidden cases and the growing cases as plain values.
_GENERATOR = f"""

def {_GENERATE}(seed):
    import random
    rng = random.Random(seed)
    grow = globals().get("growing")
    return list(examples()), list(cases(rng)), list(grow(rng)) if grow else []
"""


class Runs(Protocol):
    """Anything that runs programs, such as `sandbox.client.SandboxClient`."""

    async def run(self, run: Run) -> Outcome:
        """Returns the Outcome of a run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A code question, as far as judging is concerned."""

    entry: str
    """Name of the function the answer defines, or, with a driver, of a function or class."""
    cases_program: str
    """Program that defines `examples()`, `cases(rng)` and perhaps `growing(rng)`."""
    reference: str
    limits: Limits
    tolerance: NumberTolerance
    driver: str = ""
    """See `Run.driver`. With one, its return values are compared."""
    protected: bool = False
    """Whether the driver has a process of its own. If not, it works in the process of the answer, which can change what
    it measures. On the CPU only."""
    device: JudgingDevice = "cpu"
    """With `both`, the CPU's verdict counts where there is no GPU, and a note says so."""


class NotJudgeable(Exception):
    """The question or the sandbox is at fault."""


@dataclass(frozen=True, slots=True)
class Example:
    """A visible case with the reference's result."""

    call: str
    """Such as `f(tensor([1.]), 3)`."""
    result: str
    """Such as `tensor([2.])`, or `raise ValueError('…')`."""


@dataclass(frozen=True, slots=True)
class _Cases:
    """The cases of one judgement."""

    arguments: list[Value]
    """Argument tuples: examples first, growing cases last."""
    examples: int
    growing: int = 0

    @property
    def hidden(self) -> int:
        """Number of cases that are not examples."""
        return len(self.arguments) - self.examples

    def shuffled(self, seed: int) -> list[int]:
        """Returns the indices in random order, except for growing cases, which come last in their own order."""
        order = list(range(len(self.arguments) - self.growing))
        random.Random(seed).shuffle(order)  # noqa: S311 - only the seed must be unpredictable
        return order + list(range(len(order), len(self.arguments)))


@dataclass(frozen=True, slots=True)
class Prepared:
    """The cases of one judgement and the reference's outcome."""

    challenge: Challenge
    seed: int
    cases: _Cases
    order: list[int]
    run: Run
    """Run of a program on the cases, without the program."""
    expected: Outcome

    @property
    def reusable(self) -> bool:
        """Whether it can judge an answer that comes later. Growing cases need a reference run at the same time."""
        return not self.cases.growing

    @property
    def platform(self) -> str:
        """What the reference's results were computed by, as `Outcome.platform`."""
        return self.expected.platform

    @property
    def bytes(self) -> int:
        """Size of the cases and results."""
        return 2 * len(self.run.cases) + len(self.expected.results)


async def prepare_judgement(client: Runs, challenge: Challenge, seed: int, *, id: str = "prepared") -> Prepared:
    """Draws cases from `seed` and runs the reference on them. Raises NotJudgeable if either fails."""
    cases, order, run = await _draw_run(client, challenge, seed, id)
    expected = await _run_reference(client, challenge, run)
    if fault := expected.refused or _reference_fault(expected, len(cases.arguments)):
        raise NotJudgeable(fault)
    return Prepared(challenge, seed, cases, order, run, expected)


class KeepsReferences(Protocol):
    """Keeps preparations for the next judgement with the same seed, such as `reference_cache.ReferenceCache`."""

    def get(self, challenge: Challenge, seed: int) -> Prepared | None: ...

    def put(self, prepared: Prepared) -> None: ...

    def drop(self, challenge: Challenge, seed: int) -> None: ...


async def judge_code(
    client: Runs,
    challenge: Challenge,
    answer: str,
    *,
    seed: int,
    id: str = "code",
    references: KeepsReferences | None = None,
) -> Judgement:
    """Judges `answer`. The cases are drawn from `seed`, which is new and secret for each judgement, 128 bits.

    `id` names the runs in logs. With `references`, the cases and the reference's results of an earlier judgement with
    this seed are used again, and these are kept. A fault in the cases program or the reference is a `system error` with
    its cause.
    """
    prepared = references.get(challenge, seed) if references else None
    if references and prepared is not None:
        prepared = replace(prepared, challenge=challenge, run=replace(prepared.run, id=id))
        outcome = await _run(client, _of_answer(challenge, prepared.run, answer))
        if outcome.status == "internal" or outcome.platform == prepared.platform:
            return await _judge_outcome(client, prepared, answer, outcome)
        references.drop(challenge, seed)
    try:
        cases, order, run = await _draw_run(client, challenge, seed, id)
    except NotJudgeable as problem:
        return system_error(str(problem))
    expected, outcome = await asyncio.gather(
        _run_reference(client, challenge, run), _run(client, _of_answer(challenge, run, answer))
    )
    fresh = Prepared(challenge, seed, cases, order, run, expected)
    if references and not _reference_fault(expected, len(cases.arguments)):
        references.put(fresh)
    return await _judge_outcome(client, fresh, answer, outcome)


async def judge_prepared(client: Runs, prepared: Prepared, answer: str) -> tuple[Judgement, Outcome]:
    """Judges an answer by cases that others are judged by, too. Returns the outcome of its run as well.

    Only for answers that are final: every further run on the same cases would know them.
    """
    outcome = await _run(client, _of_answer(prepared.challenge, prepared.run, answer))
    return await _judge_outcome(client, prepared, answer, outcome), outcome


async def judge_at_once(client: Runs, draws: Sequence[Prepared], answer: str) -> list[Judgement]:
    """Judges a program by several draws of one challenge's cases in a single run on the CPU.

    Returns the judgements of the first draws, as far as that run tells them; the other draws need runs of their own,
    and all do where cases grow or a GPU is needed. The run has the CPU time of one. A program that has used it up would
    have ended at the same case in a run for that draw, if it was the first.
    """
    run = draws[0].run
    if draws[0].challenge.device == "cuda" or not all(one.reusable for one in draws):
        return []
    try:
        cases = encode([one.cases.arguments[at] for one in draws for at in one.order], _CAPS)
    except ValueError:
        return []
    count, limits = len(draws), run.limits
    of_all = replace(limits, wall_ms=count * limits.wall_ms, result_bytes=min(count * limits.result_bytes, MAX_BODY))
    outcome = await client.run(_of_answer(draws[0].challenge, replace(run, cases=cases, limits=of_all), answer))
    slow = isinstance(outcome.cause, TimeExceeded) and outcome.cause.clock == "cpu"
    if not (outcome.status == "ok" or slow) or outcome.platform != draws[0].platform:
        return []
    try:
        results = split(outcome.results, sum(len(one.order) for one in draws))
    except ValueError:
        return []
    found: list[Judgement] = []
    for one in draws:
        own, results = results[: len(one.order)], results[len(one.order) :]
        ended_here = slow and len(own) < len(one.order)
        if ended_here and found:
            break
        status = outcome.status if ended_here else "ok"
        judge = _Judge(one.challenge, one.cases, one.order, one.expected)
        found.append(await judge.judge(replace(outcome, status=status, results=join(own)), one.challenge.tolerance))
        if ended_here:
            break
    return found


async def _judge_outcome(client: Runs, prepared: Prepared, answer: str, outcome: Outcome) -> Judgement:
    """Compares the answer's outcome with the reference's, and judges it on the second device if there is one."""
    challenge, cases, expected = prepared.challenge, prepared.cases, prepared.expected
    if "device" in (expected.refused, outcome.refused):
        return replace(system_error(expected.detail or outcome.detail), note="needs gpu")
    fault = _reference_fault(expected, len(cases.arguments))
    if fault:
        return system_error(fault)
    judge, run = _Judge(challenge, cases, prepared.order, expected), _of_answer(challenge, prepared.run, answer)
    judgement = await judge.judge(outcome, challenge.tolerance)
    judgement = await _without_hidden_cases(client, judge, run, judgement, challenge.tolerance)
    if challenge.device != "both" or judgement.verdict != "accepted":
        return judgement
    run = replace(_on_gpu(prepared.run), role="answer", code=answer)
    outcome = await _run(client, run)
    if outcome.refused == "device":
        return replace(judgement, note="no gpu")
    tolerance = challenge.tolerance.for_second_device()
    on_gpu = await judge.judge(outcome, tolerance)
    return _combine(judgement, await _without_hidden_cases(client, judge, run, on_gpu, tolerance))


async def _without_hidden_cases(
    client: Runs, judge: _Judge, run: Run, judgement: Judgement, tolerance: NumberTolerance
) -> Judgement:
    """Replaces what a program wrote in a judgement by what it writes in a run that has the examples only.

    A program that has hidden cases could return them for an example, or write them and claim that it failed before.
    """
    if not judge.cases.hidden or not (judgement.message or any(map(_tells, judgement.cases))):
        return judgement
    examples = judge.of_examples()
    run = replace(run, role="program", cases=_encode_cases(examples.cases, examples.order))
    if not examples.order:
        run = replace(run, driver="", driving="inside")  # a driver without cases would end before the program starts
    again = await examples.judge(await _run(client, run), tolerance)
    cases = tuple(_told_as(case, again.cases[case.index : case.index + 1]) for case in judgement.cases)
    return replace(judgement, cases=cases, message=again.message if judgement.message else "")


def _tells(case: CaseVerdict) -> bool:
    return case.visible and (case.difference is not None or bool(case.got))


def _told_as(case: CaseVerdict, again: Sequence[CaseVerdict]) -> CaseVerdict:
    """Returns an example's verdict with what another run told; only with its kind if that run told something else."""
    if not _tells(case):
        return case
    if again and again[0].verdict == case.verdict:
        return replace(case, difference=again[0].difference, got=again[0].got)
    return replace(case, difference=HiddenDiffers(aspect_of(case.difference)) if case.difference else None, got="")


async def _draw_run(client: Runs, challenge: Challenge, seed: int, id: str) -> tuple[_Cases, list[int], Run]:
    """Draws the cases. Returns them, their order, and a run on them without a program. Raises NotJudgeable."""
    cases = await _generate(client, challenge, seed, id)
    order = cases.shuffled(seed)
    limits = challenge.limits
    run = Run(
        id=id,
        code="",
        entry=challenge.entry,
        cases=_encode_cases(cases, order),
        seed=_program_seed(seed),
        limits=replace(limits, wall_ms=2 * limits.wall_ms) if cases.growing else limits,
        driver=challenge.driver,
    )
    return cases, order, run


async def _run_reference(client: Runs, challenge: Challenge, run: Run) -> Outcome:
    run = replace(run, role="reference", code=challenge.reference, driving=_driving(challenge, "loopback"))
    return await _run(client, _on_gpu(run) if challenge.device == "cuda" else run)


def _of_answer(challenge: Challenge, run: Run, answer: str) -> Run:
    run = replace(run, role="answer", code=answer, driving=_driving(challenge, "pair"))
    return _on_gpu(run) if challenge.device == "cuda" else run


async def run_examples(client: Runs, challenge: Challenge) -> tuple[Example, ...]:
    """Returns the visible cases with the reference's results. Raises NotJudgeable."""
    cases = await _generate(client, challenge, 0, "examples")
    arguments = cases.arguments[: cases.examples]
    if not arguments:
        return ()
    run = Run(
        id="examples",
        code=challenge.reference,
        entry=challenge.entry,
        cases=_encode_cases(cases, list(range(len(arguments)))),
        seed=0,
        limits=challenge.limits,
        driver=challenge.driver,
        driving=_driving(challenge, "loopback"),
        role="reference",
    )
    outcome = await _run(client, _on_gpu(run) if challenge.device == "cuda" else run)
    if fault := _reference_fault(outcome, len(arguments)):
        raise NotJudgeable(fault)
    return await asyncio.to_thread(_describe_examples, challenge, arguments, outcome.results)


def _describe_examples(challenge: Challenge, arguments: Sequence[Value], data: bytes) -> tuple[Example, ...]:
    try:
        results = [shown_result(one) for one in split(data)]
    except ValueError as problem:
        raise NotJudgeable(f"the reference's results cannot be read: {problem}") from None
    return tuple(Example(_call(challenge, one), result) for one, result in zip(arguments, results, strict=True))


def _call(challenge: Challenge, arguments: Value) -> str:
    """Returns a call as text."""
    from sandbox.judging.comparison import brief  # in a thread, for numpy

    function = "case " if challenge.driver else challenge.entry
    texts = [brief(one, _MAX_ARGUMENT_TEXT) for one in arguments] if isinstance(arguments, tuple) else []
    return f"{function}({', '.join(texts)})"


def _driving(challenge: Challenge, driving: Driving) -> Driving:
    return driving if challenge.driver and challenge.protected else "inside"


async def _generate(client: Runs, challenge: Challenge, seed: int, id: str) -> _Cases:
    """Runs the cases program. Raises NotJudgeable."""
    run = Run(
        id=id,
        code=challenge.cases_program + _GENERATOR,
        entry=_GENERATE,
        cases=encode([(seed,)]),
        seed=seed,
        limits=replace(challenge.limits, result_bytes=Limits().result_bytes),
        role="cases",
    )
    outcome = await _run(client, run)
    if outcome.status != "ok":
        cause = outcome.detail or outcome.stderr[-_MAX_STDERR:]
        raise NotJudgeable(f"the cases program ended with {outcome.status}: {cause}")
    try:
        (data,) = split(outcome.results)
        result = decode(data, _CAPS)
    except ValueError as problem:
        raise NotJudgeable(f"the cases program's result cannot be read: {problem}") from None
    match result:
        case ("ok", (list(examples), list(hidden), list(growing))) if all(map(_valid, (examples, hidden, growing))):
            cases = _Cases([*examples, *hidden, *growing], len(examples), len(growing))
        case ("raised", str(name), str(message)):
            raise NotJudgeable(f"the cases program raised {name}: {message}")
        case ("unsupported", _, str(message)):
            raise NotJudgeable(f"the cases program returned something that cannot be an argument: {message}")
        case _:
            raise NotJudgeable(
                f"examples(), cases(rng) and growing(rng) must return lists of argument tuples, at most {_MAX_CASES}"
            )
    if not cases.arguments:
        raise NotJudgeable("the cases program gives no cases")
    return cases


def _valid(cases: list[Value]) -> bool:
    return len(cases) <= _MAX_CASES and all(isinstance(case, tuple) for case in cases)


def _encode_cases(cases: _Cases, order: list[int]) -> bytes:
    try:
        return encode([cases.arguments[at] for at in order], _CAPS)
    except ValueError as problem:
        raise NotJudgeable(f"the cases are too large: {problem}") from None


def _program_seed(seed: int) -> int:
    """Returns the seed for reference and answer, from which the seed of the cases cannot be computed."""
    return int.from_bytes(hashlib.sha256(f"run {seed}".encode()).digest()[:8], "big")


def _on_gpu(run: Run) -> Run:
    limits = run.limits
    longer = replace(limits, wall_ms=limits.wall_ms + _GPU_EXTRA_MS, cpu_ms=limits.cpu_ms + _GPU_EXTRA_MS)
    return replace(run, device="cuda", limits=longer)


async def _run(client: Runs, run: Run) -> Outcome:
    """Runs a program, and once more if it timed out while the machine had no core for it. Sleeping does not count."""
    outcome = await client.run(run)
    wall_ms = run.limits.wall_ms
    delayed = outcome.delayed_ms >= wall_ms * _DELAYED_SHARE and outcome.cpu_ms < wall_ms * _BUSY_SHARE
    return await client.run(run) if outcome.status == "time" and delayed else outcome


def _reference_fault(expected: Outcome, cases: int) -> str:
    """Returns what is wrong with the reference's outcome, or ""."""
    if expected.status != "ok":
        return f"the reference ended with {expected.status}: {expected.detail or expected.stderr[-_MAX_STDERR:]}"
    try:
        results = len(split(expected.results))
    except ValueError as problem:
        return f"the reference's results cannot be read: {problem}"
    return "" if results == cases else f"the reference gave {results} results for {cases} cases"


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges outcomes of the answer against the reference's outcome."""

    challenge: Challenge
    cases: _Cases
    order: list[int]
    expected: Outcome

    def of_examples(self) -> _Judge:
        """Returns the judge of the examples alone, in their own order."""
        count = self.cases.examples
        results = dict(zip(self.order, split(self.expected.results), strict=True))
        expected = replace(self.expected, results=join(results[index] for index in range(count)))
        return _Judge(self.challenge, _Cases(self.cases.arguments[:count], count), list(range(count)), expected)

    async def judge(self, outcome: Outcome, tolerance: NumberTolerance) -> Judgement:
        """Returns the judgement, with the visible calls shown."""
        # In a thread: comparing megabytes would block the event loop.
        judgement = await asyncio.to_thread(
            judge_outcome,
            self.expected.results,
            outcome,
            cases=len(self.cases.arguments),
            examples=self.cases.examples,
            tolerance=tolerance,
            order=self.order,
        )
        cases = tuple(self._with_call(case) for case in judgement.cases)
        return self._explain_time_limit(replace(judgement, cases=cases))

    def _with_call(self, case: CaseVerdict) -> CaseVerdict:
        return replace(case, shown=_call(self.challenge, self.cases.arguments[case.index])) if case.visible else case

    def _explain_time_limit(self, judgement: Judgement) -> Judgement:
        """Reports a time limit in growing cases as too slow, but only if the reference had time to spare."""
        if judgement.verdict != "time limit" or not self.cases.growing:
            return judgement
        limit_ms, reference_ms = self.challenge.limits.cpu_ms, self.expected.cpu_ms
        reference_time = f"{max(reference_ms, 1):,.0f} ms"
        if reference_ms * _REFERENCE_SHARE > limit_ms:
            return system_error(
                f"the time ran out where cases grow, and the reference took {reference_time} of CPU, more than a fifth "
                f"of the limit of {limit_ms:,} ms: the machine is busy, or the sizes are too large"
            )
        first = min(case.index for case in judgement.cases if case.verdict == "time limit")
        total = len(self.cases.arguments)
        if first < total - self.cases.growing:
            return judgement
        slow = TooSlow(case=first + 1, cases=total, limit_ms=limit_ms, reference_ms=round(max(reference_ms, 1)))
        return replace(judgement, cause=slow)


def _combine(cpu: Judgement, gpu: Judgement) -> Judgement:
    """Appends the GPU's cases to those of the CPU, which were all accepted."""
    if gpu.verdict == "system error":
        return gpu
    gpu_cases = tuple(replace(case, index=len(cpu.cases) + case.index, on_gpu=True) for case in gpu.cases)
    share = (cpu.share + gpu.share) / 2
    return replace(gpu, cases=cpu.cases + gpu_cases, share=share, on_gpu=gpu.verdict != "accepted")
