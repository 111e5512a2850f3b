"""A TCP relay in front of several services, like a name that resolves to all of them.

It skips services that are down, can cut connections, and can report that a call is in progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass
class Relay:
    """Relays bytes between callers and services."""

    ports: tuple[int, ...]
    port: int = 0
    cuts: int = 0
    _awaited: list[tuple[int, bytes, asyncio.Event]] = field(default_factory=list)
    _turn: itertools.count[int] = field(default_factory=itertools.count)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Cuts every connection."""
        self.cuts += 1
        for writer in self._open:
            writer.transport.abort()

    async def quiet(self) -> None:
        """Waits until no connection is left: one that outlives its event loop would cause a warning in a later test."""
        while self._open:
            self._left.clear()
            await self._left.wait()

    def ambush(self, number: int, words: bytes) -> asyncio.Event:
        """Returns an event that is set when a request with these words has reached a service and is not yet
        answered."""
        under_way = asyncio.Event()
        self._awaited.append((self.ports[number], words, under_way))
        return under_way

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves a caller until either side closes the connection."""
        found = await self._reached()
        if found is None:
            writer.transport.abort()
            return
        port, there, back = found
        self._open |= {writer, back}
        try:
            await asyncio.gather(self._pass(reader, back, port), self._pass(there, writer, None))
        finally:
            self._open -= {writer, back}
            self._left.set()

    async def _reached(self) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter] | None:
        first = next(self._turn)
        for number in range(len(self.ports)):
            port = self.ports[(first + number) % len(self.ports)]
            with contextlib.suppress(OSError):
                return port, *await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int | None) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
                if port is not None:
                    self._sprung(port, data)
        # When either side closes, close the other.
        writer.transport.abort() if port is None else writer.close()

    def _sprung(self, port: int, data: bytes) -> None:
        for awaited in [one for one in self._awaited if one[0] == port and one[1] in data]:
            self._awaited.remove(awaited)
            awaited[2].set()


@contextlib.asynccontextmanager
async def relaying(*ports: int) -> AsyncIterator[Relay]:
    """Yields a relay to these ports."""
    relay = Relay(ports)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        relay.cut()
        await relay.quiet()
