"""Sign-in links: once, for a while, for their member alone; by page and by command."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import expect
from typer.testing import CliRunner, Result

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from service.cli import service_command
from tests.bot.conftest import Room
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.writers import joined


@pytest.fixture
async def other(member: Browser) -> AsyncIterator[Browser]:
    """Another browser, which knows nobody."""
    transport = httpx.ASGITransport(app=member.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield Browser(member.app, http)


async def link_of(member: Browser) -> str:
    """Makes a link on the member's page; returns its path."""
    await member.opens(f"/m/{member.member}/me")
    made = await member.http.post(f"/m/{member.member}/sign-in", data={"token": member.hidden("token")})
    assert made.status_code == 200, made.text
    found = re.search(r"<code[^>]*>http://[^/]+(/sign-in/[^<]+)</code>", made.text)
    assert found, made.text
    return html.unescape(found[1])


async def uses(browser: Browser, path: str) -> httpx.Response:
    return await browser.http.post(path, data={"token": browser.hidden("token")})


async def test_a_link_signs_another_browser_in_once(member: Browser, other: Browser) -> None:
    path = await link_of(member)
    assert (await other.opens(f"/m/{member.member}/me")).status_code == 403
    for _ in range(2):  # a preview of the link changes nothing
        assert "Continue as Ann" in (await other.opens(path)).text
    answer = await uses(other, path)
    assert (answer.status_code, answer.headers["location"]) == (303, member.home)
    again = await uses(other, path)
    assert again.status_code == 404 and "no longer works" in again.text
    assert (await other.opens(path)).status_code == 404
    assert (await other.opens(f"/m/{member.member}/me")).status_code == 200


async def test_a_link_ends(room: Room, member: Browser, other: Browser) -> None:
    path = await link_of(member)
    await other.opens(path)
    room.moving.advance(minutes=15)
    assert (await uses(other, path)).status_code == 404
    assert (await other.opens(f"/m/{member.member}/me")).status_code == 403


async def test_nobody_makes_a_link_for_another(member: Browser, other: Browser) -> None:
    await other.join("Bob")
    await other.opens(f"/m/{other.member}/me")
    made = await other.http.post(f"/m/{member.member}/sign-in", data={"token": other.hidden("token")})
    assert made.status_code == 403 and "/sign-in/" not in made.text
    without = await member.http.post(f"/m/{member.member}/sign-in", data={"token": "x"})
    assert without.status_code == 403 and "/sign-in/" not in without.text


async def test_another_site_cannot_sign_a_browser_in(member: Browser, other: Browser) -> None:
    """Else it could make somebody answer as another member without noticing."""
    path = await link_of(member)
    await other.opens(path)
    data = {"token": other.hidden("token")}
    foreign = await other.http.post(path, data=data, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert (await other.opens(f"/m/{member.member}/me")).status_code == 403


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
async def test_in_a_browser(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        await ann.join("Ann", heading="Question of the day")
        await ann.page.get_by_role("link", name="Me", exact=True).click()
        await ann.page.get_by_role("button", name="Make a sign-in link").click()
        link = await ann.page.locator("code.link").inner_text()
        assert link.startswith(address) and await ann.audit() == []
        await ann.shoot(f"sign-in-link-{width}")

        phone = await windows.open(width=width)
        await phone.page.goto(link)
        await phone.shoot(f"sign-in-{width}")
        assert await phone.audit() == []
        await phone.page.get_by_role("button", name="Continue as Ann").click()
        await expect(phone.page.get_by_role("link", name="Me", exact=True)).to_be_visible()
        await ann.page.get_by_role("link", name="Back to your page").click()
        await expect(ann.page.get_by_role("heading", name="Ann")).to_be_visible()


async def test_the_command_prints_a_link_and_makes_an_admin(
    quiz_chat: WebChat, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    run = CliRunner()

    async def prints(*words: str) -> Result:
        command = ["sign-in", *words, "--url", "https://quiz.example/"]
        return await asyncio.to_thread(run.invoke, service_command, command)

    await joined(quiz_chat, "Ann")
    bob = await joined(quiz_chat, "Bob")
    unknown = await prints("Eve")
    assert unknown.exit_code != 0 and "'Eve'" in str(unknown.exception)
    printed = await prints("bob")
    code = printed.stdout.strip().removeprefix("https://quiz.example/sign-in/")
    used = await quiz_chat.store.use_sign_in(code)
    assert used is not None and (used.id, used.admin) == (bob, False)
    assert await quiz_chat.store.use_sign_in(code) is None
    await prints("Bob", "--admin")
    assert (await quiz_chat.store.people(bob))[bob].admin
