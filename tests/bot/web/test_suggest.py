"""The page on which members suggest a question, with the whole service behind it: over plain HTTP and in a browser."""

from __future__ import annotations

import httpx
import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text import suggest_page as text
from bot.web import WebChat, build
from service.banks.suggestions import MAX_WAITING
from service.wire import LONGEST_SUGGESTION
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import words
from tests.bot.web.admin.test_review import SUGGESTION
from tests.bot.web.chromium import Windows, axe_script, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, who_is

BROKEN = SUGGESTION.replace("[x]", "[ ]").replace("## strided", "## strided <b>")


async def shown(member: Browser) -> str:
    answer = await member.opens(f"/m/{member.member}/suggest")
    assert answer.status_code == 200
    return answer.text


async def sent(member: Browser, action: str, written: str) -> httpx.Response:
    """Posts the form of the present page, which the answer replaces."""
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": action, "text": written}
    answer = await member.http.post(f"/m/{member.member}/suggest", data=data)
    if answer.status_code != 303:
        member.page = answer.text
    return answer


async def submitted(member: Browser, written: str) -> str:
    """Submits a question that is ready; returns the page that follows."""
    answer = await sent(member, "submit", written)
    assert answer.status_code == 303, answer.text
    return (await member.opens(answer.headers["location"])).text


async def test_the_form_begins_with_the_example_and_the_format_is_beside(member: Browser) -> None:
    page = await shown(member)
    assert "What does `x.t()` return for a matrix `x`?" in page and f'maxlength="{LONGEST_SUGGESTION}"' in page
    assert text.NOTE in page and "How to write it" in page and "## name · kind · level" in page
    assert text.NOTHING_YET in page and "As it is read" not in page
    assert f'href="/m/{member.member}/suggest">' in (await member.opens(f"/m/{member.member}/archive")).text
    assert f'href="/m/{member.member}/suggest">' in (await member.opens(f"/m/{member.member}/me")).text


async def test_a_preview_shows_how_it_is_read_and_keeps_nothing(room: Room, member: Browser) -> None:
    await shown(member)
    answer = await sent(member, "preview", SUGGESTION)
    assert answer.status_code == 200
    page = words(answer.text)
    assert "As it is read tensors/views mid choice What does x.t() return" in page and "Right: A view of x" in page
    assert "Ready It can be submitted." in page and text.NOT_KEPT in page
    assert "## strided" in answer.text
    assert await room.client.suggestion_draft(who_is(member)) == ""
    assert await room.client.own_suggestions(who_is(member)) == ()


async def test_a_preview_names_what_is_missing_with_its_line(member: Browser) -> None:
    await shown(member)
    answer = await sent(member, "preview", BROKEN)
    page = words(answer.text)
    assert answer.status_code == 200 and "Not ready" in page and 'aria-label="Findings"' in answer.text
    assert "suggestion.md:3" in page and "strided <b>" in page
    page = words((await sent(member, "preview", "Hello")).text)
    assert text.PROBLEMS["no question"].split(".")[0] in page


async def test_a_question_is_submitted_once_and_its_decisions_are_listed(room: Room, member: Browser) -> None:
    await shown(member)
    token, event = member.hidden("token"), member.hidden("event")
    page = words(await submitted(member, SUGGESTION))
    assert "Thank you. The moderators have suggestion 1 now, and you get a message when they decide." in page
    assert "Suggestion 1, Monday 2 March What does x.t() return" in page
    assert page.endswith("Waiting")
    again = {"token": token, "event": event, "action": "submit", "text": SUGGESTION}
    answer = await member.http.post(f"/m/{member.member}/suggest", data=again)
    assert answer.headers["location"].endswith("?sent=1"), "the same press again"
    await submitted(member, SUGGESTION.replace("strided", "another"))
    await room.client.suggestion_decline(OPERATOR, room.event_id(), 1, "We have *it*.")
    view = await room.client.suggestion_view(OPERATOR, 2)
    assert view.suggestion.by == "Ann" and view.key is not None
    page = words(await shown(member))
    assert "Declined The reason was: We have *it*." in page
    assert page.index("Suggestion 2") < page.index("Suggestion 1") and "Thank you" not in page


