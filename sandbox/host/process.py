"""A child process as the supervisor holds it: its pipes, its resource use and its end.

Trusted. Reads what the kernel reports about a child, and from the child itself only bytes with a cap.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from sandbox.framing import ResultDecoder
from sandbox.host.cgroups import Cgroup, CgroupParent
from sandbox.wire import Limits

_READ_BYTES = 1 << 16
_WRITE_BYTES = 1 << 16
_READY_BYTES = 1 << 16
"""Maximum size of what a child may report before it is parked, bytes."""


@dataclass(frozen=True, slots=True)
class ChildExit:
    """How a child ended."""

    code: int
    """Exit status, or minus the signal number."""
    cpu_ms: float
    peak_kb: int


@dataclass(eq=False, slots=True)
class Child:
    """A child that takes one run and is then killed."""

    run_fd: int
    results_fd: int
    stdout_fd: int
    stderr_fd: int
    disk_mb: int
    memory_fd: int = -1
    """Memory that the child shares with the supervisor."""
    pidfd: int = -1
    baseline: dict[str, float] = field(default_factory=dict)
    """CPU time and memory used before the run, as the child reported them before it saw any submitted code."""
    meter: Meter | None = None
    anonymous_kb: int = 0
    """Memory not backed by a file when it was parked, most of it shared with its siblings. KB."""
    address_kb: int = 0
    """Address space when it was parked. KB."""
    keep_pid: Callable[[], AbstractAsyncContextManager[bool]] | None = None
    """Keeps its process id its own while the block runs, even if it ends. Yields False if it has ended before."""
    cgroup_parent: CgroupParent | None = None
    cgroup: Cgroup | None = None
    ended: asyncio.Future[ChildExit] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def kill(self) -> None:
        """Kills the child and every process in its namespace. Safe if it has ended."""
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def usage(self) -> Usage | None:
        """Returns the resources used so far, or None if the child has ended or /proc hides it."""
        try:
            return self.meter.read() if self.meter else None
        except OSError:
            return None

    async def join_cgroup(self, limits: Limits) -> None:
        """Moves the child into a control group with those limits, if the machine allows it.

        The group is removed when the child ends. Without one, the other limits apply alone.
        """
        if self.cgroup_parent is None or self.meter is None or self.keep_pid is None:
            return
        pid, self.cgroup = self.meter.pid, self.cgroup_parent.new()
        # The kernel takes a process id here and no handle, so the id must not become another process's meanwhile.
        async with self.keep_pid() as kept:
            if kept:
                await asyncio.to_thread(_join, self.cgroup, pid, limits)

    def close(self) -> None:
        """Kills the child and closes its file descriptors."""
        self.kill()
        if self.meter:
            self.meter.close()
            self.meter = None
        for name in ("run_fd", "results_fd", "stdout_fd", "stderr_fd", "memory_fd", "pidfd"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)


def _join(cgroup: Cgroup, pid: int, limits: Limits) -> None:
    """Creates a group with one process. Slow: call it in a thread."""
    try:
        cgroup.create(pid)
        cgroup.limit(limits)
    except OSError:
        cgroup.remove()


class PipeWriter:
    """Writes to a child's run pipe as fast as the child reads. A child that does not read gains nothing.

    Takes the descriptor over. Use it in a running event loop only.
    """

    def __init__(self, child: Child) -> None:
        self._descriptor, child.run_fd = child.run_fd, -1
        self._data = bytearray()
        self._finishing = False
        os.set_blocking(self._descriptor, False)

    @property
    def unread(self) -> int:
        """Number of bytes that wait for the child to read."""
        return len(self._data)

    def write(self, data: bytes) -> None:
        """Writes `data` now, or the rest of it later."""
        if self._descriptor < 0:
            return
        idle = not self._data
        self._data += data
        if idle:
            self._write()
            if self._data and self._descriptor >= 0:
                asyncio.get_running_loop().add_writer(self._descriptor, self._write)

    def finish(self) -> None:
        """Closes the pipe once everything is written."""
        self._finishing = True
        if not self._data:
            self.close()

    def close(self) -> None:
        """Closes the pipe now."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_writer(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
        self._data.clear()

    def _write(self) -> None:
        try:
            while self._data:
                del self._data[: os.write(self._descriptor, memoryview(self._data)[:_WRITE_BYTES].tobytes())]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._data.clear()
        asyncio.get_running_loop().remove_writer(self._descriptor)
        if self._finishing:
            self.close()


