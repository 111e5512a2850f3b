"""Client of the sandbox: sends Runs to a supervisor and returns their Outcomes. Imports no torch.

The supervisor is behind a Unix socket of this machine, or behind the gate of another one (`sandbox.host.gate`).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from sandbox import wire
from sandbox.framing import FrameDecoder
from sandbox.tls import HANDSHAKE_SECONDS, Certificates, Node, NotConnected, TlsStream, notice_loss
from sandbox.wire import Device, Isolation, Outcome, Run

EXTRA_SECONDS = 300.0
"""Time to wait for an outcome beyond the run's own limit: queueing and, at worst, the start of the compiler's zygote on
a loaded machine. A supervisor that ends closes the connection, so that nobody waits for it."""
_HEALTH_SECONDS = 10
"""Longest wait for a health report."""
_POLL_SECONDS = 0.05
"""Interval at which a sandbox that starts is asked whether it is ready."""
_RECEIVE_BYTES = 1 << 18
"""Bytes received at a time."""
_MOST = 1e9
"""Largest number that a sandbox can report of its runs."""
_LONGEST_TEXTS = 100_000
"""Length of the texts of a report of health, characters, all together."""
_MAX_IDLE = 16
"""Number of idle connections kept."""


class SandboxUnreachable(ConnectionError):
    """No outcome came from the sandbox, and none will."""


class NobodyThere(SandboxUnreachable):
    """Nothing was sent: no supervisor listens on the socket."""


class RunLost(SandboxUnreachable):
    """The connection ended during the run, as when a sandbox or a worker is replaced."""


@dataclass(frozen=True, slots=True)
class Health:
    """State of a sandbox."""

    ready: int
    """Number of parked children waiting for a run."""
    running: int
    waiting: int
    isolation: Isolation
    lacks: tuple[str, ...]
    """Features the machine does not offer, each with its fix."""
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of torch and numpy; empty until the zygote is up."""
    trouble: str = ""
    """Why no child is available right now, or ""."""
    wait_s: float = 0.0
    """Expected waiting time of a run that arrives now, seconds."""
    devices: tuple[Device, ...] = ("cpu",)
    gpu: str = ""
    """The GPUs found, or why there is none and how to fix it."""
    gpu_trouble: str = ""
    """Why a GPU that was found at the start cannot be used now, or ""."""


def read_health(found: Any) -> Health:
    """Returns the health that a sandbox or a worker reports. Raises ValueError if it is malformed: a machine that
    somebody else took over must not be able to crash the caller."""
    if not isinstance(found, Mapping):
        raise ValueError("not an object")
    known = {each.name: each.default for each in fields(Health)}
    given = {**found, "devices": found.get("devices", ("cpu",))}
    if not known.keys() >= given.keys() or {"ready", "running", "waiting", "isolation", "lacks"} - given.keys():
        raise ValueError(f"unknown or missing fields: {sorted(given.keys() ^ known.keys())}")
    numbers = [given[name] for name in ("ready", "running", "waiting")]
    wait_s = given.get("wait_s", 0.0)
    if any(type(number) is not int or not 0 <= number <= _MOST for number in numbers):
        raise ValueError("an impossible number of runs")
    if type(wait_s) not in (int, float) or not 0 <= wait_s <= _MOST:
        raise ValueError("an impossible waiting time")
    lacks, devices, versions = given["lacks"], given["devices"], given.get("versions", {})
    if not isinstance(versions, Mapping) or not all(isinstance(each, list | tuple) for each in (lacks, devices)):
        raise ValueError("fields of the wrong type")
    texts = [
        *lacks,
        *versions,
        *versions.values(),
        *(given.get(name, "") for name in ("trouble", "gpu", "gpu_trouble")),
    ]
    if not all(isinstance(text, str) for text in texts) or sum(map(len, texts)) > _LONGEST_TEXTS:
        raise ValueError("texts of the wrong type, or too long")
    if given["isolation"] not in get_args(Isolation) or any(device not in get_args(Device) for device in devices):
        raise ValueError("an unknown isolation or device")
    return Health(**{**given, "lacks": tuple(lacks), "devices": tuple(devices), "versions": dict(versions)})