async def test_nobody_sees_the_suggestions_of_others_or_a_confirmation_of_them(room: Room, member: Browser) -> None:
    await room.client.suggest(called("Ada"), room.event_id(), SUGGESTION)
    page = (await member.opens(f"/m/{member.member}/suggest?sent=1")).text
    assert "Thank you" not in page and "Suggestion 1" not in page and text.NOTHING_YET in page


async def test_what_cannot_be_submitted_is_kept_as_a_draft_with_the_reason(room: Room, member: Browser) -> None:
    await shown(member)
    refused = await sent(member, "submit", BROKEN)
    assert refused.status_code == 422 and 'role="alert"' in refused.text
    assert text.NOT_SUBMITTED in refused.text and "suggestion.md:3" in words(refused.text)
    assert "## strided &lt;b&gt;" in refused.text
    assert "## strided &lt;b&gt;" in await shown(member), "the draft"
    page = words(await submitted(member, SUGGESTION))
    assert "Thank you." in page
    assert "## strided" not in await shown(member), "the draft is gone"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", text.NO_TEXT),
        (
            "x" * (LONGEST_SUGGESTION + 1),
            f"{text.LABEL} is too long. It takes at most {LONGEST_SUGGESTION:,} characters.",
        ),
    ],
)
async def test_nothing_and_too_much_are_refused_and_stay_in_the_form(
    room: Room, member: Browser, written: str, problem: str
) -> None:
    await shown(member)
    refused = await sent(member, "submit", written)
    assert refused.status_code == 422 and problem in words(refused.text)
    assert f"\n{written}</textarea>" in refused.text
    assert await room.client.suggestion_draft(who_is(member)) == ""


async def test_an_unknown_button_does_nothing(room: Room, member: Browser) -> None:
    await shown(member)
    assert (await sent(member, "accept", SUGGESTION)).status_code == 422
    assert await room.client.own_suggestions(who_is(member)) == ()


async def test_beyond_the_limit_the_text_is_kept_and_the_page_says_so(room: Room, member: Browser) -> None:
    for _ in range(MAX_WAITING):
        await room.client.suggest(who_is(member), room.event_id(), SUGGESTION)
    await shown(member)
    page = words((await sent(member, "preview", SUGGESTION)).text)
    assert text.PROBLEMS["too many"] in page
    refused = await sent(member, "submit", SUGGESTION)
    assert refused.status_code == 422 and text.PROBLEMS["too many"] in words(refused.text)
    assert await room.client.suggestion_draft(who_is(member)) == SUGGESTION


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize(("width", "scripts"), [(1240, True), (390, False)])
async def test_the_page_in_a_browser(room: Room, quiz_chat: WebChat, width: int, scripts: bool) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width, scripts=scripts)
        await ann.join("Ann", heading="Question of the day")
        page = ann.page

        async def check(name: str) -> None:
            if scripts:
                assert await ann.audit() == [], name
                assert axe_script() is None or await ann.axe() == [], name
            assert len(await page.content()) < 100_000
            await ann.shoot(f"suggest-{name}-{width}")

        await page.goto(f"{address}/m/{ann.member}/me")
        await page.get_by_role("link", name=text.SUGGEST).click()
        await expect(page.get_by_role("heading", name=text.SUGGEST, level=1)).to_be_visible()
        await check("empty")
        written = page.get_by_label(text.LABEL)
        await written.fill(BROKEN)
        await page.get_by_role("button", name="Submit").click()
        await expect(page.get_by_role("alert")).to_contain_text("Not submitted yet.")
        await check("findings")
        await written.fill(SUGGESTION)
        await page.get_by_role("button", name="Preview").click()
        await expect(page.get_by_role("heading", name="As it is read")).to_be_in_viewport()
        await check("preview")
        await page.get_by_role("button", name="Submit").click()
        await expect(page.get_by_role("status").filter(has_text="Thank you.")).to_be_visible()
        await room.client.suggestion_decline(OPERATOR, room.event_id(), 1, "We have it. " * 10)
        await page.reload()
        await expect(page.get_by_text("The reason was: We have it.")).to_be_visible()
        await check("listed")
        assert [text for text in windows.complaints() if "422" not in text] == []
        await windows.close()
