"""Caddy in front of the web chat: slow and large heads are cut off, and browsers stay with TLS."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import yaml
from starlette.types import ASGIApp

from bot.core.command_parser import suggest
from bot.web.app import build
from bot.web.chat import WebChat
from bot.web.store import ChatStore
from service.client import ServiceClient
from service.process import serve_app
from tests.bot.web.http_browser import Browser, Desk
from tests.conftest import MONDAY
from tests.machine import free_port

ROOT = Path(__file__).parents[2]
CADDY = shutil.which("caddy")
BUSY = 60
"""How long a busy machine may take for a step, seconds; a test that passes waits for less."""

pytestmark = pytest.mark.skipif(CADDY is None, reason="Caddy is not installed")


async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers with the way a request came."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    forwarded = next((line for line in head.splitlines() if line.startswith("x-forwarded-proto")), "none")
    body = forwarded.encode()
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    await writer.drain()
    writer.close()


@dataclass
class Caddy:
    """Caddy with the shipped configuration, in a folder of its own."""

    folder: Path
    port: int = field(default_factory=free_port)
    http_port: int = field(default_factory=free_port)

    @asynccontextmanager
    async def running(self, scheme: str, web: str) -> AsyncIterator[None]:
        """Runs it for `localhost` in front of the web chat at that address."""
        folder = str(self.folder)
        host, _, port = web.rpartition(":")
        settings = {
            "SITE": f"{scheme}://localhost:{self.port}",
            "WEB_HOST": host,
            "WEB_PORT": port,
            "READ_HEADER": "1s",
        }
        paths = {"HTTP_PORT": str(self.http_port), "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
        process = await asyncio.create_subprocess_exec(
            *(CADDY or "", "run", "--config", str(ROOT / "deploy/Caddyfile"), "--adapter", "caddyfile"),
            env={**os.environ, **settings, **paths},
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(BUSY):
                while not await self._answers(scheme):
                    assert process.returncode is None, "Caddy ended"
                    await asyncio.sleep(0.05)
            yield
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()

    def trusted(self) -> ssl.SSLContext:
        """Returns how a client trusts its certificates."""
        return ssl.create_default_context(cafile=str(self.folder / "caddy/pki/authorities/local/root.crt"))

    async def _answers(self, scheme: str) -> bool:
        """Returns whether it listens, and has a certificate if it needs one."""
        try:
            secure = self.trusted() if scheme == "https" else None
            _, writer = await asyncio.open_connection("localhost", self.port, ssl=secure)
        except OSError:  # also what TLS and a missing file raise
            return False
        writer.close()
        return True


@pytest.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[int]:
    """Runs Caddy over plain HTTP with short timeouts; yields its port."""
    caddy = Caddy(tmp_path)
    server = await asyncio.start_server(upstream, "127.0.0.1", 0)
    async with server, caddy.running("http", f"127.0.0.1:{server.sockets[0].getsockname()[1]}"):
        yield caddy.port


async def talk(port: int, sent: bytes) -> bytes:
    """Sends these bytes and returns all that comes until Caddy hangs up."""
    reader, writer = await asyncio.open_connection("localhost", port)
    try:
        writer.write(sent)
        return await asyncio.wait_for(reader.read(), BUSY)
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


@pytest.mark.parametrize(("site", "status"), [("", 2), ("quiz.example.com", 0)])
def test_without_a_name_its_container_ends_with_the_setting_that_is_missing(
    tmp_path: Path, site: str, status: int
) -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    command = [word.replace("$$", "$") for word in compose["services"]["caddy"]["command"]]
    program = tmp_path / "caddy"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    paths = {"SITE": site, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=os.environ | paths, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stderr.startswith("SITE is not set") is bool(status)
    assert done.stdout == ("" if status else "run --config /etc/caddy/Caddyfile --adapter caddyfile\n")


async def test_half_a_head_is_cut_off(proxy: int) -> None:
    host = f"localhost:{proxy}".encode()
    answers = await asyncio.gather(*(talk(proxy, b"GET / HTTP/1.1\r\nHost: %s\r\n" % host) for _ in range(100)))
    assert not any(b" 200 " in answer for answer in answers)


async def test_a_head_without_end_is_refused(proxy: int) -> None:
    answer = await talk(proxy, b"GET / HTTP/1.1\r\nHost: localhost:%d\r\nX: %s\r\n\r\n" % (proxy, b"x" * 100_000))
    assert b" 200 " not in answer


@dataclass(frozen=True)
class Web:
    """A web chat that is served as in Compose."""

    app: ASGIApp
    address: str


@pytest.fixture
async def web(client: ServiceClient, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Web]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    trusted = compose["services"]["web"]["environment"]["FORWARDED_ALLOW_IPS"]
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    chat = WebChat(ChatStore(client), lambda: MONDAY)
    app = build(chat, Desk().answer, suggest)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with serve_app(app, listener, chat.close):
            yield Web(app, f"127.0.0.1:{listener.getsockname()[1]}")


async def test_behind_caddy_cookies_are_secure_and_browsers_stay_with_tls(tmp_path: Path, web: Web) -> None:
    caddy = Caddy(tmp_path)
    async with caddy.running("https", web.address):
        home = f"https://localhost:{caddy.port}"
        async with httpx.AsyncClient(base_url=home, verify=caddy.trusted(), timeout=BUSY) as http:
            browser = Browser(web.app, http)
            page = await browser.opens("/")
            assert page.headers["strict-transport-security"] == "max-age=31536000"
            assert "alt-svc" not in page.headers, "Compose publishes no port of UDP for HTTP/3"
            joined = await http.post("/join", data={"token": browser.hidden("token"), "name": "Ann"})
            attributes = {part.strip().lower() for part in joined.headers["set-cookie"].split(";")}
            assert {"secure", "httponly", "samesite=lax"} <= attributes
            assert (await http.get(joined.headers["location"])).status_code == 200
            plain = await http.get(f"http://localhost:{caddy.http_port}/m/x/me")
            assert (plain.status_code, plain.headers["location"]) == (308, f"{home}/m/x/me")


async def test_without_tls_the_cookie_is_one_that_the_browser_keeps(web: Web) -> None:
    async with httpx.AsyncClient(base_url=f"http://{web.address}", timeout=BUSY) as http:
        browser = Browser(web.app, http)
        await browser.opens("/")
        joined = await http.post("/join", data={"token": browser.hidden("token"), "name": "Ann"})
        assert joined.status_code == 303 and "secure" not in joined.headers["set-cookie"].lower()