class SandboxClient:
    """Client of the supervisor at `place`: a socket, or a node with the certificates to show it.

    Each request has a connection to itself, so that hanging up cancels its run. Idle connections are reused. A client
    needs no closing and is not bound to an event loop.
    """

    def __init__(self, place: Path | Node, certificates: Certificates | None = None) -> None:
        self.place = place
        self._connections = ConnectionPool(place, certificates)

    @property
    def path(self) -> Path:
        """The socket of a sandbox of this machine."""
        assert isinstance(self.place, Path)
        return self.place

    async def run(self, run: Run) -> Outcome:
        """Runs a program. A lost connection does not raise: it returns status `internal`.

        Raises ValueError when the Run is too large for the wire.
        """
        try:
            return await self.attempt(run)
        except SandboxUnreachable as problem:
            return Outcome(id=run.id, status="internal", detail=str(problem))

    async def attempt(self, run: Run) -> Outcome:
        """Runs a program. Raises RunLost when the connection is lost, which also ends the run, and another
        SandboxUnreachable when the reply is not the outcome of this run."""
        sent = wire.name_attempt(run)
        frame = wire.encode_run(sent)
        try:
            kind, head, body = await self._connections.ask(frame, run.limits.wall_ms / 1000 + EXTRA_SECONDS)
            if kind != "outcome":
                raise ValueError(f"a frame of kind {kind!r}")
            return replace(wire.read_outcome_of(sent, head, body), id=run.id)
        except (OSError, ValueError) as problem:
            error = SandboxUnreachable
            # Only connecting raises these.
            if isinstance(problem, ConnectionRefusedError | FileNotFoundError | NotConnected):
                error = NobodyThere
            elif isinstance(problem, ConnectionError):
                error = RunLost
            raise error(f"{self.place}: {type(problem).__name__}: {problem}") from problem

    async def health(self) -> Health:
        """Returns the state of the sandbox. Raises SandboxUnreachable when no supervisor answers."""
        try:
            _, head, _ = await self._connections.ask(wire.encode("health", {}), _HEALTH_SECONDS)
            return read_health(head)
        except (OSError, ValueError) as problem:
            raise SandboxUnreachable(f"no sandbox answers at {self.place}: {problem}; is it started?") from None

    async def until_ready(self, seconds: float = 120.0) -> Health:
        """Waits until a child is parked. Raises SandboxUnreachable with the cause after `seconds`."""
        cause = ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        health = await self.health()
                    except SandboxUnreachable as problem:
                        cause = str(problem)
                    else:
                        if health.ready:
                            return health
                        cause = health.trouble
                    await asyncio.sleep(_POLL_SECONDS)
        raise SandboxUnreachable(f"no child was ready within {seconds:.0f} s: {cause or 'still starting'}")


Frame = tuple[str, dict[str, Any], bytes]
"""Kind, fields and body."""


class StaleConnection(ConnectionError):
    """A reused connection had been closed before any byte of an answer came: another connection may be tried."""


