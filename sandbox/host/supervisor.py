"""The supervisor: accepts Runs on a Unix socket, queues them fairly, and returns Outcomes.

The trusted process between the service and untrusted code. Imports no torch and executes no submitted code. It accepts
connections only from its own user and the users it was started with.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox import linux, wire
from sandbox.framing import FrameHandler, FrameProtocol
from sandbox.host import jail
from sandbox.host.cgroups import find_cgroups
from sandbox.host.compiler import PATIENCE_S as COMPILER_PATIENCE_S
from sandbox.host.compiler import CompilerExecutor, uses_compiler
from sandbox.host.executors import GPU_UNAVAILABLE, Executor, GpuExecutors, GpuUnavailable
from sandbox.host.gpu import GpuInventory, find_gpus
from sandbox.host.jail import HostIsolation
from sandbox.host.pool import ChildPool, PoolSettings, ZygoteDied
from sandbox.host.process import Child
from sandbox.host.running import ChildLost
from sandbox.queue import AsyncQueue, FairQueue, RunRefused
from sandbox.wire import Outcome, Run

_MAX_WAITING = 64
"""Number of runs that may wait."""
_LONGEST_PATH = 100
"""Characters that the path of a socket may have; the kernel allows 107, and a suffix is added."""
_BACKLOG = 1024
"""Number of connections that may arrive at once. Beyond it, the kernel rejects them without a reason."""
_MAX_PARKED = 8
_MAX_SPAWNING = 4
"""Number of children started at once. Forking is serial in the zygote, and about a quarter of the work."""
_MAX_CHILDREN_TRIED = 10
_DRAIN_SECONDS = 8.0
"""Time for running work to finish after SIGTERM, seconds. `docker stop` waits ten."""


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    """Options of the supervisor."""

    socket: Path
    """Socket to listen on, or a folder in which the socket gets the host's name."""
    concurrency: int
    """Number of runs at once."""
    disk_mb: int = 16
    users: frozenset[int] = frozenset()
    """Other user ids that may connect than the supervisor's own. If there are any, the socket is open to its group."""
    weaker: bool = False
    """Use seccomp and Landlock only, without namespaces."""
    gpus: str = "all"
    """GPUs to use: `all`, `none` or NVML indices."""
    parent: int = 0
    """Process id of a parent to exit with, or 0."""


def run_supervisor(settings: SupervisorSettings) -> int:
    """Serves until SIGTERM. Returns the exit status: 3 if this machine cannot isolate, 4 if the socket is unusable."""
    # No other process, least of all a child, may read this one's memory or environment.
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    try:
        host = jail.probe(weaker=settings.weaker)
        asyncio.run(_serve_until_signal(settings, host))
    except jail.NotIsolated as problem:
        report(str(problem))
        return 3
    except RuntimeError as problem:
        report(str(problem))
        return 4
    return 0


