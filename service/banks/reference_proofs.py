"""Proves the reference of a code question: against its oracle, the author's expectations, and its mutants.

An oracle is a second implementation, a library call or a property. Without one, a wrong reference would define what is
right. Mutants of the reference are judged by the oracle as well: one that it does not tell from the reference on any
drawn case is called equivalent and listed.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from questions.drivers import read_facts
from questions.facts import with_harness
from questions.model import CodeTask, Question, defined, parse_python
from questions.mutants import ReferenceMutant, reference_mutants
from questions.proof_report import Mutant, MutantState
from questions.proofs import Part
from sandbox.differences import in_symbols
from sandbox.judging.challenge import Runs
from sandbox.judging.comparison import DRAWS_KEY, brief, compare
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Caps, Value, decode, encode, split
from sandbox.wire import MAX_BODY, Driving, Limits, Outcome, Run
from service.banks.key_proofs import survivors
from service.banks.proof_checks import ProofCheck, run_twice, trouble_of

DRAWINGS = 8
"""Number of times the hidden cases are drawn for the oracle."""
MOST_CASES = 80
"""Number of hidden cases from which nothing more is drawn."""
MOST_BYTES = 2_000_000
"""Size of the cases' tensors from which nothing more is drawn."""
FIRST_CASES = (6, 24)
"""Numbers of cases that mutants meet at first; those that pass them meet all."""
LIMITS = Limits(wall_ms=60_000, cpu_ms=60_000, memory_mb=1024, result_bytes=MAX_BODY)
MUTANT_LIMITS = replace(LIMITS, wall_ms=20_000, cpu_ms=10_000)
_CAPS = Caps(total=MAX_BODY, items=10**7)
MUTANT_SECONDS = 2.0
"""CPU time of one call of a mutant."""

_DRAW = "_dailygrad_draw_cases"
_DRAWER = f"""

def {_DRAW}(seeds, most, most_bytes):
    import random

    import torch

    def size(value):
        if isinstance(value, torch.Tensor):
            return value.numel() * value.element_size()
        if isinstance(value, dict):
            return sum(map(size, value.values()))
        return sum(map(size, value)) if isinstance(value, (tuple, list)) else 8

    names = globals()
    hidden = []
    for seed in seeds:
        torch.manual_seed(seed)
        hidden += cases(random.Random(seed))
        if len(hidden) >= most or size(hidden) >= most_bytes:
            break
    shown = list(examples())
    declared = names.get("raises", lambda *arguments: "")
    return {{
        "examples": len(shown),
        "cases": shown + hidden,
        "expected": list(names["expected"]()) if "expected" in names else None,
        "raises": [str(declared(*case) or "") for case in shown + hidden],
    }}
"""