class ConnectionPool:
    """Connections to the socket or node at `place`, each used for one request at a time.

    Uses plain sockets rather than the event loop's transports: an idle socket belongs to no loop and needs no closing.
    """

    def __init__(self, place: Path | Node, certificates: Certificates | None = None) -> None:
        self._place = place
        self._certificates = certificates
        self._idle: list[_Connection] = []

    async def ask(self, frame: bytes, seconds: float) -> Frame:
        """Sends a frame and returns the answer. Raises OSError or ValueError when none comes; hangs up if cancelled."""
        async with asyncio.timeout(seconds):
            while (connection := self._take_idle()) is not None:
                with contextlib.suppress(StaleConnection):
                    return await self._ask_on(connection, frame)
            return await self._ask_on(await self._open(), frame)

    async def _open(self) -> _Connection:
        if isinstance(self._place, Path):
            return await _Connection.open(self._place)
        if self._certificates is None:
            raise NotConnected("a sandbox on another machine needs certificates")
        return await _NodeConnection.connect(self._place, self._certificates)

    async def _ask_on(self, connection: _Connection, frame: bytes) -> Frame:
        try:
            answer = await connection.ask(frame)
        except BaseException:
            connection.close()  # at once: closing cancels the work at the other end
            raise
        if len(self._idle) < _MAX_IDLE:
            self._idle.append(connection)
        return answer

    def _take_idle(self) -> _Connection | None:
        """Returns the most recently used connection that is still open."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_idle():
                return connection
        return None


class _Socket(socket.socket):
    """A socket that closes without a ResourceWarning when it is garbage-collected: nobody closes idle ones."""

    def __del__(self) -> None:
        self.close()


class _Connection:
    """One connection to a supervisor."""

    def __init__(self, connected: _Socket) -> None:
        self._socket = connected
        self._used = False

    @classmethod
    async def open(cls, path: Path) -> _Connection:
        """Connects. Raises OSError when nobody listens."""
        connected = _Socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(connected, str(path))
        except BaseException:
            connected.close()
            raise
        return cls(connected)

    def close(self) -> None:
        """Hangs up."""
        self._socket.close()

    def is_idle(self) -> bool:
        """Returns whether the peer is there and has sent nothing unasked."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    async def ask(self, frame: bytes) -> Frame:
        """Sends a frame and receives one. Raises StaleConnection, OSError or ValueError; close it after any of them."""
        reused, self._used = self._used, True
        decoder = FrameDecoder()
        try:
            await self._send(frame)
            while (answer := decoder.next()) is None:
                decoder.feed(await self._receive())
        except ConnectionError as problem:
            if reused and not decoder.pending:
                raise StaleConnection(str(problem)) from None
            raise
        if decoder.pending:
            raise ValueError("more than one frame came as an answer")
        return answer

    async def _send(self, frame: bytes) -> None:
        try:
            sent = self._socket.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):
            await asyncio.get_running_loop().sock_sendall(self._socket, memoryview(frame)[sent:])

    async def _receive(self) -> bytes:
        data = await asyncio.get_running_loop().sock_recv(self._socket, _RECEIVE_BYTES)
        if not data:
            raise ConnectionResetError("it hung up without an answer")
        return data


class _NodeConnection(_Connection):
    """One connection to the gate of another machine."""

    def __init__(self, connected: _Socket, stream: TlsStream) -> None:
        super().__init__(connected)
        self._stream = stream

    @classmethod
    async def connect(cls, node: Node, certificates: Certificates) -> _NodeConnection:
        """Connects and checks the certificate. Raises NotConnected when that does not work."""
        family = socket.AF_INET6 if ":" in node.address else socket.AF_INET
        connected = _Socket(family, socket.SOCK_STREAM)
        connected.setblocking(False)
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                notice_loss(connected)
                await asyncio.get_running_loop().sock_connect(connected, (node.address, node.port))
                stream = TlsStream(connected, certificates.client(), node.host)
                await stream.handshake()
        except OSError as problem:
            connected.close()
            raise NotConnected(f"no TLS connection: {str(problem) or type(problem).__name__}") from problem
        except BaseException:
            connected.close()
            raise
        return cls(connected, stream)

    def is_idle(self) -> bool:
        return not self._stream.pending and super().is_idle()

    async def _send(self, frame: bytes) -> None:
        await self._stream.send(frame)

    async def _receive(self) -> bytes:
        data = await self._stream.receive()
        if not data:
            raise ConnectionResetError("it hung up without an answer")
        return data