async def _serve_until_signal(settings: SupervisorSettings, host: HostIsolation) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    if settings.parent:
        linux.prctl(linux.PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != settings.parent:
            return
    if settings.socket.is_dir():
        settings = replace(settings, socket=socket_in_folder(settings.socket))
    if host.isolation == "full":
        gpus = find_gpus(settings.gpus)
    else:
        gpus = GpuInventory(summary="none is used with --weaker: keeping GPUs apart needs namespaces")
    await Supervisor(settings, host, gpus).serve(stop)


def report(text: str) -> None:
    """Writes one line to stderr for the operator."""
    sys.stderr.write(f"sandbox: {text}\n")
    sys.stderr.flush()


class Supervisor:
    """Connects the socket, the queues and the pools of children."""

    def __init__(
        self,
        settings: SupervisorSettings,
        host: HostIsolation,
        gpus: GpuInventory = GpuInventory(),  # noqa: B008 - frozen
    ) -> None:
        self.settings = settings
        self.host = host
        bwrap = host.bwrap if host.isolation == "full" else None
        parked = min(settings.concurrency, _MAX_PARKED) + 1
        spawning = min(settings.concurrency, _MAX_SPAWNING)
        children = PoolSettings(
            bwrap=bwrap,
            parked=parked,
            disk_mb=settings.disk_mb,
            spawn_at_once=spawning,
            cgroup_parent=find_cgroups(),
        )
        self.pool = ChildPool(children, report)
        self.cpu = Executor(self.pool)
        self.compiler = CompilerExecutor(
            ChildPool(replace(children, parked=1, compiler=True, patience_s=COMPILER_PATIENCE_S), report)
        )
        self.queue = AsyncQueue(FairQueue(settings.concurrency, _MAX_WAITING), time.monotonic)
        self.gpus = GpuExecutors(gpus, bwrap, settings.disk_mb, report)
        self.connections: set[_Connection] = set()
        self.stopping = False
        self._answering = 0
        self._idle = asyncio.Event()

    async def serve(self, stop: asyncio.Event) -> None:
        """Listens until `stop` is set, lets running work finish, and removes its processes and its socket."""
        listener = listen(self.settings.socket, 0o660 if self.settings.users else 0o600)
        pools = asyncio.create_task(self._keep_pools())
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(lambda: _Connection(self).protocol, sock=listener, backlog=_BACKLOG)
        try:
            await stop.wait()
        finally:
            server.close()
            # From now on, callers find no socket and use another sandbox.
            self.settings.socket.unlink(missing_ok=True)
            self.stopping = True
            for connection in self.connections:
                connection.close_if_idle()
            await self._drain()
            pools.cancel()
            await asyncio.gather(pools, return_exceptions=True)

    async def _keep_pools(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.pool.keep_filled())
            group.create_task(self.compiler.keep_ready())
            group.create_task(self.gpus.keep_ready())

    async def _drain(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while self._answering:
                    self._idle.clear()
                    await self._idle.wait()

    @contextlib.contextmanager
    def _count_answering(self) -> Iterator[None]:
        self._answering += 1
        try:
            yield
        finally:
            self._answering -= 1
            if not self._answering:
                self._idle.set()

    async def reply(self, protocol: FrameProtocol, kind: str, head: dict[str, Any], body: bytes) -> None:
        """Answers one frame, then replaces the children it used."""
        try:
            with self._count_answering():
                protocol.send(await self._answer(kind, head, body))
        except ValueError as problem:
            report(f"a connection was dropped: {problem}")
            protocol.transport.abort()
        finally:
            # After the answer was sent: starting a child would compete with it.
            for pool in (self.pool, self.compiler.pool, *self.gpus.pools):
                pool.refill()

    async def _answer(self, kind: str, head: dict[str, Any], body: bytes) -> bytes:
        if kind == "health":
            return wire.encode("health", self.health())
        if kind == "run":
            return wire.encode_outcome(await self.run(wire.read_run(head, body)))
        raise ValueError(f"a frame of kind {kind!r}")

    def health(self) -> dict[str, Any]:
        """Returns the fields of a `health` frame."""
        cpu, gpu = self.queue.state, self.gpus.queue.state
        return {
            "ready": len(self.pool.parked),
            "running": len(cpu.running) + len(gpu.running),
            "waiting": len(cpu.waiting) + len(gpu.waiting),
            "wait_s": cpu.expected_wait(len(cpu.running) + len(cpu.waiting)),
            "isolation": self.host.isolation,
            "lacks": list(self.host.lacks),
            "versions": self.pool.versions,
            "trouble": self.pool.trouble,
            "devices": ["cpu", *(["cuda"] if self.gpus.executors else [])],
            "gpu": self.gpus.summary,
            "gpu_trouble": self.gpus.trouble,
        }

    async def run(self, run: Run) -> Outcome:
        """Queues and executes a Run. Every failure of the sandbox itself is an Outcome with status internal."""
        arrived = time.monotonic()
        queue = self.gpus.queue if run.device == "cuda" else self.queue
        if run.device == "cuda" and run.driving == "pair":
            return self._internal(run, "a driver with a process of its own is for the CPU only")
        if run.device == "cuda" and (reason := self.gpus.unavailable_reason()):
            return replace(self._internal(run, reason), refused="device")
        try:
            async with queue.admit(run.owner, run.priority) as ahead:
                return replace(await self._execute(run, arrived), before=ahead)
        except RunRefused as refusal:
            return replace(self._internal(run, str(refusal)), refused=refusal.why)

    async def _execute(self, run: Run, arrived: float) -> Outcome:
        # The program must not learn whose run it is, nor what it is for, nor by what its outcome is recognized.
        anonymous = replace(run, id="", owner="", priority="background", role="program")
        with self._executor_for(run) as executor:
            try:
                return replace(await self._execute_in_child(executor, anonymous, arrived), id=run.id)
            except GpuUnavailable as problem:
                return replace(self._internal(run, f"{GPU_UNAVAILABLE}: {problem}"), refused="device")
            except (ZygoteDied, OSError, TimeoutError) as problem:
                return self._internal(run, f"{type(problem).__name__}: {problem}. {executor.pool.trouble}")

    def _executor_for(self, run: Run) -> contextlib.AbstractContextManager[Executor]:
        if run.device == "cuda":
            return self.gpus.reserve()
        return contextlib.nullcontext(self.compiler if uses_compiler(run) else self.cpu)

    async def _execute_in_child(self, executor: Executor, run: Run, arrived: float) -> Outcome:
        for _ in range(_MAX_CHILDREN_TRIED):
            children: list[Child] = []
            try:
                for _ in range(2 if run.driving == "pair" else 1):
                    children.append(await executor.take(run.limits.disk_mb))
                queue_ms = (time.monotonic() - arrived) * 1000
                if run.driving == "pair":
                    answer, driver = children
                    outcome = await executor.execute_pair((answer, driver), run, self.host.isolation, queue_ms)
                else:
                    outcome = await executor.execute(children[0], run, self.host.isolation, queue_ms)
                return replace(outcome, platform=executor.platform)
            except ChildLost:
                # It died while parked, and the zygote's message about it had not arrived yet.
                executor.pool.refill()
            finally:
                # Later in this loop: closing a child now would delay its answer.
                for child in children:
                    asyncio.get_running_loop().call_soon(child.close)
        raise OSError(f"{_MAX_CHILDREN_TRIED} children died before they took the run")

    def _internal(self, run: Run, reason: str) -> Outcome:
        return Outcome(id=run.id, status="internal", isolation=self.host.isolation, detail=reason.strip())


class _Connection:
    """One caller. Answers one frame at a time; hanging up cancels the work on it."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        supervisor.connections.add(self)
        self.work: asyncio.Task[None] | None = None
        self.protocol = _AuthorizedProtocol(supervisor.settings.users | {os.getuid()}, self._on_frame, self._on_close)

    @property
    def busy(self) -> bool:
        return self.work is not None and not self.work.done()

    def close_if_idle(self) -> None:
        """Hangs up if no frame is being answered, so that the caller uses another sandbox from now on."""
        if not self.busy:
            self.protocol.transport.abort()

    def _on_frame(self, kind: str, head: dict[str, Any], body: bytes) -> None:
        if self.busy:
            raise ValueError("a frame came before the previous one was answered")
        if self.supervisor.stopping:
            raise ValueError("a frame came while the supervisor was stopping")
        self.work = asyncio.create_task(self.supervisor.reply(self.protocol, kind, head, body))

    def _on_close(self, reason: str) -> None:
        if reason:
            report(f"a connection was dropped: {reason}")
        self.supervisor.connections.discard(self)
        if self.work is not None:
            self.work.cancel()


class _AuthorizedProtocol(FrameProtocol):
    """A FrameProtocol that accepts these users only."""

    def __init__(self, users: frozenset[int], on_frame: FrameHandler, on_close: Callable[[str], None]) -> None:
        super().__init__(on_frame, on_close)
        self._users = users

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        credentials = transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        user = int(struct.unpack("=iII", credentials)[1])
        if user not in self._users:
            report(f"user {user} was turned away")
            self.transport.abort()


def listen(path: Path, mode: int = 0o600) -> socket.socket:
    """Returns a listening socket at `path` with that file mode.

    Raises RuntimeError when another supervisor listens there or the path cannot be used.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Renamed to `path` once it listens, so a socket file without a listener was left by a killed supervisor.
    temporary = path.with_suffix(".new")
    try:
        _remove_stale(path)
        _remove_stale(temporary)
        listener.bind(str(temporary))
        # Nobody can connect before listen(), so the socket is never open to more users than `mode` allows.
        temporary.chmod(mode)
        listener.listen(_BACKLOG)
        temporary.rename(path)
    except OSError as problem:
        listener.close()
        cure = f"choose a path of fewer than {_LONGEST_PATH} characters that you may write to"
        if isinstance(problem, FileNotFoundError):
            cure = f"make its folder first: mkdir -p {path.parent}"
        raise RuntimeError(f"cannot listen at {path}: {problem}; {cure}") from None
    listener.setblocking(False)
    return listener


def socket_in_folder(folder: Path) -> Path:
    """Returns this host's socket path in a shared folder. Removes sockets that killed supervisors left there."""
    for path in folder.glob("*.sock"):
        with contextlib.suppress(OSError):  # somebody listens, or it belongs to another user
            _remove_stale(path)
    return folder / f"{socket.gethostname()}.sock"


def _remove_stale(path: Path) -> None:
    """Removes a socket that a killed supervisor left. Raises OSError for anything else at `path`."""
    if path.exists() and not path.is_socket():
        raise OSError("something else is there already")
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        else:
            raise OSError("another sandbox listens there already")
