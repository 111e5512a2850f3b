"""The linked editor in a real browser, with the real service and the real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import expect

from bot.core.links import Links
from bot.core.quiz import Quiz
from bot.web import LinkedEditor, build_editor
from sandbox.client import SandboxClient
from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.sandboxes import SandboxPort
from service.wire import ScheduleSpec, Where, Who
from tests.bot.web.chromium import Window, Windows, needs_chromium, opened_chromium, served
from tests.conftest import TOKEN, Clock

pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]

BANK = Path(__file__).parent.parent / "bot" / "fixtures" / "room.md"
OTHERS = ("one-right", "two-right", "the-shape", "two-lines", "why-scale")
HERE = Where(channel="C1", name="general")
BOSS = Who(platform="slack", workspace="T1", member="U0", name="Boss", admin=True)
ANN = Who(platform="slack", workspace="T1", member="U1", name="Ann")
SECRET = "a-secret-of-the-tests"
WRONG, RIGHT = (f"def add_one(x: int) -> int:\n    return x + {number}\n" for number in (2, 1))


class Desk:
    """An open code question on Slack, and the editor that its links open."""

    def __init__(self, service: Service, client: ServiceClient, clock: Clock, windows: Windows) -> None:
        self.service = service
        self.client = client
        self.clock = clock
        self.windows = windows
        self.links = Links(windows.address, SECRET)

    async def follows(self, who: Who = ANN, **how: object) -> Window:
        """Opens a member's link in a new window."""
        window = await self.windows.open(**how)  # type: ignore[arg-type]
        await window.page.goto(self.links.editor(who, HERE, "r1", self.clock()).url)
        await window.page.get_by_role("heading", level=1).wait_for()
        return window

    async def given(self, who: Who = ANN) -> str | None:
        (ask,) = (await self.client.today(who, HERE)).forms
        return ask.given.code if ask.given else None


@asynccontextmanager
async def a_desk(settings: Settings, clock: Clock, sandbox: SandboxPort | None = None) -> AsyncIterator[Desk]:
    async with (
        build(settings, clock, sandbox).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
        opened_chromium() as browser,
    ):
        view = await client.bank_import(BOSS, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
        assert view.applied, view.findings
        for question in OTHERS:
            await client.bank_retire(BOSS, f"retire-{question}", question, True)
        schedule = await client.schedule_add(BOSS, "add", HERE, ScheduleSpec(open_minutes=480))
        await client.post_now(BOSS, "post", schedule.id)
        # The URL is known only once the server runs. It is not signed, so any Links with the same secret verifies
        # tokens.
        editor = LinkedEditor(Links("http://editor", SECRET), client, Quiz(client).handle, clock)
        async with served(build_editor(editor), lambda: None) as address:
            windows = Windows(browser, address)
            yield Desk(service, client, clock, windows)
            assert windows.complaints() == []


async def test_code_is_tried_and_handed_in_from_a_link(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with a_desk(settings, clock, sandbox) as desk:
        ann = await desk.follows(width=1280)
        area = ann.page.get_by_role("textbox", name="Your code")
        await expect(area).to_have_value("def add_one(x: int) -> int:\n    ...")
        await ann.shoot("linked-light")
        await area.fill(WRONG)
        await ann.page.get_by_role("button", name="Run the examples").click()
        await expect(ann.page.get_by_role("heading", name="Examples: 0 of 2 passed")).to_be_visible()
        assert await ann.audit() == []
        assert await desk.given() is None
        await ann.shoot("linked-examples-light")

        await area.fill(RIGHT)
        await area.press("Control+Enter")
        await expect(ann.page.get_by_role("heading", name="Your code is being judged…")).to_be_visible()
        await expect(ann.page.locator("#log .message")).to_have_count(1)
        assert await desk.given() == RIGHT

        again = await desk.follows(scheme="dark", width=1280)
        await expect(again.page.get_by_role("textbox", name="Your code")).to_have_value(RIGHT)
        await again.page.get_by_role("button", name="Run the examples").click()
        await expect(again.page.get_by_role("heading", name="Examples: 2 of 2 passed")).to_be_visible()
        assert await again.audit() == []
        await again.shoot("linked-dark")


async def test_on_a_phone_one_tab_is_shown_at_a_time(settings: Settings, clock: Clock) -> None:
    async with a_desk(settings, clock) as desk:
        ann = await desk.follows(width=390, height=800)
        task, area = ann.page.get_by_role("region", name="The task"), ann.page.get_by_role("textbox", name="Your code")
        await expect(task).to_be_visible()
        await expect(area).to_be_hidden()
        assert await ann.audit() == []
        await ann.shoot("linked-phone-task")
        await ann.page.get_by_role("radio", name="Question").focus()
        await ann.page.keyboard.press("ArrowRight")
        await expect(task).to_be_hidden()
        await area.fill(RIGHT)
        assert await ann.audit() == []
        await ann.shoot("linked-phone-code")
        await ann.page.get_by_role("button", name="Submit").click()
        await expect(ann.page.get_by_role("heading", name="Your code is being judged…")).to_be_visible()
        await expect(area).to_be_hidden()
        assert await ann.audit() == []
        await ann.shoot("linked-phone-result")
        assert await desk.given() == RIGHT


async def test_two_tabs_have_separate_drafts_and_the_last_submission_counts(settings: Settings, clock: Clock) -> None:
    async with a_desk(settings, clock) as desk:
        first = await desk.follows(width=1280)
        second = Window(first.context, await first.context.new_page(), first.address)
        await second.page.goto(first.page.url)
        for window, code in ((first, WRONG), (second, RIGHT)):
            await window.page.locator("textarea[data-code]").fill(code)
        for window in (second, first):
            await window.page.locator("textarea[data-code]").press("Control+Enter")
            await expect(window.page.get_by_role("heading", name="Your code is being judged…")).to_be_visible()
            clock.advance(seconds=1)
        assert await desk.given() == WRONG
        await second.page.reload()
        await expect(second.page.locator("textarea[data-code]")).to_have_value(RIGHT)
        assert second.complaints == []


async def test_without_scripts_it_works_one_page_at_a_time(settings: Settings, clock: Clock) -> None:
    async with a_desk(settings, clock) as desk:
        ann = await desk.follows(scripts=False, width=390)
        await ann.page.get_by_role("radio", name="Code").check()
        await ann.page.get_by_role("textbox", name="Your code").fill(RIGHT)
        await ann.page.get_by_role("button", name="Submit").click()
        await expect(ann.page.get_by_role("heading", name="Your code is being judged…")).to_be_visible()
        await ann.page.get_by_role("radio", name="Code").check()
        await expect(ann.page.get_by_role("textbox", name="Your code")).to_have_value(RIGHT)
        assert await ann.audit() == []
        assert await desk.given() == RIGHT


async def test_a_link_of_a_closed_round_says_so_and_accepts_nothing(settings: Settings, clock: Clock) -> None:
    async with a_desk(settings, clock) as desk:
        ann = await desk.follows(width=1280)
        clock.now += timedelta(hours=8)
        await ann.page.get_by_role("textbox", name="Your code").fill(RIGHT)
        await ann.page.get_by_role("button", name="Submit").click()
        await expect(ann.page.locator("#live")).to_contain_text("Not sent")
        ann.complaints.clear()  # the browser logs the refused request
        await ann.page.reload()
        await expect(ann.page.get_by_role("heading", name="This round has closed")).to_be_visible()
        ann.complaints.clear()
