"""How long a warm answer takes in the sandbox, beside a fresh interpreter, and while other members' runs wait."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from sandbox.client import SandboxClient
from sandbox.embedded import embedded_sandbox
from sandbox.wire import Run

SNIPPET = "import torch; x = torch.tensor(3.0, requires_grad=True); (x**2).backward(); print(x.grad)"
RUNS = 100
FRESH = 3
WAITING = 50
ROUNDS = 20
FREE_RUN = "import time; began = time.monotonic()\nwhile time.monotonic() < began + 0.05: pass"


async def warm() -> list[float]:
    """Milliseconds from sending the code to having the whole outcome, one run at a time."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        async with embedded_sandbox(Path(folder)) as sandbox:
            for number in range(RUNS):
                start = perf_counter()
                outcome = await sandbox.run(Run(id=str(number), code=SNIPPET))
                found.append((perf_counter() - start) * 1000)
                assert outcome.stdout == "tensor(6.)\n", outcome
                await asyncio.sleep(0.05)  # a chat's pace: the pool refills between answers
    return found


def fresh() -> float:
    """The same for an interpreter started for it, as every peer does."""
    start = perf_counter()
    subprocess.run([sys.executable, "-c", SNIPPET], check=True, capture_output=True)
    return (perf_counter() - start) * 1000


@asynccontextmanager
async def free_runs(sandbox: SandboxClient, members: int) -> AsyncIterator[list[float]]:
    """WAITING free runs of 50 ms, each sent again when it is done or refused, meanwhile; the milliseconds they took."""
    found: list[float] = []

    async def again_and_again(number: int) -> None:
        while True:
            start = perf_counter()
            outcome = await sandbox.run(Run("free", FREE_RUN, owner=f"member {number % members}", priority="free"))
            if outcome.refused:
                await asyncio.sleep(0.5)  # sooner than any person
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
    """The median of a first answer's milliseconds, among whatever else is sent meanwhile."""
    found = []
    for _ in range(ROUNDS):
        start = perf_counter()
        outcome = await sandbox.run(Run("answer", SNIPPET, owner="Ada", priority="round"))
        found.append((perf_counter() - start) * 1000)
        assert outcome.stdout == "tensor(6.)\n", outcome
        await asyncio.sleep(0.05)
    return median(found)


async def under_load() -> dict[str, float]:
    """Medians: of a first answer, alone and among other members' free runs, and of those."""
    with tempfile.TemporaryDirectory() as folder:
        async with embedded_sandbox(Path(folder)) as sandbox:
            found = {"alone": await first_answers(sandbox)}
            async with free_runs(sandbox, members=1):
                found["one"] = await first_answers(sandbox)
            async with free_runs(sandbox, members=WAITING) as free:
                found["many"] = await first_answers(sandbox)
                found["free"] = median(free)
    return found


def main() -> None:
    cold = median(fresh() for _ in range(FRESH))
    times = asyncio.run(warm())
    p99 = quantiles(times, n=100)[98]
    print(f"sandbox: p50 {median(times):.1f} ms, p99 {p99:.1f} ms; a fresh interpreter {cold:.0f} ms")
    print(f"sandbox: {cold / median(times):.0f} x faster than a fresh interpreter")
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