_MUTATE = "_dailygrad_mutant"
# A mutant may loop forever: each call is stopped after a while, and after that the mutant is not called again. The
# thread of one whose driver is apart cannot be stopped, so the process ends before the next mutant.
_MUTANTS = """
import copy
import functools
import json
import os
import random
import signal

import torch
from sandbox.inside.answer import Driving
from sandbox.inside.driver import AnswerProblem

PROGRAMS = json.loads({programs!r})
ENTRY = {entry!r}
DRIVER = {driver!r}
APART = {apart!r}
SECONDS = {seconds!r}
CASES = []


class TooSlow(BaseException):
    pass


def stop(*_):
    raise TooSlow


def load(program):
    names = {{"__name__": "__main__"}}
    exec(compile(program, "<answer>", "exec"), names)
    return names[ENTRY]


def driving(entry):
    if not DRIVER:
        return entry
    names = {{"__name__": "driver"}}
    exec(compile(DRIVER, "<driver>", "exec"), names)
    return Driving(names, entry) if APART else functools.partial(names["drive"], entry)


busy = False


def _dailygrad_mutant(number, cases):
    global busy
    if number < 0:
        CASES[:] = cases
        return None
    if busy:
        os._exit(1)
    signal.signal(signal.SIGPROF, stop)
    results = []
    call = None
    try:
        call = driving(load(PROGRAMS[number]))
        for case in CASES:
            random.seed(0)
            torch.manual_seed(0)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                results.append(("ok", call(*copy.deepcopy(case))))
            except Exception as problem:
                kind = problem.kind if isinstance(problem, AnswerProblem) else "raised"
                results.append((kind, type(problem).__name__, ""))
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        if APART:
            call.end()
    except Exception as problem:
        results.append(("raised", type(problem).__name__, ""))
    except TooSlow:
        busy = APART
        results.append(("raised", "TooSlow", ""))
    return results
"""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Cases of a task, drawn for its oracle."""

    examples: int
    cases: list[Value]
    expected: list[Value] | None
    """The examples' results as the author wrote them."""
    raises: list[str]
    """For each case the exception that its author declares, or ""."""

    def mismatch(self, at: int, result: Result, expected: Value, tolerance: NumberTolerance) -> str:
        """Returns how the result of a case differs from what is expected, or ""."""
        message = self.wrong_end(at, result)
        if message or result[0] != "ok":
            return message
        found = compare(expected, result[1], tolerance)
        return f"{self.call(at)}: {in_symbols(found)}" if found else ""

    def wrong_end(self, at: int, result: Result) -> str:
        """Returns how a case ended otherwise than its author declares, or ""."""
        declared = self.raises[at]
        if result[:2] == ("raised", declared) or (result[0] == "ok" and not declared):
            return ""
        wanted = f"{declared} is declared" if declared else "no exception is declared"
        got = f"it gives {brief(result[1])}" if result[0] == "ok" else f"it raises {_exception(result)}"
        return f"{self.call(at)}: {got}, and {wanted}"

    def first_wrong_end(self, results: Sequence[Result]) -> str:
        """Returns how the first of the cases that ended otherwise than declared did, or ""."""
        return next(filter(None, map(self.wrong_end, range(len(results)), results)), "")

    def call(self, at: int) -> str:
        """Returns the arguments of a case as text."""
        return f"case {at + 1}, {brief(self.cases[at])}"


Result = tuple[Value, ...]
"""`("ok", value)`, `("raised", name, message)` or `("unsupported", name, message)`."""


def _exception(result: Result) -> str:
    """Returns the name and the message of a result that is an exception."""
    return ": ".join(text for text in result[1:] if isinstance(text, str) and text)


class _Fault(Exception):
    """The question is at fault, in the given part."""

    def __init__(self, part: Part, message: str) -> None:
        super().__init__(message)
        self.part: Part = part


class _Trouble(Exception):
    """The sandbox is at fault."""


async def prove_reference(question: Question, task: CodeTask, sandbox: Runs, mutation: bool) -> list[ProofCheck]:
    """Returns a check of each thing that has to hold of a reference in addition to its own cases."""

    def check(part: Part, message: str = "", program: str = "") -> ProofCheck:
        name = f"{question.id}: {part}"
        return ProofCheck(question.id, name, not message, message, part, program or task.reference)

    mutants = reference_mutants(task.reference) if mutation else []
    found: list[ProofCheck] = []
    try:
        drawn = await _draw_cases(task, sandbox)
        results = await _call(task, sandbox, task.reference, task.entry, drawn.cases, task.driver)
        found.append(check("raises", drawn.first_wrong_end(results)))
        found.append(check("example", _unexpected(task, drawn, results), task.cases))
        if not task.oracle:
            tried = tuple(Mutant(question.id, "code", mutant.name, "survived") for mutant in mutants)
            unjudged = check("oracle", f"{len(tried)} mutants of the reference are judged by nothing")
            return [*found, replace(unjudged, mutants=tried)]
        oracle = await _oracle_of(task, sandbox, drawn)
        (fault,) = await oracle.faults([results])
        found.append(check("difference", fault, task.oracle))
        if not fault:
            tried = tuple([one async for one in _try_mutants(question, task, sandbox, oracle, results, mutants)])
            found[-1] = replace(found[-1], mutants=tried)
            found += survivors(question, tried, task.oracle)
    except _Fault as problem:
        found.append(check(problem.part, str(problem), task.oracle))
    except _Trouble as problem:
        found.append(replace(check("oracle", "not run"), trouble=str(problem)))
    return found


