"""A child as the supervisor holds it: its pipes, what it used, its end. Makes none and runs nothing.

Everything that comes from a child is bytes with a cap.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from sandbox.cgroups import Group, Groups
from sandbox.frames import Frames
from sandbox.usage import Meter, Usage
from sandbox.wire import Limits


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
