"""Caddy in front of the web chat: slow and large heads are cut off, and answers ask browsers to stay with TLS."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.machine import free_port

CADDYFILE = Path(__file__).parents[2] / "deploy/Caddyfile"
CADDY = shutil.which("caddy")

pytestmark = pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")


async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers with the way a request came."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    forwarded = next((line for line in head.splitlines() if line.startswith("x-forwarded-proto")), "none")
    body = forwarded.encode()
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    await writer.drain()
    writer.close()


@pytest.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[int]:
    """Runs Caddy over plain HTTP with short timeouts; yields its port."""
    port = free_port()
    async with await asyncio.start_server(upstream, "127.0.0.1", 0) as server:
        web = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        settings = {"SITE": f"http://localhost:{port}", "WEB": web, "READ_HEADER": "1s"}
        process = await asyncio.create_subprocess_exec(
            *(CADDY or "", "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"),
            env={**os.environ, **settings, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            for _ in range(200):
                try:
                    _, writer = await asyncio.open_connection("localhost", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
            yield port
        finally:
            process.terminate()
            await process.wait()


async def talk(port: int, sent: bytes) -> bytes:
    """Sends these bytes and returns all that comes until Caddy hangs up."""
    reader, writer = await asyncio.open_connection("localhost", port)
    try:
        writer.write(sent)
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_request_is_passed_on_and_asks_for_tls(proxy: int) -> None:
    host = f"localhost:{proxy}".encode()
    answer = await talk(proxy, b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"Strict-Transport-Security: max-age=31536000" in answer
    assert b"x-forwarded-proto: http" in answer


async def test_half_a_head_is_cut_off(proxy: int) -> None:
    host = f"localhost:{proxy}".encode()
    answers = await asyncio.gather(*(talk(proxy, b"GET / HTTP/1.1\r\nHost: %s\r\n" % host) for _ in range(100)))
    assert not any(b" 200 " in answer for answer in answers)


async def test_a_head_without_end_is_refused(proxy: int) -> None:
    answer = await talk(proxy, b"GET / HTTP/1.1\r\nHost: localhost:%d\r\nX: %s\r\n\r\n" % (proxy, b"x" * 100_000))
    assert b" 200 " not in answer