async def _draw_cases(task: CodeTask, sandbox: Runs) -> _Drawn:
    seeds = [secrets.randbits(63) for _ in range(DRAWINGS)]
    arguments: list[Value] = [(list(seeds), MOST_CASES, MOST_BYTES)]
    ((status, *rest),) = await _call(task, sandbox, with_harness(task.cases, _DRAWER), _DRAW, arguments)
    match rest:
        case [{"examples": int(examples), "cases": list(drawn), "expected": expected, "raises": list(raises)}]:
            written = expected if isinstance(expected, list) else None
            return _Drawn(examples, drawn, written, [str(name) for name in raises])
    raise _Fault("example", f"the cases program {status!r}: {_exception((status, *rest))}")


async def _call(
    task: CodeTask,
    sandbox: Runs,
    program: str,
    entry: str,
    cases: list[Value],
    driver: str = "",
    limits: Limits = LIMITS,
) -> list[Result]:
    """Returns the results of calling a program's function with each case. Raises _Fault and _Trouble."""
    run = Run(
        id=f"prove/{task.entry}",
        code=program,
        entry=entry,
        cases=encode(cases, _CAPS),
        driver=driver,
        driving=_driving(driver),
        limits=replace(limits, memory_mb=max(limits.memory_mb, task.memory_mb)),
    )
    outcome = await run_twice(sandbox, run)
    if outcome.status == "internal":
        raise _Trouble(trouble_of(outcome))
    results = _results(outcome)
    if outcome.status != "ok" or len(results) != len(cases):
        lines = outcome.stderr.strip().splitlines()[-1:] or [outcome.detail]
        raise _Fault("difference", f"`{entry}` ended with {outcome.status}: {lines[0]}")
    return results


def _driving(driver: str) -> Driving:
    """Returns where a driver runs: as a judge has it run for a reference."""
    return "loopback" if driver and read_facts(driver).protected else "inside"


def _results(outcome: Outcome) -> list[Result]:
    try:
        found = [decode(piece, _CAPS) for piece in split(outcome.results)]
    except ValueError as problem:
        raise _Fault("difference", f"the results cannot be read: {problem}") from None
    return [result for result in found if isinstance(result, tuple)]


def _unexpected(task: CodeTask, drawn: _Drawn, results: list[Result]) -> str:
    """Returns how the author's expectations of the examples differ from what the reference gives."""
    shown = results[: drawn.examples]
    if any(result[0] == "ok" and _holds_draws(result[1]) for result in shown):
        return ""  # random numbers: nobody can write them down
    if drawn.expected is None:
        given = [brief(result[1]) if result[0] == "ok" else f"raises {_exception(result)}" for result in shown]
        return f"`expected()` is missing; the reference gives [{', '.join(given)}]"
    if len(drawn.expected) != drawn.examples:
        return f"`expected()` has {len(drawn.expected)} results for {drawn.examples} examples"
    pairs = zip(shown, drawn.expected, strict=True)
    return next(
        (why for at, (got, wanted) in enumerate(pairs) if (why := drawn.mismatch(at, got, wanted, _tolerance(task)))),
        "",
    )


def _holds_draws(value: Value) -> bool:
    if isinstance(value, dict):
        return DRAWS_KEY in value or any(map(_holds_draws, value.values()))
    return isinstance(value, tuple | list) and any(map(_holds_draws, value))


def _tolerance(task: CodeTask) -> NumberTolerance:
    return NumberTolerance(task.tolerance.rtol, task.tolerance.atol)


# Oracles


