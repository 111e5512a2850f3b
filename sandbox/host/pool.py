"""Keeps children parked, ready for a run, and replaces the zygote they come from when it dies.

Trusted: imports no torch and runs no answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sandbox.devices import Device
from sandbox.host.process import Child, Exit, Group, Groups, until_parked

# The supervisor's end of a zygote: starts it, asks it for children, hears how they end.
#
# Trusted: imports no torch and runs no answer.


START_SECONDS = 120.0
_SPAWN_SECONDS = 20.0
_FRESH_SECONDS = 120.0
"""A child that imports torch itself needs seconds, many on a busy machine."""
_HOME = str(Path(__file__).resolve().parents[2])
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from sandbox.host.launch import main; main()"


class ZygoteDied(Exception):
    """The zygote is gone, and every child with it."""


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
                await until_parked(child)
        except BaseException:
            child.close()
            raise
        return child


_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_QUIET_SECONDS = 60.0
_LONGEST_WAIT = 60.0
"""Seconds for a child to be had."""


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
        fresh: Device | None = None, groups: Groups | None = None, at_once: int = 1,
    ) -> None:  # fmt: skip
        self.bwrap = bwrap
        self.at_once = at_once
        """How many are made at the same time: most of what a child needs is its own processor's time."""
        self._groups = groups
        self.fresh = fresh
        self.least = size
        self.size = size
        """How many are kept parked: more after a rush that found none, fewer again when it is quiet."""
        self.disk_mb = disk_mb
        self.say = say
        self.zygote: Zygote | None = None
        self.parked: deque[Child] = deque()
        self._waiting: deque[asyncio.Future[Child]] = deque()
        self.making = 0
        """How many are being made, or failed to be and wait for the next attempt."""
        self._pause = _SHORTEST_PAUSE
        self._short = asyncio.Event()
        """More may be wanted."""
        self._alive = asyncio.Event()
        """There is a zygote."""
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
            self.zygote = zygote
            self._alive.set()
            # Shielded: cancelled itself, it would count as dead already, and its socket would stay open.
            why = await asyncio.shield(zygote.died)
            self.say(f"the zygote died ({why}); starting another")
        finally:
            self.zygote = None
            self._alive.clear()
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
            while self.parked:
                self.parked.pop().close()
            left = zygote.groups()
            await zygote.stop()
            await _removed(left)

    async def _fill(self, zygote: Zygote) -> None:
        """Keep the pool full until cancelled."""
        async with asyncio.TaskGroup() as makers:
            while True:
                if await self._wanted(zygote):
                    self.making += 1
                    makers.create_task(self._make(zygote))

    async def _make(self, zygote: Zygote) -> None:
        """Park one more, or say why there is none and let some time pass."""
        try:
            self._park(await self._spawned(zygote, self.disk_mb))
            self.trouble, self._pause = "", _SHORTEST_PAUSE
        except ZygoteDied:
            return
        except (OSError, TimeoutError) as problem:
            self.trouble = f"no child can be made: {problem}"
            self.say(self.trouble)
            pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
        finally:
            self.making -= 1
            self._short.set()

    async def _wanted(self, zygote: Zygote) -> bool:
        """Wait until another child is wanted; after a quiet while one fewer is, down to the least."""
        try:
            async with asyncio.timeout(_QUIET_SECONDS):
                while (
                    self.making >= self.at_once
                    or len(self.parked) + self.making >= self.size
                    or zygote.died.done()  # there will be another pool
                ):
                    self._short.clear()
                    await self._short.wait()
        except TimeoutError:
            if self.size > self.least:
                self.size -= 1
                while len(self.parked) > self.size:
                    self.parked.pop().close()
            return False
        return True

    async def take(self, disk_mb: int) -> Child:
        """A child for one run; the caller closes it. Waits while there is none.

        Raises TimeoutError after a minute without one, OSError when one of another disk size cannot be made,
        ZygoteDied when the zygote goes meanwhile.
        """
        while disk_mb == self.disk_mb:
            child = await self._next()
            if not self.parked:
                self.size = min(self.size + 1, 2 * self.least)
            if not child.ended.done():
                return child
            child.close()  # it died while it was parked: the machine was short of memory
            self.refill()
        async with asyncio.timeout(_LONGEST_WAIT):
            await self._alive.wait()
        if self.zygote is None:
            raise ZygoteDied("it died before it was asked")
        return await self._spawned(self.zygote, disk_mb)

    async def _next(self) -> Child:
        """The child parked longest, for whoever has waited longest."""
        if self.parked and not self._waiting:
            return self.parked.popleft()
        place: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._park(place.result())
            raise

    def _park(self, child: Child) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():  # else whoever waited has gone
                return place.set_result(child)
        return self.parked.append(child)

    async def _spawned(self, zygote: Zygote, disk_mb: int) -> Child:
        child = await zygote.spawn(disk_mb)
        child.groups = self._groups
        return child

    def refill(self) -> None:
        """Make up for what was taken: called after an answer, so as not to compete with it."""
        self._short.set()
