"""Executor for programs that use torch's compiler: a pool of its own, started when the first of them arrives.

Importing the compiler doubles the time that a zygote takes to start, and few programs use it, so the zygote of the
other pool does without (`sandbox.inside.deferred_compiler`). A program that is not recognized here runs there and pays
for the import itself, about a second of CPU time.
"""

from __future__ import annotations

import asyncio
import re
import time

from sandbox.host.executors import Executor
from sandbox.host.pool import ChildPool, end_tasks
from sandbox.host.process import Child
from sandbox.wire import Run

IDLE_SECONDS = 600.0
"""Time without such a run after which the pool ends and frees its memory, seconds."""
PATIENCE_S = 240.0
"""Longest wait for a child, seconds: on a loaded machine, the zygote starts for more than a minute."""
_POLL_SECONDS = 0.1
_USES = re.compile(
    r"(?<!\bre)\.compile\b|\btorch\.compiler\b|dynamo\b|inductor\b|\baot_\w+|\bmake_fx\b|\bproxy_tensor\b|\bFakeTensor"
    r"|\bflex_attention\b|\bnested_tensor|\b_?higher_order_?|\binit_process_group\b|\buse_deterministic_algorithms\b"
    r"|\btorch\.(?:nested|export|onnx|cond|profiler)\b"
    r"|\bfrom torch import .*\b(?:compile|nested|export|onnx|cond|profiler)\b"
)


def uses_compiler(run: Run) -> bool:
    """Returns whether a program mentions what makes torch import its compiler. A wrong guess costs only time."""
    return _USES.search(run.code) is not None or _USES.search(run.driver) is not None


class CompilerExecutor(Executor):
    """Carries out runs in children whose zygote has imported the compiler."""

    def __init__(self, pool: ChildPool, idle_seconds: float = IDLE_SECONDS) -> None:
        super().__init__(pool)
        self._idle_seconds = idle_seconds
        self._taking = 0
        self._used = 0.0
        self._needed = asyncio.Event()

    async def take(self, disk_mb: int) -> Child:
        """Returns a child for one run, as `ChildPool.take`, and starts the pool if needed."""
        self._taking += 1
        self._needed.set()
        try:
            return await super().take(disk_mb)
        finally:
            self._taking -= 1
            self._used = time.monotonic()

    async def keep_ready(self) -> None:
        """Keeps children ready while runs come, until cancelled."""
        while True:
            await self._needed.wait()
            filling = asyncio.create_task(self.pool.keep_filled())
            try:
                await self._wait_until_idle(filling)
            finally:
                await end_tasks([filling])

    async def _wait_until_idle(self, filling: asyncio.Task[None]) -> None:
        """Returns when no run has come for a while. Its last child may still be running then: it is killed."""
        while not filling.done():
            left = self._used + self._idle_seconds - time.monotonic()
            if left <= 0 and not self._taking:
                self._needed.clear()
                return
            await asyncio.wait([filling], timeout=max(left, _POLL_SECONDS))
        filling.result()
