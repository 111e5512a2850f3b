"""Every page of a member as axe sees it, in light and dark, on a desk and on a phone; and how large each page is."""

from __future__ import annotations

import re
from collections.abc import Mapping

import httpx
import pytest

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text.questions import answer_form
from bot.web import WebChat, build
from bot.web.chat import WHERE
from bot.web.sign_in import LIFETIME
from service.wire import Who
from tests.bot.conftest import QUESTIONS, Room
from tests.bot.samples import GALLERY
from tests.bot.web.chromium import Windows, needs_axe, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, plays, who_is
from tests.bot.web.writers import posted, says

BUDGET = 100_000
"""Largest page with its styles and scripts, bytes."""
LINKED = re.compile(r'(?:href|src)="(/static/[^"]+\.(?:css|js)|/highlight\.css)"')


async def fill(room: Room, chat: WebChat, who: Who) -> Mapping[str, str]:
    """Plays what every page has something to show of; returns the pages, by name."""
    await plays(room, [called("Ada")], [who])
    (past,) = (await room.client.history(who)).rounds
    room.moving.advance(days=1)
    for other in QUESTIONS:
        await room.client.bank_retire(OPERATOR, room.event_id(), other, False)
    form = await room.client.practice(who, WHERE, kind="value")
    assert form is not None
    code = await room.client.practice(who, WHERE, kind="code")
    assert code is not None
    for one in GALLERY.values():
        await posted(chat, one, member=who.member)
    await says(chat, "Bob", "Good morning", "e")
    editor = await posted(chat, answer_form(code, room.clock()), member=who.member)
    return {
        "today": "today",
        "practice": "practice?kind=choice",
        "practice of code": "practice?kind=code",
        "nothing left": "practice?level=senior&kind=open",
        "archive": "archive",
        "nothing found": "archive?text=zebra",
        "question": f"question/{past.ref}",
        "channel": "",
        "board": "board",
        "ladder": "ladder",
        "me": "me",
        "sprint": "sprint",
        "tournament": "tournament",
        "editor": f"form/{editor}",
    }


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@needs_axe
@pytest.mark.parametrize("width", [1200, 390])
async def test_axe_finds_nothing_on_any_page(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        await ann.page.goto(address)
        assert await ann.axe() == [], "the entry"
        await ann.join("Ann", heading="Question of the day")
        who = Who(platform="web", workspace=OPERATOR.workspace, member=ann.member, name="Ann", admin=True)
        home = f"{address}/m/{ann.member}/"
        for name, path in (await fill(room, quiz_chat, who)).items():
            await ann.page.goto(home + path)
            assert await ann.axe() == [], name
            await ann.shoot(f"page-{name.replace(' ', '-')}-{width}", whole=False)
        await ann.page.goto(f"{home}practice?kind=choice")
        await ann.page.keyboard.press("1")
        if await ann.page.locator("[data-enter]").first.is_visible():
            await ann.page.keyboard.press("Enter")
        await ann.page.get_by_role("region", name="Result").wait_for()
        assert await ann.axe() == [], "a result"
        await ann.page.keyboard.press("Control+k")
        await ann.page.get_by_role("option").first.wait_for()
        assert await ann.axe() == [], "the command bar"
        code = await quiz_chat.store.make_sign_in(ann.member, LIFETIME)
        await ann.page.goto(f"{address}/sign-in/{code}")
        assert await ann.axe() == [], "a sign-in link"
        assert windows.complaints() == []
        await ann.page.goto(f"{home}question/r999")
        assert await ann.axe() == [], "a problem"
        await windows.close()


@pytest.mark.slow
async def test_every_page_is_within_its_budget(room: Room, quiz_chat: WebChat, member: Browser) -> None:
    who = who_is(member)
    pages = await fill(room, quiz_chat, who)
    for number in range(200):
        await says(quiz_chat, f"Bob {number % 4}", f"Message {number} " + "long " * 60, f"e{number}")
    sizes = {name: await weigh(member, f"/m/{member.member}/{path}") for name, path in pages.items()}
    assert {name: size for name, size in sizes.items() if size > BUDGET} == {}


async def weigh(member: Browser, path: str) -> int:
    """Returns the size of a page with its styles and scripts, bytes."""
    page = await member.http.get(path)
    assert page.status_code == 200, path
    files: list[httpx.Response] = [await member.http.get(file) for file in set(LINKED.findall(page.text))]
    return len(page.content) + sum(len(file.content) for file in files)
