"""Watches the memory of one run from outside and ends it beyond its cap, on the host and on its GPU. Judges nothing.

The kernel limits most of a child's own memory. It knows nothing of a GPU's, and of memory shared between mappings only
what is in use; both are looked at some twenty times a second.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from sandbox.devices import DRIVER_MB
from sandbox.handles import Child
from sandbox.nvidia import NvmlFailed
from sandbox.wire import Limits

_EVERY_SECONDS = 0.05
_OTHERS_MB = 1024
"""The whole GPU is looked at, and another child may be making its context there meanwhile."""
_PID = re.compile(r"^Pid:\s+([0-9]+)$", re.MULTILINE)
_OWN = re.compile(r"^Rss(?:Anon|Shmem):\s+([0-9]+) kB$", re.MULTILINE)


Memory = Callable[[], tuple[float, float]]
"""MB of a GPU's memory in use, by whomever, and all there is. Raises NvmlFailed."""


def own_mb(pidfd: int) -> float:
    """What the process behind `pidfd` has in memory that is of no file. Raises OSError when it is gone."""
    found = _PID.search(Path(f"/proc/self/fdinfo/{pidfd}").read_text())
    if found is None:
        raise ProcessLookupError("it is gone")
    return sum(map(int, _OWN.findall(Path(f"/proc/{found[1]}/status").read_text()))) / 1024


class Watch:
    """One run's."""

    def __init__(self, child: Child, limits: Limits, memory_mb: Memory | None) -> None:
        self.why = ""
        """Which cap it went beyond, if it did: the child was killed then."""
        self.trouble = ""
        """Why it could not be watched any more, if so: the child was killed then, too."""
        self._child = child
        self._limits = limits
        self._memory_mb = memory_mb

    async def keep(self) -> None:
        """Look until it is gone or beyond a cap. Ends with its caller's cancelling."""
        try:
            host, gpu = own_mb(self._child.pidfd), self._gpu()
            while not self.why:
                self._look(own_mb(self._child.pidfd) - host, self._gpu() - gpu)
                await asyncio.sleep(_EVERY_SECONDS)
        except NvmlFailed as problem:
            self.trouble = f"the memory of the GPU cannot be watched: {problem}"
            self._child.kill()
        except OSError:
            return  # it has ended

    def _gpu(self) -> float:
        return self._memory_mb()[0] if self._memory_mb else 0.0

    def _look(self, host: float, gpu: float) -> None:
        spare = DRIVER_MB if self._memory_mb else 0
        for where, used, cap, allowed in (
            ("of memory", host, self._limits.memory_mb, spare),
            ("of the GPU's memory", gpu, self._limits.gpu_mb, _OTHERS_MB),
        ):
            if used > cap + allowed:
                self.why = f"it took {used:,.0f} MB {where}, and may have {cap:,} MB"
                self._child.kill()
