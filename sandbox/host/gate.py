"""The gate: lets workers on other machines reach a sandbox's Unix socket, over TLS with client certificates.

A process of its own beside the sandbox, which itself keeps to Unix sockets and has no network. The gate reads nothing
of what it passes on: the supervisor checks every frame. One connection here is one connection there, so a worker that
hangs up or is lost cancels its run.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.tls import HANDSHAKE_SECONDS, Certificates, notice_loss

_MAX_CONNECTIONS = 512
"""Connections at a time."""
_CHUNK = 1 << 16
"""Bytes passed on at a time."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Options of the gate."""

    socket: Path
    """The sandbox's socket, or a folder of sockets, which take turns."""
    host: str
    port: int
    certificates: Certificates


def run_gate(settings: GateSettings) -> int:
    """Serves until SIGTERM. Returns the exit status: 4 if the certificates or the port cannot be used."""
    try:
        asyncio.run(_serve_until_signal(settings))
    except OSError as problem:  # ssl.SSLError is one
        sys.stderr.write(f"sandbox gate: {problem}\n")
        return 4
    return 0


async def _serve_until_signal(settings: GateSettings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Gate(settings).serving() as port:
        sys.stderr.write(f"sandbox gate: listens at {settings.host}:{port}\n")
        sys.stderr.flush()
        await stop.wait()


class Gate:
    """Passes connections on to the sandboxes of this machine."""

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings
        self._turns = itertools.count()
        self._open: set[asyncio.Task[Any]] = set()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[int]:
        """Listens until the block exits; yields the port. Raises OSError if a file or the port cannot be used."""
        server = await asyncio.start_server(
            self._pass_on,
            self._settings.host,
            self._settings.port,
            ssl=self._settings.certificates.server(),
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
            ssl_shutdown_timeout=1.0,
            limit=_CHUNK,
        )
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    def _sockets(self) -> Iterator[Path]:
        """Yields the sockets of this machine, each time beginning with the next one."""
        place = self._settings.socket
        found = sorted(place.glob("*.sock")) if place.is_dir() else [place]
        if found:
            first = next(self._turns) % len(found)
            yield from (*found[first:], *found[:first])

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            notice_loss(writer.get_extra_info("socket"))
            if len(self._open) <= _MAX_CONNECTIONS:
                await self._connect(reader, writer)
        except (OSError, asyncio.CancelledError):  # ssl.SSLError is an OSError
            pass  # one of both ends is gone, or the gate stops
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for path in self._sockets():
            try:
                sandbox_reader, sandbox_writer = await asyncio.open_unix_connection(path, limit=_CHUNK)
            except OSError:
                continue
            try:
                await _pump_both(reader, sandbox_writer, sandbox_reader, writer)
            finally:
                sandbox_writer.transport.abort()
            return


async def _pump_both(
    caller: asyncio.StreamReader,
    to_sandbox: asyncio.StreamWriter,
    sandbox: asyncio.StreamReader,
    to_caller: asyncio.StreamWriter,
) -> None:
    """Passes bytes on in both directions until either end hangs up."""
    tasks = [
        asyncio.create_task(_pump(caller, to_sandbox), name="gate, to the sandbox"),
        asyncio.create_task(_pump(sandbox, to_caller), name="gate, to the caller"),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
