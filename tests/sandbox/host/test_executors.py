"""A GPU's lane with made-up readings of its memory and real children, and a card that this torch cannot use."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from inspect import signature
from pathlib import Path

import pytest

from sandbox.causes import MemoryExceeded
from sandbox.cli import unready_reason
from sandbox.client import Health
from sandbox.devices import CPU, ChildDevice
from sandbox.embedded import EmbeddedSandbox
from sandbox.host import jail
from sandbox.host.executors import GpuExecutor, GpuExecutors, GpuUnavailable, ReadGpuMemory, anonymous_mb
from sandbox.host.gpu import GpuInventory, Nvml, NvmlError
from sandbox.host.pool import ChildPool, PoolSettings
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.host.test_gpu import library

__all__ = ["library"]
pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
SLEEPING = Run("x", "import time\nprint('here')\ntime.sleep(30)", limits=Limits(wall_ms=40_000, gpu_mb=4096))


@asynccontextmanager
async def pool_of(parked: int = 1) -> AsyncIterator[ChildPool]:
    bwrap = jail.probe(weaker=False).bwrap
    pool = ChildPool(PoolSettings(bwrap=bwrap, parked=parked, disk_mb=16, device=CPU, spawn_at_once=parked), print)
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
        return next(readings, (9000.0, 24_000.0))

    lost = iter([(500.0, 24_000.0)] * 4)

    def losing() -> tuple[float, float]:
        try:
            return next(lost)
        except StopIteration:
            raise NvmlError("nvmlDeviceGetMemoryInfo: GPU is lost (error 15)") from None

    async with pool_of() as pool:
        outcome = await carried(pool, climbing)
        assert (outcome.status, outcome.stdout) == ("memory", "here\n"), outcome
        assert outcome.cause == MemoryExceeded(limit_mb=4096, used_mb=8500, device="cuda")
        pool.refill()
        outcome = await carried(pool, losing)
        assert (outcome.status, outcome.results) == ("internal", b"")
        assert outcome.detail.startswith("the memory of the GPU cannot be watched: nvmlDeviceGetMemoryInfo")


async def test_the_contexts_of_children_that_are_made_meanwhile_are_not_the_run_s() -> None:
    async with pool_of(2) as pool:
        for child in [await pool.take(16), await pool.take(16)]:
            child.close()
        loop, both_there = asyncio.get_running_loop(), asyncio.Event()
        taken: list[float] = []

        def reading() -> tuple[float, float]:
            # The first two are from before the run. It takes 3,500 MB, and each child that was parked 1,222.
            taken.append(3500.0 * (len(taken) > 1) + 1222.0 * len(pool.parked))
            # More than the limit and the context of one child, seen three times.
            if sum(one - taken[1] > 4096 + 1536 for one in taken[1:]) == 3:
                loop.call_soon_threadsafe(both_there.set)
            return taken[-1], 24_000.0

        run = asyncio.create_task(carried(pool, reading))
        seen = asyncio.create_task(both_there.wait())
        await asyncio.wait((run, seen), return_when=asyncio.FIRST_COMPLETED)
        assert not run.done(), run.result()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)


async def test_a_gpu_that_others_have_filled_takes_no_run() -> None:
    async with pool_of() as pool:
        with pytest.raises(GpuUnavailable, match="only 576 MB are free on"):
            await carried(pool, lambda: (24_000.0, 24_576.0))


async def test_reading_the_gpu_s_memory_does_not_hold_up_the_event_loop() -> None:
    loop_thread = threading.get_ident()
    threads = set()

    def reading() -> tuple[float, float]:
        threads.add(threading.get_ident())
        return 500.0, 24_000.0

    async with pool_of() as pool:
        assert (await carried(pool, reading)).stdout == "here\n"
    assert threads and loop_thread not in threads


async def test_a_device_file_that_goes_turns_the_health_red_until_it_is_back(tmp_path: Path, library: Path) -> None:
    node = tmp_path / "nvidia0"
    node.touch()
    device = ChildDevice(title="Double 0", nodes=(str(node),))
    gpus = GpuExecutors(GpuInventory((device,), "Double 0"), jail.probe(weaker=False).bwrap, 16, print)
    (executor,) = gpus.executors
    await executor.check()
    assert (gpus.trouble, gpus.unavailable_reason()) == ("", "")
    node.rename(tmp_path / "elsewhere")
    await executor.check()
    assert gpus.trouble.startswith(f"Double 0 was lost: {node} cannot be opened (No such file or directory): restart")
    assert gpus.trouble in gpus.unavailable_reason()
    assert gpus.trouble in gpus.summary
    red = Health(ready=1, running=0, waiting=0, isolation="full", lacks=(), gpu_trouble=gpus.trouble)
    assert unready_reason(red) == gpus.trouble
    (tmp_path / "elsewhere").rename(node)
    await executor.check()
    assert gpus.trouble == ""


async def test_a_card_that_falls_off_the_bus_is_reported(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = tmp_path / "used"
    used.write_text("1")
    monkeypatch.setenv("NVML_DOUBLE", str(used))
    nvml = Nvml([str(library)])
    pool = ChildPool(PoolSettings(bwrap=None, parked=1, disk_mb=16), print)
    executor = GpuExecutor(ChildDevice("cuda", "Double 0"), pool, lambda: nvml.memory_mb(0))
    await executor.check()
    assert executor.lost == ""
    used.unlink()
    await executor.check()
    assert executor.lost == "Double 0 was lost: nvmlDeviceGetMemoryInfo: GPU is lost (error 15)"
    nvml.close()


async def test_children_that_nobody_needs_for_a_while_end_and_come_back() -> None:
    assert signature(GpuExecutors).parameters["idle_seconds"].default == 3600, "an hour, as docs/gpu.md says"
    bwrap = jail.probe(weaker=False).bwrap
    gpus = GpuExecutors(GpuInventory((CPU,), "the CPU"), bwrap, 16, print, idle_seconds=0.1)
    (executor,) = gpus.executors
    keeping = asyncio.create_task(gpus.keep_ready())
    try:
        for _ in range(2):
            assert gpus.unavailable_reason() == ""
            with gpus.reserve():
                child = await executor.take(16)
                assert executor.pool.zygote is not None
            child.close()
            # A child may still be starting when the zygote is stopped.
            while executor.pool.zygote is not None or executor.pool.parked:
                await asyncio.wait([keeping], timeout=0.01)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def test_processes_that_are_being_stopped_are_waited_for_though_the_sandbox_stops_too() -> None:
    """As when the supervisor ends just after an hour without a run."""
    gpus = GpuExecutors(GpuInventory((CPU,), "the CPU"), jail.probe(weaker=False).bwrap, 16, print, idle_seconds=0.1)
    keeping = asyncio.create_task(gpus.keep_ready())
    assert gpus.unavailable_reason() == ""
    with gpus.reserve() as executor:
        (await executor.take(16)).close()
        zygote = executor.pool.zygote
    assert zygote is not None
    while executor.pool.zygote is not None:
        await asyncio.wait([keeping], timeout=0.001)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert zygote.process.returncode is not None


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
    card = json.dumps(asdict(ChildDevice("cuda", "a card for a rehearsal", "GPU-00000000")))
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sandbox.rehearsal", str(path), card],
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
    assert health.gpu_trouble.startswith("no child can be made: ")
    assert unready_reason(health) == health.gpu_trouble
    assert (await client.run(Run("x", "print(1)"))).stdout == "1\n"
    # Known by now: nobody waits for another attempt.
    again = await client.run(Run("x", "pass", device="cuda"))
    assert (again.refused, again.queue_ms) == ("device", 0.0)


async def test_a_child_has_torch_from_its_zygote_and_four_are_made_at_once() -> None:
    async with pool_of() as pool:
        child = await pool.take(16)
        try:
            # Importing torch takes a second; the rest of the way a fraction of that.
            assert child.baseline["cpu_ms"] < 500
            assert set(pool.versions) == {"torch", "numpy"}
        finally:
            child.close()
    (executor,) = GpuExecutors(GpuInventory((CPU,), "x"), jail.probe(weaker=False).bwrap, 16, print).executors
    assert (executor.pool.settings.parked, executor.pool.settings.spawn_at_once) == (2, 4)
