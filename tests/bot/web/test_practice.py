"""The practice page with the whole service behind it: without scripts over plain HTTP, and in a real browser."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest
from playwright.async_api import Route, expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from service.wire import AnswerInput, Who
from tests.bot.conftest import BANK, QUESTIONS, Room
from tests.bot.web.chromium import Window, Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, opens


async def only(room: Room, *questions: str) -> None:
    for other in QUESTIONS:
        await room.client.bank_retire(OPERATOR, room.event_id(), other, other not in questions)


async def shown(member: Browser, query: str = "") -> str:
    return (await member.opens(f"/m/{member.member}/practice{query}")).text


async def posts(member: Browser, **values: str | list[str]) -> httpx.Response:
    """Posts the page's first form with these values, as a browser without scripts; opens what follows."""
    action = re.search(r'<form method="post" action="([^"]*practice[^"]*)"', member.page)
    assert action, "no form on this page"
    data: dict[str, str | list[str]] = {name: member.hidden(name) for name in ("token", "event")}
    if ref := re.search(r'name="ref" value="([^"]*)"', member.page):
        data["ref"] = ref[1]
    answer = await member.http.post(action[1].replace("&amp;", "&"), data=data | values)
    member.page = answer.text
    return await member.opens(answer.headers["location"]) if answer.status_code == 303 else answer


def option(page: str, text: str) -> str:
    """Returns the value of the option with this text."""
    found = re.search(rf'value="([^"]*)" data-key="\d"[^<]*(?:<b>.</b> )?(?:> )?<span>[^\n]*{re.escape(text)}', page)
    assert found, f"no option {text}"
    return found[1]


async def test_a_card_is_answered_and_its_result_stands_in_place(room: Room, member: Browser) -> None:
    await only(room, "one-right")
    page = await shown(member)
    assert "A session of 10" in page and "swaps the two dimensions" not in page
    wrong = await posts(member, **{"v:options": option(page, "(2, 3)")})
    assert "Not this time" in wrong.text and "comes back in 1 day." in wrong.text
    assert "a transpose <em>swaps</em> the two sizes" in wrong.text, "the reason of the chosen option"
    assert "nothing is flattened" not in wrong.text, "another wrong option explains itself to nobody"
    assert "swaps the two dimensions" in wrong.text
    assert 'name="rating"' not in wrong.text, "a wrong answer is `again`"
    # A reload repeats nothing, and the session goes on.
    assert "1 of 10 answered, 0 right" in (await member.opens(str(wrong.url))).text


async def test_the_member_rates_a_right_answer(room: Room, member: Browser) -> None:
    await only(room, "one-right")
    right = await posts(member, **{"v:options": option(await shown(member), "(3, 2)")})
    assert "Right!" in right.text and "1 of 10 answered, 1 right" in right.text
    assert re.findall(r'name="rating" value="(\w+)"', right.text) == ["again", "hard", "good", "easy"]
    assert re.search(r'value="good" data-key="3" aria-pressed="true"', right.text)
    rated = await posts(member, rating="easy")
    assert re.search(r'value="easy" data-key="4" aria-pressed="true"', rated.text)
    assert (await posts(member, rating="best")).status_code == 422


async def test_every_kind_is_answered(room: Room, member: Browser) -> None:
    answers: dict[str, dict[str, str | list[str]]] = {
        "two-right": {"v:options": ["x[1:]", "x.t()"]},
        "the-shape": {"v:text": "(3,)"},
        "two-lines": {"v:text": "1\n2"},
    }
    for question, values in answers.items():
        await only(room, question)
        page = await shown(member)
        if question == "two-right":
            values = {"v:options": [option(page, text) for text in values["v:options"]]}
        found = await posts(member, **values)
        assert "Right!" in found.text, question


async def test_a_question_that_is_corrected_while_it_is_shown_has_the_new_key(room: Room, member: Browser) -> None:
    await only(room, "the-shape")
    await shown(member)
    corrected = BANK.read_text(encoding="utf-8").replace("`(3,)`", "`(2,)`")
    assert (await room.client.bank_import(OPERATOR, room.event_id(), BANK.name, corrected, True)).applied
    assert "Right!" in (await posts(member, **{"v:text": "(2,)"})).text


