"""Where a run is carried out: the CPU's pool, or one lane for each GPU on which one run is at work at a time.

A GPU's children are fresh processes (`sandbox.fresh`). The first is made when the first run for a GPU comes, so that
nobody's graphics memory is taken by a sandbox that needs none.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from sandbox.devices import Device
from sandbox.gpus import Found
from sandbox.handles import Child
from sandbox.nvidia import Nvml, NvmlFailed, library_of
from sandbox.pool import Pool
from sandbox.queueing import Queue
from sandbox.running import execute
from sandbox.turns import Turns
from sandbox.watching import Memory, Watch
from sandbox.wire import Isolation, Outcome, Run

_PARKED = 2
"""Children ready on each GPU: judging takes two, and each takes seconds to make."""
_MOST_WAITING = 64
_MOST_END_SECONDS = 10.0
_LOOK_SECONDS = 0.2


CANNOT = "The GPU of this sandbox cannot be used"


class GpuFailed(Exception):
    """No run can be carried out on the GPU; the message says why."""


class Lane:
    """A pool, and the way of a run through one of its children."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def take(self, disk_mb: int) -> Child:
        """A child for one run, as `Pool.take`."""
        return await self.pool.take(disk_mb)

    async def execute(self, child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
        """What came of the run, as `running.execute`."""
        return await execute(child, run, isolation, queue_ms)


class GpuLane(Lane):
    """The children of one GPU, watched while they run, and gone before the next begins."""

    def __init__(self, device: Device, pool: Pool, memory_mb: Memory | None) -> None:
        super().__init__(pool)
        self.device = device
        self.busy = False
        self._memory_mb = memory_mb

    async def take(self, disk_mb: int) -> Child:
        """As `Pool.take`, but raises GpuFailed where the last attempt to make one failed."""
        taking = asyncio.create_task(self.pool.take(disk_mb))
        try:
            while not taking.done():
                await asyncio.wait({taking}, timeout=_LOOK_SECONDS)
                if self.pool.trouble and not taking.done():
                    raise GpuFailed(self.pool.trouble)  # its next attempt may be half a minute away
        except BaseException:
            if not taking.cancel() and not taking.exception():
                taking.result().close()  # it came in the moment in which nobody wanted it any more
            raise
        return taking.result()

    async def execute(self, child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
        """As `running.execute`, under the watch; the child has ended when it returns."""
        self._check_room(run)
        watch = Watch(child, run.limits, self._memory_mb)
        watching = asyncio.create_task(watch.keep())
        try:
            outcome = await execute(child, run, isolation, queue_ms)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            child.kill()
            # Until then the GPU's memory is not free, nor wiped by the driver.
            await asyncio.wait([child.ended], timeout=_MOST_END_SECONDS)
        outcome = replace(outcome, device=self.device.name)
        if watch.trouble:
            return replace(outcome, status="internal", results=b"", detail=watch.trouble)
        return replace(outcome, status="memory", detail=watch.why) if watch.why else outcome

    def _check_room(self, run: Run) -> None:
        """Whose fault a lack of memory is must be clear: a GPU that others have filled takes no run."""
        if self._memory_mb is None:
            return
        try:
            used, total = self._memory_mb()
        except NvmlFailed as problem:
            raise GpuFailed(str(problem)) from None
        if total - used < min(run.limits.gpu_mb, total / 2):
            raise GpuFailed(f"only {total - used:,.0f} MB are free on {self.device.title}")


def _memory_of(device: Device) -> Memory | None:
    """How the memory of a GPU is read; None where there is none to read. Raises NvmlFailed."""
    return (
        functools.partial(Nvml(library_of(device.libraries)).memory_mb, device.index) if device.name == "cuda" else None
    )


class GpuLanes:
    """All GPUs, and the queue before them."""

    def __init__(self, found: Found, bwrap: str | None, disk_mb: int, say: Callable[[str], None]) -> None:
        self.found = found
        self.lanes = [
            GpuLane(device, Pool(bwrap, _PARKED, disk_mb, say, device), _memory_of(device))
            for device in found.devices
            if bwrap
        ]
        self.queue = Queue(len(self.lanes), _MOST_WAITING)
        self.turns = Turns(self.queue, time.monotonic)
        self._wanted = asyncio.Event()

    async def keep(self) -> None:
        """From the first run on, keep children ready until cancelled."""
        await self._wanted.wait()
        async with asyncio.TaskGroup() as group:
            for lane in self.lanes:
                group.create_task(lane.pool.keep())

    def why_not(self) -> str:
        """Why no run can be carried out here, to whoever sent it; empty where one can. Wakes the pools."""
        if not self.lanes:
            return f"This sandbox has no GPU: {self.found.word}"
        self._wanted.set()
        if all(lane.pool.trouble and not lane.pool.parked for lane in self.lanes):
            return f"{CANNOT}: {self.trouble}"
        return ""

    @property
    def trouble(self) -> str:
        """Why a GPU that there is cannot be used right now, for the operator."""
        return "; ".join(dict.fromkeys(lane.pool.trouble for lane in self.lanes if lane.pool.trouble))

    @property
    def word(self) -> str:
        """What GPUs there are, or why none, for the operator."""
        return f"{self.found.word}; {self.trouble}" if self.trouble else self.found.word

    @contextlib.contextmanager
    def lane(self) -> Iterator[GpuLane]:
        """A lane with no other run, the readiest; there is one for whoever's turn it is."""
        chosen = max((lane for lane in self.lanes if not lane.busy), key=lambda lane: len(lane.pool.parked))
        chosen.busy = True
        try:
            yield chosen
        finally:
            chosen.busy = False

    def refill(self) -> None:
        """Make up for what was taken."""
        for lane in self.lanes:
            lane.pool.refill()
