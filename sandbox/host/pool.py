"""Keeps children parked and ready for a run, and replaces the zygote they are forked from when it dies.

Trusted: imports no torch and executes no submitted code.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import socket
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox.devices import ChildDevice
from sandbox.framing import MEMORY_BYTES
from sandbox.host.cgroups import Cgroup, CgroupParent
from sandbox.host.process import Child, ChildExit, wait_until_parked

_FIRST_PAUSE = 0.5
"""Pause after a child could not be started, seconds; doubled up to the maximum."""
_MAX_PAUSE = 30.0
"""Longest pause before the next attempt to start a zygote or a child, seconds."""
_FIRST_RESTART_PAUSE = 0.2
"""Pause after the zygote could not be started, seconds; doubled up to the maximum."""
_QUIET_SECONDS = 60.0
"""Time without demand after which the pool shrinks by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """Which children a pool keeps ready, and how many."""

    bwrap: str | None
    """bubblewrap, which builds the jail; None for the weaker isolation."""
    parked: int
    """Number of children kept parked when it is quiet."""
    disk_mb: int
    device: ChildDevice | None = None
    """Device that the children compute on, if not the CPU."""
    spawn_at_once: int = 1
    """Number of children started at the same time. Each mostly needs CPU time of its own."""
    cgroup_parent: CgroupParent | None = None
    """Where children get control groups; None for no groups."""
    compiler: bool = False
    """Whether the zygote imports torch's compiler, which few programs use."""
    patience_s: float = 60.0
    """Longest wait for a child, seconds."""