async def test_an_open_answer_is_marked_by_its_author_in_place(room: Room, member: Browser) -> None:
    await only(room, "why-scale")
    await shown(member)
    found = await posts(member, **{"v:text": "Gradients underflow."})
    assert "Compare with the answer" in found.text and "Which points does your answer cover?" in found.text
    marked = await posts(member, **{"v:points": ["0"]})
    assert "You marked 1 of" in marked.text and "Covered:" in marked.text
    assert "comes back" in marked.text


async def test_what_cannot_be_read_keeps_what_was_typed(room: Room, member: Browser) -> None:
    await only(room, "the-shape")
    await shown(member)
    refused = await posts(member, **{"v:text": "(3,"})
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text and 'value="(3,"' in refused.text
    empty = await posts(member, **{"v:text": ""})
    assert empty.status_code == 422 and "Your answer is empty" in empty.text
    assert "Right!" in (await posts(member, **{"v:text": "(3,)"})).text


async def test_nothing_is_left_and_filters_say_so(room: Room, member: Browser) -> None:
    await only(room, "one-right")
    await posts(member, **{"v:options": option(await shown(member), "(3, 2)")})
    assert "no card is due today" in await shown(member)
    page = await shown(member, "?level=senior")
    assert "No more questions for level <strong>senior</strong>" in page and "Practice everything" in page
    assert (await member.opens(f"/m/{member.member}/practice?topic=nothing")).status_code == 409
    assert (await member.opens(f"/m/{member.member}/practice?topic={'x' * 300}")).status_code == 422


async def test_ten_answers_end_a_session_with_a_summary(room: Room, member: Browser) -> None:
    await only(room, "one-right")
    page = await shown(member)
    begun = re.search(r"since=(\d+)", page)
    assert begun
    room.moving.advance(seconds=48)
    found = await posts(member, **{"v:options": option(page, "(3, 2)")})
    assert "See how it went" not in found.text
    # The address says when the session began; the service, what was answered since.
    assert "1 of 10 answered" in await shown(member, f"?since={begun[1]}")
    assert "A session of 10" in await shown(member)


async def test_a_question_that_a_round_asks_tells_nothing(room: Room, member: Browser) -> None:
    await only(room, "one-right")
    found = await posts(member, **{"v:options": option(await shown(member), "(3, 2)")})
    address = str(found.url)
    await opens(room, "one-right")
    later = (await member.opens(address)).text
    assert "This question is being asked right now" in later
    assert "Right" not in re.sub(r'<span class="hidden">.*?</span>', "", later)
    assert "swaps the two dimensions" not in later


async def test_a_strange_address_is_refused(room: Room, member: Browser) -> None:
    base = f"/m/{member.member}/practice"
    for path, status in (("/r1", 422), ("/nonsense", 422), ("/p999999", 409), ("?since=yesterday", 200)):
        assert (await member.opens(base + path)).status_code == status, path


@pytest.mark.sandbox
async def test_code_is_tried_judged_and_tried_again(room: Room, member: Browser) -> None:
    await only(room, "add-one")
    page = await shown(member)
    assert "Run the examples" in page
    ref = re.search(r'name="ref" value="([^"]*)"', page)
    assert ref
    tried = await posts(member, **{"v:code": ""})
    assert tried.status_code == 422 and "There is no code." in tried.text
    waits = await posts(member, **{"v:code": "def add_one(x):\n    return x\n"})
    assert "Judging your code…" in waits.text and "Check for the verdict" in waits.text


# In a real browser


