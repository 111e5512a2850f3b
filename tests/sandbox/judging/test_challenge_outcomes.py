"""A code answer from its runs to its judgement, with runs whose outcomes are written down: no process is started.

What a real sandbox makes of real programs is in `test_challenge.py`. Here is what cannot be provoked there at will,
such as a machine without a core to spare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox.causes import TimeExceeded, TooSlow
from sandbox.judging.challenge import (
    Challenge,
    Example,
    NotJudgeable,
    judge_at_once,
    judge_code,
    prepare_judgement,
    run_examples,
)
from sandbox.judging.judge import Judgement
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Value, decode, encode, join
from sandbox.wire import Driving, Limits, Outcome, Run, Status
from tests.sandbox.case_text import told

SEED = 5
LIMITS = Limits(wall_ms=1000, cpu_ms=1000, result_bytes=77)
EXAMPLES: list[Value] = [(1,), (2,)]
HIDDEN: list[Value] = [(number,) for number in range(3, 103)]
GROWING: list[Value] = [(1000,), (2000,)]
Program = Callable[[Any], Value]


def double(number: int) -> Value:
    return 2 * number


@dataclass
class Written:
    """Answers a run as written: cases, the reference and the answer are functions, or whole outcomes."""

    cases: Value | Outcome = (EXAMPLES, HIDDEN, [])
    reference: Program | Outcome = double
    answers: Sequence[Program | Outcome] = (double,)
    reference_cpu_ms: float = 10.0
    runs: list[Run] = field(default_factory=list)

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        if run.role == "cases":
            return self.cases if isinstance(self.cases, Outcome) else returned(join([encode(("ok", self.cases))]))
        if run.role == "reference":
            return self._ran(self.reference, run, self.reference_cpu_ms)
        return self._ran(self.answers[min(len(self.of("answer")), len(self.answers)) - 1], run, 10.0)

    def of(self, role: str) -> list[Run]:
        return [run for run in self.runs if run.role == role]

    def one(self, role: str) -> Run:
        (run,) = self.of(role)
        return run

    @staticmethod
    def _ran(program: Program | Outcome, run: Run, cpu_ms: float) -> Outcome:
        return program if isinstance(program, Outcome) else returned(results(program, run), cpu_ms=cpu_ms)


def numbers(run: Run) -> list[int]:
    """Returns the arguments of a run's cases, which are one number each."""
    cases: Any = decode(run.cases)
    return [number for (number,) in cases]


def results(program: Program, run: Run) -> bytes:
    return join(encode(("ok", program(number))) for number in numbers(run))


def returned(results: bytes, status: Status = "ok", **more: Any) -> Outcome:
    return Outcome("x", status, results=results, **more)


def challenge(**changes: Any) -> Challenge:
    given: dict[str, Any] = {
        "entry": "double",
        "cases_program": "CASES",
        "reference": "REFERENCE",
        "limits": LIMITS,
        "tolerance": NumberTolerance(),
        **changes,
    }
    return Challenge(**given)


async def judged(sandbox: Written, **changes: Any) -> Judgement:
    return await judge_code(sandbox, challenge(**changes), "ANSWER", seed=SEED, id="run-7")


# What is run


async def test_the_cases_program_is_called_with_the_seed_and_room_for_its_result() -> None:
    sandbox = Written()
    await judged(sandbox)
    run = sandbox.one("cases")
    assert run.code.startswith("CASES\n\ndef _dailygrad_generate(seed):\n")
    assert (run.entry, decode(run.cases), run.seed) == ("_dailygrad_generate", [(SEED,)], SEED)
    assert run.limits == Limits(wall_ms=1000, cpu_ms=1000)
    assert (run.id, run.driver, run.driving, run.device) == ("run-7", "", "inside", "cpu")


async def test_reference_and_answer_run_the_same_cases_with_a_seed_that_does_not_give_them_away() -> None:
    sandbox = Written()
    await judged(sandbox)
    reference, answer = sandbox.one("reference"), sandbox.one("answer")
    assert (reference.code, answer.code) == ("REFERENCE", "ANSWER")
    assert reference.cases == answer.cases
    expected = int.from_bytes(hashlib.sha256(b"run 5").digest()[:8], "big")
    for run in (reference, answer):
        assert (run.id, run.entry, run.seed) == ("run-7", "double", expected)
        assert (run.limits, run.device, run.driver, run.driving) == (LIMITS, "cpu", "", "inside")


