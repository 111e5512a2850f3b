"""Executors carry out runs: one for the CPU with its pool of children, and one per GPU, which takes one run at a time.

Trusted. A GPU's children have a zygote of their own (`sandbox.inside.gpu_child`). It is started when the first run for
a GPU arrives, so that a sandbox that is never asked for a GPU takes none of its memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from sandbox.causes import MemoryExceeded
from sandbox.devices import DRIVER_MB, ChildDevice
from sandbox.host.gpu import GpuInventory, Nvml, NvmlError, library_paths
from sandbox.host.gpu_faults import GpuFaults, describe_fault, is_fatal
from sandbox.host.pair import execute_pair
from sandbox.host.pool import ChildPool, PoolSettings, end_tasks
from sandbox.host.process import Child
from sandbox.host.running import execute
from sandbox.queue import AsyncQueue, FairQueue
from sandbox.wire import Device, Isolation, Limits, Outcome, Run

_PARKED = 2
"""Number of children kept ready on each GPU: judging takes two, and each takes half a second to start."""
_SPAWN_AT_ONCE = 4
"""Number of children made at once for each GPU in a burst. On an H200 two gave 2.8 verdicts a second, four 4.4."""
_MAX_WAITING = 64
"""Runs that may wait for a GPU."""
_END_SECONDS = 10.0
"""Maximum time to wait for a GPU child to end, seconds."""
_POLL_SECONDS = 0.2
_CHECK_SECONDS = 30.0
"""Interval between checks whether the GPUs can still be reached, seconds."""
_IDLE_SECONDS = 3600.0
"""Time without a run after which the children on a GPU end, seconds."""
GPU_UNAVAILABLE = "The GPU of this sandbox cannot be used"


class Executor:
    """Carries out runs in the children of one pool."""

    def __init__(self, pool: ChildPool) -> None:
        self.pool = pool

    @property
    def platform(self) -> str:
        """What computes, as `Outcome.platform`."""
        versions = " ".join(f"{name} {version}" for name, version in self.pool.versions.items())
        device = self.pool.settings.device
        return f"{versions}, {device.title}" if device else versions

    async def take(self, disk_mb: int) -> Child:
        """Returns a child for one run, as `ChildPool.take`."""
        return await self.pool.take(disk_mb)

    async def execute(self, child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
        """Executes a run in a child, as `running.execute`."""
        return await execute(child, run, isolation, queue_ms)

    async def execute_pair(
        self, children: tuple[Child, Child], run: Run, isolation: Isolation, queue_ms: float
    ) -> Outcome:
        """Executes a run and its driver in two children, as `pair.execute_pair`."""
        return await execute_pair(*children, run, isolation, queue_ms)


class GpuUnavailable(Exception):
    """The GPU cannot take a run. The message gives the reason."""


class GpuExecutor(Executor):
    """Carries out one run at a time on one GPU, watches its memory, and waits for the child to end before the next."""

    def __init__(
        self,
        device: ChildDevice,
        pool: ChildPool,
        read_memory: ReadGpuMemory | None,
        read_faults: Callable[[], list[int]] | None = None,
    ) -> None:
        super().__init__(pool)
        self.device = device
        self.busy = False
        self.lost = ""
        """Why the GPU could not be reached at the last check, or ""."""
        self._read_memory = read_memory
        self._read_faults = read_faults
        self._fault = ""
        """A fault after which the GPU cannot be used until the machine's owner has acted, or ""."""

    async def check(self) -> None:
        """Looks whether the GPU can still be reached and is sound. Reports each fault, and the loss, once."""
        before, self.lost = self.lost, await self._find_loss()
        if self.lost and self.lost != before:
            self.pool.report(self.lost)

    async def _find_loss(self) -> str:
        """Checks the device files, which a container can lose, and asks NVML. Returns why it is lost, or ""."""
        try:
            await asyncio.to_thread(_open_nodes, self.device)
            if self._read_memory is not None:
                await asyncio.to_thread(self._read_memory)
            if self._read_faults is not None:
                self._note_faults(await asyncio.to_thread(self._read_faults))
        except (NvmlError, OSError) as problem:
            return self._fault or f"{self.device.title} was lost: {problem}"
        return self._fault

    def _note_faults(self, xids: list[int]) -> None:
        for xid in xids:
            text = f"{self.device.title}: {describe_fault(xid)}"
            if is_fatal(xid):
                self._fault = self._fault or text
            else:
                self.pool.report(text)

    async def take(self, disk_mb: int) -> Child:
        """Returns a child for one run. Raises GpuUnavailable if the last attempt to start a child failed."""
        taking = asyncio.create_task(self.pool.take(disk_mb))
        try:
            while not taking.done():
                await asyncio.wait({taking}, timeout=_POLL_SECONDS)
                if self.pool.trouble and not taking.done():
                    raise GpuUnavailable(self.pool.trouble)  # the pool's next attempt may be half a minute away
        except BaseException:
            if not taking.cancel() and not taking.exception():
                taking.result().close()  # the child arrived just as its run was cancelled
            raise
        return taking.result()

    async def execute(self, child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
        """Executes a run in a child while watching its memory. The child has ended when this returns."""
        await self._check_free_memory(run)
        watch = MemoryWatch(child, run.limits, self._read_memory, self.pool)
        watching = asyncio.create_task(watch.run())
        try:
            outcome = await execute(child, run, isolation, queue_ms)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            child.kill()
            # The driver frees and wipes the GPU's memory when the process ends.
            await asyncio.wait([child.ended], timeout=_END_SECONDS)
        outcome = replace(outcome, device=self.device.name)
        if watch.failure:
            return replace(outcome, status="internal", results=b"", detail=watch.failure)
        return replace(outcome, status="memory", cause=watch.exceeded) if watch.exceeded else outcome

    async def _check_free_memory(self, run: Run) -> None:
        """Raises GpuUnavailable if others have filled the GPU: a lack of memory must be the run's own fault."""
        if self._read_memory is None:
            return
        try:
            used, total = await asyncio.to_thread(self._read_memory)
        except NvmlError as problem:
            raise GpuUnavailable(str(problem)) from None
        if total - used < min(run.limits.gpu_mb, total / 2):
            raise GpuUnavailable(f"only {total - used:,.0f} MB are free on {self.device.title}")


class GpuExecutors:
    """The executors of all GPUs, and their queue."""

    def __init__(
        self,
        gpus: GpuInventory,
        bwrap: str | None,
        disk_mb: int,
        report: Callable[[str], None],
        *,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self.gpus = gpus
        self._idle_seconds = idle_seconds
        self._used = time.monotonic()
        """When a run last needed a GPU."""
        self.executors = [
            GpuExecutor(device, ChildPool(children, report), _memory_reader(device), _fault_reader(device, report))
            for device in gpus.devices
            if bwrap
            for children in [
                PoolSettings(bwrap=bwrap, parked=_PARKED, disk_mb=disk_mb, device=device, spawn_at_once=_SPAWN_AT_ONCE)
            ]
        ]
        self.queue = AsyncQueue(FairQueue(len(self.executors), _MAX_WAITING), time.monotonic)
        self._needed = asyncio.Event()

    async def keep_ready(self) -> None:
        """Keeps children ready while runs come, and checks the GPUs, until cancelled.

        After an hour without a run the children end and give back what their contexts hold of the GPU.
        """
        while True:
            filling: list[asyncio.Task[None]] = []
            try:
                if self._needed.is_set():
                    filling = [asyncio.create_task(executor.pool.keep_filled()) for executor in self.executors]
                while bool(filling) == self._needed.is_set():
                    await asyncio.gather(*(executor.check() for executor in self.executors))
                    await self._wait_for_change(filling)
            finally:
                await end_tasks(filling)

    async def _wait_for_change(self, filling: list[asyncio.Task[None]]) -> None:
        """Waits until a GPU is needed or no longer needed, or it is time for the next check."""
        waiting = [] if filling else [asyncio.create_task(self._needed.wait())]
        seconds = min(_CHECK_SECONDS, self._idle_seconds)
        try:
            done, _ = await asyncio.wait([*filling, *waiting], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            for task in done.intersection(filling):
                task.result()
        finally:
            for task in waiting:
                task.cancel()
        state = self.queue.state
        in_use = state.running or state.waiting or any(executor.busy for executor in self.executors)
        if filling and not in_use and time.monotonic() - self._used > self._idle_seconds:
            self._needed.clear()

    def unavailable_reason(self) -> str:
        """Returns why no run can use a GPU here, or "". Starts the pools on the first call."""
        if not self.executors:
            return f"This sandbox has no GPU: {self.gpus.summary}"
        self._used = time.monotonic()
        self._needed.set()
        if all(one.lost or (one.pool.trouble and not one.pool.parked) for one in self.executors):
            return f"{GPU_UNAVAILABLE}: {self.trouble}"
        return ""

    @property
    def summary(self) -> str:
        """The GPUs found and what is wrong with them, or why there is none, for the operator."""
        return f"{self.gpus.summary}; {self.trouble}" if self.trouble else self.gpus.summary

    @property
    def trouble(self) -> str:
        """Why a GPU that was found at the start cannot be used now, or ""."""
        troubles = (text for executor in self.executors for text in (executor.lost, executor.pool.trouble) if text)
        return "; ".join(dict.fromkeys(troubles))

    @contextlib.contextmanager
    def reserve(self) -> Iterator[GpuExecutor]:
        """Reserves the free executor with the most parked children, and a lost GPU only if there is no other.

        A run that was admitted always finds one.
        """
        free = (executor for executor in self.executors if not executor.busy)
        executor = max(free, key=lambda executor: (not executor.lost, len(executor.pool.parked)))
        executor.busy = True
        try:
            yield executor
        finally:
            executor.busy = False
            self._used = time.monotonic()

    @property
    def pools(self) -> list[ChildPool]:
        """The pools of all GPUs."""
        return [executor.pool for executor in self.executors]


def _open_nodes(device: ChildDevice) -> None:
    """Opens every device file. Raises OSError with the cure if one cannot be opened any more."""
    for node in device.nodes:
        try:
            # The files that give access to a MIG slice can be read only.
            os.close(os.open(node, (os.O_RDONLY if "/nvidia-caps/" in node else os.O_RDWR) | os.O_CLOEXEC))
        except OSError as problem:
            cure = "restart the sandbox; a container that loses it at each systemctl daemon-reload needs CDI"
            raise OSError(f"{node} cannot be opened ({problem.strerror}): {cure}") from None


ReadGpuMemory = Callable[[], tuple[float, float]]
"""Returns a GPU's used and total memory, MB. Raises NvmlError."""


def _memory_reader(device: ChildDevice) -> ReadGpuMemory | None:
    """Returns a reader of a GPU's memory, or None for the CPU. Raises NvmlError."""
    if device.name != "cuda":
        return None
    return functools.partial(Nvml(library_paths(device.libraries)).memory_mb, device.index, device.uuid)


def _fault_reader(device: ChildDevice, report: Callable[[str], None]) -> Callable[[], list[int]] | None:
    """Returns a reader of a GPU's critical errors, or None for the CPU and for a driver that does not report them."""
    if device.name != "cuda":
        return None
    try:
        return GpuFaults.of(device).read
    except NvmlError as problem:
        report(f"{device.title}: its errors (Xid, ECC) are not watched: {problem}")
        return None


_WATCH_SECONDS = 0.05
"""Interval at which a GPU's memory is checked during a run."""
_CONTEXT_MB = 1536
"""Allowance for each child that is made meanwhile, because NVML reports the memory of the whole GPU: a parked child of
torch 2.11 held 1,222 MB of an H200. MB."""
_PID = re.compile(r"^Pid:\s+([0-9]+)$", re.MULTILINE)
_ANONYMOUS = re.compile(r"^Rss(?:Anon|Shmem):\s+([0-9]+) kB$", re.MULTILINE)


class MemoryWatch:
    """Kills a run that exceeds its memory limit, on the host or on its GPU.

    The kernel limits most of a child's own memory, but not a GPU's, and of memory shared between mappings only what is
    in use. Both are polled some twenty times a second.
    """

    def __init__(self, child: Child, limits: Limits, read_memory: ReadGpuMemory | None, pool: ChildPool) -> None:
        self.exceeded: MemoryExceeded | None = None
        """Limit that the child exceeded. It was killed then."""
        self.failure = ""
        """Why watching became impossible, or "". The child was killed then, too."""
        self._child = child
        self._limits = limits
        self._read_memory = read_memory
        self._pool = pool
        self._parked = len(pool.parked)

    async def run(self) -> None:
        """Polls until the child ends or exceeds a limit."""
        try:
            host_start, gpu_start = anonymous_mb(self._child.pidfd), await self._gpu_mb()
            while not self.exceeded:
                gpu_mb = await self._gpu_mb()
                self._check(anonymous_mb(self._child.pidfd) - host_start, gpu_mb - gpu_start)
                await asyncio.sleep(_WATCH_SECONDS)
        except NvmlError as problem:
            self.failure = f"the memory of the GPU cannot be watched: {problem}"
            self._child.kill()
        except OSError:
            return  # the child has ended

    async def _gpu_mb(self) -> float:
        # In a thread: a driver that is busy answers late, and nothing else may wait for it.
        return (await asyncio.to_thread(self._read_memory))[0] if self._read_memory else 0.0

    def _check(self, host_mb: float, gpu_mb: float) -> None:
        driver_mb = DRIVER_MB if self._read_memory else 0
        made = max(1, len(self._pool.parked) + self._pool.spawning - self._parked)
        memory: tuple[tuple[Device, float, int, int], ...] = (
            ("cpu", host_mb, self._limits.memory_mb, driver_mb),
            ("cuda", gpu_mb, self._limits.gpu_mb, made * _CONTEXT_MB),
        )
        for device, used, limit, allowance in memory:
            if used > limit + allowance:
                self.exceeded = MemoryExceeded(limit, round(used), device=device)
                self._child.kill()


def anonymous_mb(pidfd: int) -> float:
    """Returns a process's memory that is not backed by a file. Raises OSError when the process has ended."""
    pid = _PID.search(Path(f"/proc/self/fdinfo/{pidfd}").read_text())
    if pid is None:
        raise ProcessLookupError("it has ended")
    return sum(map(int, _ANONYMOUS.findall(Path(f"/proc/{pid[1]}/status").read_text()))) / 1024
