"""Where an answer is judged: the CPU first, a GPU then, and a clear word where there is none. The GPU is rehearsed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from json import dumps, loads
from pathlib import Path

import pytest

from sandbox import wire
from sandbox.client import SandboxClient
from sandbox.devices import CPU, ChildDevice
from sandbox.embedded import EmbeddedSandbox
from sandbox.inside.gpu_child import POISONS
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.judge import Judgement
from sandbox.judging.tolerance import NumberTolerance
from sandbox.load_balancer import SandboxPool
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.case_text import told

pytestmark = pytest.mark.slow

CASES = """
import torch

def examples():
    return [(torch.arange(3.0),)]

def cases(rng):
    return [(torch.randn(rng.randint(1, 9)),) for _ in range(3)]
"""
REFERENCE = "def double(x): return 2 * x"
# In the rehearsal a child on the GPU is one in whose process the forker of such children was loaded.
WRONG_THERE = "import sys\ndef double(x): return x * (3 if 'sandbox.inside.gpu_child' in sys.modules else 2)"


@dataclass
class Seen:
    """A sandbox that notes what it was sent, and sends it on."""

    client: SandboxClient
    runs: list[Run] = field(default_factory=list)

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        return await self.client.run(run)

    @property
    def told(self) -> list[tuple[str, str]]:
        return sorted((run.device, run.role) for run in self.runs)


async def judged(client: SandboxClient, answer: str, device: str) -> tuple[Judgement, list[tuple[str, str]]]:
    seen = Seen(client)
    challenge = Challenge(
        entry="double",
        cases_program=CASES,
        reference=REFERENCE,
        limits=Limits(),
        tolerance=NumberTolerance(),
        device=device,  # type: ignore[arg-type]
    )
    judgement = await judge_code(seen, challenge, answer, seed=99)
    return judgement, seen.told


@pytest.mark.sandbox
async def test_right_on_the_cpu_it_meets_the_same_cases_on_the_gpu(fresh: SandboxClient) -> None:
    judgement, told = await judged(fresh, REFERENCE, "both")
    assert (judgement.verdict, judgement.share, judgement.note) == ("accepted", 1.0, ""), judgement
    assert [case.index for case in judgement.cases] == list(range(8))
    assert told == [("cpu", "answer"), ("cpu", "cases"), ("cpu", "reference"), ("cuda", "answer")]


@pytest.mark.sandbox
async def test_an_answer_wrong_only_on_the_gpu_is_reported_and_gets_half(fresh: SandboxClient) -> None:
    judgement, _ = await judged(fresh, WRONG_THERE, "both")
    # Three times nothing is nothing: of the visible case one of three elements is right, and the case is not.
    assert (judgement.verdict, judgement.share) == ("wrong", 0.5), judgement
    assert {case.verdict for case in judgement.cases[:4]} == {"accepted"}
    assert judgement.cases[4].visible
    assert judgement.cases[4].shown == "double(tensor([0., 1., 2.]))"
    assert told(judgement.cases[4]).startswith("on the GPU: at [1]: expected 2, got 3")
    assert {told(case) for case in judgement.cases[5:]} == {"on the GPU: a wrong value"}


@pytest.mark.sandbox
async def test_wrong_on_the_cpu_is_not_tried_on_the_gpu(fresh: SandboxClient) -> None:
    judgement, told = await judged(fresh, "def double(x): return x", "both")
    assert (judgement.verdict, len(judgement.cases)) == ("wrong", 4)
    assert ("cuda", "answer") not in told


@pytest.mark.sandbox
async def test_for_the_gpu_alone_the_reference_runs_there_too(fresh: SandboxClient) -> None:
    judgement, told = await judged(fresh, REFERENCE, "cuda")
    assert (judgement.verdict, len(judgement.cases)) == ("accepted", 4), judgement
    assert told == [("cpu", "cases"), ("cuda", "answer"), ("cuda", "reference")]


@pytest.mark.sandbox
async def test_where_there_is_no_gpu_the_cpu_s_verdict_stands_and_says_so(client: SandboxClient) -> None:
    health = await client.health()
    if "cuda" in health.devices:
        pytest.skip("this machine has a GPU")
    judgement, _ = await judged(client, REFERENCE, "both")
    assert (judgement.verdict, judgement.share, judgement.note) == ("accepted", 1.0, "no gpu")
    judgement, _ = await judged(client, REFERENCE, "cuda")
    assert (judgement.verdict, judgement.note, judgement.cases) == ("system error", "needs gpu", ())
    assert judgement.detail == f"This sandbox has no GPU: {health.gpu}"
    refused = await client.run(Run("x", "pass", device="cuda"))
    assert (refused.status, refused.refused, refused.before) == ("internal", "device", 0)


@pytest.mark.sandbox
async def test_of_several_sandboxes_the_one_with_a_gpu_is_found(
    sandbox: EmbeddedSandbox, client: SandboxClient, fresh: SandboxClient
) -> None:
    if "cuda" in (await client.health()).devices:
        pytest.skip("this machine has a GPU")
    both = SandboxPool([sandbox.socket, fresh.path])
    assert (await both.health()).devices == ("cpu", "cuda")
    assert (await both.run(Run("x", "print(1)", device="cuda"))).stdout == "1\n"
    # That the other has none does not keep a run for the CPU from it.
    assert (await SandboxPool([sandbox.socket]).run(Run("x", "print(1)"))).stdout == "1\n"
    assert (await SandboxPool([sandbox.socket]).run(Run("x", "", device="cuda"))).refused == "device"


def test_a_device_crosses_the_wire_and_another_name_does_not() -> None:
    run = Run("x", "pass", device="cuda")
    _, head, body = wire.decode(wire.encode_run(run))
    assert wire.read_run(head, body) == run
    with pytest.raises(ValueError, match="a run for the device 'tpu'"):
        wire.read_run({**head, "device": "tpu"}, body)
    _, head, body = wire.decode(wire.encode_outcome(Outcome("x", "ok", device="cuda")))
    assert wire.read_outcome(head, body).device == "cuda"
    with pytest.raises(ValueError, match="an outcome of status"):
        wire.read_outcome({**head, "device": "tpu"}, body)


def test_a_device_is_read_as_it_was_written() -> None:
    card = ChildDevice("cuda", "Double 0, 24 GB", "GPU-0", ("/dev/nvidia0",), ("/lib/driver",), 3)
    for device in (CPU, card, replace(card, nodes=())):
        assert ChildDevice.from_json(loads(dumps(asdict(device)))) == device


HARMLESS = """
import os, torch
if torch.version.cuda:
    print("for CUDA")
    raise SystemExit
for program in {programs!r}:
    try:
        exec(program)
    except Exception as problem:
        # Without a GPU there is nothing they could do; that they are programs at all is seen here.
        assert not isinstance(problem, (SyntaxError, NameError)), program
    pid = os.fork()
    if pid == 0:
        leaf = torch.ones(1, requires_grad=True)
        leaf.sum().backward()
        os._exit(int(torch.cuda._is_in_bad_fork() or leaf.grad.item() != 1.0))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_what_poisons_a_fork_beside_a_gpu_does_nothing_to_the_zygote_of_the_cpu() -> None:
    program = HARMLESS.format(programs=POISONS)
    environment = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment, check=False)
    if done.stdout == "for CUDA\n":
        pytest.skip("this torch is built for CUDA: tests/sandbox/test_gpu.py shows what they do there")
    assert done.stdout.split() == ["0"] * len(POISONS), done.stderr


def test_finding_a_gpu_does_not_import_torch() -> None:
    imports = (
        "from sandbox import devices; from sandbox.host import executors, gpu; from sandbox.inside import gpu_child"
    )
    program = f"import sys; sys.modules['torch'] = None; {imports}"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, cwd=Path(wire.__file__).parents[1])