class ChildPool:
    """Parked children, and the zygote they are forked from."""

    def __init__(self, settings: PoolSettings, report: Callable[[str], None]) -> None:
        self.settings = settings
        self.report = report
        self.size = settings.parked
        """Number of children kept parked now. It grows when a burst empties the pool, and shrinks when it is quiet."""
        self.zygote: Zygote | None = None
        self.parked: deque[Child] = deque()
        self.spawning = 0
        """Number of children being started, or waiting to retry after a failure."""
        self.trouble = ""
        """Why there is no zygote or no child right now, or "", for the operator."""
        self._waiting: deque[asyncio.Future[Child]] = deque()
        self._pause = _FIRST_PAUSE
        self._demand = asyncio.Event()
        """Set when more children may be needed."""
        self._zygote_up = asyncio.Event()

    @property
    def versions(self) -> dict[str, str]:
        """Versions of torch and numpy; empty until the zygote is up."""
        return self.zygote.versions if self.zygote else {}

    async def keep_filled(self) -> None:
        """Keeps a zygote running and the pool full until cancelled."""
        pause = _FIRST_RESTART_PAUSE
        while True:
            try:
                await self._run_zygote()
                pause = _FIRST_RESTART_PAUSE
            except (ZygoteDied, OSError) as problem:
                self.trouble = f"the zygote does not start: {problem}"
                self.report(self.trouble)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _MAX_PAUSE)

    async def take(self, disk_mb: int) -> Child:
        """Returns a child for one run, waiting if there is none. The caller closes it.

        Raises TimeoutError after the pool's patience, OSError when a child with another disk size cannot be started,
        and ZygoteDied when the zygote dies meanwhile.
        """
        while disk_mb == self.settings.disk_mb:
            child = await self._next()
            if not self.parked:
                self.size = min(self.size + 1, 2 * self.settings.parked)
            if not child.ended.done():
                return child
            child.close()  # it died while parked: the machine was short of memory
            self.refill()
        async with self._patience():
            await self._zygote_up.wait()
        if self.zygote is None:
            raise ZygoteDied("it died before it was asked for a child")
        return await self._spawn(self.zygote, disk_mb)

    def refill(self) -> None:
        """Replaces children that were taken. Called after an answer was sent, so as not to compete with it."""
        self._demand.set()

    async def _run_zygote(self) -> None:
        """Starts a zygote and keeps the pool full until the zygote dies."""
        zygote = await Zygote.start(self.settings.bwrap, self.settings.device, compiler=self.settings.compiler)
        filling = asyncio.create_task(self._fill(zygote))
        try:
            self.zygote = zygote
            self._zygote_up.set()
            # Shielded: cancelling the future itself would mark the zygote as dead and leave its socket open.
            reason = await asyncio.shield(zygote.died)
            self.report(f"the zygote died ({reason}); starting another")
        finally:
            self.zygote = None
            self._zygote_up.clear()
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
            while self.parked:
                self.parked.pop().close()
            cgroups = zygote.cgroups()
            await zygote.stop()
            await _remove_cgroups(cgroups)

    async def _fill(self, zygote: Zygote) -> None:
        """Keeps the pool full until cancelled."""
        async with asyncio.TaskGroup() as spawns:
            while True:
                if await self._wait_for_demand(zygote):
                    self.spawning += 1
                    spawns.create_task(self._spawn_parked(zygote))

    async def _wait_for_demand(self, zygote: Zygote) -> bool:
        """Waits until another child is needed and returns True. Shrinks the pool after a quiet minute."""
        try:
            async with asyncio.timeout(_QUIET_SECONDS):
                while (
                    self.spawning >= self.settings.spawn_at_once
                    or len(self.parked) + self.spawning >= self.size
                    or zygote.died.done()  # another zygote will fill the pool
                ):
                    self._demand.clear()
                    await self._demand.wait()
        except TimeoutError:
            if self.size > self.settings.parked:
                self.size -= 1
                while len(self.parked) > self.size:
                    self.parked.pop().close()
            return False
        return True

    async def _spawn_parked(self, zygote: Zygote) -> None:
        """Parks one more child, or reports why it cannot be started and pauses."""
        try:
            self._park(await self._spawn(zygote, self.settings.disk_mb))
            self.trouble, self._pause = "", _FIRST_PAUSE
        except ZygoteDied:
            return
        except (OSError, TimeoutError) as problem:
            self.trouble = f"no child can be made: {problem}"
            self.report(self.trouble)
            pause, self._pause = self._pause, min(2 * self._pause, _MAX_PAUSE)
            await asyncio.sleep(pause)
        finally:
            self.spawning -= 1
            self._demand.set()

    async def _spawn(self, zygote: Zygote, disk_mb: int) -> Child:
        child = await zygote.spawn(disk_mb)
        child.cgroup_parent = self.settings.cgroup_parent
        return child

    async def _next(self) -> Child:
        """Returns the child parked longest. Callers are served in order of arrival."""
        if self.parked and not self._waiting:
            return self.parked.popleft()
        waiter: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            async with self._patience():
                return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._park(waiter.result())
            raise

    @contextlib.asynccontextmanager
    async def _patience(self) -> AsyncIterator[None]:
        """Raises TimeoutError if the block takes longer than callers wait for a child."""
        try:
            async with asyncio.timeout(self.settings.patience_s):
                yield
        except TimeoutError:
            raise TimeoutError(f"no child was ready within {self.settings.patience_s:g} s") from None

    def _park(self, child: Child) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():  # otherwise the caller was cancelled
                return waiter.set_result(child)
        return self.parked.append(child)


async def end_tasks(tasks: list[asyncio.Task[None]]) -> None:
    """Cancels tasks and waits until they have cleaned up, even if the caller is cancelled meanwhile."""
    for task in tasks:
        task.cancel()
    cancelled = False
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _remove_cgroups(cgroups: list[Cgroup]) -> None:
    """Removes control groups as their processes end. The next supervisor removes what is left after some seconds."""
    for _ in range(300):
        cgroups = [cgroup for cgroup in cgroups if not cgroup.remove()]
        if not cgroups:
            return
        await asyncio.sleep(0.01)


