"""Every admin page in a real browser: accessible, on a phone and in the dark, and used by keyboard."""

from __future__ import annotations

from datetime import time

import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from bot.web.chat import WHERE
from service.wire import PlannedSprint, Who
from tests.bot.conftest import Room
from tests.bot.web.admin import test_similarity
from tests.bot.web.admin.test_review import SUGGESTION
from tests.bot.web.admin.test_tournaments import plan_with_captains
from tests.bot.web.chromium import Windows, axe_script, needs_chromium, opened_chromium, served
from tests.bot.web.quiz_chat import OPERATOR, called, plays

PAGES = (
    ("", "Overview"),
    ("/review", "Review"),
    ("/review/report/1", "Report 1"),
    ("/review/suggestion/1", "Suggestion 1"),
    ("/review/edit?question=one-right", "Edit a question"),
    ("/review/similarity", "Answers that agree"),
    ("/schedules", "Schedules"),
    ("/schedules/new", "New schedule"),
    ("/schedules/1?day=2026-03-29", "#daily"),
    ("/bank", "Questions"),
    ("/bank/question?id=one-right", "one-right"),
    ("/bank/import", "Import questions"),
    ("/statistics", "Statistics"),
    ("/seasons", "Seasons"),
    ("/sprints", "Sprints"),
    ("/tournaments", "Tournaments"),
    ("/members", "Members"),
    ("/audit", "Audit"),
    ("/settings", "Settings"),
)


async def fill(room: Room, reader: Who) -> None:
    """Has something on every page."""
    await plays(room, [called("Ada"), reader], [called("Grace"), called("W" * 60)])
    await room.client.report(called("Grace"), room.event_id(), "one-right", "Two options are right. " * 5)
    await room.client.suggest(called("Ada"), room.event_id(), SUGGESTION)
    await room.client.season_start(OPERATOR, room.event_id(), "Autumn")
    sprint = PlannedSprint(questions=5, seconds=30, at=time(18))
    await room.client.sprint_plan(OPERATOR, room.event_id(), WHERE, sprint)
    await plan_with_captains(room, "Ada", "W" * 60, title="M" * 60)


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [1240, 390])
async def test_every_page_is_accessible(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        await ann.join("Ann", heading="Question of the day")
        member = ann.member
        await fill(room, Who(platform="web", workspace=OPERATOR.workspace, member=member, name="Ann"))
        await test_similarity.fill(room)
        for path, heading in PAGES:
            await ann.page.goto(f"{address}/m/{member}/admin{path}")
            await expect(ann.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
            assert await ann.audit() == [], path
            if axe_script() is not None:
                assert await ann.axe() == [], path
            assert len(await ann.page.content()) < 100_000, path
            await ann.shoot(f"admin{path.replace('/', '-').partition('?')[0]}-{width}")
        assert windows.complaints() == []
        await windows.close()


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
async def test_a_lead_works_by_keyboard_and_without_scripts(room: Room, quiz_chat: WebChat) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(scripts=False, width=1240)
        page = ann.page
        await ann.join("Ann", heading="Question of the day")
        await fill(room, Who(platform="web", workspace=OPERATOR.workspace, member=ann.member, name="Ann"))
        await page.get_by_role("link", name="Admin").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("listitem").filter(has_text="1 report waits").get_by_role("link").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Review report 1").click()
        await page.get_by_role("link", name="Edit the question").click()
        text = page.get_by_label("The question with its key")
        await text.fill((await text.input_value()).replace("mid", "senior"))
        await page.get_by_role("button", name="Preview").click()
        await expect(page.get_by_role("status")).to_contain_text("Judged again, every answer keeps its points.")
        await page.get_by_role("button", name="Save the edit").click()
        await expect(page.get_by_role("status")).to_contain_text("Edited.")
        await page.get_by_label("Your answer").fill("It is harder than it looked.")
        await page.get_by_role("button", name="It was fixed").click()
        await expect(page.get_by_text("No reports are waiting.")).to_be_visible()
        # A day that is skipped, from the calendar.
        await page.get_by_role("link", name="Schedules").click()
        await page.get_by_role("link", name="Open schedule").click()
        await page.get_by_role("link", name="Thursday 5 March: planned at 10:00").click()
        await page.get_by_role("button", name="Skip this day").click()
        await expect(page.get_by_role("link", name="Thursday 5 March: skipped")).to_be_visible()
        assert windows.complaints() == []
        await windows.close()
