"""Measurements of answers: taken outside their process, on fresh inputs, and only of right runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.causes import MemoryExceeded, TimeExceeded
from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, NotJudgeable, judge_code
from sandbox.judging.measuring import measure_answers
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits, Outcome, Run

pytestmark = pytest.mark.sandbox
CHALLENGE = Challenge(
    entry="double",
    cases_program=(
        "def examples():\n    return [(1,)]\n\n"
        "def cases(rng):\n    return [(rng.randrange(2, 10**12),) for _ in range(4)]\n"
    ),
    reference="def double(x):\n    return 2 * x\n",
    limits=Limits(),
    tolerance=NumberTolerance(),
)
FAST = "def double(x):\n    return x + x\n"
BURN = "def burn():\n    total = 0\n    for number in range(400_000):\n        total += number\n\n"
SLOW = f"{BURN}def double(x):\n    burn()\n    return x + x\n"
FORGED = f"""
import resource, threading, time
{BURN}
time.process_time = time.perf_counter = time.thread_time = lambda *_: 0.0
time.clock_gettime = resource.getrusage = lambda *_: 0
def double(x):
    worker = threading.Thread(target=burn)
    worker.start()
    worker.join()
    return x + x
"""
HUNGRY = "KEPT = [bytes([7]) * (64 << 20)]\n\ndef double(x):\n    return x + x\n"
LUCKY = "def double(x):\n    return x + x if x % 3 else 0\n"


class Recording:
    """Passes runs on and keeps them."""

    def __init__(self, client: SandboxClient) -> None:
        self.client = client
        self.runs: list[Run] = []

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        return await self.client.run(run)


async def test_time_and_memory_are_what_the_kernel_counted(client: SandboxClient) -> None:
    found = await measure_answers(client, CHALLENGE, {1: FAST, 2: SLOW, 3: FORGED, 4: HUNGRY}, runs=3)
    fast, slow, forged, hungry = (found.answers[number] for number in (1, 2, 3, 4))
    assert all(one.steady and len(one.cpu_ms) == len(one.peak_mb) == 3 for one in (fast, slow, forged, hungry))
    assert min(slow.cpu_ms) > 2 * max(fast.cpu_ms)
    assert min(forged.cpu_ms) > 2 * max(fast.cpu_ms), "threads count, and clocks of the answer's own process do not"
    assert min(hungry.peak_mb) > max(fast.peak_mb) + 50
    assert len(found.reference.cpu_ms) == 3


WITHHOLDING = Challenge(
    entry="double",
    cases_program=(
        "import torch\n\ndef examples():\n    return [(torch.ones(1),)]\n\n"
        "def cases(rng):\n    return [(torch.full((1,), rng.random()),) for _ in range(4)]\n"
    ),
    reference="def double(x):\n    return 2 * x\n",
    driver='FACTS = {"result": "value"}\n\ndef drive(answer, x):\n    return {"result": answer(answer.withhold(x))}\n',
    protected=True,
    limits=Limits(),
    tolerance=NumberTolerance(),
)
BURNS_ELSEWHERE = """
import torch
def double(x):
    wide = torch.ones(4_000_000)
    for _ in range(20):
        wide.sin_()
    return x + x
"""


async def test_what_the_driver_computes_for_an_answer_counts_as_the_answers_own(client: SandboxClient) -> None:
    patient = replace(WITHHOLDING, limits=Limits(wall_ms=60_000, cpu_ms=60_000))
    found = await measure_answers(client, patient, {1: FAST, 2: BURNS_ELSEWHERE}, runs=1)
    fast, burning = found.answers[1], found.answers[2]
    assert fast.steady
    assert burning.steady
    assert min(burning.cpu_ms) > 20 * max(fast.cpu_ms)
    assert min(burning.peak_mb) > max(fast.peak_mb) + 15


async def test_what_an_answer_has_the_driver_compute_counts_toward_its_limits(client: SandboxClient) -> None:
    challenge = replace(WITHHOLDING, limits=Limits(wall_ms=60_000, cpu_ms=300))
    endless = BURNS_ELSEWHERE.replace("range(20)", "range(10**9)")
    assert (await judge_code(client, challenge, endless, seed=5)).cause == TimeExceeded("cpu", 300, line=6)
    challenge = replace(WITHHOLDING, limits=Limits(wall_ms=60_000, cpu_ms=60_000))
    keeping = "import torch\ndef double(x):\n    kept = [torch.ones(4_000_000) for _ in range(200)]\n    return x + x\n"
    judgement = await judge_code(client, challenge, keeping, seed=5)
    assert judgement.verdict == "memory limit"
    assert isinstance(judgement.cause, MemoryExceeded)
    assert judgement.cause.line == 3


async def test_all_answers_of_a_pass_get_the_same_inputs_and_each_pass_gets_new_ones(client: SandboxClient) -> None:
    seen = Recording(client)
    await measure_answers(seen, CHALLENGE, {1: FAST, 2: SLOW}, runs=3)
    cases = [run.cases for run in seen.runs if run.role in ("reference", "answer")]
    assert [len(set(cases[at : at + 3])) for at in (0, 3, 6)] == [1, 1, 1]
    assert len(set(cases)) == 3
    assert all(run.priority == "background" for run in seen.runs), "first answers go before it"


async def test_an_answer_that_is_once_wrong_is_not_steady(client: SandboxClient) -> None:
    found = await measure_answers(client, CHALLENGE, {1: FAST, 2: LUCKY}, runs=9)
    assert found.answers[1].steady
    assert not found.answers[2].steady


async def test_a_question_without_a_working_reference_cannot_be_measured(client: SandboxClient) -> None:
    broken = Challenge(
        entry="double",
        cases_program=CHALLENGE.cases_program,
        reference="def other(x):\n    return 2 * x\n",
        limits=Limits(),
        tolerance=NumberTolerance(),
    )
    with pytest.raises(NotJudgeable):
        await measure_answers(client, broken, {1: FAST}, runs=1)
