"""The supervisor's side of the zygote: starts it, asks it for children, keeps some parked, replaces it when it dies.

Trusted: imports no torch and runs no answer. Everything that comes from a child is bytes with a cap.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sandbox.cgroups import Group, Groups
from sandbox.devices import Device
from sandbox.frames import Frames
from sandbox.usage import Meter, Usage
from sandbox.wire import Limits

START_SECONDS = 120.0
_SPAWN_SECONDS = 20.0
_FRESH_SECONDS = 120.0
"""A child that imports torch itself needs seconds, many on a busy machine."""
_LONGEST_PAUSE = 30.0
_QUIET_SECONDS = 60.0
_HOME = str(Path(__file__).resolve().parent.parent)
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from sandbox.launch import main; main()"


class ZygoteDied(Exception):
    """The zygote is gone, and every child with it."""


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
        if self.groups is None or self.meter is None:
            return
        self.group = self.groups.new()
        try:
            self.group.make(self.meter.pid)
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


class Zygote:
    """One zygote process and its control socket."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self.process = process
        self.control = control
        self.versions: dict[str, str] = {}
        self.spawn_seconds = _SPAWN_SECONDS
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.died: asyncio.Future[str] = loop.create_future()
        self._spawning: dict[int, tuple[Child, asyncio.Future[None]]] = {}
        self._living: dict[int, Child] = {}
        self._number = 0
        loop.add_reader(control, self._hear)

    @classmethod
    async def start(cls, bwrap: str | None, fresh: Device | None = None) -> Zygote:
        """Start one and wait until it can fork. Raises ZygoteDied with its last words.

        With `fresh` it holds no torch: each child imports it and makes its own context on that device.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        device = asdict(fresh) if fresh else None
        options = {"bwrap": bwrap, "parent": os.getpid(), "control": theirs.fileno(), "fresh": device}
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-B", "-c", _BOOT, _HOME, json.dumps(options)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env={},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        zygote = cls(process, ours)
        zygote.spawn_seconds = _FRESH_SECONDS if fresh else _SPAWN_SECONDS
        try:
            done, _ = await asyncio.wait(
                (zygote.ready, zygote.died), timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if zygote.ready not in done:
                words = await zygote.stop()
                raise ZygoteDied(words or f"the zygote was not ready after {START_SECONDS:.0f} s")
        except asyncio.CancelledError:
            await zygote.stop()
            raise
        return zygote

    def groups(self) -> list[Group]:
        """Those of its children that live."""
        return [child.group for child in self._living.values() if child.group is not None]

    async def stop(self) -> str:
        """Kill it with every child; what it had to say on stderr."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self._gone("stopped")
        stream = self.process.stderr
        words = (await stream.read())[-2000:] if stream else b""
        await self.process.wait()
        return words.decode(errors="replace").strip()

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    data, descriptors, _, _ = socket.recv_fds(self.control, 8192, 4)
                except ConnectionError as problem:
                    return self._gone(str(problem))
                if not data:
                    return self._gone("its socket was closed")
                self._take(json.loads(data), descriptors)

    def _take(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "ready" in message:
            self.versions = message["ready"]
            self.ready.set_result(None)
        elif "spawned" in message:
            child, waiting = self._spawning.pop(message["spawned"])
            child.pidfd = descriptors[0]
            self._living[message["spawned"]] = child
            if waiting.done():  # whoever wanted it has gone
                child.close()
            else:
                waiting.set_result(None)
        elif "failed" in message:
            _, waiting = self._spawning.pop(message["failed"])
            if not waiting.done():
                waiting.set_exception(OSError(message["why"]))
        elif "ended" in message:
            child = self._living.pop(message["ended"])
            if not child.ended.done():
                child.ended.set_result(Exit(message["code"], message["cpu_ms"], message["rss_kb"]))
            if child.group is not None:
                # It can be slow, and nobody waits for it.
                asyncio.get_running_loop().run_in_executor(None, child.group.remove)

    def _gone(self, why: str) -> None:
        if self.died.done():
            return
        asyncio.get_running_loop().remove_reader(self.control)
        self.control.close()
        self.died.set_result(why)
        for _, waiting in self._spawning.values():
            if not waiting.done():
                waiting.set_exception(ZygoteDied(why))
        for child in self._living.values():
            if not child.ended.done():
                child.ended.set_exception(ZygoteDied(why))
                child.ended.exception()  # nobody may be waiting for a parked one

    async def spawn(self, disk_mb: int) -> Child:
        """A fresh child, parked and warm. Raises OSError when it cannot be made, ZygoteDied when the zygote is gone."""
        pipes = [os.pipe() for _ in range(4)]
        (run_in, run_out), *outward = pipes
        (results_in, results_out), (out_in, out_out), (err_in, err_out) = outward
        theirs = (run_in, results_out, out_out, err_out)
        child = Child(run_out, results_in, out_in, err_in, disk_mb)
        self._number += 1
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._spawning[self._number] = child, waiting
        try:
            try:
                wish = json.dumps({"spawn": self._number, "disk_mb": disk_mb}).encode()
                socket.send_fds(self.control, [wish], theirs)
            except OSError as problem:
                self._spawning.pop(self._number)
                raise ZygoteDied(str(problem)) from None
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
            await waiting
            async with asyncio.timeout(self.spawn_seconds):
                await _parked(child)
        except BaseException:
            child.close()
            raise
        return child


async def _parked(child: Child) -> None:
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


async def _removed(groups: list[Group]) -> None:
    """Remove them as their processes go; what is left after some seconds the next supervisor clears away."""
    for _ in range(300):
        groups = [group for group in groups if not group.remove()]
        if not groups:
            return
        await asyncio.sleep(0.01)


class Pool:
    """Children ready to take a run, and the zygote they come from."""

    def __init__(
        self, bwrap: str | None, size: int, disk_mb: int, say: Callable[[str], None],
        fresh: Device | None = None, groups: Groups | None = None,
    ) -> None:  # fmt: skip
        self.bwrap = bwrap
        self._groups = groups
        self.fresh = fresh
        self.least = size
        self.size = size
        """How many are kept parked: more after a rush that found none, fewer again when it is quiet."""
        self.disk_mb = disk_mb
        self.say = say
        self.zygote: Zygote | None = None
        self.parked: deque[Child] = deque()
        self.changed = asyncio.Condition()
        self.trouble = ""
        """Why there is no zygote or no child right now, for the operator."""

    @property
    def versions(self) -> dict[str, str]:
        return self.zygote.versions if self.zygote else {}

    async def keep(self) -> None:
        """Keep a zygote alive and the pool full until cancelled."""
        delay = 0.2
        while True:
            try:
                await self._live()
                delay = 0.2
            except (ZygoteDied, OSError) as death:
                self.trouble = f"the zygote does not start: {death}"
                self.say(self.trouble)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 30.0)

    async def _live(self) -> None:
        """One zygote's life."""
        zygote = await Zygote.start(self.bwrap, self.fresh)
        filling = asyncio.create_task(self._fill(zygote))
        try:
            async with self.changed:
                self.zygote = zygote
                self.changed.notify_all()
            # Shielded: cancelled itself, it would count as dead already, and its socket would stay open.
            why = await asyncio.shield(zygote.died)
            self.say(f"the zygote died ({why}); starting another")
        finally:
            self.zygote = None
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
            while self.parked:
                self.parked.pop().close()
            left = zygote.groups()
            await zygote.stop()
            await _removed(left)

    async def _fill(self, zygote: Zygote) -> None:
        pause = 0.5
        while True:
            if not await self._wanted():
                continue
            try:
                child = await self._spawned(zygote, self.disk_mb)
            except ZygoteDied:
                return
            except (OSError, TimeoutError) as problem:
                self.trouble = f"no child can be made: {problem}"
                self.say(self.trouble)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            self.trouble, pause = "", 0.5
            async with self.changed:
                self.parked.append(child)
                self.changed.notify_all()

    async def _wanted(self) -> bool:
        """Wait until another child is wanted; after a quiet while one fewer is, down to the least."""
        try:
            async with asyncio.timeout(_QUIET_SECONDS), self.changed:
                await self.changed.wait_for(lambda: len(self.parked) < self.size)
        except TimeoutError:
            if self.size > self.least:
                self.size -= 1
                self.parked.pop().close()
            return False
        return True

    async def take(self, disk_mb: int) -> Child:
        """A child for one run; the caller closes it. Waits while there is none.

        Raises OSError when one of another disk size cannot be made, ZygoteDied when the zygote goes meanwhile.
        """
        async with self.changed:
            while disk_mb == self.disk_mb:
                await self.changed.wait_for(lambda: bool(self.parked))
                child = self.parked.popleft()
                if not self.parked:
                    self.size = min(self.size + 1, 2 * self.least)
                if not child.ended.done():
                    return child
                child.close()  # it died while it was parked: the machine was short of memory
                self.changed.notify_all()
            await self.changed.wait_for(lambda: self.zygote is not None)
        if self.zygote is None:
            raise ZygoteDied("it died before it was asked")
        return await self._spawned(self.zygote, disk_mb)

    async def _spawned(self, zygote: Zygote, disk_mb: int) -> Child:
        child = await zygote.spawn(disk_mb)
        child.groups = self._groups
        return child

    async def refill(self) -> None:
        """Make up for what was taken: called after an answer, so as not to compete with it."""
        async with self.changed:
            self.changed.notify_all()
