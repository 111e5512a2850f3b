"""What only a GPU can show: CUDA's context behind the walls, its memory's cap, and that nothing stays on the card."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from sandbox.causes import MemoryExceeded, WallHit
from sandbox.client import SandboxClient
from sandbox.differences import Raised
from sandbox.embedded import EmbeddedSandbox
from sandbox.host.gpu import Nvml, find_gpus, library_paths
from sandbox.inside.gpu_child import POISONS
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox import test_gpu_attacks
from tests.sandbox.inside.test_gpu_child import ATTEMPTS
from tests.sandbox.processes import below
from tests.sandbox.test_devices import REFERENCE, judged

FOUND = find_gpus()
TORCH = tuple(int(part) for part in metadata.version("torch").split(".")[:2])
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.sandbox,
    pytest.mark.skipif(not FOUND.devices, reason=f"no GPU to test with: {FOUND.summary}"),
]
LIMITS = Limits(wall_ms=30_000, cpu_ms=30_000)
LARGER = test_gpu_attacks.LARGER | {"block by block", "a tensor", "a numpy array", "a model", "a decompression bomb"}
LARGER |= {"a private mapping behind Python's back", "a mapping that grows", "the heap's end", "a thread's stack"}
"""A driver may take a gigabyte more while a run lasts (`sandbox.devices.DRIVER_MB`), and so may an attack."""
HELD_MB = 8192
COMPILED = "print(torch.compile(lambda x: x + 1)(torch.ones(3, device='cuda')))"
TRITON = """
import triton, triton.language as tl

