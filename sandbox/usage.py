"""What a living process has used, as the kernel tells whoever holds its pidfd: nothing it says itself is believed."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass

_PID = re.compile(rb"^Pid:\s+([0-9]+)$", re.MULTILINE)
_PEAK = re.compile(rb"^VmHWM:\s+([0-9]+) kB$", re.MULTILINE)
_OWN = re.compile(rb"^RssAnon:\s+([0-9]+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Usage:
    """Since the process began."""

    cpu_ms: float
    """Of all its threads."""
    peak_kb: int
    """The most memory it had at one time, shared pages included."""
    own_kb: int
    """What it has now that is no file: its heap, and every page of a file it wrote to."""


class Meter:
    """Reads the usage of one process, which may belong to another user. Raises OSError where /proc does not show it."""

    def __init__(self, pidfd: int) -> None:
        with open(f"/proc/self/fdinfo/{pidfd}", "rb") as known:  # noqa: PTH123 - no Path on the way of every run
            found = _PID.search(known.read())
        if found is None or int(found[1]) <= 0:
            raise ProcessLookupError(f"no process is behind descriptor {pidfd}")
        self.pid = int(found[1])
        """Its number as we see it."""
        self._status = os.open(f"/proc/{self.pid}/status", os.O_RDONLY | os.O_CLOEXEC)
        # clock_getcpuclockid(3): the clock of a whole process, by its number.
        self._clock = (~self.pid << 3) | 2

    def read(self) -> Usage:
        """Raises OSError when the process is gone."""
        status = os.pread(self._status, 4096, 0)
        peak, own = _PEAK.search(status), _OWN.search(status)
        if peak is None or own is None:
            raise ProcessLookupError("the process has ended")
        return Usage(time.clock_gettime(self._clock) * 1000, int(peak[1]), int(own[1]))

    def close(self) -> None:
        """Let go of it."""
        os.close(self._status)