class _Oracle(Protocol):
    """Tells whether results are right."""

    @property
    def drawn(self) -> _Drawn:
        """The cases."""
        ...

    async def faults(self, many: Sequence[Sequence[Result]]) -> list[str]:
        """Returns for each list of results of the first cases the first mistake, or ""."""
        ...


async def _oracle_of(task: CodeTask, sandbox: Runs, drawn: _Drawn) -> _Oracle:
    tree = parse_python(task.oracle)
    names = () if isinstance(tree, SyntaxError) else defined(tree)
    if task.entry in names:
        results = await _call(task, sandbox, task.oracle, task.entry, drawn.cases, task.driver)
    elif "oracle" in names:
        results = await _call(task, sandbox, task.oracle, "oracle", drawn.cases)
    elif "check" in names:
        return _Property(task, sandbox, drawn)
    else:
        raise _Fault(
            "oracle", f"it defines neither `{task.entry}` nor `oracle(*arguments)` nor `check(arguments, result)`"
        )
    for at, result in enumerate(results):
        if result[0] != "ok" and not drawn.raises[at]:
            raise _Fault("difference", f"the oracle fails in {drawn.call(at)}: {_exception(result)}")
    return _Solution(task, drawn, results)


@dataclass(frozen=True, slots=True)
class _Solution:
    """An oracle that gives the expected results."""

    task: CodeTask
    drawn: _Drawn
    results: list[Result]

    async def faults(self, many: Sequence[Sequence[Result]]) -> list[str]:
        # In a thread: comparing megabytes would block the event loop.
        return await asyncio.to_thread(lambda: [self._fault(results) for results in many])

    def _fault(self, results: Sequence[Result]) -> str:
        for at, result in enumerate(results):
            expected = self.results[at][1] if self.results[at][0] == "ok" else None
            message = self.drawn.mismatch(at, result, expected, _tolerance(self.task))
            if message:
                return message
        return ""


_CHECKER = """

_dailygrad_cases = []


def _dailygrad_check(at, value):
    import copy

    import torch

    if at < 0:
        _dailygrad_cases[:] = value
        return True
    found = check(copy.deepcopy(_dailygrad_cases[at]), value)
    found = found.item() if isinstance(found, torch.Tensor) else found
    if not isinstance(found, bool):
        raise TypeError(f"check returned {type(found).__name__}, neither True nor False")
    return found
"""


@dataclass(frozen=True, slots=True)
class _Property:
    """An oracle that checks results."""

    task: CodeTask
    sandbox: Runs
    drawn: _Drawn

    async def faults(self, many: Sequence[Sequence[Result]]) -> list[str]:
        found = [self.drawn.first_wrong_end(results) for results in many]
        asked = [
            (number, at, result[1])
            for number, results in enumerate(many)
            if not found[number]
            for at, result in enumerate(results)
            if result[0] == "ok"
        ]
        calls: list[Value] = [(-1, self.drawn.cases), *((at, value) for _, at, value in asked)]
        verdicts = await _call(
            self.task, self.sandbox, with_harness(self.task.oracle, _CHECKER), "_dailygrad_check", calls
        )
        for (number, at, value), verdict in zip(asked, verdicts[1:], strict=True):
            if verdict != ("ok", True) and not found[number]:
                verb = "refuses" if verdict[0] == "ok" else f"raises {_exception(verdict)} for"
                found[number] = f"{self.drawn.call(at)}: `check` {verb} {brief(value)}"
        return found


# Mutants