async def test_cases_run_in_an_order_of_the_seed_and_growing_ones_last_in_their_own() -> None:
    orders = []
    for seed in (1, 1, 2):
        sandbox = Written((EXAMPLES, HIDDEN, GROWING))
        await judge_code(sandbox, challenge(), "ANSWER", seed=seed)
        orders.append(numbers(sandbox.one("answer")))
    for order in orders:
        assert order[-2:] == [1000, 2000]
        assert sorted(order) == [*range(1, 103), 1000, 2000]
        assert order[:-2] != sorted(order[:-2])
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(("growing", "wall_ms"), [([], 1000), (GROWING, 2000)])
async def test_the_wall_clock_allows_twice_the_time_where_cases_grow(growing: list[Value], wall_ms: int) -> None:
    sandbox = Written((EXAMPLES, HIDDEN, growing))
    await judged(sandbox)
    for role in ("reference", "answer"):
        limits = sandbox.one(role).limits
        assert (limits.wall_ms, limits.cpu_ms) == (wall_ms, 1000)


@pytest.mark.parametrize(
    ("driver", "protected", "reference", "answer"),
    [
        ("", False, "inside", "inside"),
        ("", True, "inside", "inside"),
        ("DRIVER", False, "inside", "inside"),
        ("DRIVER", True, "loopback", "pair"),
    ],
)
async def test_a_protected_driver_has_a_process_of_its_own(
    driver: str, protected: bool, reference: Driving, answer: Driving
) -> None:
    sandbox = Written()
    await judged(sandbox, driver=driver, protected=protected)
    assert [(run.driver, run.driving) for run in (sandbox.one("reference"), sandbox.one("answer"))] == [
        (driver, reference),
        (driver, answer),
    ]


# The judgement


async def test_the_visible_calls_are_shown_in_the_order_of_the_cases() -> None:
    judgement = await judged(Written())
    assert (judgement.verdict, judgement.share, judgement.note) == ("accepted", 1.0, "")
    assert [case.index for case in judgement.cases] == list(range(102))
    assert [(case.visible, case.shown) for case in judgement.cases[:3]] == [
        (True, "double(1)"),
        (True, "double(2)"),
        (False, ""),
    ]


async def test_a_wrong_case_is_found_wherever_it_ran() -> None:
    judgement = await judged(Written(answers=[lambda number: 0 if number == 2 else 2 * number]))
    assert (judgement.verdict, judgement.share) == ("wrong", 101 / 102)
    assert [(case.index, case.expected, case.got) for case in judgement.cases if case.verdict == "wrong"] == [
        (1, "4", "0")
    ]


async def test_a_call_is_shown_with_all_its_arguments_each_of_them_short() -> None:
    def takes_two(cases: list[Value]) -> Written:
        outcome = returned(join([encode(("ok", 0))] * len(cases)))
        return Written((cases, [], []), outcome, [outcome])

    judgement = await judged(takes_two([(1, "a"), ("x" * 900, 2)]))
    assert judgement.cases[0].shown == "double(1, 'a')"
    assert judgement.cases[1].shown == f"double('{'x' * 298}…, 2)"
    judgement = await judged(takes_two([(1, "a")]), driver="DRIVER")
    assert judgement.cases[0].shown == "case (1, 'a')"


# Faults of the question

LISTS = "examples(), cases(rng) and growing(rng) must return lists of argument tuples, at most 1000"


@pytest.mark.parametrize(
    ("cases", "detail"),
    [
        (Outcome("x", "error", stderr="y" * 2000), f"the cases program ended with error: {'y' * 1000}"),
        (Outcome("x", "internal", stderr="no", detail="why"), "the cases program ended with internal: why"),
        (returned(b"\1"), "the cases program's result cannot be read: byte 0: a length of 1 bytes"),
        (
            returned(join([b"N", b"N"])),
            "the cases program's result cannot be read: too many values to unpack (expected 1)",
        ),
        (returned(join([b"?"])), "the cases program's result cannot be read: byte 0: b'?' is not a tag"),
        (returned(join([encode(("raised", "KeyError", "'a'"))])), "the cases program raised KeyError: 'a'"),
        (
            returned(join([encode(("unsupported", "set", "a set"))])),
            "the cases program returned something that cannot be an argument: a set",
        ),
        (([1], [], []), LISTS),
        (([], [1], []), LISTS),
        (([], [], [1]), LISTS),
        (([], [(1,)] * 1001, []), LISTS),
        (([(1,)], [(1,)]), LISTS),
        (([], [], []), "the cases program gives no cases"),
    ],
)
async def test_a_cases_program_at_fault_is_named_and_nothing_else_is_run(cases: Value | Outcome, detail: str) -> None:
    sandbox = Written(cases)
    judgement = await judged(sandbox)
    assert (judgement.verdict, judgement.message) == ("system error", "")
    assert judgement.detail == detail
    assert [run.role for run in sandbox.runs] == ["cases"]


