"""The channel's page: a page of messages at a time, days, and a message box that keeps the focus."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.async_api import expect

from bot.core.cards import Card, Reply, Text
from bot.core.command_parser import suggest
from bot.web.app import LONGEST_PAGE, MOST_MESSAGES, build
from bot.web.chat import WebChat
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.conftest import AT
from tests.bot.web.http_browser import Browser, Desk
from tests.bot.web.writers import posted, says
from tests.conftest import Clock


def numbers(page: str) -> list[int]:
    """Returns the numbers of the messages on the page."""
    return [int(number) for number in re.findall(r'<article id="m(\d+)"', page)]


def earlier(page: str) -> str | None:
    found = re.search(r'id="earlier" href="([^"]*)"', page)
    return found[1] if found else None


async def test_pages_hold_every_message_once(chat: WebChat, ann: Browser) -> None:
    made = [
        await says(chat, f"Bob {number % 3}", f"Message {number}", f"e{number}")
        for number in range(2 * MOST_MESSAGES + 5)
    ]
    page = (await ann.opens(f"/m/{ann.member}/")).text
    seen = numbers(page)
    assert seen == made[-MOST_MESSAGES:]
    while link := earlier(page):
        page = (await ann.opens(link)).text
        assert "Back to the latest messages" in page
        seen = numbers(page) + seen
    assert seen == made


async def test_a_page_is_bounded_by_its_length_too_but_shows_a_long_message(chat: WebChat, ann: Browser) -> None:
    for number in range(30):
        await posted(chat, Card("Long", "Long", (Text("word " * 1000),)), key=f"k{number}")
    page = (await ann.opens(f"/m/{ann.member}/")).text
    assert 5 < len(numbers(page)) < 30 and len(page) < LONGEST_PAGE + 20_000 and earlier(page)
    await posted(chat, "word " * 40_000)
    assert len(numbers((await ann.opens(f"/m/{ann.member}/")).text)) == 1


async def test_days_are_separated_and_today_is_marked(chat: WebChat, ann: Browser, clock: Clock) -> None:
    for days in (2, 2, 1, 0):
        clock.now = AT - timedelta(days=days)
        await posted(chat, f"{days} days ago")
    page = (await ann.opens(f"/m/{ann.member}/")).text
    shown = re.findall(r'<p class="day"( id="today")? tabindex="-1"><time [^>]*>([^<]*)</time>', page)
    assert shown == [("", "Saturday 28 February"), ("", "Sunday 1 March"), (' id="today"', "Monday 2 March")]
    assert 'href="#today">Jump to today' in page


async def test_what_is_no_number_shows_the_latest(chat: WebChat, ann: Browser) -> None:
    made = await says(chat, "Bob", "hello", "e")
    for text in ("x", "-1", "9" * 40, ""):
        assert numbers((await ann.opens(f"/m/{ann.member}/?before={text}")).text) == [made]


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
async def test_the_message_box_and_earlier_messages_in_a_browser(chat: WebChat, desk: Desk, clock: Clock) -> None:
    for number in range(MOST_MESSAGES + 10):
        clock.now = AT - timedelta(days=MOST_MESSAGES + 10 - number)
        await says(chat, "Bob", f"Message {number}", f"e{number}")
    clock.now = AT
    async with opened_chromium() as browser, served(build(chat, desk.answer, suggest), chat.close) as address:
        windows = Windows(browser, address)
        ann = await (await windows.open()).join("Ann")
        box, keys = ann.page.get_by_label("Message or command"), ann.page.keyboard

        # A text of several lines, sent by Enter; the focus stays for the next.
        await box.focus()
        await keys.type("first line")
        await keys.press("Shift+Enter")
        await keys.type("second line")
        await keys.press("Enter")
        await expect(ann.page.locator(".message .said").last).to_have_text("first line\nsecond line")
        await expect(box).to_be_focused()
        await expect(box).to_have_value("")
        desk.reply = Reply(Card("A board", "The board."))
        await keys.type("/quiz boa")
        await expect(ann.page.get_by_role("button", name="/quiz board", exact=True).first).to_be_visible()
        await keys.press("Tab")
        await expect(box).to_have_value("/quiz board ")
        await keys.press("Enter")
        await ann.said("A board", private=True)
        await expect(box).to_be_focused()
        await expect(ann.page.locator("#announcement")).to_have_text("Dailygrad: The board.")

        # The arrow keys bring back what was sent, and then what was being written.
        await keys.type("half a thought")
        await keys.press("ArrowUp")
        await expect(box).to_have_value("/quiz board ")
        await keys.press("ArrowUp")
        await expect(box).to_have_value("first line\nsecond line")
        await keys.press("ArrowDown")
        await keys.press("ArrowDown")
        await expect(box).to_have_value("half a thought")

        # Earlier messages come above, and what is read stays where it is.
        shown = ann.page.locator(".message")
        first = await shown.first.inner_text()
        await ann.page.get_by_role("link", name="Earlier messages").click()
        await expect(shown).to_have_count(MOST_MESSAGES + 12)
        await expect(ann.page.get_by_role("link", name="Earlier messages")).to_have_count(0)
        assert await shown.first.inner_text() != first
        days = await ann.page.locator(".day").all_inner_texts()
        assert len(days) == len(set(days)), "each day once"
        await ann.page.get_by_role("link", name="Jump to today").click()
        await expect(ann.page.locator("#today")).to_be_in_viewport()
        assert await ann.audit() == []
        await ann.shoot("channel")
        assert windows.complaints() == []
        await windows.close()