_START_SECONDS = 120.0
"""Maximum time for a zygote to start: importing torch takes long on a cold disk."""
_SPAWN_SECONDS = 20.0
"""Longest wait for a new child."""
_DEVICE_SPAWN_SECONDS = 120.0
"""Maximum time to start a child that starts a GPU's driver."""
_MESSAGE_BYTES = 8192
"""Longest message of a zygote."""
_PACKAGE_FOLDER = str(Path(__file__).resolve().parents[2])
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from sandbox.host.launch import main; main()"

_MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - nothing there has a name


def _new_memory() -> int:
    """Returns a descriptor of memory to share with a child: a file without a name, whose pages exist once used."""
    descriptor = _open_nameless()
    os.ftruncate(descriptor, MEMORY_BYTES)
    return descriptor


def _open_pipes_and_memory() -> tuple[list[tuple[int, int]], int]:
    """Returns a child's four pipes and its memory. Keeps none of them open if one cannot be opened.

    The pool tries again and again, and each attempt would leave fewer descriptors to the next.
    """
    pipes: list[tuple[int, int]] = []
    try:
        pipes += (os.pipe() for _ in range(4))
        return pipes, _new_memory()
    except OSError:
        for descriptor in (end for pipe in pipes for end in pipe):
            os.close(descriptor)
        raise