async def test_a_thousand_cases_of_each_kind_may_be_given() -> None:
    outcome = returned(join([encode(("ok", 0))] * 3000))
    judgement = await judged(Written(([(1,)] * 1000, [(1,)] * 1000, [(1,)] * 1000), outcome, [outcome]))
    assert (judgement.verdict, len(judgement.cases)) == ("accepted", 3000)


@pytest.mark.parametrize(
    ("reference", "detail"),
    [
        (Outcome("x", "time", stderr="y" * 2000), f"the reference ended with time: {'y' * 1000}"),
        (Outcome("x", "crash", stderr="no", detail="why"), "the reference ended with crash: why"),
        (returned(b"\1"), "the reference's results cannot be read: byte 0: a length of 1 bytes"),
        (returned(join([encode(("ok", 2))])), "the reference gave 1 results for 102 cases"),
    ],
)
async def test_a_reference_at_fault_is_named(reference: Outcome, detail: str) -> None:
    judgement = await judged(Written(reference=reference))
    assert (judgement.verdict, judgement.detail) == ("system error", detail)


# Time


def timed_out(delayed_ms: float, cpu_ms: float, status: Status = "time") -> Outcome:
    return Outcome("x", status, delayed_ms=delayed_ms, cpu_ms=cpu_ms)


@pytest.mark.parametrize(
    ("first", "verdict", "runs"),
    [
        (timed_out(250, 499), "accepted", 2),
        (timed_out(249, 0), "time limit", 1),
        (timed_out(900, 500), "time limit", 1),
        (timed_out(900, 0, "memory"), "memory limit", 1),
    ],
)
async def test_an_answer_that_waited_for_a_core_is_run_once_more(first: Outcome, verdict: str, runs: int) -> None:
    sandbox = Written(answers=[first, double])
    assert (await judged(sandbox)).verdict == verdict
    assert len(sandbox.of("answer")) == runs
    assert sandbox.of("answer")[0] == sandbox.of("answer")[-1]


@dataclass
class Delayed(Written):
    """The first run of a role finds no core."""

    role: str = field(kw_only=True)

    async def run(self, run: Run) -> Outcome:
        outcome = await super().run(run)
        return timed_out(900, 0) if run.role == self.role and len(self.of(run.role)) == 1 else outcome


@pytest.mark.parametrize("role", ["cases", "reference"])
async def test_a_program_of_the_question_that_waited_for_a_core_is_run_once_more(role: str) -> None:
    """Otherwise the machine's load would be the author's fault, or the member's."""
    sandbox = Delayed(role=role)
    assert (await judged(sandbox)).verdict == "accepted"
    assert len(sandbox.of(role)) == 2


async def test_an_example_that_waited_for_a_core_is_run_once_more() -> None:
    sandbox = Delayed(role="reference")
    assert [example.result for example in await run_examples(sandbox, challenge())] == ["2", "4"]


@dataclass
class Stopping(Written):
    """An answer that runs out of time at the case of one number."""

    number: int = field(kw_only=True)

    async def run(self, run: Run) -> Outcome:
        outcome = await super().run(run)
        if run.role != "answer":
            return outcome
        done = numbers(run)[: numbers(run).index(self.number)]
        cause = TimeExceeded("cpu", 1000, line=3)
        return returned(join(encode(("ok", double(one))) for one in done), "time", cpu_ms=1000, cause=cause)


def stops_at(number: int, reference_ms: float = 10.0, *, growing: bool = True) -> Stopping:
    cases: Value = (EXAMPLES, [(3,), (4,)], GROWING if growing else [])
    return Stopping(cases, reference_cpu_ms=reference_ms, number=number)


@pytest.mark.parametrize(("reference_ms", "shown_ms"), [(0.2, 1), (200.0, 200), (123.6, 124)])
@pytest.mark.parametrize(("number", "case"), [(1000, 5), (2000, 6)])
async def test_a_time_limit_where_cases_grow_is_too_slow(
    number: int, case: int, reference_ms: float, shown_ms: int
) -> None:
    judgement = await judged(stops_at(number, reference_ms))
    assert judgement.verdict == "time limit"
    assert judgement.cause == TooSlow(case=case, cases=6, limit_ms=1000, reference_ms=shown_ms)


