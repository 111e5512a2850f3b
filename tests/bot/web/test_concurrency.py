"""A web chat with many held requests refuses other pages, with the usual headers, and stays healthy."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest

from bot.core.command_parser import suggest
from bot.web.app import build
from bot.web.chat import WebChat
from bot.web.security import HEADERS
from bot.web.store import ChatStore
from service.client import ServiceClient
from service.process import serve_app
from tests.bot.web.http_browser import Desk
from tests.conftest import MONDAY
from tests.held_requests import BUSY, hold_requests

MANY = 40


async def test_leaving_in_the_middle_of_a_body_is_no_fault(
    client: ServiceClient, caplog: pytest.LogCaptureFixture
) -> None:
    chat = WebChat(ChatStore(client), lambda: MONDAY)
    app = build(chat, Desk().answer, suggest, limit=1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        async with (
            serve_app(app, listener, chat.close, grace_s=0),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=BUSY) as http,
        ):
            async with hold_requests(1, port, "/join", "Content-Type: application/x-www-form-urlencoded\r\n"):
                pass
            async with asyncio.timeout(BUSY):
                while (await http.get("/")).status_code == 503:
                    pass
    assert "Exception in ASGI application" not in caplog.text


async def test_a_page_is_refused_while_too_many_are_read_and_health_is_not(client: ServiceClient) -> None:
    chat = WebChat(ChatStore(client), lambda: MONDAY)
    app = build(chat, Desk().answer, suggest, limit=MANY)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        async with (
            serve_app(app, listener, chat.close, grace_s=0),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=BUSY) as http,
            hold_requests(MANY, port, "/join", "Content-Type: application/x-www-form-urlencoded\r\n") as held,
        ):
            refused = await http.get("/")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert "Too many people" in refused.text
            assert refused.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
            assert (await http.get("/healthz")).text == "ok"
            assert [await one.finish() for one in held] == [403] * MANY  # read, and refused for want of its token
