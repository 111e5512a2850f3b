"""Benchmark of the sandbox: latency of answers as root, as an ordinary user and in the container, and of alternatives.

All in one run, as medians of interleaved rounds. The container takes part if its image and an engine are available
(`tests/container/with_engine.sh -- make bench` provides both).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TypeVar

import psutil

from sandbox import embedded
from sandbox.client import SandboxClient
from sandbox.host.jail import find_bubblewrap
from sandbox.judging.challenge import Challenge, judge_code, prepare_judgement
from sandbox.judging.reference_cache import ReferenceCache
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits, Run
from tests.container.conftest import missing, running
from tests.sandbox.attacks.worlds import EMBEDDED, become, opened

ANSWER = "import torch\nx=torch.tensor(3.0,requires_grad=True);(x**2).backward();print(x.grad)"
MLP = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(64, 16), torch.randn(64, 1)
for _ in range(50):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
print("done")
"""
CASES = """
import torch
def examples():
    return [(torch.ones(3, 4),)]
def cases(rng):
    torch.manual_seed(rng.getrandbits(60))
    return [(torch.randn(8, 16),) for _ in range(9)]
"""
SOLUTION = """
import torch
def solve(x):
    return torch.softmax(x - x.max(dim=-1, keepdim=True).values, dim=-1)
"""
FREE_RUN = "import time; began = time.monotonic()\nwhile time.monotonic() < began + 0.05: pass"
WAITING = 50
FIRST_ANSWERS = 20
AT_ONCE = (1, 2, 8)
ROUNDS = 3
RUNS = 60
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A sandbox to measure, and its client."""

    name: str
    socket: Path
    user: int | None = None
    supervisor: int = 0
    """Its process, if it runs on this machine."""

    def ask(self, work: Callable[[SandboxClient], Awaitable[T]]) -> T:
        """Runs `work` as the user that the supervisor accepts."""

        def asked() -> T:
            if self.user is not None:
                become(self.user)
            return asyncio.run(_ready(SandboxClient(self.socket), work))

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asked).result()


async def _ready(client: SandboxClient, work: Callable[[SandboxClient], Awaitable[T]]) -> T:
    await client.until_ready()
    return await work(client)


@contextlib.contextmanager
def places() -> Iterator[list[Place]]:
    """Yields every sandbox this machine can run."""
    with contextlib.ExitStack() as stack:
        found = []
        root = os.getuid() == 0
        for kind in EMBEDDED if root else EMBEDDED[:1]:
            world = stack.enter_context(opened(kind))
            name = "as root" if root and kind == EMBEDDED[0] else "as a user"
            found.append(Place(name, world.path, world.user, world.process))
        if why := missing():
            print(f"sandbox: not measured in the container: {why}")
        else:
            found.append(Place("in the container", stack.enter_context(running()).client.path))
        yield found


async def _one(client: SandboxClient, code: str) -> float:
    start = perf_counter()
    outcome = await client.run(Run("bench", code))
    took = (perf_counter() - start) * 1000
    assert outcome.status == "ok", outcome
    return took


def paced(code: str, runs: int) -> Callable[[SandboxClient], Awaitable[list[float]]]:
    """Returns the milliseconds of runs sent every 50 ms, as a busy chat sends them."""

    async def work(client: SandboxClient) -> list[float]:
        found = []
        for _ in range(runs):
            found.append(await _one(client, code))
            await asyncio.sleep(0.05)
        return found

    return work


def closed(code: str, at_once: int, runs: int) -> Callable[[SandboxClient], Awaitable[tuple[list[float], float]]]:
    """Returns the milliseconds of `at_once` concurrent clients that never pause, and the runs per second."""

    async def work(client: SandboxClient) -> tuple[list[float], float]:
        found: list[float] = []

        async def again_and_again() -> None:
            while len(found) < runs:
                found.append(await _one(client, code))

        start = perf_counter()
        await asyncio.gather(*(again_and_again() for _ in range(at_once)))
        return found, len(found) / (perf_counter() - start)

    return work


def shown(times: list[float]) -> str:
    """Returns p50, p95 and p99."""
    cuts = quantiles(times, n=100)
    return f"p50 {median(times):6.1f}  p95 {cuts[94]:6.1f}  p99 {cuts[98]:6.1f} ms"


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of a process and its descendants."""
    total = 0.0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += float(sum(process.cpu_times()[:4]))
    return total


def private_mb(pid: int) -> float:
    """Returns the private memory of the processes; shared pages of the children count once."""
    with contextlib.suppress(psutil.AccessDenied):
        return sum(float(one.memory_full_info().pss) for one in psutil.Process(pid).children(recursive=True)) / 2**20
    return float("nan")


def latencies(found: list[Place]) -> None:
    """Prints the table of one run every 50 ms and of 1, 2 and 8 concurrent clients."""
    pacing: dict[str, list[float]] = {place.name: [] for place in found}
    times: dict[tuple[str, int], list[float]] = {}
    speeds: dict[tuple[str, int], list[float]] = {}
    cpu: dict[str, list[float]] = {place.name: [] for place in found}
    for _ in range(ROUNDS):
        for place in found:
            pacing[place.name] += place.ask(paced(ANSWER, RUNS))
            for at_once in AT_ONCE:
                before = cpu_seconds(place.supervisor) if place.supervisor else 0.0
                took, speed = place.ask(closed(ANSWER, at_once, RUNS * 2))
                if place.supervisor and at_once == 2:
                    cpu[place.name].append((cpu_seconds(place.supervisor) - before) / len(took) * 1000)
                times.setdefault((place.name, at_once), []).extend(took)
                speeds.setdefault((place.name, at_once), []).append(speed)
    for place in found:
        print(f"sandbox, {place.name:<17} every 50 ms  {shown(pacing[place.name])}")
        for at_once in AT_ONCE:
            took, speed = times[place.name, at_once], median(speeds[place.name, at_once])
            print(f"sandbox, {place.name:<17} {at_once} at once    {shown(took)}  {speed:5.0f} runs/s")
        for spent in filter(None, [cpu[place.name]]):
            print(f"sandbox, {place.name:<17} {median(spent):.1f} ms of CPU per run, making and burying included")


