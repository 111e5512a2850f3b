"""Sends Runs to the supervisor and awaits their Outcomes. The only way into the sandbox; imports no torch."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox import wire
from sandbox.framing import FrameDecoder
from sandbox.wire import Device, Isolation, Outcome, Run

# Callers' ends of connections to a supervisor: kept while idle, given up when the work on one is.
#
# Knows no meaning of what it carries. Plain sockets beside the loop rather than its transports: an idle one belongs to
# no loop, and needs no closing.


Frame = tuple[str, dict[str, Any], bytes]
_PIECE = 1 << 18
_MOST_IDLE = 16


class StaleConnection(ConnectionError):
    """A kept connection was gone before a word of an answer came: another may be tried."""


class ConnectionPool:
    """Connections to the socket at `path`, each for one question at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[_Line] = []

    async def ask(self, frame: bytes, seconds: float) -> Frame:
        """The frame that answers. Raises OSError or ValueError where none comes; cancelled, it hangs up."""
        async with asyncio.timeout(seconds):
            while (line := self._kept()) is not None:
                with contextlib.suppress(StaleConnection):
                    return await self._asked(line, frame)
            return await self._asked(await _Line.connected(self._path), frame)

    async def _asked(self, line: _Line, frame: bytes) -> Frame:
        try:
            answer = await line.ask(frame)
        except BaseException:
            line.close()  # now: whatever is at work at the other end is not wanted any more
            raise
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(line)
        return answer

    def _kept(self) -> _Line | None:
        """The one used last, of those whose other end is still there."""
        while self._idle:
            line = self._idle.pop()
            if line.quiet():
                return line
        return None


class _End(socket.socket):
    """A socket that closes when it is dropped, without a word: an idle connection is nobody's to close."""

    def __del__(self) -> None:
        self.close()


class _Line:
    """One connection; dropping it closes it."""

    def __init__(self, end: _End) -> None:
        self._end = end
        self._used = False

    def close(self) -> None:
        """Hang up."""
        self._end.close()

    @classmethod
    async def connected(cls, path: Path) -> _Line:
        """A new one. Raises OSError where nobody listens."""
        end = _End(socket.AF_UNIX, socket.SOCK_STREAM)
        end.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(end, str(path))
        except BaseException:
            end.close()
            raise
        return cls(end)

    def quiet(self) -> bool:
        """Whether the other end is there and has said nothing unasked."""
        try:
            self._end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    async def ask(self, frame: bytes) -> Frame:
        """Send one frame and take one. Raises Stale, OSError or ValueError; the line is of no use then."""
        reused, self._used = self._used, True
        parts = FrameDecoder()
        try:
            await self._send(frame)
            while (answer := parts.next()) is None:
                parts.feed(await self._heard())
        except ConnectionError as problem:
            if reused and not parts.begun:
                raise StaleConnection(str(problem)) from None
            raise
        if parts.begun:
            raise ValueError("more than one frame came as an answer")
        return answer

    async def _send(self, frame: bytes) -> None:
        try:
            sent = self._end.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):
            await asyncio.get_running_loop().sock_sendall(self._end, memoryview(frame)[sent:])

    async def _heard(self) -> bytes:
        data = await asyncio.get_running_loop().sock_recv(self._end, _PIECE)
        if not data:
            raise ConnectionResetError("it hung up without an answer")
        return data


_SLACK_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Health:
    """How the sandbox is."""

    ready: int
    """Children parked, waiting for a run."""
    running: int
    waiting: int
    isolation: Isolation
    lacks: tuple[str, ...]
    """What the machine does not offer, each with its cure."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of torch and numpy; empty until the zygote is up."""
    trouble: str = ""
    """Why there is no child to be had right now, if so."""
    wait_s: float = 0.0
    """How long a run that comes now can expect to wait."""
    devices: tuple[Device, ...] = ("cpu",)
    """Where a run may ask to compute."""
    gpu: str = ""
    """What GPUs there are, or why there is none, with the cure."""


class SandboxUnreachable(ConnectionError):
    """No supervisor answers at the socket."""


class NobodyThere(SandboxUnreachable):
    """Nothing was even sent: no supervisor listens at the socket."""


class SandboxClient:
    """One connection for each request at a time, so that hanging up cancels its run; one that a supervisor let go of
    is made anew. It needs no closing, and outlives its loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = ConnectionPool(path)

    async def run(self, run: Run) -> Outcome:
        """The Outcome of `run`. A lost connection does not raise: it is status `internal`, not the member's fault.

        Raises ValueError when the Run is larger than the wire carries.
        """
        try:
            return await self.attempt(run)
        except SandboxUnreachable as problem:
            return Outcome(id=run.id, status="internal", detail=str(problem))

    async def attempt(self, run: Run) -> Outcome:
        """As `run`, but raises SandboxUnreachable where no outcome came, and none will: hanging up ends the run."""
        frame = wire.encode_run(run)
        try:
            kind, head, body = await self._lines.ask(frame, run.limits.wall_ms / 1000 + _SLACK_SECONDS)
            if kind != "outcome":
                raise ValueError(f"a frame of kind {kind!r}")
            return wire.read_outcome(head, body)
        except (OSError, ValueError) as problem:
            # Both can only come of connecting.
            absent = isinstance(problem, ConnectionRefusedError | FileNotFoundError)
            kind_of = NobodyThere if absent else SandboxUnreachable
            raise kind_of(f"{self.path}: {type(problem).__name__}: {problem}") from problem

    async def health(self) -> Health:
        """How the sandbox is. Raises SandboxUnreachable when nobody answers."""
        try:
            _, head, _ = await self._lines.ask(wire.encode("health", {}), 10)
            return Health(**{**head, "lacks": tuple(head["lacks"]), "devices": tuple(head.get("devices", ("cpu",)))})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise SandboxUnreachable(f"no sandbox answers at {self.path}: {problem}; is it started?") from None

    async def until_ready(self, seconds: float = 120.0) -> Health:
        """Wait until a child is parked. Raises SandboxUnreachable, with the trouble, after `seconds`."""
        last = ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        health = await self.health()
                    except SandboxUnreachable as problem:
                        last = str(problem)
                    else:
                        if health.ready:
                            return health
                        last = health.trouble
                    await asyncio.sleep(0.05)
        raise SandboxUnreachable(f"no child was ready within {seconds:.0f} s: {last or 'still starting'}")
