"""What is judged beyond returned values, in the real sandbox: effects, random numbers, and how time grows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.causes import TooSlow
from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.judge import Judgement
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.case_text import told

pytestmark = pytest.mark.sandbox
SEED = 0xFEDCBA9876543210FEDCBA9876543210


async def judged(client: object, answer: str, **given: object) -> Judgement:
    fields: dict[str, object] = {"limits": Limits(), "tolerance": NumberTolerance(1e-5, 1e-6), **given}
    seed = fields.pop("seed", SEED)
    return await judge_code(client, Challenge(**fields), answer, seed=seed)  # type: ignore[arg-type]


SCALING = {
    "entry": "scale_",
    "cases_program": "import torch\n"
    "def examples(): return [(torch.tensor([1.0, 2.0]), 3.0)]\n"
    "def cases(rng): return [(torch.randn(rng.randint(1, 5)), rng.random()) for _ in range(5)]\n",
    "reference": "def scale_(x, by): return x.mul_(by)",
    "driver": "def drive(answer, x, by):\n"
    "    given = x.clone()\n"
    "    got = answer(given, by)\n"
    "    return {'returned': got, 'argument': given, 'the same': got is given}\n",
}


@pytest.mark.parametrize(
    ("answer", "verdict", "message"),
    [
        ("def scale_(x, by):\n  x *= by\n  return x", "accepted", ""),
        (
            "def scale_(x, by): return x * by",
            "wrong",
            "at ['argument'][0]: expected 3, got 1 (2 of 2 elements differ, most by 4 at [1])",
        ),
        ("def scale_(x, by): return x.mul_(by).clone()", "wrong", "at ['the same']: expected True, got False"),
        ("def scale_(x, by): x.mul_(by)", "wrong", "at ['returned']: expected a tensor of shape (2,) and dtype"),
    ],
)
async def test_an_effect_on_an_argument_is_judged_by_a_driver_and_its_cases_are_no_calls(
    client: SandboxClient, answer: str, verdict: str, message: str
) -> None:
    judgement = await judged(client, answer, **SCALING)
    assert judgement.verdict == verdict, judgement
    assert told(judgement.cases[0]).startswith(message)
    assert judgement.cases[0].shown == "case (tensor([1., 2.]), 3.0)"
    assert all(case.shown == "" for case in judgement.cases[1:])


async def test_what_breaks_the_driver_is_told_as_what_was_returned(client: SandboxClient) -> None:
    driver = "def drive(answer, x, by):\n    return answer(x, by).sum()\n"
    judgement = await judged(client, "def scale_(x, by): pass", **{**SCALING, "driver": driver})
    assert [told(case) for case in judgement.cases[:2]] == [
        "raised AttributeError: 'NoneType' object has no attribute 'sum' "
        "(in the question's driver, at work with what was returned)",
        "raised an exception",
    ]


DROPOUT = {
    "entry": "drop",
    "cases_program": "import torch\n"
    "def examples(): return [(torch.tensor([1.0, -2.0]), 0.5)]\n"
    "def cases(rng): return [(torch.randn(3), rng.choice([0.1, 0.25, 0.7])) for _ in range(3)]\n",
    "reference": "import torch\ndef drop(x, p): return torch.nn.functional.dropout(x, p)",
    "driver": "import torch\n"
    "def drive(answer, x, p):\n"
    "    rows = answer(x.repeat(4000, 1), p)\n"
    "    return {'draws': torch.cat([rows, rows[:, :1] * rows[:, 1:2]], 1)}\n",
}


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("x * (torch.rand_like(x) >= p) / (1 - p)", "accepted"),
        ("x * torch.empty_like(x).bernoulli_(1 - p).div_(1 - p)", "accepted"),
        ("x * torch.tensor(__import__('numpy').random.rand(*x.shape) > p) / (1 - p)", "accepted"),
        ("x * (torch.rand_like(x) >= p)", "wrong"),
        ("x * (torch.rand_like(x) < p) / (1 - p)", "wrong"),
        ("x * (torch.rand(len(x), 1) >= p) / (1 - p)", "wrong"),
        ("x", "wrong"),
        ("x * float('nan')", "wrong"),
    ],
)
async def test_random_numbers_are_judged_by_their_distribution(client: SandboxClient, body: str, verdict: str) -> None:
    answer = f"import torch\ndef drop(x, p): return ({body}).to(x.dtype)"
    for seed in range(3):
        judgement = await judged(client, answer, **{**DROPOUT, "seed": SEED + seed})
        assert judgement.verdict == verdict, judgement
        said = {told(case) for case in judgement.cases[1:]} - {""}
        assert said <= {"random numbers of another distribution"}


async def test_too_few_draws_are_the_question_s_fault(client: SandboxClient) -> None:
    few = str(DROPOUT["driver"]).replace("4000", "40")
    judgement = await judged(client, DROPOUT["reference"], **{**DROPOUT, "driver": few})
    assert (judgement.verdict, "40 draws decide nothing" in judgement.detail) == ("system error", True)


GROWING = {
    "entry": "pairs",
    "cases_program": "def made(n): return ([k * 7919 % n for k in range(n)], n // 2)\n"
    "def examples(): return [([1, 2, 3], 4)]\n"
    "def cases(rng): return [([rng.randrange(9) for _ in range(20)], rng.randrange(18)) for _ in range(3)]\n"
    "def growing(rng): return [made(rng.randrange(n, n + 9)) for n in (300, 2000, 15_000)]\n",
    "reference": "def pairs(xs, total):\n"
    "  seen = {}\n"
    "  found = 0\n"
    "  for x in xs:\n"
    "    found += seen.get(total - x, 0)\n"
    "    seen[x] = seen.get(x, 0) + 1\n"
    "  return found",
    "limits": Limits(wall_ms=1500, cpu_ms=1500),
}
SORTING = """
from collections import Counter
def pairs(xs, total):
    count = Counter(xs)
    twice = sum(n * count.get(total - x, 0) - n * (x * 2 == total) for x, n in count.items())
    return twice // 2
