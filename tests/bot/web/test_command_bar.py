"""The command bar: every command on every page by keyboard or touch, from the one definition of the commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import pytest
from playwright.async_api import Route, expect

from bot.core.command_parser import offer, suggest
from bot.core.command_spec import specs_of
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from tests.bot.conftest import Room
from tests.bot.web.chromium import Window, Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser

MEMBERS = [spec.words for spec in specs_of("quiz")]
ADMINS = [spec.words for spec in specs_of("quiz-admin")]


def texts(typed: str, *, admin: bool = False) -> list[str]:
    return [one.text for one in offer(typed, admin)]


def test_everything_is_offered_before_anything_is_typed_and_to_each_what_is_theirs() -> None:
    assert texts("") == MEMBERS
    assert texts("", admin=True) == MEMBERS + ADMINS
    assert texts("digest") == [] and "/quiz-admin digest" in texts("digest", admin=True)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("board", "/quiz board"),
        ("BO", "/quiz board"),
        ("snippet", "/quiz run"),
        ("past question", "/quiz explain"),
        ("/quiz bo", "/quiz board"),
        ("/quiz board", "/quiz board"),
        ("/quiz board se", "/quiz board season"),
    ],
)
def test_a_command_is_found_by_its_name_and_by_what_it_does(typed: str, first: str) -> None:
    assert texts(typed)[0] == first


def test_a_command_that_needs_an_argument_is_not_run_without_it() -> None:
    runs = {one.text: one.runs for one in offer("", admin=True)}
    assert not runs["/quiz explain"] and runs["/quiz board"]
    assert [one.runs for one in offer("/quiz board topic", admin=False)] == [False], "its value is missing"


async def test_the_page_of_offers_is_the_members_own(member: Browser) -> None:
    found = (await member.http.get(f"/m/{member.member}/commands?text=rules")).json()
    assert found["offers"][0]["text"] == "/quiz rules"
    said = {"text": "/quiz rules", "token": found["token"], "event": "once"}
    answer = await member.http.post(f"/m/{member.member}/say", data=said, headers={"accept": "application/json"})
    assert "A right answer earns" in answer.json()["html"]
    member.http.cookies.clear()
    assert (await member.http.get(f"/m/{member.member}/commands")).status_code == 403


async def test_without_a_script_the_link_leads_to_the_message_box(member: Browser) -> None:
    page = (await member.opens(f"/m/{member.member}/me")).text
    assert f'class="command-open" href="/m/{member.member}/#text"' in page
    assert '<textarea id="text"' in (await member.opens(f"/m/{member.member}/")).text


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [1200, 390])
async def test_the_bar_in_a_browser(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        await ann.join("Ann", heading="Question of the day")
        page, keys = ann.page, ann.page.keyboard
        bar, result = page.locator("#command-bar"), page.locator("#command-result")

        # By touch, and it closes again.
        await page.get_by_role("link", name="Commands").click()
        await expect(bar).to_be_visible()
        await page.get_by_role("option", name="/quiz rules").click()
        await expect(result).to_contain_text("A right answer earns")
        assert await ann.audit() == []
        await ann.shoot(f"commands-{width}")
        await page.get_by_role("button", name="Close").click()
        await expect(bar).to_be_hidden()
        await expect(page.get_by_role("link", name="Commands")).to_be_focused()

        # By keyboard alone, and the last command comes first.
        await keys.press("Control+k")
        await expect(page.get_by_role("option").first).to_contain_text("/quiz rules")
        await expect(page.get_by_role("option").first).to_contain_text("recent")
        await keys.type("boa")
        await expect(page.get_by_role("option").first).to_contain_text("/quiz board")
        await keys.press("Tab")
        await expect(page.get_by_label("Command", exact=True)).to_have_value("/quiz board ")
        await expect(page.get_by_role("option", name="/quiz board month")).to_be_visible()
        await keys.press("ArrowUp")
        await keys.press("ArrowDown")
        await keys.press("Enter")
        await expect(result).to_contain_text("This week")
        # A button of the reply works in place.
        await result.get_by_role("button", name="Month").click()
        await expect(result.locator("h2")).to_contain_text("month")
        await keys.press("Escape")
        await expect(bar).to_be_hidden()

        # What needs more says so; what no list offers is sent as typed.
        await keys.press("Control+k")
        await keys.type("explain")
        await expect(page.get_by_role("option")).to_have_count(1)
        await keys.press("Enter")
        await expect(page.locator("#command-status")).to_contain_text("/quiz explain ID")
        await keys.type("one-right")
        await expect(page.get_by_role("option")).to_have_count(0)
        await keys.press("Enter")
        await expect(result).to_contain_text("Not answered yet")
        await keys.press("Escape")

        # In the channel the reply is a message like any other.
        await page.goto(f"{address}/m/{ann.member}/")
        box = page.get_by_label("Message or command")
        await box.fill("half a thought")
        await keys.press("Control+k")
        await keys.type("topics")
        await expect(page.get_by_role("option").first).to_contain_text("/quiz topics")
        await keys.press("Enter")
        await expect(page.locator(".message.private").last).to_contain_text("tensors")
        await expect(bar).to_be_hidden()
        await expect(box).to_have_value("half a thought")
        assert windows.complaints() == []
        await windows.close()


@asynccontextmanager
async def joined(room: Room, quiz_chat: WebChat) -> AsyncIterator[Window]:
    """Opens the page of today as Ann during the block."""
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        yield await (await windows.open()).join("Ann", heading="Question of the day")
        await windows.close()


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
async def test_a_command_that_was_not_sent_is_in_the_message_box(room: Room, quiz_chat: WebChat) -> None:
    async with joined(room, quiz_chat) as ann:
        await ann.page.goto(f"{ann.address}/m/{ann.member}/")
        await ann.page.route("**/say", lambda route: route.abort())
        await ann.page.keyboard.press("Control+k")
        await ann.page.get_by_label("Command", exact=True).fill("rules")
        await expect(ann.page.get_by_role("option")).to_have_count(1)
        await ann.page.keyboard.press("Enter")
        await expect(ann.page.locator("#live")).to_contain_text("Not sent")
        await expect(ann.page.get_by_label("Message or command")).to_have_value("/quiz rules")


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
async def test_of_two_commands_the_reply_to_the_later_one_is_shown(room: Room, quiz_chat: WebChat) -> None:
    async with joined(room, quiz_chat) as ann:
        box, keys = ann.page.get_by_label("Command", exact=True), ann.page.keyboard
        answered = asyncio.Event()

        async def reorder(route: Route) -> None:
            reply = await route.fetch()
            if "rules" in (route.request.post_data or ""):
                await answered.wait()
            await route.fulfill(response=reply)

        await ann.page.route("**/say", reorder)
        await keys.press("Control+k")
        for command in ("rules", "explain one-right"):
            await box.fill(command)
            await expect(ann.page.get_by_role("option")).to_have_count(int(command == "rules"))
            await keys.press("Enter")
        result = ann.page.locator("#command-result")
        await expect(result).to_contain_text("Not answered yet")
        async with ann.page.expect_event("requestfinished", lambda request: "rules" in (request.post_data or "")):
            answered.set()
        await ann.drawn()
        await expect(result).to_contain_text("Not answered yet")


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
async def test_a_command_that_is_sent_again_after_a_lost_reply_is_the_same_event(
    room: Room, quiz_chat: WebChat
) -> None:
    async with joined(room, quiz_chat) as ann:
        page, keys = ann.page, ann.page.keyboard
        events: list[str] = []

        async def answer(route: Route) -> None:
            events.append(parse_qs(route.request.post_data or "")["event"][0])
            reply = await route.fetch()
            await (route.abort() if len(events) == 1 else route.fulfill(response=reply))

        await page.route("**/say", answer)
        await keys.press("Control+k")
        for shown in ("Not sent", "A right answer earns", "A right answer earns"):
            await page.get_by_label("Command", exact=True).fill("rules")
            await expect(page.get_by_role("option")).to_have_count(1)
            await keys.press("Enter")
            await expect(page.locator("#command-bar")).to_contain_text(shown)
        assert events[0] == events[1] != events[2] and len(events) == 3
