"""The page of a member about themselves, with the whole service behind it: over plain HTTP and in a real browser."""

from __future__ import annotations

import html
import json
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
from tests.bot.web.quiz_chat import OPERATOR, answer, called, opens, plays, who_is


async def shown(member: Browser) -> str:
    return (await member.opens(f"/m/{member.member}/me")).text


def numbers(page: str) -> dict[str, str]:
    """Returns the numbers at the top, by what they count."""
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))


async def presses(member: Browser, label: str) -> str:
    """Presses a button of the page; returns the page that follows."""
    found = re.search(rf'name="action" value="([^"]+)"[^>]*>{re.escape(label)}<', member.page)
    assert found, f"no button {label}"
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": found[1]}
    reply = await member.http.post(f"/m/{member.member}/press", data=data)
    assert reply.status_code == 303
    return (await member.opens(reply.headers["location"])).text


async def test_a_new_member_is_told_what_will_be_here(member: Browser) -> None:
    page = await shown(member)
    assert numbers(page) == {
        "rounds in a row, best 0": "0",
        "no answers yet": "–",
        "no rank yet": "–",
        "cards due, 0 in all": "0",
    }
    assert "No answers yet. Each day you answer is marked here." in page
    assert "Rounds appear here once they have closed." in page
    assert page.count('<rect class="blank"') == 16 * 5 + 1


async def test_before_the_close_nothing_of_the_answer_shows(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    for right in (True, False):
        await answer(room, who_is(member), right=right)
        page = await shown(member)
        assert "You answered 1 of 1 question." in page
        assert "<title>Monday 2 March: answered</title>" in page
        assert "(3, 2)" not in page
        assert "(2, 3)" not in page
        assert 'class="mark' not in page
        assert numbers(page)["no answers yet"] == "–"


@pytest.mark.parametrize(("right", "mark", "drawn"), [(True, "Right", "right"), (False, "Not right", "answered")])
async def test_after_the_close_it_says_what_was_answered_and_how_right(
    room: Room, member: Browser, right: bool, mark: str, drawn: str
) -> None:
    me, others = who_is(member), [called("Ada"), called("Grace")]
    await plays(room, [me, *others] if right else others, [] if right else [me])
    page = await shown(member)
    assert re.search(rf"You chose <strong>[A-C]</strong> {re.escape('(3, 2)' if right else '(2, 3)')}", page)
    assert f'">{mark}</span>' in page
    assert ("<strong>Rank:</strong> 1 of 3 that week, new on the board" in page) == right
    assert f"<title>Monday 2 March: {drawn}</title>" in page
    assert numbers(page)["right of 1 answer"] == ("100%" if right else "0%")
    assert "1 answer, too few to tell" in page
    rank = {label: number for label, number in numbers(page).items() if "rank" in label or "all time" in label}
    assert rank == ({"of 3, all time": "#1"} if right else {"no rank yet": "–"})
    # What was missed comes back the next day, and the page leads to it.
    room.moving.advance(days=1)
    page = await shown(member)
    assert ("Practice 1 card" in page) == (not right)


async def test_it_shows_how_often_a_sure_member_was_right(room: Room, member: Browser) -> None:
    await opens(room, "one-right", confidence=True)
    assert "How sure you were" not in await shown(member)
    await answer(room, who_is(member), right=False, confidence="sure")
    room.moving.advance(hours=7)
    await room.service.tick()
    page = await shown(member)
    assert "How sure you were" in page and re.search(r"Sure</strong> 0% right", page)
    assert '<span class="small">-6</span>' in page


async def test_the_result_is_one_press_away(room: Room, member: Browser) -> None:
    await plays(room, [], [who_is(member)])
    await shown(member)
    assert "`t` swaps" not in member.page
    found = re.search(r'href="([^"]*/question/[^"]*)">Why', member.page)
    assert found and "swaps the two dimensions" in (await member.opens(found[1])).text


async def test_data_is_exported_hidden_shown_and_forgotten_as_by_command(room: Room, member: Browser) -> None:
    await plays(room, [who_is(member)])
    await shown(member)
    exported = re.findall(r"<pre[^>]*><code>(.*?)</code>", await presses(member, "Export as JSON"), re.S)
    assert json.loads(html.unescape(re.sub(r"<[^>]+>", "", exported[-1])))["member"]["name"] == "Ann"
    await shown(member)
    await presses(member, "Hide me from the boards")
    assert "Hidden from the boards" in await shown(member)
    await presses(member, "Show me on the boards")
    assert "Hidden from the boards" not in await shown(member)
    assert "Delete your data?" in await presses(member, "Forget me…")


async def test_nobody_else_sees_the_page(room: Room, member: Browser) -> None:
    answered = await member.http.get(f"/m/{member.member}x/me")
    assert answered.status_code == 403
    member.http.cookies.clear()
    assert (await member.opens(f"/m/{member.member}/me")).status_code == 403


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
async def test_the_page_in_a_browser(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        # As long as a name can be, in one word.
        name = "Ann" + "x" * 37
        await ann.join(name, heading="Question of the day")
        reader = Who(platform="web", workspace=OPERATOR.workspace, member=ann.member, name=name)
        await ann.page.get_by_role("link", name="Me", exact=True).click()
        await expect(ann.page.get_by_role("heading", name=name)).to_be_visible()
        assert await ann.audit() == []

        await plays(room, [called("Ada")], [reader])
        room.moving.advance(days=1)
        await ann.page.reload()
        await expect(ann.page.locator("nav.pages [aria-current=page]")).to_have_text("Me")
        await expect(ann.page.get_by_role("img", name="You answered 1 of 1 question.")).to_be_visible()
        await ann.page.get_by_text("The same as a table").click()
        await expect(ann.page.get_by_role("row", name="2 March")).to_contain_text("1 of 1")
        assert await ann.audit() == []
        await ann.shoot(f"me-{width}")
        assert len(await ann.page.content()) < 100_000

        # By keyboard alone to the practice of what was missed.
        await ann.page.get_by_role("link", name="Practice 1 card").focus()
        await ann.page.keyboard.press("Enter")
        await expect(ann.page.get_by_role("region", name="Card")).to_contain_text("torch.zeros(2, 3)")
        assert windows.complaints() == []
        await windows.close()
