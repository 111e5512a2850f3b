"""A child as the supervisor holds it: its pipes, what it used, its end. Makes none and runs nothing.

Everything that comes from a child is bytes with a cap.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.framing import Frames
from sandbox.wire import Limits

# What a living process has used, as the kernel tells whoever holds its pidfd: nothing it says itself is believed.


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


# Control groups: where this machine lets us make them, the kernel counts each child's memory and tasks. Elsewhere the
# limits of a process and the supervisor's watch hold alone. For the supervisor; kills nothing itself.
#
# Knows the unified hierarchy (v2) and the memory and pids controllers of the older one (v1).


ROOT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_OURS = "dailygrad-"
_SHARED_MB = 64
"""What a run may dirty of the pages it shares with its siblings, beyond its own memory: an ordinary one dirties 10."""
_PARTS = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max", "pids.max")}


@dataclass(frozen=True, slots=True)
class Group:
    """One child's control group: a folder for each controller, or one for all."""

    memory: Path
    pids: Path
    unified: bool

    @property
    def folders(self) -> tuple[Path, ...]:
        """The one, or both."""
        return tuple(dict.fromkeys((self.memory, self.pids)))

    def make(self, pid: int) -> None:
        """Make it, and put that process in. Raises OSError. Slow where the kernel waits for all its cores (v1)."""
        for folder in self.folders:
            folder.mkdir()
            (folder / "cgroup.procs").write_text(str(pid))

    def limit(self, limits: Limits) -> None:
        """Hold it to a run's limits. Raises OSError."""
        memory, pids = (names[0 if self.unified else 1] for names in _PARTS.values())
        (self.memory / memory).write_text(str((limits.memory_mb + _SHARED_MB) << 20))
        (self.pids / pids).write_text(str(limits.processes))

    def remove(self) -> bool:
        """Let go of it; False while it has processes. Harmless when it is not there."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)


@dataclass(frozen=True, slots=True)
class Groups:
    """Where children's groups are made."""

    memory: Path
    pids: Path
    unified: bool
    _numbers: Iterator[int] = field(default_factory=itertools.count, compare=False, repr=False)

    def new(self) -> Group:
        """One that is not made yet, with a name of its own. Any thread may ask."""
        name = f"{_OURS}{os.getpid()}-{next(self._numbers)}"
        return Group(self.memory / name, self.pids / name, self.unified)


def find(root: Path = ROOT, membership: Path = _MEMBERSHIP) -> Groups | None:
    """Where this process may make groups that count memory and tasks; None where it may not. Clears what killed
    supervisors left. In the unified hierarchy the process moves to a leaf of its own, as the kernel wants it."""
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return None
    place = {name: path.lstrip("/") for _, names, path in lines for name in names.split(",")}
    found = _unified(root / place[""]) if "" in place else None
    if found is None and all(name in place for name in _PARTS):
        found = Groups(root / "memory" / place["memory"], root / "pids" / place["pids"], unified=False)
    return found if found is not None and _works(found) else None


def _unified(own: Path) -> Groups | None:
    """Ours in the unified hierarchy, if both controllers can be handed down from it."""
    try:
        if not set(_PARTS) <= set((own / "cgroup.controllers").read_text().split()):
            return None
    except OSError:
        return None
    leaf = own / f"{_OURS}supervisor"
    try:
        leaf.mkdir(exist_ok=True)
        (leaf / "cgroup.procs").write_text(str(os.getpid()))
        (own / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        # It is shared with others, or not ours: back to where we were.
        with contextlib.suppress(OSError):
            (own / "cgroup.procs").write_text(str(os.getpid()))
            leaf.rmdir()
        return None
    return Groups(own, own, unified=True)


def _works(groups: Groups) -> bool:
    """Whether a group can be made and limited there; clears away what is left of earlier ones."""
    for folder in {groups.memory, groups.pids}:
        for left in folder.glob(f"{_OURS}*-*"):
            with contextlib.suppress(OSError):  # another supervisor's, with a child in it
                left.rmdir()
    trial = groups.new()
    try:
        for folder in trial.folders:
            folder.mkdir()
        trial.limit(Limits())
    except OSError:
        return False
    finally:
        trial.remove()
    return True


@dataclass(frozen=True, slots=True)
class Exit:
    """How a child ended."""

    code: int
    """The exit status, or minus the signal."""
    cpu_ms: float
    peak_kb: int


@dataclass(eq=False, slots=True)
class Child:
    """A parked child: it takes one run, then it is killed."""

    run: int
    results: int
    out: int
    err: int
    disk_mb: int
    pidfd: int = -1
    start: dict[str, float] = field(default_factory=dict)
    meter: Meter | None = None
    own_kb: int = 0
    """Its memory that is no file when it was parked, most of it shared with its siblings."""
    groups: Groups | None = None
    group: Group | None = None
    ended: asyncio.Future[Exit] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def kill(self) -> None:
        """End it and everything in its namespace, now. Harmless when it is gone."""
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def usage(self) -> Usage | None:
        """What it has used so far; None when it is gone, or where that cannot be seen."""
        try:
            return self.meter.read() if self.meter else None
        except OSError:
            return None

    def hold(self, limits: Limits) -> None:
        """Put it into a control group with those limits, where there are any. Slow: for a thread.

        The group goes when the child has ended. Where it cannot be had, the other limits hold alone.
        """
        meter = self.meter  # another thread may let go of it meanwhile
        if self.groups is None or meter is None:
            return
        self.group = self.groups.new()
        try:
            self.group.make(meter.pid)
            self.group.limit(limits)
        except OSError:
            self.group.remove()

    def close(self) -> None:
        """Kill it and let go of its descriptors."""
        self.kill()
        if self.meter:
            self.meter.close()
            self.meter = None
        for name in ("run", "results", "out", "err", "pidfd"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)


async def chunks(descriptor: int) -> AsyncIterator[bytes]:
    """What comes through a pipe, until its other end is closed."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    while True:
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            ready = loop.create_future()
            loop.add_reader(descriptor, wake, ready)
            try:
                await ready
            finally:
                loop.remove_reader(descriptor)
            continue
        if not data:
            return
        yield data


def wake(future: asyncio.Future[None]) -> None:
    """Settle `future`, once: what a descriptor's callback calls."""
    if not future.done():
        future.set_result(None)


async def until_parked(child: Child) -> None:
    """Wait for its word that the walls stand. Raises OSError, with its own words, when they do not."""
    frames = Frames(1 << 16)
    async for data in chunks(child.results):
        for kind, payload in frames.feed(data):
            if kind != b"R":
                raise OSError(f"a child could not be confined: {payload.decode(errors='replace')}")
            child.start = json.loads(payload)
            with contextlib.suppress(OSError):  # a /proc that hides other users' processes
                child.meter = Meter(child.pidfd)
                child.own_kb = child.meter.read().own_kb
            return
    raise OSError("a child died before it was parked")
