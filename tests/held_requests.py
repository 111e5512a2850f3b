"""Requests over real sockets that stop in the middle of their body, as a slow or hostile client leaves them."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass

BUSY = 60
"""How long a busy machine may take for a step, seconds; a test that passes waits for less."""


@dataclass
class HeldRequest:
    """A request whose body the application is waiting for."""

    reader: StreamReader
    writer: StreamWriter

    async def finish(self) -> int:
        """Sends the rest of the body. Returns the status of the response."""
        self.writer.write(b"{}")
        return await self.status()

    async def status(self) -> int:
        """Returns the status of the response, which comes although the body is not complete."""
        async with asyncio.timeout(BUSY):
            return int((await self.reader.readline()).split()[1])


@asynccontextmanager
async def hold_requests(count: int, port: int, path: str, headers: str = "") -> AsyncIterator[list[HeldRequest]]:
    """Begins requests and waits until the application works on each of them: it then asks for the body."""
    async with AsyncExitStack() as stack:
        held = []
        for _ in range(count):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            stack.enter_context(closing(writer))
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n{headers}"
            writer.write(f"{head}\r\n".encode())
            held.append(HeldRequest(reader, writer))
        for one in held:
            assert await one.status() == 100
            await one.reader.readline()
        yield held
