"""The page of boards, with the whole service behind it: over plain HTTP and in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from service.wire import Who
from tests.bot.conftest import Room
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, plays, who_is


def ranks(page: str) -> list[tuple[int, str]]:
    """Returns the rows of the page's table: rank and name."""
    found = re.findall(r'<td class="number">(\d+)</td>\s*<th scope="row"><span dir="auto">([^<]*)</span>', page)
    return [(int(rank), name) for rank, name in found]


async def shown(member: Browser, query: str = "") -> str:
    return (await member.opens(f"/m/{member.member}/board{query}")).text


async def test_an_empty_board_says_what_to_do(member: Browser) -> None:
    page = await shown(member)
    assert "Nobody has points here yet" in page
    assert f'href="/m/{member.member}/today">Answer today' in page
    assert not ranks(page)


async def test_the_board_ranks_marks_the_reader_and_says_how_far_it_is(room: Room, member: Browser) -> None:
    await plays(room, [called("Ada"), called("Grace"), who_is(member)], [called("Zed")])
    page = await shown(member)
    # Zed has no points, so is not ranked; equal points are ordered by time.
    assert [name for _, name in ranks(page)] == ["Ada", "Grace", "Ann"]
    assert re.search(r'<tr class="mine">\s*<td class="number">\d</td>\s*<th scope="row"><span dir="auto">Ann<', page)
    assert "You are ranked" in page
    assert "How points are earned" in page
    assert "A right answer earns" in page


async def test_the_readers_neighborhood_follows_a_long_board(room: Room, member: Browser) -> None:
    ahead = [called(f"Member {n:02}") for n in range(24)]
    await plays(room, [*ahead, who_is(member), called("Last")])
    page = await shown(member)
    names = [name for _, name in ranks(page)]
    assert names[:20] == [who.name for who in ahead[:20]]
    assert names[20:] == ["Member 22", "Member 23", "Ann", "Last"]
    assert "Around you" in page
    assert "2 more members not shown." in page


async def test_hidden_members_are_on_no_board(room: Room, member: Browser) -> None:
    ada, grace = called("Ada"), called("Grace")
    await plays(room, [ada, grace, who_is(member)])
    await room.client.privacy(ada, room.event_id(), "hide")
    page = await shown(member)
    assert [name for _, name in ranks(page)] == ["Grace", "Ann"]
    assert "Ada" not in page
    await room.client.privacy(who_is(member), room.event_id(), "hide")
    assert "you are hidden" in await shown(member)


@pytest.mark.parametrize(
    ("query", "title", "names"),
    [
        ("?period=day", "Today", []),
        ("?period=month", "This month", ["Ada"]),
        ("?period=all&scope=workspace", "All time", ["Ada"]),
        ("?topic=tensors", "This week", ["Ada"]),
        ("?contest=rookies", "This week", ["Ada"]),
        # The most improved have no board of all time.
        ("?contest=improved&period=all", "This month", []),
    ],
)
async def test_a_query_chooses_the_board(room: Room, member: Browser, query: str, title: str, names: list[str]) -> None:
    await plays(room, [called("Ada")])
    room.moving.advance(days=1)
    page = await shown(member, query)
    assert f'<h1 dir="auto">{title}</h1>' in page
    assert [name for _, name in ranks(page)] == names


async def test_links_keep_what_was_chosen(room: Room, member: Browser) -> None:
    page = await shown(member, "?period=month&topic=tensors&scope=workspace")
    tabs = dict(re.findall(r'<a href="(\?[^"]*)"[^>]*>([^<]+)</a>', page))
    assert tabs["?period=all&amp;scope=workspace&amp;topic=tensors"] == "All time"
    assert tabs["?period=month&amp;contest=rookies&amp;scope=workspace&amp;topic=tensors"] == "Rookies"
    assert '<a href="?period=month&amp;scope=workspace&amp;topic=tensors" aria-current="true">Month</a>' in page
    assert '<option dir="auto" selected>tensors</option>' in page
    assert '<p class="subtitle" dir="auto">tensors · Whole workspace</p>' in page
    assert "subtitle" not in await shown(member, "?period=month")


async def test_without_a_season_the_page_says_how_one_starts(room: Room, member: Browser) -> None:
    page = await shown(member, "?period=season")
    assert '<h1 dir="auto">No season</h1>' in page
    assert "/quiz-admin season start NAME" in page
    await room.client.season_start(OPERATOR, room.event_id(), "Autumn")
    assert '<h1 dir="auto">Autumn</h1>' in await shown(member, "?period=season")


@pytest.mark.parametrize("query", ["?period=year", "?contest=ladder", "?scope=world", f"?topic={'x' * 201}"])
async def test_an_unknown_board_is_refused(member: Browser, query: str) -> None:
    answer = await member.opens(f"/m/{member.member}/board{query}")
    assert answer.status_code == 422
    assert "No such leaderboard" in answer.text


async def test_an_unknown_topic_is_named(member: Browser) -> None:
    page = await shown(member, "?topic=%3Cb%3Enothing")
    assert "&lt;b&gt;nothing" in page
    assert not ranks(page)


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
async def test_the_page_in_a_browser(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        await ann.join("Ann", heading="Question of the day")
        reader = Who(platform="web", workspace=OPERATOR.workspace, member=ann.member, name="Ann")
        ahead = [
            called(name) for name in ("Ada", "Grace", "Katherine", "יעל", "W" * 60, *(f"Member {n}" for n in range(18)))
        ]
        await plays(room, [*ahead, reader, called("Zoë")])

        await ann.page.get_by_role("navigation", name="Main").get_by_role("link", name="Board").click()
        await expect(ann.page.get_by_role("heading", name="This week")).to_be_visible()
        assert await ann.audit() == []
        await ann.shoot(f"board-{width}")
        current = ann.page.locator("nav.pages [aria-current=page]")
        await expect(current).to_have_text("Board")

        await ann.page.get_by_role("link", name="All time").focus()
        await ann.page.keyboard.press("Enter")
        await expect(ann.page.get_by_role("heading", name="All time")).to_be_visible()
        await ann.page.get_by_label("Topic").select_option("tensors")
        await ann.page.get_by_role("button", name="Show").click()
        await expect(ann.page.locator("tr.mine")).to_contain_text("Ann")
        await ann.page.get_by_text("How points are earned").click()
        assert await ann.audit() == []
        assert len(await ann.page.content()) < 100_000
        assert windows.complaints() == []
        await windows.close()
