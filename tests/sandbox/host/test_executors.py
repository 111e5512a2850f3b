"""A GPU's lane with made-up readings of its memory and real children, and a card that this torch cannot use."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox.causes import MemoryExceeded
from sandbox.devices import CPU
from sandbox.embedded import EmbeddedSandbox
from sandbox.host import jail
from sandbox.host.executors import GpuExecutor, GpuUnavailable, ReadGpuMemory, anonymous_mb
from sandbox.host.gpu import NvmlError
from sandbox.host.pool import ChildPool, PoolSettings
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.host.test_gpu import library

__all__ = ["library"]
pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(400)]
SLEEPING = Run("x", "import time\nprint('here')\ntime.sleep(30)", limits=Limits(wall_ms=40_000, gpu_mb=4096))


@asynccontextmanager
async def pool_of_one() -> AsyncIterator[ChildPool]:
    pool = ChildPool(PoolSettings(bwrap=jail.probe(weaker=False).bwrap, parked=1, disk_mb=16, device=CPU), print)
    keeping = asyncio.create_task(pool.keep_filled())
    try:
        yield pool
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def carried(pool: ChildPool, memory: ReadGpuMemory) -> Outcome:
    lane = GpuExecutor(CPU, pool, memory)
    child = await lane.take(16)
    try:
        return await lane.execute(child, SLEEPING, "full", 0.0)
    finally:
        child.close()


async def test_a_run_that_takes_too_much_of_the_gpu_is_ended_and_one_nobody_can_watch_too() -> None:
    readings = iter([(500.0, 24_000.0)] * 4)

    def climbing() -> tuple[float, float]:
        return next(readings, (6000.0, 24_000.0))

    lost = iter([(500.0, 24_000.0)] * 4)

    def losing() -> tuple[float, float]:
        try:
            return next(lost)
        except StopIteration:
            raise NvmlError("nvmlDeviceGetMemoryInfo: GPU is lost (error 15)") from None

    async with pool_of_one() as pool:
        outcome = await carried(pool, climbing)
        assert (outcome.status, outcome.stdout) == ("memory", "here\n"), outcome
        assert outcome.cause == MemoryExceeded(limit_mb=4096, used_mb=5500, device="cuda")
        pool.refill()
        outcome = await carried(pool, losing)
        assert (outcome.status, outcome.results) == ("internal", b"")
        assert outcome.detail.startswith("the memory of the GPU cannot be watched: nvmlDeviceGetMemoryInfo")


async def test_a_gpu_that_others_have_filled_takes_no_run() -> None:
    async with pool_of_one() as pool:
        with pytest.raises(GpuUnavailable, match="only 576 MB are free on"):
            await carried(pool, lambda: (24_000.0, 24_576.0))


async def test_memory_that_is_of_no_file_is_read_of_any_process() -> None:
    program = (
        "import mmap\nx = b'x' * (50 << 20)\nm = mmap.mmap(-1, 50 << 20)\nm.write(x)\nprint('had', flush=True)\ninput()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    pidfd = os.pidfd_open(process.pid)
    try:
        assert 100 < anonymous_mb(pidfd) < 130
        process.kill()
        await process.wait()
        with pytest.raises(OSError):
            anonymous_mb(pidfd)
    finally:
        os.close(pidfd)


@pytest.fixture
def unusable(tmp_path: Path, library: Path) -> Iterator[EmbeddedSandbox]:
    """A sandbox with a card that NVML knows and this torch, built for the CPU, does not."""
    path, log = tmp_path / "s.sock", tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sandbox.rehearsal", str(path), "cuda"],
            cwd=Path(__file__).parents[3],
            env={"LD_LIBRARY_PATH": str(library.parent)},
            stdout=out,
            stderr=out,
        )
    started = EmbeddedSandbox(process, path, log)
    yield started
    started.stop()


async def test_a_gpu_on_which_no_child_starts_is_reported_and_the_cpu_goes_on(unusable: EmbeddedSandbox) -> None:
    client = unusable.client
    await client.until_ready()
    assert (await client.health()).gpu == "a card for a rehearsal"
    outcome = await client.run(Run("x", "pass", device="cuda"))
    assert (outcome.status, outcome.refused) == ("internal", "device"), outcome
    assert outcome.detail.startswith("The GPU of this sandbox cannot be used: no child can be made: ")
    health = await client.health()
    assert health.gpu.startswith("a card for a rehearsal; no child can be made: ")
    assert "CUDA" in health.gpu
    assert (await client.run(Run("x", "print(1)"))).stdout == "1\n"
    # Known by now: nobody waits for another attempt.
    again = await client.run(Run("x", "pass", device="cuda"))
    assert (again.refused, again.queue_ms) == ("device", 0.0)