async def enters(windows: Windows, *, width: int = 1200) -> Window:
    ann = await windows.open(width=width)
    await ann.join("Ann", heading="Question of the day")
    await ann.page.get_by_role("link", name="Practice").first.click()
    await ann.page.get_by_role("heading", name="Practice").wait_for()
    return ann


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [1200, 390])
async def test_a_session_by_keyboard_alone(room: Room, quiz_chat: WebChat, width: int) -> None:
    await only(room, "one-right", "two-right", "the-shape")
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await enters(windows, width=width)
        keys, done = ann.page.keyboard, set()
        await ann.page.evaluate("window.kept = true")
        for number in range(1, 4):
            assert await ann.audit() == []
            text = await ann.page.locator("#content .task").inner_text()
            if "Pick every one" in text:
                done.add("two-right")
                await keys.press("1")
                await keys.press("2")
                await expect(ann.page.locator("input:checked")).to_have_count(2)
            elif "tuple(" in text:
                done.add("the-shape")
                # The field has the focus already, where a digit is typed.
                await keys.type("(3,)")
            else:
                done.add("one-right")
                await keys.press("2")
            if "one-right" not in done or number == 3 or "shape" not in text:
                await ann.shoot(f"practice-{number}-{width}")
            if (
                await ann.page.locator(".choices button").count() == 0
                and await ann.page.locator(".verdict").count() == 0
            ):
                await keys.press("Enter")
            await expect(ann.page.get_by_role("region", name="Result")).to_be_focused()
            await expect(ann.page.locator(".chip.live")).to_contain_text(f"{number} of 10 answered")
            assert await ann.audit() == []
            await ann.shoot(f"practice-result-{number}-{width}")
            if await ann.page.locator(".ratings").count():
                await keys.press("4")
                await expect(ann.page.locator(".ratings [aria-pressed=true]")).to_contain_text("Easy")
            await keys.press("Enter")
            await expect(ann.page.get_by_role("region", name="Result")).to_have_count(0)
        assert done == {"one-right", "two-right", "the-shape"}
        await expect(ann.page.get_by_text("no card is due")).to_be_visible()
        assert await ann.page.evaluate("window.kept"), "the page was never loaded again"
        await ann.page.go_back()
        await expect(ann.page.get_by_role("region", name="Result")).to_be_visible()
        assert windows.complaints() == []
        await windows.close()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.sandbox
@needs_chromium
async def test_a_press_goes_ahead_of_a_look_for_the_verdict(room: Room, quiz_chat: WebChat) -> None:
    await only(room, "add-one", "one-right")
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await enters(windows)
        if not await ann.page.get_by_role("textbox").count():
            await ann.page.locator(".choices button").first.click()
            await ann.page.get_by_role("link", name="Next card").click()
        await ann.page.get_by_role("textbox").fill("def add_one(x):\n    return x + 1\n")
        looked, released = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            if route.request.method == "GET" and re.search(r"practice/p\d+", route.request.url):
                looked.set()
                await released.wait()
            await route.continue_()

        await ann.page.route("**/practice/**", hold)
        await ann.page.get_by_role("button", name="Submit").click()
        await expect(ann.page.get_by_text("Judging your code…")).to_be_visible()
        await looked.wait()
        await ann.page.get_by_role("link", name="Next card").click()
        await expect(ann.page.get_by_text("Judging your code…")).to_have_count(0)
        released.set()
        assert windows.complaints() == []
        await windows.close()


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [1200, 390])
async def test_every_page_shows_how_many_cards_are_due(room: Room, quiz_chat: WebChat, width: int) -> None:
    await only(room, "the-shape")
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await enters(windows, width=width)
        who = Who(platform="web", workspace=OPERATOR.workspace, member=ann.member, name="Ann")
        badge, home = ann.page.locator("nav .due"), f"{address}/m/{ann.member}/"
        await ann.page.goto(f"{home}board")
        known = await ann.page.evaluate(
            "(source) => fetch(source).then((reply) => reply.json())", f"{home}practice/due"
        )
        assert known == {"due": 0, "words": "0 cards due"}
        await expect(badge).to_be_hidden()
        ask = await room.client.practice(who, room.where)
        assert ask is not None
        await room.client.answer(who, room.where, "wrong", ask.ref, AnswerInput(text="(7,)"), room.clock())
        room.moving.advance(hours=48)
        for path in ("board", "", "me"):
            await ann.page.goto(f"{home}{path}")
            await expect(badge).to_have_text("1, 1 card due")
            assert await ann.audit() == []
            await ann.shoot(f"due-{path or 'channel'}-{width}", whole=False)
        assert windows.complaints() == []
        await windows.close()
