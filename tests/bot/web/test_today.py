"""The page of today's question, with the whole service behind it: over plain HTTP and in a real browser."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text.words import countdown_words
from bot.web import WebChat, build
from bot.web.chat import WHERE
from service.wire import ExtraRound
from tests.bot.conftest import Room
from tests.bot.web.chromium import Window, Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, opens, plays, who_is
from tests.service.own_variants import bank, chosen_family, variant_in


def value_of(page: str, option: str) -> str:
    """Returns the value of the option with this text."""
    found = re.search(rf'value="([^"]+)"[^>]*> <span>(?:(?!</label>).)*{re.escape(option)}', page, re.S)
    assert found, f"no option {option}"
    return found[1]


async def answers(member: Browser, **values: str) -> httpx.Response:
    """Sends the form of the page, as a browser without scripts does."""
    found = re.search(r'name="action" value="(f:[^"]+)"', member.page)
    assert found
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": found[1]}
    answer = await member.http.post(member.home, data=data | {f"v:{name}": value for name, value in values.items()})
    if answer.status_code == 303:
        answer = await member.http.get(answer.headers["location"])
    member.page = answer.text
    return answer


async def given(room: Room, member: Browser) -> object:
    (ask,) = (await room.client.today(who_is(member), WHERE)).forms
    return ask.given


async def test_joining_opens_today_and_the_address_leads_back_to_it(member: Browser) -> None:
    assert member.home.endswith("/today")
    assert f'href="{member.home}">Ann</a>' in (await member.opens("/")).text


async def test_without_a_question_the_page_says_what_to_do(member: Browser) -> None:
    page = (await member.opens(member.home)).text
    assert "No question is open" in page
    assert "/quiz-admin setup" in page


async def test_the_page_asks_how_sure_a_member_is(room: Room, member: Browser) -> None:
    await opens(room, "one-right", confidence=True)
    page = (await member.opens(member.home)).text
    assert "How sure are you?" in page
    answer = await answers(member, options=value_of(page, "(3, 2)"), confidence="sure")
    assert re.search(r'value="sure" checked', answer.text)
    assert (await given(room, member)).confidence == "sure"  # type: ignore[attr-defined]


async def test_a_member_answers_a_variant_of_their_own_and_sees_its_key(room: Room, member: Browser) -> None:
    await bank(room.service, chosen_family())
    await opens(room, "", variants=True)
    page = (await member.opens(member.home)).text
    own = variant_in(page)
    assert "Your own variant" in page
    assert "Your answer is saved." in (await answers(member, options=value_of(page, f"({own}, 3)"))).text
    (other,) = (await room.client.today(called("Bob"), WHERE)).forms
    assert other.question.prompt not in member.page and variant_in(other.question.prompt) != own
    room.moving.advance(hours=8)
    await room.service.tick()
    page = (await member.opens(f"/m/{member.member}/question/{other.ref}")).text
    assert "Everyone had their own variant. This is yours." in page
    assert variant_in(page) == own and f"It has {own} rows." in page and "Right!" in page
    assert "How the team answered" not in page
    assert f"zeros({own}, 3)" in (await member.opens(f"/m/{member.member}/archive")).text


async def test_a_choice_is_answered_in_place_and_can_be_changed(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    page = (await member.opens(member.home)).text
    assert "Closes in 7 h" in page or "Closes in 6 h" in page
    assert "Not answered yet." in page
    right, wrong = value_of(page, "(3, 2)"), value_of(page, "(2, 3)")

    for chosen in (wrong, right):
        answer = await answers(member, options=chosen)
        assert answer.status_code == 200
        assert "Your answer is saved." in answer.text
        assert re.search(rf'value="{chosen}" checked', answer.text)
        assert (await given(room, member)).options == (chosen,)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("question", "text"), [("the-shape", "(3, 2)"), ("two-lines", "1\n2"), ("why-scale", "So that.")]
)
async def test_a_typed_answer_is_saved_and_shown_again(room: Room, member: Browser, question: str, text: str) -> None:
    await opens(room, question)
    await member.opens(member.home)
    answer = await answers(member, text=text)
    assert "Your answer is saved." in answer.text
    assert text.splitlines()[0] in answer.text
    assert (await given(room, member)).text == text  # type: ignore[attr-defined]


async def test_an_unreadable_value_is_refused_and_kept_in_the_field(room: Room, member: Browser) -> None:
    await opens(room, "the-shape")
    await member.opens(member.home)
    answer = await answers(member, text="(3, 2")
    assert 'class="toast bad" role="alert"' in answer.text
    assert 'value="(3, 2"' in answer.text
    assert "Not answered yet." in answer.text
    assert await given(room, member) is None


async def test_a_saved_answer_leads_to_a_page_that_can_be_loaded_again(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    (first,) = (await room.client.today(who_is(member), WHERE)).forms
    await room.client.bank_retire(OPERATOR, room.event_id(), "the-shape", retired=False)
    await room.client.ask_extra(OPERATOR, room.event_id(), WHERE, ExtraRound(kinds=("value",)))
    page = (await member.opens(member.home)).text
    assert f'action="{member.home}#{first.ref}"' in page
    action = f"f:{first.ref}"
    for chosen, said in (("(2, 3)", "recorded"), ("(3, 2)", "changed")):
        data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": action}
        answer = await member.http.post(member.home, data=data | {"v:options": value_of(page, chosen)})
        assert (answer.status_code, answer.headers["location"]) == (303, f"{member.home}?{said}={first.ref}")
        page = (await member.opens(answer.headers["location"])).text
        # Beside the question that it is about, and with no time but those in the reader's zone.
        toast = rf'id="{first.ref}"[^>]*>\s*<p class="toast" role="status">Your answer is {said}\.</p>'
        assert re.search(toast, page) and page.count('class="toast"') == 1


async def test_an_address_does_not_claim_that_an_answer_was_saved(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    (ask,) = (await room.client.today(who_is(member), WHERE)).forms
    for query in (f"recorded={ask.ref}", "recorded=r999", "changed=nonsense"):
        assert 'class="toast"' not in (await member.opens(f"{member.home}?{query}")).text


async def test_a_hint_is_offered_beside_the_answer(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    page = (await member.opens(member.home)).text
    found = re.search(r'<button name="action" value="(hi:[^"]+)" form="([^"]+)">Hint<', page)
    assert found
    form = re.search(rf'action="([^"]+)" id="{found[2]}" hidden>(.*?)</form>', page, re.S)
    assert form
    data = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[2])) | {"action": found[1]}
    # The answer that follows on the same page is an event of its own.
    assert data["event"] != member.hidden("event")
    reply = await member.http.post(form[1], data=data, follow_redirects=True)
    assert "The hint costs 3 points" in reply.text
    assert "is recorded" in (await answers(member, options=value_of(page, "(3, 2)"))).text


async def test_without_a_hint_none_is_offered(room: Room, member: Browser) -> None:
    await opens(room, "why-scale")
    assert ">Hint<" not in (await member.opens(member.home)).text


async def test_code_opens_the_editor(room: Room, member: Browser) -> None:
    await opens(room, "add-one")
    page = (await member.opens(member.home)).text
    found = re.search(r'name="action" value="([^"]+)">Open the editor', page)
    assert found
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": found[1]}
    answer = await member.http.post(f"/m/{member.member}/press", data=data)
    assert re.fullmatch(rf"/m/{member.member}/form/\d+(#m\d+)?", answer.headers["location"])
    assert (await member.http.get(answer.headers["location"])).status_code == 200


async def test_an_answer_after_the_close_is_not_taken(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    page = (await member.opens(member.home)).text
    room.moving.advance(hours=8)
    await room.service.tick()
    answer = await answers(member, options=value_of(page, "(3, 2)"))
    assert answer.status_code == 200
    assert "Your answer is saved." not in answer.text
    assert "No question is open" in answer.text
    assert "The next question comes in" in answer.text


async def test_the_latest_result_and_what_to_practice_follow(room: Room, member: Browser) -> None:
    page = (await member.opens(member.home)).text
    assert "Your result appears here" in page and "No card is due." in page
    await plays(room, [], [who_is(member)])
    page = (await member.opens(member.home)).text
    assert '<span class="mark bad">Not right</span>' in page and "(2, 3)" in page and "Monday 2 March" in page
    found = re.search(r'href="([^"]*/question/[^"]*)">See why', page)
    assert found and "swaps the two dimensions" in (await member.opens(found[1])).text
    room.moving.advance(days=1)
    assert "1 card due, about 1 minute." in (await member.opens(member.home)).text


async def test_only_answers_are_taken(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    await member.opens(member.home)
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": "nonsense"}
    assert (await member.http.post(member.home, data=data)).status_code == 422
    assert await given(room, member) is None


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(hours=3, minutes=12), "3 h 12 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(seconds=61), "2 min"),
        (timedelta(seconds=-5), "0 min"),
        (timedelta(days=3, hours=5), "3 days"),
    ],
)
def test_time_left(left: timedelta, words: str) -> None:
    assert countdown_words(left) == words


# In a real browser


async def enter(windows: Windows, *, width: int = 1000, scripts: bool = True) -> Window:
    window = await windows.open(width=width, scripts=scripts)
    return await window.join("Ann", heading="Question of the day")


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize(("width", "scripts"), [(1000, True), (1000, False), (360, True)])
async def test_the_page_with_mouse_and_keyboard(room: Room, quiz_chat: WebChat, width: int, scripts: bool) -> None:
    await opens(room, "one-right")
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await enter(windows, width=width, scripts=scripts)
        if scripts:
            assert await ann.audit() == []
        await ann.shoot(f"today-{width}")
        # The browser is in UTC; without its script the page names the schedule's zone.
        deadline = expect(ann.page.locator(".small time"))
        await (deadline.not_to_contain_text("(") if scripts else deadline.to_contain_text("(Europe/Berlin)"))

        await ann.page.get_by_text("(2, 3)", exact=True).click()
        await ann.page.get_by_role("button", name="Answer").click()
        await expect(ann.page.get_by_role("status")).to_contain_text("recorded")

        picked = ann.page.locator("input:checked")
        before = await picked.get_attribute("value")
        await picked.focus()
        await ann.page.keyboard.press("ArrowDown")
        await ann.page.keyboard.press("Enter")
        await expect(ann.page.get_by_role("status")).to_contain_text("changed")
        assert await picked.get_attribute("value") != before
        if scripts:
            assert await ann.audit() == []
        await ann.shoot(f"today-answered-{width}")
        assert len(await ann.page.content()) < 100_000
        assert windows.complaints() == []
        await windows.close()
