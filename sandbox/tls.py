"""TLS between workers and sandboxes on other machines: both sides show a certificate of the same private authority.

`Certificates` makes the contexts, and makes them again when the files change, so that a renewal needs no restart.
`TlsStream` is a client's connection as plain coroutines on a non-blocking socket, like those to a Unix socket.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

DEFAULT_PORT = 8443
HANDSHAKE_SECONDS = 5.0
"""Time for connecting and the handshake."""
_SILENT_SECONDS = 5
_PROBES = 3
"""A peer is lost after this much silence and this many unanswered probes, 20 seconds in all."""
_CHUNK = 1 << 18

Result = TypeVar("Result")


class NotConnected(ConnectionError):
    """Nothing was sent: there was no connection, or the handshake failed."""


@dataclass(frozen=True, slots=True)
class Node:
    """A sandbox on another machine."""

    host: str
    """Name that its certificate has."""
    address: str
    """IP address to connect to."""
    port: int

    def __str__(self) -> str:
        return f"tls://{self.host}:{self.port} ({self.address})"


class Certificates:
    """A certificate with its key, and the authority that signs what the other side shows; PEM files."""

    def __init__(self, cert: Path, key: Path, authority: Path) -> None:
        self._files = (cert, key, authority)
        self._made: dict[bool, tuple[tuple[int, ...], ssl.SSLContext]] = {}

    def client(self) -> ssl.SSLContext:
        """Returns a context for connecting. Raises OSError or ssl.SSLError if a file cannot be used."""
        return self._context(server=False)

    def server(self) -> ssl.SSLContext:
        """Returns a context for listening, which refuses callers without a certificate of the authority."""
        return self._context(server=True)

    def _context(self, *, server: bool) -> ssl.SSLContext:
        version = tuple(path.stat().st_mtime_ns for path in self._files)
        known = self._made.get(server)
        if known is not None and known[0] == version:
            return known[1]
        cert, key, authority = self._files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(cert, key)
        context.load_verify_locations(authority)
        if server:
            context.num_tickets = 0  # a client keeps its connections
            context.sni_callback = self._renew
        self._made[server] = version, context
        return context

    def _renew(self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, context: ssl.SSLContext) -> None:
        """Uses the present files for a new connection; the previous ones while a file is half-written."""
        try:
            connection.context = self.server()
        except OSError:  # ssl.SSLError is one
            connection.context = self._made[True][1]


def notice_loss(connected: socket.socket) -> None:
    """Sets a connection to end within about 20 seconds when the other machine is gone without a word."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for option, value in (
        ("TCP_KEEPIDLE", _SILENT_SECONDS),
        ("TCP_KEEPINTVL", _SILENT_SECONDS),
        ("TCP_KEEPCNT", _PROBES),
        ("TCP_USER_TIMEOUT", _SILENT_SECONDS * (_PROBES + 1) * 1000),
    ):
        if hasattr(socket, option):  # not on macOS
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class TlsStream:
    """A client's TLS connection on a connected, non-blocking socket."""

    def __init__(self, connected: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._socket = connected
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def handshake(self) -> None:
        """Checks the other side's certificate and name. Raises OSError or ssl.SSLError."""
        await self._step(self._tls.do_handshake)

    async def send(self, data: bytes) -> None:
        """Sends all of the data."""
        view = memoryview(data)
        for start in range(0, len(view), _CHUNK):
            chunk = view[start : start + _CHUNK]
            while chunk:
                written = await self._step(lambda left=chunk: self._tls.write(left))  # type: ignore[misc]
                chunk = chunk[written:]

    async def receive(self) -> bytes:
        """Returns the next bytes; none at the end."""
        try:
            return await self._step(lambda: self._tls.read(_CHUNK))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    @property
    def pending(self) -> bool:
        """Whether bytes came that nobody asked for."""
        return bool(self._incoming.pending or self._tls.pending())

    async def _step(self, operation: Callable[[], Result]) -> Result:
        """Repeats an operation, and carries what it writes and needs, until it is done."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                result = operation()
            except ssl.SSLWantReadError:
                await self._flush()
                if data := await loop.sock_recv(self._socket, _CHUNK):
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            except ssl.SSLError:
                await self._flush()  # the alert that tells the other side why
                raise
            else:
                await self._flush()
                return result

    async def _flush(self) -> None:
        if data := self._outgoing.read():
            await asyncio.get_running_loop().sock_sendall(self._socket, data)