async def wait_until_parked(child: Child) -> None:
    """Waits until the child reports that it is confined. Raises OSError with its error message if it is not."""
    decoder = ResultDecoder(_READY_BYTES)
    async for data in read_chunks(child.results_fd):
        for kind, payload in decoder.feed(data):
            if kind != b"R":
                raise OSError(f"a child could not be confined: {payload.decode(errors='replace')}")
            child.baseline = json.loads(payload)
            with contextlib.suppress(OSError):  # /proc may hide other users' processes
                child.meter = Meter(child.pidfd)
                usage = child.meter.read()
                child.anonymous_kb, child.address_kb = usage.anonymous_kb, usage.address_kb
            return
    raise OSError("a child died before it was parked")


async def read_chunks(descriptor: int) -> AsyncIterator[bytes]:
    """Yields what arrives on a pipe until its other end is closed."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    while True:
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            readable = loop.create_future()
            loop.add_reader(descriptor, resolve, readable)
            try:
                await readable
            finally:
                loop.remove_reader(descriptor)
            continue
        if not data:
            return
        yield data


def resolve(future: asyncio.Future[None]) -> None:
    """Resolves a future unless it is done already, for use as a callback."""
    if not future.done():
        future.set_result(None)


_PID = re.compile(rb"^Pid:\s+([0-9]+)$", re.MULTILINE)
_PEAK = re.compile(rb"^VmHWM:\s+([0-9]+) kB$", re.MULTILINE)
_ANONYMOUS = re.compile(rb"^RssAnon:\s+([0-9]+) kB$", re.MULTILINE)
_ADDRESSES = re.compile(rb"^VmPeak:\s+([0-9]+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources a process has used since it began."""

    cpu_ms: float
    """CPU time of all threads."""
    peak_kb: int
    """Peak resident memory, shared pages included."""
    anonymous_kb: int
    """Current memory not backed by a file: the heap, and every page of a file it wrote to."""
    address_kb: int
    """Peak size of the address space, which memory limits count."""
    delayed_ms: float
    """Time for which its main thread was ready to run but had to wait for a core; 0 if the kernel does not count it."""


class Meter:
    """Reads the kernel's figures on one process, which may belong to another user.

    Raises OSError where /proc does not show the process.
    """

    def __init__(self, pidfd: int) -> None:
        with open(f"/proc/self/fdinfo/{pidfd}", "rb") as info:  # noqa: PTH123 - Path is slower, and every run does this
            match = _PID.search(info.read())
        if match is None or int(match[1]) <= 0:
            raise ProcessLookupError(f"no process is behind descriptor {pidfd}")
        self.pid = int(match[1])
        """Process id in this process's namespace."""
        self._status = os.open(f"/proc/{self.pid}/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._delays = os.open(f"/proc/{self.pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._delays = -1
        # clock_getcpuclockid(3): the CPU clock of a whole process, from its id.
        self._clock = (~self.pid << 3) | 2

    def read(self) -> Usage:
        """Returns the current figures. Raises OSError when the process has ended."""
        status = os.pread(self._status, 4096, 0)
        peak, anonymous, addresses = (pattern.search(status) for pattern in (_PEAK, _ANONYMOUS, _ADDRESSES))
        if peak is None or anonymous is None or addresses is None:
            raise ProcessLookupError("the process has ended")
        cpu_ms = time.clock_gettime(self._clock) * 1000
        return Usage(cpu_ms, int(peak[1]), int(anonymous[1]), int(addresses[1]), self._delayed_ms())

    def _delayed_ms(self) -> float:
        counts = os.pread(self._delays, 100, 0).split() if self._delays >= 0 else []
        return int(counts[1]) / 1e6 if len(counts) > 1 else 0.0

    def close(self) -> None:
        """Closes the file descriptors."""
        os.close(self._status)
        if self._delays >= 0:
            os.close(self._delays)
