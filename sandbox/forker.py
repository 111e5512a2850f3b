"""The supervisor's end of a zygote: starts it, asks it for children, hears how they end.

Trusted: imports no torch and runs no answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sandbox.cgroups import Group
from sandbox.devices import Device
from sandbox.handles import Child, Exit, until_parked

START_SECONDS = 120.0
_SPAWN_SECONDS = 20.0
_FRESH_SECONDS = 120.0
"""A child that imports torch itself needs seconds, many on a busy machine."""
_HOME = str(Path(__file__).resolve().parent.parent)
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from sandbox.launch import main; main()"


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
