"""Web chats: one without a quiz, which answers what the test says and keeps what it was asked; and one with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import httpx
import pytest

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web.app import build
from bot.web.chat import WebChat
from bot.web.store import ChatStore
from service.client import ServiceClient
from tests.bot.conftest import Room
from tests.bot.web.http_browser import Browser, Desk, MakeBrowser, opened_browser
from tests.bot.web.quiz_chat import fill

AT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def chat(client: ServiceClient) -> Iterator[WebChat]:
    chat = WebChat(ChatStore(client), lambda: AT)
    yield chat
    chat.close()


@pytest.fixture
async def new_browser(chat: WebChat, desk: Desk) -> AsyncIterator[MakeBrowser]:
    app = build(chat, desk.answer, suggest, hosts=("quiz.example",))
    opened: list[httpx.AsyncClient] = []

    def make() -> Browser:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        opened.append(httpx.AsyncClient(transport=transport, base_url="http://localhost"))
        return Browser(app, opened[-1])

    yield make
    chat.close()
    for http in opened:
        await http.aclose()


@pytest.fixture
async def ann(new_browser: MakeBrowser) -> Browser:
    """The first to come, and so the admin."""
    browser = new_browser()
    await browser.join("Ann")
    return browser


@pytest.fixture
async def bob(ann: Browser, new_browser: MakeBrowser) -> Browser:
    browser = new_browser()
    await browser.join("Bob")
    return browser


@pytest.fixture
async def quiz_chat(room: Room) -> AsyncIterator[WebChat]:
    """The web chat of a service whose bank has a question of every kind."""
    await fill(room)
    chat = WebChat(ChatStore(room.client), room.clock)
    yield chat
    chat.close()


@pytest.fixture
async def member(room: Room, quiz_chat: WebChat) -> AsyncIterator[Browser]:
    """Ann, in that chat."""
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as browser:
        await browser.join("Ann")
        yield browser
