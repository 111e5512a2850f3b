"""What every process relies on: a port that answers without delay."""

from __future__ import annotations

import asyncio
import socket

from service.process import listen


async def test_what_is_accepted_sends_each_write_at_once() -> None:
    seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        seen.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listen("127.0.0.1", 0) as listener:
        async with await asyncio.start_server(met, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            assert await seen
            writer.close()
