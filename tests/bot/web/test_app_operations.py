"""The operations page: who may see it, what it says in words, and how it looks and reads in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import httpx
import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.web.app import build
from bot.web.chat import WebChat
from service.client import ServiceRefused, ServiceUnavailable
from service.wire import AdminsOnly, ErrorView, Operations, QueueView, SandboxView, SlotView, TroubleView, Who
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser, Desk

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
NASTY = "<script>alert(1)</script>"


def slot(state: str, **more: object) -> SlotView:
    facts = {
        "platform": "discord",
        "channel": "#ml-quiz",
        "day": date(2026, 3, 2),
        "zone": "Europe/Berlin",
        "due_at": NINE,
        "late_s": 0.0,
        "state": state,
    }
    return SlotView.model_validate({**facts, **more})


QUIET = Operations(at=NINE, led=True, sandbox=SandboxView(ready=2, devices=("cpu",)))
BUSY = Operations(
    at=NINE + timedelta(hours=1),
    led=False,
    slots=(
        slot("overdue", late_s=3600.0, error="Discord is away: 503 Service Unavailable"),
        slot("late", late_s=840.0, taken_at=NINE, sent_at=NINE + timedelta(minutes=14)),
        slot("posted", late_s=2.0, taken_at=NINE, sent_at=NINE + timedelta(seconds=2), channel=NASTY),
        slot("waiting", late_s=3.0),
        slot("skipped", skipped="not posted", error="Missing Access" + "x" * 90),
    ),
    queues=(
        QueueView(kind="messages", platform="discord", count=4, oldest_at=NINE),
        QueueView(kind="answers", count=0),
    ),
    sandbox=None,
    troubles=(
        TroubleView(kind="late", channel="#ml-quiz", error=NASTY, since=NINE),
        TroubleView(kind="refused", channel="#b", since=NINE, over_at=NINE + timedelta(minutes=1)),
    ),
    errors=(ErrorView(at=NINE, kind="message", name="question", attempts=3, channel="#ml-quiz", error=NASTY),),
)


@dataclass
class Service:
    """Says of operations what a test wants, and keeps who asked."""

    said: Operations | Exception = QUIET
    asked: list[Who] = field(default_factory=list)

    async def fetch(self, who: Who) -> Operations:
        self.asked.append(who)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.fixture
def told() -> Service:
    return Service()


@asynccontextmanager
async def browsing(chat: WebChat, desk: Desk, told: Service | None) -> AsyncIterator[Browser]:
    app = build(chat, desk.answer, suggest, fetch_operations=told.fetch if told is not None else None)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield Browser(app, http)


async def test_an_admin_finds_it_from_the_channel(chat: WebChat, desk: Desk, told: Service) -> None:
    async with browsing(chat, desk, told) as ann:
        await ann.join("Ann")
        assert f'<a href="{ann.home}operations">operations</a>' in ann.page
        answer = await ann.opens(f"{ann.home}operations")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert [(who.platform, who.workspace, who.admin) for who in told.asked] == [("web", "local", True)]
    for said in ("A worker is running", "No known problems", "2 ready, 0 running", "None in the last seven days"):
        assert said in answer.text


async def test_others_neither_find_it_nor_are_shown_it(chat: WebChat, desk: Desk, told: Service) -> None:
    async with browsing(chat, desk, told) as ann, browsing(chat, desk, told) as bob:
        await ann.join("Ann")
        await bob.join("Bob")
        assert "operations" not in bob.page
        assert (await bob.opens(f"{bob.home}operations")).status_code == 403
        assert (await bob.opens(f"{ann.home}operations")).status_code == 403
        bob.http.cookies.clear()
        assert (await bob.opens(f"{ann.home}operations")).status_code == 403
    assert told.asked == []


async def test_without_a_service_there_is_no_operations_page(chat: WebChat, desk: Desk) -> None:
    async with browsing(chat, desk, None) as ann:
        await ann.join("Ann")
        assert "operations" not in ann.page
        assert (await ann.opens(f"{ann.home}operations")).status_code == 404


@pytest.mark.parametrize(
    ("problem", "status", "said"),
    [
        (ServiceUnavailable("away"), 503, "The service is not responding"),
        (ServiceRefused(AdminsOnly()), 403, "Only quiz admins"),
    ],
)
async def test_a_refusal_of_the_service_is_shown(
    chat: WebChat, desk: Desk, told: Service, problem: Exception, status: int, said: str
) -> None:
    told.said = problem
    async with browsing(chat, desk, told) as ann:
        await ann.join("Ann")
        answer = await ann.opens(f"{ann.home}operations")
    assert (answer.status_code, said in answer.text) == (status, True)


async def test_every_problem_is_described_and_escaped(chat: WebChat, desk: Desk, told: Service) -> None:
    told.said = BUSY
    async with browsing(chat, desk, told) as ann:
        await ann.join("Ann")
        page = (await ann.opens(f"{ann.home}operations")).text
    assert NASTY not in page
    assert page.count("&lt;script&gt;") == 3
    for said in (
        "No worker is running",
        "No sandbox is connected. Code answers are waiting.",
        "overdue for 60 min",
        "posted 14 min late",
        "posted on time",
        "on its way",
        "not posted",
        "messages for Discord: 4, the oldest for 60 min",
        "code answers: 0",
        "question: 3 attempts, will be retried",
        ">2026-03-02 10:00:00</time>",
        ">10:14:00</time>",
        "resolved at",
    ):
        assert said in page, said


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
async def test_it_reads_well_in_light_and_dark_and_on_a_phone(chat: WebChat, desk: Desk, told: Service) -> None:
    app = build(chat, desk.answer, suggest, fetch_operations=told.fetch)
    async with opened_chromium() as browser, served(app, chat.close) as address:
        windows = Windows(browser, address)
        ann = await (await windows.open()).join("Ann")
        await ann.page.get_by_role("link", name="operations").click()
        await expect(ann.page.get_by_role("heading", level=1)).to_have_text("Operations")
        assert await ann.audit() == []
        await ann.shoot("operations-quiet")
        told.said = BUSY
        for width in (1100, 360):
            await ann.page.set_viewport_size({"width": width, "height": 800})
            await ann.page.get_by_role("link", name="reload").click()
            await expect(ann.page.get_by_text("No worker is running")).to_be_visible()
            assert await ann.audit() == []
            wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert await ann.page.evaluate(wide) <= 0, "the page itself is not scrolled sideways"
            await ann.shoot(f"operations-{width}")
        await expect(ann.page.get_by_role("rowheader").first).to_contain_text("Europe/Berlin")
        assert windows.complaints() == []
        await windows.close()
