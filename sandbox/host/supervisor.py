"""Takes Runs on a unix socket and gives Outcomes: the trusted process between the service and the answers.

Imports no torch and runs no answer. Speaks only to processes of its own user and of those it was told to; queues
fairly, never refuses silently.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandbox import wire
from sandbox.framing import FrameProtocol, Heard
from sandbox.host import process
from sandbox.host.gpu import CANNOT, Executor, Found, GpuExecutors, GpuFailed
from sandbox.host.jail import Host
from sandbox.host.pool import Pool, ZygoteDied
from sandbox.host.queue import AsyncQueue, Queue, TurnedAway
from sandbox.host.running import ChildLost
from sandbox.wire import Outcome, Run

_MOST_WAITING = 64
_MOST_CONNECTING = 1024
"""Callers that may come in one instant; beyond, the kernel turns them away and they do not learn why."""
_MOST_PARKED = 8
_MOST_MAKING = 4
"""Children made at once: a zygote forks one after the other, which takes a quarter of what making one takes."""
_ATTEMPTS = 10
_DRAIN_SECONDS = 8.0
"""What is running when we are told to stop may take so long to end; `docker stop` waits ten."""


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    """How the supervisor is set up."""

    socket: Path
    concurrency: int
    disk_mb: int = 16
    users: frozenset[int] = frozenset()
    """Who may come in besides our own user; the socket is open to its group then."""


def say(text: str) -> None:
    """One line for the operator."""
    sys.stderr.write(f"sandbox: {text}\n")
    sys.stderr.flush()


class Supervisor:
    """The queue, the pool, and the conversation on the socket."""

    def __init__(self, settings: SupervisorSettings, host: Host, found: Found = Found()) -> None:  # noqa: B008 - frozen
        self.settings = settings
        self.host = host
        bwrap = host.bwrap if host.isolation == "full" else None
        parked = min(settings.concurrency, _MOST_PARKED) + 1
        making = min(settings.concurrency, _MOST_MAKING)
        self.pool = Pool(bwrap, parked, settings.disk_mb, say, groups=process.find(), at_once=making)
        self.cpu = Executor(self.pool)
        self.gpus = GpuExecutors(found, bwrap, settings.disk_mb, say)
        self.queue = Queue(settings.concurrency, _MOST_WAITING)
        self.turns = AsyncQueue(self.queue, time.monotonic)
        self.answering = 0
        self.idle = asyncio.Event()
        self.conversations: set[_Conversation] = set()
        self.stopping = False

    async def serve(self, stop: asyncio.Event) -> None:
        """Listen until `stop`, end what is running, then leave no process and no socket behind."""
        listening = listen(self.settings.socket, 0o660 if self.settings.users else 0o600)
        keeping = asyncio.create_task(self._keep())
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(
            lambda: _Conversation(self).talk, sock=listening, backlog=_MOST_CONNECTING
        )
        try:
            await stop.wait()
        finally:
            server.close()
            # Whoever comes now finds nobody, and goes to another sandbox.
            self.settings.socket.unlink(missing_ok=True)
            self.stopping = True
            for conversation in self.conversations:
                conversation.close_if_idle()
            await self._drain()
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _keep(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.pool.keep())
            group.create_task(self.gpus.keep())

    async def _drain(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while self.answering:
                    self.idle.clear()
                    await self.idle.wait()

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        self.answering += 1
        try:
            yield
        finally:
            self.answering -= 1
            if not self.answering:
                self.idle.set()

    async def reply(self, talk: FrameProtocol, kind: str, head: dict[str, Any], body: bytes) -> None:
        """Answer one frame, and make up for what it took."""
        try:
            with self._at_work():
                talk.send(await self._answer(kind, head, body))
        except ValueError as problem:
            say(f"a connection was dropped: {problem}")
            talk.transport.abort()
        finally:
            # Not before the answer is sent: making a child would compete with it.
            self.pool.refill()
            self.gpus.refill()

    async def _answer(self, kind: str, head: dict[str, Any], body: bytes) -> bytes:
        if kind == "health":
            return wire.encode("health", self.health())
        if kind == "run":
            return wire.encode_outcome(await self.run(wire.read_run(head, body)))
        raise ValueError(f"a frame of kind {kind!r}")

    def health(self) -> dict[str, Any]:
        """The fields of a `health` frame."""
        return {
            "ready": len(self.pool.parked),
            "running": len(self.queue.running) + len(self.gpus.queue.running),
            "waiting": len(self.queue.waiting) + len(self.gpus.queue.waiting),
            "wait_s": self.queue.wait(len(self.queue.running) + len(self.queue.waiting)),
            "isolation": self.host.isolation,
            "lacks": list(self.host.lacks),
            "versions": self.pool.versions,
            "trouble": self.pool.trouble,
            "devices": ["cpu", *(["cuda"] if self.gpus.lanes else [])],
            "gpu": self.gpus.word,
        }

    async def run(self, run: Run) -> Outcome:
        """One Run, after those before it; whatever goes wrong on our side is an Outcome of status internal."""
        asked = time.monotonic()
        turns = self.gpus.turns if run.device == "cuda" else self.turns
        if run.device == "cuda" and (why_not := self.gpus.why_not()):
            return replace(self._internal(run, why_not), refused="device")
        try:
            async with turns.turn(run.owner, run.priority) as before:
                return replace(await self._tried(run, asked), before=before)
        except TurnedAway as refusal:
            return replace(self._internal(run, str(refusal)), refused=refusal.why)

    async def _tried(self, run: Run, asked: float) -> Outcome:
        # Whose run it is and what it is for is nothing the program in the child may read.
        anonymous = replace(run, owner="", priority="background")
        try:
            with self.gpus.lane() if run.device == "cuda" else contextlib.nullcontext(self.cpu) as lane:
                return await self._in_a_child(lane, anonymous, asked)
        except GpuFailed as problem:
            return replace(self._internal(run, f"{CANNOT}: {problem}"), refused="device")
        except (ZygoteDied, OSError, TimeoutError) as problem:
            return self._internal(run, f"{type(problem).__name__}: {problem}. {self.pool.trouble}")

    async def _in_a_child(self, lane: Executor, run: Run, asked: float) -> Outcome:
        for _ in range(_ATTEMPTS):
            child = await lane.take(run.limits.disk_mb)
            try:
                return await lane.execute(child, run, self.host.isolation, (time.monotonic() - asked) * 1000)
            except ChildLost:
                # It died while it was parked, and the word of it was still under way.
                lane.pool.refill()
            finally:
                # Soon, not now: taking it apart would compete with its answer on the way out.
                asyncio.get_running_loop().call_soon(child.close)
        raise OSError(f"{_ATTEMPTS} children died before they took the run")

    def _internal(self, run: Run, why: str) -> Outcome:
        return Outcome(id=run.id, status="internal", isolation=self.host.isolation, detail=why.strip())


def listen(path: Path, mode: int = 0o600) -> socket.socket:
    """A socket at `path` for those `mode` lets in. Raises RuntimeError when another supervisor listens there."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # It gets its name when it listens: so a name at which nobody listens is one that a killed supervisor left.
    nameless = path.with_suffix(".new")
    try:
        _clear(path)
        _clear(nameless)
        made.bind(str(nameless))
        # Nobody can connect before listen(), so there is no moment at which others could.
        nameless.chmod(mode)
        made.listen(_MOST_CONNECTING)
        nameless.rename(path)
    except OSError as problem:
        made.close()
        raise RuntimeError(f"cannot listen at {path}: {problem}; give a shorter path you may write") from None
    made.setblocking(False)
    return made