async def _try_mutants(
    question: Question,
    task: CodeTask,
    sandbox: Runs,
    oracle: _Oracle,
    results: list[Result],
    mutants: Sequence[ReferenceMutant],
) -> AsyncIterator[Mutant]:
    """Yields whether the oracle notices each mutant of the reference, whose results are given."""
    states: dict[str, MutantState] = {}
    counts = sorted({min(count, len(results)) for count in (*FIRST_CASES, len(results))})
    # Many mutants share one process. If the reference is wrong there, it does not suit this task.
    reference = ReferenceMutant("the reference", task.reference)
    (_, _, unsuited), *last = await _judge_mutants(task, sandbox, oracle, counts[0], [reference, *mutants])
    if unsuited:
        last = await _judge_mutants(task, sandbox, oracle, counts[0], mutants, together=False)
    for count in counts[1:]:
        states |= {mutant.name: "noticed" for mutant, _, noticed in last if noticed}
        left = [mutant for mutant, _, noticed in last if not noticed]
        last = await _judge_mutants(task, sandbox, oracle, count, left, together=not unsuited) if left else []
    states |= {mutant.name: "noticed" for mutant, _, noticed in last if noticed}
    last = [one for one in last if not one[-1]]
    same = _Solution(task, oracle.drawn, results)
    faults = await same.faults([ran or [] for _, ran, _ in last])
    for (mutant, _, _), fault in zip(last, faults, strict=True):
        states[mutant.name] = "survived" if fault else "equivalent"
    for mutant in mutants:
        yield Mutant(question.id, "code", mutant.name, states[mutant.name])


_Judged = tuple[ReferenceMutant, list[Result] | None, bool]
"""A mutant, its results, and whether the oracle notices it by them."""


async def _judge_mutants(
    task: CodeTask,
    sandbox: Runs,
    oracle: _Oracle,
    count: int,
    mutants: Sequence[ReferenceMutant],
    *,
    together: bool = True,
) -> list[_Judged]:
    """Runs each mutant with the first `count` cases: all in one process, or each in one of its own."""
    cases = oracle.drawn.cases[:count]
    if together:
        ran = await _run_mutants(task, sandbox, cases, mutants)
    else:
        ran = [await _run_mutant(task, sandbox, cases, mutant) for mutant in mutants]
    judged = [one for one in ran if one is not None]
    faults = iter(await oracle.faults(judged) if judged else [])
    return [(mutant, one, one is None or bool(next(faults))) for mutant, one in zip(mutants, ran, strict=True)]


async def _run_mutants(
    task: CodeTask, sandbox: Runs, cases: list[Value], mutants: Sequence[ReferenceMutant]
) -> list[list[Result] | None]:
    """Returns the results of each mutant; None for one that gave no results, such as one that took too much memory."""
    found: list[list[Result] | None] = []
    while len(found) < len(mutants):
        programs = [mutant.program for mutant in mutants[len(found) :]]
        code = _MUTANTS.format(
            programs=json.dumps(programs),
            entry=task.entry,
            driver=task.driver,
            apart=_driving(task.driver) != "inside",
            seconds=MUTANT_SECONDS,
        )
        calls: list[Value] = [(-1, list(cases)), *((at, None) for at in range(len(programs)))]
        limits = replace(LIMITS, memory_mb=max(LIMITS.memory_mb, task.memory_mb))
        run = Run(id=f"mutants/{task.entry}", code=code, entry=_MUTATE, cases=encode(calls, _CAPS), limits=limits)
        outcome = await run_twice(sandbox, run)
        if outcome.status == "internal":
            raise _Trouble(trouble_of(outcome))
        made = [_listed(result, len(cases)) for result in _results(outcome)[1:]]
        # The run ended in the next one. If others ran before it, it may be theirs that is too much: it is run again.
        found += made or [None]
    return found


async def _run_mutant(
    task: CodeTask, sandbox: Runs, cases: list[Value], mutant: ReferenceMutant
) -> list[Result] | None:
    """Returns the results of one mutant, which has a process of its own."""
    try:
        return await _call(task, sandbox, mutant.program, task.entry, cases, task.driver, MUTANT_LIMITS)
    except _Fault:
        return None


def _listed(result: Result, cases: int) -> list[Result] | None:
    match result:
        case ("ok", list(results)) if len(results) == cases:
            return [one for one in results if isinstance(one, tuple)]
    return None
