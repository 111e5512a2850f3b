"""Benchmark: 10,000 runs in a row, including attacks. Is anything left behind, and are the last as fast as the first?

`RUNS=N` sets another number.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil

from sandbox import embedded
from sandbox.client import SandboxClient
from sandbox.wire import Limits, Run
from tests.bench.bench_sandbox import ANSWER

RUNS = int(os.environ.get("RUNS", "10000"))
AT_ONCE = 3
SHORT = Limits(wall_ms=300, cpu_ms=300, memory_mb=128)
ATTACKS = (
    "while True: pass",
    "import os\nwhile True: os.write(1, b'x' * 65536)",
    "x = bytearray(1 << 30)",
    "import os\nos.fork()",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "import ctypes\nctypes.string_at(0)",
    "import threading, time\nfor _ in range(100): threading.Thread(target=time.sleep, args=(9,)).start()",
    "for n in range(1000): open(f'/tmp/{n}', 'w').write('x' * 100000)",
    "import os\nfor n in range(1000): os.open('/dev/null', os.O_RDONLY)",
    "import torch\ntorch.Tensor.__repr__ = None\nimport sys\nsys.stdout.close()",
)
EVERY = 20
"""One run in this many is an attack."""


@dataclass(frozen=True, slots=True)
class Left:
    """Resources that the sandbox and the machine hold at one moment."""

    processes: int
    descriptors: int
    mounts: int
    memory_mb: float
    groups: int
    files: int

    @classmethod
    def of(cls, pid: int) -> Left:
        """Measures the supervisor with this process id, and the machine."""
        supervisor = psutil.Process(pid)
        below = supervisor.children(recursive=True)
        return cls(
            len(below),
            supervisor.num_fds() + sum(one.num_fds() for one in below),
            len(Path("/proc/self/mounts").read_text().splitlines()),
            sum(one.memory_full_info().uss for one in (supervisor, *below)) / 2**20,
            len(list(Path("/sys/fs/cgroup").rglob("dailygrad-*-*"))),
            len(list(Path(tempfile.gettempdir()).iterdir())),
        )


async def settled(client: SandboxClient, parked: int) -> None:
    """Waits until as many children are parked as at the start and nothing runs."""
    async with asyncio.timeout(120):
        while (health := await client.health()).ready != parked or health.running:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)


async def endured(client: SandboxClient, pid: int) -> tuple[Left, Left, list[float], Counter[str]]:
    """Returns resources before and after, the milliseconds of each answer in order, and the statuses."""
    await client.until_ready()
    for _ in range(10):
        await asyncio.gather(*(client.run(Run("warm", ANSWER)) for _ in range(8)))
    await asyncio.sleep(2)
    parked = (await client.health()).ready
    before = Left.of(pid)
    times: list[float] = []
    ends: Counter[str] = Counter()
    numbers = iter(range(RUNS))

    async def work() -> None:
        for number in numbers:
            attack = number % EVERY == EVERY - 1
            code = ATTACKS[number // EVERY % len(ATTACKS)] if attack else ANSWER
            start = perf_counter()
            outcome = await client.run(Run(str(number), code, limits=SHORT if attack else Limits()))
            if not attack:
                assert outcome.stdout == "tensor(6.)\n", outcome
                times.append((perf_counter() - start) * 1000)
            ends[outcome.status] += 1

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    await settled(client, parked)
    return before, Left.of(pid), times, ends


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        one = embedded.start(Path(folder))
        try:
            start = perf_counter()
            before, after, times, ends = asyncio.run(endured(one.client, one.process.pid))
            took = perf_counter() - start
        finally:
            one.stop()
    tenth = max(1, len(times) // 10)
    print(f"endurance: {sum(ends.values()):,} runs in {took:.0f} s: {dict(ends)}")
    print(f"endurance: before {before}")
    print(f"endurance: after  {after}")
    first, last = median(times[:tenth]), median(times[-tenth:])
    print(f"endurance: p50 of the first tenth {first:.1f} ms, of the last {last:.1f} ms: {last / first:.2f} x")


if __name__ == "__main__":
    main()