def _open_nameless() -> int:
    # Every run needs one, and the objects of `tempfile` cost more than the file.
    if _MEMORY_FOLDER is not None:
        with contextlib.suppress(OSError):  # gVisor has no O_TMPFILE
            return os.open(_MEMORY_FOLDER, os.O_TMPFILE | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with tempfile.TemporaryFile(dir=_MEMORY_FOLDER) as file:
        return os.dup(file.fileno())


class ZygoteDied(Exception):
    """The zygote has ended, and every child with it."""


class Zygote:
    """The supervisor's handle on a zygote: starts it, asks it for children, and learns how they end."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self.process = process
        self.control = control
        self.versions: dict[str, str] = {}
        self.spawn_seconds = _SPAWN_SECONDS
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.died: asyncio.Future[str] = loop.create_future()
        self._spawning: dict[int, tuple[Child, asyncio.Future[None]]] = {}
        self._alive: dict[int, Child] = {}
        self._keeping: dict[int, asyncio.Future[bool]] = {}
        self._last_number = 0
        loop.add_reader(control, self._receive)

    @classmethod
    async def start(cls, bwrap: str | None, device: ChildDevice | None = None, *, compiler: bool = False) -> Zygote:
        """Starts a zygote and waits until it can fork. Raises ZygoteDied with its error output.

        With a `device`, each child creates its own context on that device.
        With `compiler`, it holds torch's compiler too.
        """
        own_end, zygote_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own_end.setblocking(False)
        options = {
            "bwrap": bwrap,
            "parent": os.getpid(),
            "control": zygote_end.fileno(),
            "device": asdict(device) if device else None,
            "compiler": compiler,
        }
        with zygote_end:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-B", "-c", _BOOT, _PACKAGE_FOLDER, json.dumps(options)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env={},
                pass_fds=(zygote_end.fileno(),),
                start_new_session=True,
            )
        zygote = cls(process, own_end)
        zygote.spawn_seconds = _DEVICE_SPAWN_SECONDS if device else _SPAWN_SECONDS
        try:
            done, _ = await asyncio.wait(
                (zygote.ready, zygote.died), timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if zygote.ready not in done:
                errors = await zygote.stop()
                raise ZygoteDied(errors or f"the zygote was not ready after {_START_SECONDS:.0f} s")
        except asyncio.CancelledError:
            await zygote.stop()
            raise
        return zygote

    async def spawn(self, disk_mb: int) -> Child:
        """Starts a child and waits until it is parked.

        Raises OSError when the child cannot be started, and ZygoteDied when the zygote has ended.
        """
        pipes, memory = _open_pipes_and_memory()
        (run_in, run_out), (results_in, results_out), (stdout_in, stdout_out), (stderr_in, stderr_out) = pipes
        child_ends = (run_in, results_out, stdout_out, stderr_out)
        child = Child(run_out, results_in, stdout_in, stderr_in, disk_mb, memory)
        self._last_number += 1
        child.keep_pid = functools.partial(self._keep_pid, self._last_number)
        spawned: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._spawning[self._last_number] = child, spawned
        try:
            try:
                request = json.dumps({"spawn": self._last_number, "disk_mb": disk_mb}).encode()
                socket.send_fds(self.control, [request], (*child_ends, memory))
            except OSError as problem:
                self._spawning.pop(self._last_number)
                raise ZygoteDied(str(problem)) from None
            finally:
                for descriptor in child_ends:
                    os.close(descriptor)
            await spawned
            async with asyncio.timeout(self.spawn_seconds):
                await wait_until_parked(child)
        except BaseException:
            child.close()
            raise
        return child

    @contextlib.asynccontextmanager
    async def _keep_pid(self, number: int) -> AsyncIterator[bool]:
        """Keeps a child's process id from becoming another's while the block runs. Yields whether it still is its own.

        Its parent, the zygote, reaps it only afterwards. Nothing else frees the id.
        """
        kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._keeping[number] = kept
        try:
            self._send({"keep": number})
            yield await kept
        finally:
            self._keeping.pop(number, None)
            self._send({"release": number})

    def _send(self, message: dict[str, Any]) -> None:
        """Sends a message without file descriptors. A zygote that has died needs none."""
        with contextlib.suppress(OSError):
            self.control.send(json.dumps(message).encode())

    def cgroups(self) -> list[Cgroup]:
        """Returns the control groups of living children."""
        return [child.cgroup for child in self._alive.values() if child.cgroup is not None]

    async def stop(self) -> str:
        """Kills the zygote and every child. Returns the end of its error output."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self._on_death("stopped")
        stream = self.process.stderr
        errors = (await stream.read())[-2000:] if stream else b""
        await self.process.wait()
        return errors.decode(errors="replace").strip()

    def _receive(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    data, descriptors, _, _ = socket.recv_fds(self.control, _MESSAGE_BYTES, 4)
                except ConnectionError as problem:
                    return self._on_death(str(problem))
                if not data:
                    return self._on_death("its socket was closed")
                self._handle(json.loads(data), descriptors)

    def _handle(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "ready" in message:
            self.versions = message["ready"]
            self.ready.set_result(None)
        elif "spawned" in message:
            child, spawned = self._spawning.pop(message["spawned"])
            child.pidfd = descriptors[0]
            self._alive[message["spawned"]] = child
            if spawned.done():  # the caller was cancelled
                child.close()
            else:
                spawned.set_result(None)
        elif "failed" in message:
            _, spawned = self._spawning.pop(message["failed"])
            if not spawned.done():
                spawned.set_exception(OSError(message["why"]))
        elif "kept" in message:
            kept = self._keeping.pop(message["kept"], None)
            if kept is not None and not kept.done():
                kept.set_result(message["alive"])
        elif "ended" in message:
            child = self._alive.pop(message["ended"])
            if not child.ended.done():
                child.ended.set_result(ChildExit(message["code"], message["cpu_ms"], message["rss_kb"]))
            if child.cgroup is not None:
                # Removing a group can be slow, and nothing depends on it.
                asyncio.get_running_loop().run_in_executor(None, child.cgroup.remove)

    def _on_death(self, reason: str) -> None:
        if self.died.done():
            return
        asyncio.get_running_loop().remove_reader(self.control)
        self.control.close()
        self.died.set_result(reason)
        for _, spawned in self._spawning.values():
            if not spawned.done():
                spawned.set_exception(ZygoteDied(reason))
        for kept in self._keeping.values():
            if not kept.done():
                kept.set_result(False)
        for child in self._alive.values():
            if not child.ended.done():
                child.ended.set_exception(ZygoteDied(reason))
                child.ended.exception()  # marks it as retrieved: nobody awaits a parked child
