"""The profile `tls` on a real engine: Caddy in front of the web chat, while strangers hold hundreds of connections."""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import replace

import httpx
import pytest

from tests.container.engine import said
from tests.container.test_files import SERVICES
from tests.container.whole import Report, Whole
from tests.machine import free_port

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

CADDY = SERVICES["caddy"]["image"].partition(":-")[2].rstrip("}")
"""The image that compose starts."""
ROOT_CERTIFICATE = "/data/caddy/pki/authorities/local/root.crt"
"""Of the authority that Caddy makes for a local name, in its container."""
STRANGERS = 400
HALF = b"POST /join HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
"""The beginning of a request's head."""
HELD_S = 300
"""Seconds after which a connection counts as held. Caddy's own limit is 10, after the handshake."""


async def held(port: int, trusted: ssl.SSLContext | None, begun: asyncio.Semaphore) -> bytes:
    """Sends half a head and returns what comes until the other side hangs up. Raises TimeoutError if it never does."""
    reader, writer = await asyncio.open_connection("localhost", port, ssl=trusted)
    try:
        if trusted is not None:
            writer.write(HALF)
            await writer.drain()
        begun.release()
        return await asyncio.wait_for(reader.read(), HELD_S)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def besieged(port: int, trusted: ssl.SSLContext) -> tuple[list[bytes], float, float]:
    """Opens the strangers' connections, half of them without a handshake, and loads a page meanwhile.

    Returns what each stranger got, and the seconds until the page had come and until all were cut off.
    """
    begun = asyncio.Semaphore(0)
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(held(port, trusted if number % 2 else None, begun)) for number in range(STRANGERS)]
        for _ in range(STRANGERS):
            await begun.acquire()
        asked = time.monotonic()
        async with httpx.AsyncClient(verify=trusted, timeout=HELD_S) as browser:
            page = await browser.get(f"https://localhost:{port}/")
        page_s = time.monotonic() - asked
        assert page.status_code == 200
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        assert not all(task.done() for task in tasks), "the strangers were there while the page was loaded"
    return [task.result() for task in tasks], page_s, time.monotonic() - began


def test_requests_that_never_end_are_cut_off_and_others_are_served(whole: Whole, measured: Report) -> None:
    if said("docker", "image", "inspect", CADDY).returncode != 0:
        pytest.skip(f"there is no image {CADDY} here")
    port = free_port()
    proxied = replace(
        whole,
        environment={
            **whole.environment,
            "COMPOSE_PROFILES": "tls",
            "SITE": "localhost",
            "HTTPS_ADDRESS": f"127.0.0.1:{port}",
            "HTTP_ADDRESS": f"127.0.0.1:{free_port()}",
        },
    )
    whole.up()  # another file's tests may have stopped it
    proxied.compose("up", "--detach", "--no-build", "--no-deps", "caddy")
    try:
        certificate = ""
        while not certificate:  # the test's own limit ends it
            certificate = proxied.tried("exec", "-T", "caddy", "cat", ROOT_CERTIFICATE).stdout.decode()
        trusted = ssl.create_default_context(cadata=certificate)
        answers, page_s, all_s = asyncio.run(besieged(port, trusted))
        assert not any(b" 200 " in answer or b" 303 " in answer for answer in answers)
        (caddy,) = proxied.inspected("caddy")
        assert not caddy["State"]["OOMKilled"] and caddy["RestartCount"] == 0
        measured["half-sent requests"] = f"{STRANGERS} cut off after {all_s:.0f} s, a page meanwhile in {page_s:.2f} s"
    finally:
        proxied.compose("rm", "--stop", "--force", "caddy")
