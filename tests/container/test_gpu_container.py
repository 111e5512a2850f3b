"""A real container whose children start the stand-in for a GPU's driver: its walls, and attacks from behind them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from sandbox.wire import Limits, Outcome, Run
from tests.container.conftest import Container, running
from tests.container.engine import ROOT
from tests.sandbox.doubles import drivers
from tests.sandbox.inside.test_confine import PREAMBLE
from tests.sandbox.inside.test_cuda_start import READ_ONLY_PROC, SAME_IDS, START
from tests.sandbox.processes import below, status
from tests.sandbox.test_gpu_attacks import GROUPS, assert_refused, one_after_the_other

pytestmark = [
    pytest.mark.container,
    pytest.mark.timeout(900),
    pytest.mark.skipif(drivers.compiler() is None, reason="no C compiler: the stand-in for the driver cannot be built"),
]
LIMITS = Limits(wall_ms=60_000, cpu_ms=60_000, output_bytes=1 << 20)


def rehearsing(service: str) -> Iterator[Container]:
    """Yields a container of that service, which gives its children the stand-in."""
    device = drivers.rehearsal_device()
    driver = str(Path(device.nodes[0]).parents[1])
    variables = {"COMPOSE_PROFILES": "gpu", "SANDBOX_CARD": json.dumps(asdict(device)), "SANDBOX_DRIVER": driver}
    with running(service, ("tests/container/compose.gpu.yml",), variables) as one:
        yield one


@pytest.fixture(scope="module")
def gpu(image: str) -> Iterator[Container]:
    """The sandbox for GPUs, with its own profile."""
    yield from rehearsing("sandbox-gpu")


@pytest.fixture(scope="module")
def usual(image: str) -> Iterator[Container]:
    """The sandbox for the CPU, whose profile knows nothing of drivers."""
    yield from rehearsing("sandbox")


async def run(container: Container, code: str) -> Outcome:
    return await container.client.run(Run("x", code, device="cuda", limits=LIMITS))


async def test_the_driver_starts_and_a_child_sees_nothing_of_the_container(gpu: Container) -> None:
    seen = "import os, torch\nprint(torch.ones(2).sum().item(), *map(os.path.exists, ('/proc/self', '/sys/kernel')))"
    outcome = await run(gpu, seen)
    assert (outcome.status, outcome.stdout, outcome.isolation) == ("ok", "2.0 False False\n", "full"), outcome
    if os.getuid() != 0:
        pytest.skip("only root may look into the container's processes")
    # A second child waits by then or soon.
    while not (started := [pid for pid in below(int(gpu.shown("{{.State.Pid}}"))) if "memfd:cuda" in open_files(pid)]):
        await run(gpu, "pass")
    known = status(started[0])
    # The container's ids are its own, and those of the driver's threads.
    assert len(known["NSpid"].split()) == 2
    assert (int(known["Threads"]) > 1, int(known["CapEff"], 16)) == (True, 0)


def open_files(pid: int) -> str:
    try:
        return " ".join(str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return ""


async def test_with_the_profile_of_the_cpu_the_driver_does_not_start(usual: Container) -> None:
    outcome = await run(usual, "print('unreached')")
    assert (outcome.status, outcome.refused, outcome.stdout) == ("internal", "device", ""), outcome
    assert "cuInit: error 304; the driver needs a system call or a file" in outcome.detail
    assert (await usual.client.run(Run("x", "print(1)"))).stdout == "1\n"


AS_SHIPPED, AS_BEFORE = "gpu", "usual"
OWN_IDS = "own_pids = False"
WALLS = {
    "sandbox-gpu, as shipped": (AS_SHIPPED, SAME_IDS, "0 "),
    "sandbox-gpu, process ids of its own (as before)": (AS_SHIPPED, OWN_IDS, "304 thread name"),
    "sandbox-gpu, /proc read only (as before)": (AS_SHIPPED, SAME_IDS + READ_ONLY_PROC, "304 thread name"),
    "`seccomp.json`, the profile of `sandbox` (as before)": (AS_BEFORE, SAME_IDS, "304 memfd"),
}
"""Walls in a real container: which one, the change, and what the driver says: error number and the refused step."""


@pytest.mark.parametrize("walls", WALLS)
def test_each_wall_and_what_the_driver_says(walls: str, request: pytest.FixtureRequest) -> None:
    which, wall, result = WALLS[walls]
    container: Container = request.getfixturevalue(which)
    program = PREAMBLE + START.format(device=json.dumps(asdict(drivers.rehearsal_device())), wall=wall)
    words = ["docker", "exec", container.name, "python", "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, f"{result}\n"), done.stderr


def test_the_documentation_has_the_table() -> None:
    text = (ROOT / "docs/gpu.md").read_text(encoding="utf-8")
    for walls, (_, _, result) in WALLS.items():
        number, _, step = result.partition(" ")
        assert f"| {walls} | {', '.join(filter(None, (number, step)))} |\n" in text


@pytest.mark.parametrize("group", GROUPS)
async def test_an_attack_on_a_gpu_child_comes_to_nothing(gpu: Container, group: str) -> None:
    assert_refused(group, await run(gpu, one_after_the_other(GROUPS[group])))