"""
QUADRATIC = """
def pairs(xs, total):
    return sum(xs[i] + xs[j] == total for i in range(len(xs)) for j in range(i))
"""


async def test_what_grows_as_it_should_is_accepted(client: SandboxClient) -> None:
    judgement = await judged(client, SORTING, **GROWING)
    assert judgement.verdict == "accepted", judgement
    assert [case.visible for case in judgement.cases] == [True] + [False] * 6


async def test_what_grows_too_fast_is_told_so_and_keeps_the_cases_it_could_do(client: SandboxClient) -> None:
    judgement = await judged(client, QUADRATIC, **GROWING)
    verdicts = [case.verdict for case in judgement.cases]
    assert judgement.verdict == "time limit"
    assert verdicts == ["accepted"] * 6 + ["time limit"]
    assert isinstance(judgement.cause, TooSlow)
    assert (judgement.cause.case, judgement.cause.cases, judgement.cause.limit_ms) == (7, 7, 1500)


FORGED = """
import os, resource, signal, time
time.process_time = time.perf_counter = time.monotonic = lambda: 0.0
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
try:
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError:
    pass
"""


async def test_no_clock_of_the_answer_s_makes_it_fast(client: SandboxClient) -> None:
    judgement = await judged(client, FORGED + QUADRATIC, **GROWING)
    assert (judgement.verdict, judgement.cases[-1].verdict) == ("time limit", "time limit")


async def test_a_loop_without_end_in_a_small_case_is_no_question_of_size(client: SandboxClient) -> None:
    judgement = await judged(client, "def pairs(xs, total):\n  while True: pass", **GROWING)
    assert (judgement.verdict, judgement.message, judgement.share) == ("time limit", "", 0.0)


async def test_a_reference_without_room_to_spare_is_the_question_s_fault(client: SandboxClient) -> None:
    busy = "import time\nend = time.process_time() + 0.35\nwhile time.process_time() < end: pass\n"
    slow = {**GROWING, "reference": f"{busy}{GROWING['reference']}"}
    judgement = await judged(client, QUADRATIC, **slow)
    assert judgement.verdict == "system error", judgement
    assert "more than a fifth of the limit of 1,500 ms" in judgement.detail


class Counting:
    """The real sandbox, with a count of the answer's runs. They report that they waited for a core for so long."""

    def __init__(self, client: SandboxClient, delayed_ms: float | None) -> None:
        self.client = client
        self.delayed_ms = delayed_ms
        self.answers = 0

    async def run(self, run: Run) -> Outcome:
        self.answers += run.role == "answer"
        outcome = await self.client.run(run)
        return outcome if self.delayed_ms is None else replace(outcome, delayed_ms=self.delayed_ms)


SLEEP, LOOP, WRONG = "__import__('time').sleep(60)", "[None for _ in iter(int, 1)]", "0"


@pytest.mark.parametrize(
    ("body", "delayed_ms", "runs"),
    [(SLEEP, 0, 1), (SLEEP, 100, 1), (SLEEP, 200, 2), (LOOP, 0, 1), (WRONG, 200, 1)],
)
async def test_what_ran_out_of_time_waiting_for_a_core_is_run_once_more(
    client: SandboxClient, body: str, delayed_ms: float, runs: int
) -> None:
    counting = Counting(client, delayed_ms)
    limits = Limits(wall_ms=600, cpu_ms=600)
    judgement = await judged(
        counting,
        f"def pairs(xs, total): return {body}",
        **{**GROWING, "cases_program": str(GROWING["cases_program"]).split("def growing")[0], "limits": limits},
    )
    assert judgement.verdict == ("wrong" if body == WRONG else "time limit")
    assert counting.answers == runs