def longer(found: list[Place]) -> None:
    """Prints a short training, and a challenge of ten cases."""
    for place in found:
        print(f"sandbox, {place.name:<17} 50-step MLP  {shown(place.ask(paced(MLP, 20)))}")
        fresh, prepared = place.ask(judged)
        print(f"sandbox, {place.name:<17} challenge    {shown(fresh)}")
        print(f"sandbox, {place.name:<17}   prepared   {shown(prepared)}")


async def judged(client: SandboxClient) -> tuple[list[float], list[float]]:
    """Runs a challenge of ten cases: generator, reference and answer in one child each, compared here.

    In turn as for a first answer, and as for a later one, for which all but the answer was prepared.
    """
    fresh, later = [], []
    challenge = Challenge(
        entry="solve", cases_program=CASES, reference=SOLUTION, limits=Limits(), tolerance=NumberTolerance()
    )
    for number in range(30):
        start = perf_counter()
        judgement = await judge_code(client, challenge, SOLUTION, seed=number)
        fresh.append((perf_counter() - start) * 1000)
        assert judgement.verdict == "accepted", judgement
        references = ReferenceCache()
        references.put(await prepare_judgement(client, challenge, number))
        await asyncio.sleep(0.1)
        start = perf_counter()
        judgement = await judge_code(client, challenge, SOLUTION, seed=number, references=references)
        later.append((perf_counter() - start) * 1000)
        assert judgement.verdict == "accepted", judgement
        await asyncio.sleep(0.1)
    return fresh, later


def peers() -> None:
    """Prints the cost of a new process per answer with the same isolation."""
    jailed = find_bubblewrap([])
    commands = {"python -c": [sys.executable, "-c", ANSWER]}
    if jailed:
        walls = ["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-all", "--die-with-parent"]
        commands["bwrap python -c"] = [jailed[0], *walls, "--", sys.executable, "-c", ANSWER]
    if shutil.which("docker") and not missing():
        image = ["docker", "run", "--rm", "--network", "none", "--entrypoint", "python", "dailygrad-sandbox"]
        commands["docker run python -c"] = [*image, "-c", ANSWER]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            start = perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name].append((perf_counter() - start) * 1000)
    for name, took in times.items():
        print(f"peer, {name:<20} {median(took):6.0f} ms")


def starting() -> None:
    """Prints the time until the first child is parked, and what an idle sandbox uses."""
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        one = embedded.start(Path(folder))
        try:
            asyncio.run(one.client.until_ready())
            seconds = perf_counter() - start
            spent = cpu_seconds(one.process.pid)
            print(f"sandbox: a child is parked {seconds:.1f} s after the start, {spent:.1f} s of CPU")
            print(f"sandbox: idle it holds {private_mb(one.process.pid):.0f} MB")
        finally:
            one.stop()


@contextlib.asynccontextmanager
async def free_runs(sandbox: SandboxClient, members: int) -> AsyncIterator[list[float]]:
    """Keeps WAITING free runs of 50 ms queued during the block; yields their milliseconds."""
    found: list[float] = []

    async def again_and_again(number: int) -> None:
        while True:
            start = perf_counter()
            outcome = await sandbox.run(Run("free", FREE_RUN, owner=f"member {number % members}", priority="free"))
            if outcome.refused:
                await asyncio.sleep(0.5)  # sooner than a person would
            else:
                found.append((perf_counter() - start) * 1000)

    flood = [asyncio.create_task(again_and_again(number)) for number in range(WAITING)]
    try:
        await asyncio.sleep(1)
        yield found
    finally:
        for task in flood:
            task.cancel()
        await asyncio.gather(*flood, return_exceptions=True)


async def first_answers(sandbox: SandboxClient) -> float:
    """Returns the median milliseconds of first answers under the current load."""
    found = []
    for _ in range(FIRST_ANSWERS):
        start = perf_counter()
        outcome = await sandbox.run(Run("answer", ANSWER, owner="Ada", priority="round"))
        found.append((perf_counter() - start) * 1000)
        assert outcome.stdout == "tensor(6.)\n", outcome
        await asyncio.sleep(0.05)
    return median(found)


async def under_load() -> dict[str, float]:
    """Prints medians of first answers, alone and among other members' free runs, and of those runs."""
    with tempfile.TemporaryDirectory() as folder:
        async with embedded.embedded_sandbox(Path(folder)) as sandbox:
            found = {"alone": await first_answers(sandbox)}
            async with free_runs(sandbox, members=1):
                found["one"] = await first_answers(sandbox)
            async with free_runs(sandbox, members=WAITING) as free:
                found["many"] = await first_answers(sandbox)
                found["free"] = median(free)
    return found


def main() -> None:
    print(f"sandbox: Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    starting()
    with places() as found:
        latencies(found)
        longer(found)
    peers()
    took = asyncio.run(under_load())
    for who in ("one", "many"):
        members = "one member" if who == "one" else f"{WAITING} members"
        print(
            f"sandbox: a first answer while {WAITING} free runs of {members} wait: {took[who]:.0f} ms, "
            f"{took[who] / took['alone']:.1f} x the {took['alone']:.1f} ms of an empty queue"
        )
    print(f"sandbox: a free run among those of {WAITING} members takes {took['free']:.0f} ms")


if __name__ == "__main__":
    main()
