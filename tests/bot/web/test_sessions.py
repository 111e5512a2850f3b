"""Signed-in browsers: members list and sign out their own, admins everybody's; no secret is shown or kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import httpx
import pytest

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text.my_page import browser
from bot.web import WebChat, build, security, tournament
from bot.web.chat import WHERE
from service.wire import TournamentPlan
from tests.bot.conftest import Room
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser, MakeBrowser, Stream
from tests.bot.web.quiz_chat import OPERATOR, opens
from tests.bot.web.test_sign_in import link_of, uses

PHONE = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36"


@pytest.fixture
async def phone(member: Browser) -> AsyncIterator[Browser]:
    """Another browser, into which Ann's link signed her in."""
    transport = httpx.ASGITransport(app=member.app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers={"User-Agent": PHONE}
    ) as http:
        phone = Browser(member.app, http)
        path = await link_of(member)
        await phone.opens(path)
        phone.home = (await uses(phone, path)).headers["location"]
        yield phone


async def rows(browser: Browser) -> list[tuple[str, str]]:
    """Opens the page; returns what it calls each browser, and its number."""
    await browser.opens(f"/m/{browser.member}/sessions")
    names = [re.sub("<[^>]+>", "", one).strip() for one in re.findall('<p class="asked">(.*?)</p>', browser.page)]
    return list(zip(names, re.findall(r'name="session" value="(\d+)"', browser.page), strict=True))


async def ends(browser: Browser, session: str) -> httpx.Response:
    return await browser.http.post(
        f"/m/{browser.member}/sessions", data={"token": browser.hidden("token"), "session": session}
    )


@pytest.mark.parametrize("page", ["events?after=0", "sprint/events", "tournament/events"])
async def test_a_stream_ends_when_its_browser_is_signed_out(
    room: Room, member: Browser, phone: Browser, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opens(room, "one-right")
    await room.client.tournament_plan(OPERATOR, room.event_id(), WHERE, TournamentPlan(title="Cup"))
    monkeypatch.setattr(security, "CHECK_S", 0.0)
    monkeypatch.setattr(tournament, "PACE_S", 0.01)
    member.home = phone.home = f"/m/{member.member}/"
    await member.opens(member.home)
    await member.sends("say", text="hello")
    stream, kept = phone.listens(page), member.listens(page)
    assert await stream.next() is not None and await kept.next() is not None
    assert (await ends(member, dict(await rows(member))["Chrome on Android"])).status_code == 303
    await ended(stream)
    assert not kept.task.done(), "the other browser is still signed in"
    # Left in the middle of a call, it would leave a connection of the service's behind.
    ((_, own),) = await rows(member)
    assert (await ends(member, own)).status_code == 303
    await ended(kept)


async def ended(stream: Stream) -> None:
    """Waits until a stream ends by itself; drops what was on its way. Raises TimeoutError if only pings come."""
    async with asyncio.timeout(60):
        while await stream.next() is not None:
            pass


async def is_in(browser: Browser) -> bool:
    return (await browser.http.get(browser.home)).status_code == 200


async def test_a_member_signs_out_a_browser_that_is_lost(member: Browser, phone: Browser) -> None:
    found = dict(await rows(member))
    assert set(found) == {"Chrome on Android", "A browser This browser"}
    assert await is_in(phone)
    done = await ends(member, found["Chrome on Android"])
    assert (done.status_code, done.headers["location"]) == (303, f"/m/{member.member}/sessions")
    assert not await is_in(phone), "its cookie is worth nothing now"
    assert await is_in(member) and len(await rows(member)) == 1
    assert (await ends(member, found["Chrome on Android"])).status_code == 404


async def test_all_others_are_signed_out_at_once(member: Browser, phone: Browser) -> None:
    await rows(phone)
    assert (await ends(phone, "others")).status_code == 303
    assert await is_in(phone) and not await is_in(member)


async def test_the_browser_itself_is_signed_out(member: Browser) -> None:
    ((_, own),) = await rows(member)
    done = await ends(member, own)
    assert done.headers["location"] == "/" and not await is_in(member)
    assert "Ann" not in (await member.opens("/")).text


async def test_a_member_sees_and_ends_no_browser_of_another_and_an_admin_does(
    ann: Browser, bob: Browser, new_browser: MakeBrowser
) -> None:
    eve = new_browser()
    await eve.join("Eve")
    assert [name for name, _ in await rows(bob)] == ["A browser This browser"]
    of_all = dict(await rows(ann))
    assert set(of_all) == {"A browser This browser", "Bob: A browser", "Eve: A browser"}
    await rows(bob)
    for session in of_all.values():
        if session != dict(await rows(bob))["A browser This browser"]:
            assert (await ends(bob, session)).status_code == 404
    assert await is_in(eve) and await is_in(ann)
    await rows(ann)
    await ends(ann, of_all["Eve: A browser"])
    assert not await is_in(eve) and await is_in(bob)


@pytest.mark.parametrize("session", ["", "x", "-1", "1e9", "9" * 30, "²"])
async def test_what_names_no_browser_is_refused(ann: Browser, session: str) -> None:
    await rows(ann)
    assert (await ends(ann, session)).status_code == 422
    assert await is_in(ann)


async def test_no_page_shows_a_secret(ann: Browser, bob: Browser) -> None:
    (cookie,) = bob.http.cookies.values()
    await rows(ann)
    codes = re.findall(r"[\w-]{20,}", cookie)
    assert codes and not any(code in ann.page for code in codes)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (PHONE, "Chrome on Android"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on an iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0", "Edge on Windows"),
        ("curl/8", "A browser"),
        ("<script>", "A browser"),
    ],
)
def test_a_browser_is_named_in_words(agent: str, said: str) -> None:
    assert browser(agent) == said


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
async def test_in_a_browser(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as chromium, served(app, quiz_chat.close) as address:
        windows = Windows(chromium, address)
        ann, bob = await windows.open(width=width), await windows.open(width=width)
        await ann.join("Ann", heading="Question of the day")
        await bob.join("Bob", heading="Question of the day")
        await ann.page.get_by_role("link", name="Me", exact=True).click()
        await ann.page.get_by_role("link", name="Signed-in browsers").click()
        await ann.page.wait_for_url("**/sessions")  # with its styles
        assert await ann.audit() == []
        await ann.shoot(f"sessions-{width}")
        await ann.page.get_by_role("button", name=re.compile("Sign out.*Bob, Chrome on Linux")).click()
        await ann.page.get_by_text("Browsers of other members are shown here").wait_for()