@triton.jit
def double(x, out, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(out + at, 2 * tl.load(x + at))

x = torch.ones(16, device="cuda")
out = torch.empty_like(x)
double[(1,)](x, out, 16)
print(out.sum().item())
"""


async def run(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", f"import torch\n{code}", device="cuda", limits=LIMITS), **changes))


def used_mb() -> float:
    """Returns the used memory of all GPUs that the sandbox may use, MiB."""
    nvml = Nvml(library_paths(FOUND.devices[0].libraries))
    try:
        return sum(nvml.memory_mb(device.index)[0] for device in FOUND.devices)
    finally:
        nvml.close()


async def test_the_context_is_there_and_autograd_works(client: SandboxClient) -> None:
    code = "x = torch.tensor(3.0, requires_grad=True, device='cuda')\n(x ** 2).backward()\nprint(x.grad)"
    outcome = await run(client, code)
    assert (outcome.status, outcome.device, outcome.stdout) == ("ok", "cuda", "tensor(6., device='cuda:0')\n"), outcome
    assert "cuda" in (await client.health()).devices


@pytest.mark.parametrize(
    "code",
    [
        "print((torch.ones(700, 700, device='cuda') @ torch.ones(700, 700, device='cuda')).sum().item() == 700.0 ** 3)",
        "print(torch.nn.Conv2d(3, 8, 3).cuda()(torch.randn(2, 3, 32, 32, device='cuda')).shape == (2, 8, 30, 30))",
        "print(torch.randn(64, 64, device='cuda').svd().S.min().item() >= 0)",
        "print(torch.fft.fft(torch.randn(1024, device='cuda')).abs().sum().item() > 0)",
        "e = torch.cuda.Event(blocking=True)\ne.record()\ne.synchronize()\nprint(True)",
        "print(torch.ones(8).pin_memory().to('cuda', non_blocking=True).sum().item() == 8)",
        "with torch.autocast('cuda', torch.bfloat16):\n  print((torch.ones(8, 8, device='cuda') @ "
        "torch.ones(8, 8, device='cuda')).dtype == torch.bfloat16)",
        "m = torch.nn.Linear(4, 1).cuda()\no = torch.optim.AdamW(m.parameters())\n"
        "m(torch.ones(2, 4, device='cuda')).sum().backward()\no.step()\nprint(True)",
        "s = torch.cuda.Stream()\nwith torch.cuda.stream(s): x = torch.ones(9, device='cuda') * 2\n"
        "s.synchronize()\nprint(x.sum().item() == 18)",
        "print(torch.nn.functional.scaled_dot_product_attention(*[torch.randn(1, 2, 8, 16, device='cuda')] * 3)"
        ".isfinite().all().item())",
    ],
)
async def test_what_answers_do_works_behind_the_walls(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    assert (outcome.status, outcome.stdout) == ("ok", "True\n"), outcome


async def test_the_walls_are_those_of_a_child_of_the_cpu(client: SandboxClient) -> None:
    theirs = await run(client, ATTEMPTS)
    ours = await client.run(Run("cpu", ATTEMPTS))
    assert (theirs.status, theirs.stdout) == ("ok", ours.stdout), theirs


async def test_every_thread_of_a_parked_child_is_confined(sandbox: EmbeddedSandbox, client: SandboxClient) -> None:
    await run(client, "pass")
    found: list[dict[str, str]] = []
    while not any(int(known["Threads"]) > 1 and known["Seccomp"] == "2" for known in found):
        await asyncio.to_thread(lambda: None)
        found = threads_of(below(sandbox.process.pid))
    confined = [known for known in found if int(known["Threads"]) > 1 and known["Seccomp"] == "2"]
    assert {known["CapEff"] for known in confined} == {"0000000000000000"}
    assert {known["NoNewPrivs"] for known in confined} == {"1"}


def threads_of(pids: list[int]) -> list[dict[str, str]]:
    """Returns the kernel's status of every thread of these processes."""
    found = []
    for path in (path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/status")):
        with contextlib.suppress(OSError):  # it has ended
            pairs = (line.partition(":") for line in path.read_text().splitlines())
            found.append({name: value.strip() for name, _, value in pairs})
    return found


async def test_the_gpu_s_memory_has_a_cap_that_torch_tells_of(client: SandboxClient) -> None:
    outcome = await run(client, "torch.empty(2 << 30, device='cuda')", limits=replace(LIMITS, gpu_mb=1024))
    assert outcome.status == "memory", outcome
    assert "OutOfMemoryError" in outcome.stderr


async def test_an_answer_that_undoes_the_cap_is_ended_from_outside(client: SandboxClient) -> None:
    code = "import time\ntorch.cuda.set_per_process_memory_fraction(1.0)\nx = torch.ones(8 << 30, dtype=torch.uint8, "
    code += "device='cuda')\ntorch.cuda.synchronize()\ntime.sleep(20)"
    outcome = await run(client, code, limits=replace(LIMITS, gpu_mb=1024))
    assert (outcome.status, outcome.wall_ms < 15_000) == ("memory", True), outcome
    assert isinstance(outcome.cause, MemoryExceeded)
    assert (outcome.cause.device, outcome.cause.limit_mb, outcome.cause.used_mb > 4096) == ("cuda", 1024, True)


async def test_the_next_run_finds_nothing_of_the_last(client: SandboxClient) -> None:
    filled = await run(
        client, "x = torch.full((1 << 27,), 12345, dtype=torch.int32, device='cuda')\nprint(x[0].item())"
    )
    assert filled.stdout == "12345\n"
    code = "x = torch.empty(1 << 27, dtype=torch.int32, device='cuda')\nprint((x == 12345).sum().item())"
    assert (await run(client, code)).stdout == "0\n"


async def test_a_kernel_without_end_is_ended_and_its_memory_comes_back(client: SandboxClient) -> None:
    await run(client, "pass")
    before = used_mb()
    code = f"held = torch.zeros({HELD_MB} << 20, dtype=torch.uint8, device='cuda')\n"
    code += "x = torch.randn(8192, 8192, device='cuda')\nwhile True:\n  x = x @ x"
    outcome = await run(client, code, limits=Limits(wall_ms=3000, gpu_mb=HELD_MB + 4096))
    assert (outcome.status, outcome.wall_ms < 6000) == ("time", True), outcome
    # The contexts of parked children may have come, each with over a gigabyte. What the run held is more than that.
    assert used_mb() < before + HELD_MB - 1024
    assert (await run(client, "print(1)")).stdout == "1\n"


async def test_a_crash_on_the_card_leaves_the_next_run_whole(client: SandboxClient) -> None:
    outcome = await run(client, "x = torch.ones(4, device='cuda')\nx[torch.tensor([9], device='cuda')].cpu()")
    assert outcome.status == "error"
    assert (await run(client, "print(torch.ones(2, device='cuda').sum().item())")).stdout == "2.0\n"


@pytest.mark.parametrize("device", ["both", "cuda"])
async def test_a_right_answer_is_accepted(client: SandboxClient, device: str) -> None:
    judgement, _ = await judged(client, REFERENCE, device)
    assert (judgement.verdict, judgement.note) == ("accepted", ""), judgement


async def test_an_answer_that_forgets_the_device_is_shown_where(client: SandboxClient) -> None:
    judgement, _ = await judged(client, "import torch\ndef double(x): return x + torch.zeros_like(x).cpu() + x", "both")
    assert (judgement.verdict, judgement.share) == ("runtime error", 0.5), judgement
    difference = judgement.cases[4].difference
    assert judgement.cases[4].on_gpu and isinstance(difference, Raised) and difference.name == "RuntimeError"


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedSandbox]:
    """A sandbox where the kernel allows no new /proc, as in a container."""
    with test_gpu_attacks.started_masked(tmp_path_factory.mktemp("masked"), FOUND.devices[0]) as sandbox:
        yield sandbox


@pytest.mark.parametrize("place", ["sandbox", "masked"])
@pytest.mark.parametrize("group", test_gpu_attacks.GROUPS)
async def test_an_attack_comes_to_nothing(request: pytest.FixtureRequest, place: str, group: str) -> None:
    program = test_gpu_attacks.one_after_the_other(test_gpu_attacks.GROUPS[group])
    outcome = await test_gpu_attacks.run(request.getfixturevalue(place), program)
    assert outcome.device == "cuda"
    test_gpu_attacks.assert_refused(group, outcome)


@pytest.mark.parametrize("attack", test_gpu_attacks.ALONE)
async def test_an_attack_that_exhausts_its_child_ends_no_more_than_it(client: SandboxClient, attack: str) -> None:
    await test_gpu_attacks.assert_ended_alone(client, attack, larger=LARGER)


@pytest.mark.parametrize("code", ["torch.empty(1 << 30)", "bytearray(4 << 30)", "import numpy\nnumpy.ones(1 << 29)"])
async def test_memory_of_the_machine_is_limited_beyond_what_a_driver_takes(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code, limits=replace(LIMITS, memory_mb=1024))
    assert outcome.status == "memory", outcome


@pytest.mark.parametrize("code", [COMPILED, TRITON])
async def test_what_needs_a_compiler_names_the_wall(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    assert isinstance(outcome.cause, WallHit) and outcome.cause.wall == "compiler", outcome


@pytest.mark.parametrize("program", POISONS)
def test_what_poisons_a_fork_does(program: str) -> None:
    if "optim" in program and TORCH < (2, 13):
        pytest.skip("torch before 2.13 does not look for GPUs when an optimizer steps (seen with 2.11)")
    forked = f"""
import os, torch
try:
    {program}
except (TypeError, RuntimeError):
    pass
pid = os.fork()
if pid == 0:
    try:
        torch.ones(1, requires_grad=True, device="cuda").sum().backward()
    except RuntimeError:
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", forked], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "7\n", done.stderr