async def test_a_reference_that_needed_more_than_a_fifth_of_the_limit_is_to_blame() -> None:
    judgement = await judged(stops_at(2000, 201.0))
    assert judgement.verdict == "system error"
    assert judgement.detail == (
        "the time ran out where cases grow, and the reference took 201 ms of CPU, more than a fifth of the limit of "
        "1,000 ms: the machine is busy, or the sizes are too large"
    )


async def test_a_time_limit_before_cases_grow_keeps_its_cause() -> None:
    # Without growing cases, the reference's time is no reason either.
    for sandbox in (stops_at(3), stops_at(3, growing=False), stops_at(3, 900.0, growing=False)):
        judgement = await judged(sandbox)
        assert (judgement.verdict, judgement.cause) == ("time limit", TimeExceeded("cpu", 1000, line=3))


# Devices

NO_GPU = Outcome("x", "internal", refused="device", detail="no card")


async def test_for_the_gpu_alone_reference_and_answer_run_there_with_more_time() -> None:
    sandbox = Written()
    judgement = await judged(sandbox, device="cuda")
    assert (judgement.verdict, len(judgement.cases)) == ("accepted", 102)
    assert sandbox.one("cases").device == "cpu"
    for role in ("reference", "answer"):
        run = sandbox.one(role)
        assert (run.device, run.limits.wall_ms, run.limits.cpu_ms) == ("cuda", 6000, 6000)


@pytest.mark.parametrize("refused", [{"reference": NO_GPU}, {"answers": [NO_GPU]}])
async def test_a_question_for_the_gpu_alone_needs_one(refused: Any) -> None:
    judgement = await judged(Written(**refused), device="cuda")
    assert (judgement.verdict, judgement.detail, judgement.note) == ("system error", "no card", "needs gpu")


async def test_right_on_the_cpu_an_answer_gets_the_same_cases_on_the_gpu() -> None:
    sandbox = Written(answers=[double, lambda number: 7 if number == 1 else 2 * number])
    judgement = await judged(sandbox, device="both", driver="DRIVER", protected=True)
    cpu, gpu = sandbox.of("answer")
    assert (cpu.device, gpu.device, gpu.cases, gpu.code, gpu.role) == ("cpu", "cuda", cpu.cases, "ANSWER", "answer")
    assert (gpu.limits.wall_ms, gpu.driving) == (6000, "inside")
    assert len(sandbox.of("reference")) == 1
    assert (judgement.verdict, judgement.share) == ("wrong", (1 + 101 / 102) / 2)
    assert [case.index for case in judgement.cases] == list(range(204))
    assert {case.verdict for case in judgement.cases[:102]} == {"accepted"}
    assert told(judgement.cases[102]) == "on the GPU: expected 2, got 7"
    assert told(judgement.cases[103]) == ""


async def test_the_gpu_is_compared_with_its_own_tolerance() -> None:
    def near(number: int) -> Value:
        return 2.0 * number + 0.0001

    # Of one number, the largest is itself: the tolerance of a second device is twice as wide.
    exact: Program = lambda number: 2.0 * number  # noqa: E731 - beside its counterpart
    tolerance = NumberTolerance(0.00003, 0.0)
    judgement = await judged(Written(reference=exact, answers=[exact, near]), device="both", tolerance=tolerance)
    assert judgement.verdict == "accepted"
    assert (await judged(Written(reference=exact, answers=[near]), tolerance=tolerance)).verdict == "wrong"


async def test_without_a_gpu_the_cpu_s_verdict_stands() -> None:
    judgement = await judged(Written(answers=[double, NO_GPU]), device="both")
    assert (judgement.verdict, judgement.share, judgement.note) == ("accepted", 1.0, "no gpu")
    assert len(judgement.cases) == 102


async def test_wrong_on_the_cpu_is_not_tried_on_the_gpu() -> None:
    sandbox = Written(answers=[lambda number: 0])
    judgement = await judged(sandbox, device="both")
    assert (judgement.verdict, judgement.on_gpu) == ("wrong", False)
    assert len(sandbox.of("answer")) == 1


async def test_a_failure_of_ours_on_the_gpu_is_not_the_member_s() -> None:
    failed = Outcome("x", "internal", detail="the driver is gone")
    judgement = await judged(Written(answers=[double, failed]), device="both")
    assert (judgement.verdict, judgement.detail, judgement.cases) == ("system error", "the driver is gone", ())


