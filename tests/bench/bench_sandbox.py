"""How long a warm answer takes in the sandbox, beside a fresh interpreter running the same snippet in the same run."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from sandbox.embedded import embedded_sandbox
from sandbox.wire import Run

SNIPPET = "import torch; x = torch.tensor(3.0, requires_grad=True); (x**2).backward(); print(x.grad)"
RUNS = 100
FRESH = 3


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


def main() -> None:
    cold = median(fresh() for _ in range(FRESH))
    times = asyncio.run(warm())
    p99 = quantiles(times, n=100)[98]
    print(f"sandbox: p50 {median(times):.1f} ms, p99 {p99:.1f} ms; a fresh interpreter {cold:.0f} ms")
    print(f"sandbox: {cold / median(times):.0f} x faster than a fresh interpreter")


if __name__ == "__main__":
    main()