def named_in(folder: Path) -> Path:
    """The path of this machine's own socket in a folder that several share, rid of those that killed ones left."""
    own = folder / f"{socket.gethostname()}.sock"
    for path in folder.glob("*.sock"):
        with contextlib.suppress(OSError):  # it is listened at, or it is not ours to remove
            _clear(path)
    return own


def _clear(path: Path) -> None:
    """Remove what a killed supervisor left."""
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


class _Conversation:
    """One connection: one frame at a time is answered, and hanging up ends the work on it."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        supervisor.conversations.add(self)
        self.work: asyncio.Task[None] | None = None
        self.talk = _Known(supervisor.settings.users | {os.getuid()}, self._heard, self._ended)

    @property
    def busy(self) -> bool:
        return self.work is not None and not self.work.done()

    def close_if_idle(self) -> None:
        """Hang up where nothing is being answered: its caller goes elsewhere with what comes next."""
        if not self.busy:
            self.talk.transport.abort()

    def _heard(self, kind: str, head: dict[str, Any], body: bytes) -> None:
        if self.busy:
            raise ValueError("a frame came before the one before it was answered")
        if self.supervisor.stopping:
            raise ValueError("it came after we were told to stop")
        self.work = asyncio.create_task(self.supervisor.reply(self.talk, kind, head, body))

    def _ended(self, why: str) -> None:
        if why:
            say(f"a connection was dropped: {why}")
        self.supervisor.conversations.discard(self)
        if self.work is not None:
            self.work.cancel()


class _Known(FrameProtocol):
    """Hears only these users."""

    def __init__(self, users: frozenset[int], heard: Heard, ended: Callable[[str], None]) -> None:
        super().__init__(heard, ended)
        self._users = users

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        known = transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        user = int(struct.unpack("=iII", known)[1])
        if user not in self._users:
            say(f"user {user} was turned away")
            self.transport.abort()