async def test_a_message_of_the_whole_run_names_the_gpu() -> None:
    broken = Outcome("x", "error", reached="load", stderr="NameError: no x")
    judgement = await judged(Written(answers=[double, broken]), device="both")
    assert (judgement.message, judgement.on_gpu) == ("NameError: no x", True)
    assert (judgement.verdict, judgement.share) == ("runtime error", 0.5)


async def test_several_draws_at_once_have_the_cpu_time_of_one_and_room_for_the_results_of_all() -> None:
    sandbox = Written()
    draws = [await prepare_judgement(sandbox, challenge(), seed) for seed in range(3)]
    judgements = await judge_at_once(sandbox, draws, "ANSWER")
    assert [one.verdict for one in judgements] == ["accepted"] * 3
    run = sandbox.one("answer")
    assert run.limits == Limits(wall_ms=3000, cpu_ms=1000, result_bytes=231)
    assert len(numbers(run)) == 3 * 102


CPU_USED_UP = TimeExceeded("cpu", 1000)


@pytest.mark.parametrize(
    ("done", "cause", "verdicts"),
    [
        (0, CPU_USED_UP, ["time limit"]),
        (101, CPU_USED_UP, ["time limit"]),
        (102, CPU_USED_UP, ["accepted"]),  # the second draw would have had CPU time of its own
        (210, CPU_USED_UP, ["accepted", "accepted"]),
        (101, TimeExceeded("wall", 3000), []),  # the machine may have had no core for it
    ],
)
async def test_a_run_without_time_left_tells_of_the_draws_it_came_through_and_of_the_first(
    done: int, cause: TimeExceeded, verdicts: list[str]
) -> None:
    sandbox = Written()
    draws = [await prepare_judgement(sandbox, challenge(), seed) for seed in range(3)]
    ordered: list[Any] = [one.cases.arguments[at] for one in draws for at in one.order]
    cut = join(encode(("ok", double(number))) for (number,) in ordered[:done])
    sandbox.answers = [returned(cut, "time", cause=cause)]
    judgements = await judge_at_once(sandbox, draws, "ANSWER")
    assert [one.verdict for one in judgements] == verdicts
    alone = [one for one in judgements[:1] if one.verdict == "time limit"]
    assert [sum(case.verdict == "accepted" for case in one.cases) for one in alone] == [done] * len(alone)


# Examples


async def test_examples_are_the_visible_calls_with_the_references_results() -> None:
    sandbox = Written((EXAMPLES, HIDDEN, GROWING))
    assert await run_examples(sandbox, challenge()) == (Example("double(1)", "2"), Example("double(2)", "4"))
    generated, run = sandbox.runs
    assert (generated.seed, decode(generated.cases), generated.id) == (0, [(0,)], "examples")
    assert numbers(run) == [1, 2]
    assert (run.id, run.code, run.entry, run.seed, run.limits) == ("examples", "REFERENCE", "double", 0, LIMITS)
    assert (run.role, run.device, run.driving) == ("reference", "cpu", "inside")


async def test_examples_of_a_driven_question_for_the_gpu_are_made_there() -> None:
    sandbox = Written()
    asked = challenge(device="cuda", driver="DRIVER", protected=True)
    assert (await run_examples(sandbox, asked))[0] == Example("case (1)", "2")
    run = sandbox.one("reference")
    assert (run.device, run.limits.wall_ms, run.driver, run.driving) == ("cuda", 6000, "DRIVER", "loopback")


async def test_a_question_without_examples_has_none_and_runs_no_reference() -> None:
    sandbox = Written(([], HIDDEN, []))
    assert await run_examples(sandbox, challenge()) == ()
    assert [run.role for run in sandbox.runs] == ["cases"]


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        (Outcome("x", "time", detail="slow"), "the reference ended with time: slow"),
        (returned(join([encode(("ok", 2))])), "the reference gave 1 results for 2 cases"),
        (returned(join([b"?", b"?"])), r"the reference's results cannot be read: byte 0: b'\?' is not a tag"),
        (
            returned(join([encode(("unsupported", "set", "a set"))] * 2)),
            "the reference's results cannot be read: the reference returned what cannot be compared: a set",
        ),
    ],
)
async def test_examples_of_a_reference_at_fault_are_refused(reference: Outcome, problem: str) -> None:
    with pytest.raises(NotJudgeable, match=problem):
        await run_examples(Written(reference=reference), challenge())
