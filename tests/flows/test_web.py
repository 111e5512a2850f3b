"""The web chat end to end: a real browser, the real service on PostgreSQL, and the real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from bot.core.command_parser import suggest
from bot.core.dispatcher import Dispatcher
from bot.core.quiz import Quiz
from bot.web import ChatStore, WebChat, build
from sandbox.client import SandboxClient
from service.app import Service
from service.app import build as build_service
from service.client import ServiceClient
from service.config import Settings
from service.sandboxes import SandboxPort
from service.wire import ScheduleSpec, Where, Who
from tests.bot.web.chromium import Window, Windows, needs_chromium, opened_chromium, served
from tests.conftest import TOKEN, Clock

pytestmark = [pytest.mark.slow, pytest.mark.browser, needs_chromium]

BANK = Path(__file__).parent.parent / "bot" / "fixtures" / "room.md"
QUESTIONS = ("one-right", "two-right", "the-shape", "two-lines", "why-scale", "add-one")
HERE = Where(channel="daily", name="daily")
OPERATOR = Who(platform="web", workspace="local", member="operator", name="Operator", admin=True)


@dataclass
class Team:
    """A web chat with the complete service. Nothing happens by itself: `settle` does what is due."""

    service: Service
    client: ServiceClient
    clock: Clock
    browser: Browser
    complaints: list[str] = field(default_factory=list)
    """What browsers said while the server was there: a page whose server is gone cannot load anything."""
    events: Callable[[], str] = field(default_factory=lambda: map("event-{}".format, count()).__next__)

    @asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator[Windows]:
        """Serves the chat during the block; can be repeated, like a restart."""
        self.chat = WebChat(ChatStore(self.client), self.clock)
        app = build(self.chat, Quiz(self.client).handle, suggest, fetch_operations=self.client.operations)
        async with served(app, self.chat.close, port) as address:
            windows = Windows(self.browser, address)
            yield windows
            self.complaints += windows.complaints()

    async def only(self, question: str) -> None:
        """Retires every other question."""
        for other in QUESTIONS:
            await self.client.bank_retire(OPERATOR, self.events(), other, other != question)

    async def post(self, question: str) -> None:
        """Posts that question in the channel, open for eight hours."""
        await self.only(question)
        schedule = await self.client.schedule_add(OPERATOR, self.events(), HERE, ScheduleSpec(open_minutes=480))
        await self.client.post_now(OPERATOR, self.events(), schedule.id)
        await self.settle()

    async def settle(self) -> None:
        """Closes what is due, grades answers and delivers messages."""
        await self.service.tick()
        await self.service.jobs.run_pending()
        courier = Dispatcher(self.client, self.chat)
        while await courier.once():
            pass


@asynccontextmanager
async def a_team(settings: Settings, clock: Clock, sandbox: SandboxPort | None = None) -> AsyncIterator[Team]:
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(build_service(settings, clock, sandbox).running())
        client = await stack.enter_async_context(ServiceClient.inside(service.api, TOKEN))
        browser = await stack.enter_async_context(opened_chromium())
        await client.join(OPERATOR, HERE)
        view = await client.bank_import(OPERATOR, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
        assert view.applied, view.findings
        team = Team(service, client, clock, browser)
        yield team
        assert team.complaints == []


@pytest.fixture
async def team(settings: Settings, clock: Clock, tmp_path: Path) -> AsyncIterator[Team]:
    async with a_team(settings, clock) as team:
        yield team


def card(window: Window, title: str) -> Locator:
    """Returns the newest message with that title."""
    return window.page.locator(".message", has=window.page.get_by_role("heading", name=title, exact=True)).last


async def choose(window: Window, option: str) -> None:
    """Presses the button of the option with that text, whatever its letter."""
    row = window.page.locator(".message.private .options li", has_text=option).last
    letter = (await row.locator(".letter").inner_text()).strip()
    await window.page.locator(".message.private").last.get_by_role("button", name=letter).click()


async def test_a_day_in_the_channel(team: Team) -> None:
    async with team.open() as windows:
        ann, bob = await (await windows.open()).join("Ann"), await (await windows.open(scheme="dark")).join("Bob")
        await team.post("one-right")
        for window in (ann, bob):
            await window.said("What does torch.zeros(2, 3).t().shape give?", private=False)
        await ann.shoot("question-light")
        await bob.shoot("question-dark")

        await answers_and_changes_her_mind(ann)
        await bob.page.get_by_role("button", name="Answer", exact=True).click()
        await choose(bob, "(2, 3)")
        await bob.said("Your answer is recorded", private=True)
        await bob.shoot("answered-dark")
        assert await bob.page.locator(".message.private").count() == 1
        assert "Ann" not in await bob.page.locator("main").inner_text()

        await ann.types("/quiz-admin close-now")
        await card(ann, "Closed").wait_for()
        await team.settle()
        await sees_the_reveal(ann)
        await sees_the_reveal(bob)
        await ann.shoot("reveal-light")
        await bob.shoot("reveal-dark")
        await bob.types("/quiz board")
        board = bob.page.locator(".message.private table").last
        await expect(board.locator("tbody tr")).to_have_count(1)  # Bob has no points, so no rank
        await expect(board.locator("tbody tr")).to_contain_text("Ann")
        await expect(board.locator("tr.mine")).to_have_count(0)
        assert await bob.audit() == []
        await bob.shoot("board-dark")
        await ann.types("/quiz board")
        await ann.said("Whole workspace", private=True)
        await ann.shoot("board-light")
        await ann.page.get_by_role("link", name="operations").click()
        await expect(ann.page.get_by_role("row", name="posted on time")).to_contain_text("daily web")
        assert await ann.audit() == []


async def answers_and_changes_her_mind(ann: Window) -> None:
    await ann.page.get_by_role("button", name="Answer", exact=True).click()
    await ann.said("Answers stay private")
    await choose(ann, "(6,)")
    await ann.said("Your answer is recorded", private=True)
    await ann.focuses("Your answer is recorded")
    await ann.shoot("answered-light")
    await choose(ann, "(3, 2)")
    await ann.said("Your answer is changed", private=True)
    await expect(ann.page.get_by_role("button", name="(your answer)", pressed=True)).to_have_count(1)
    assert await ann.page.locator(".message.private").count() == 1


async def sees_the_reveal(window: Window) -> None:
    reveal = card(window, "The answer")
    await reveal.wait_for()
    for said in ("Right: (3, 2)", "a transpose swaps the two sizes", "t swaps the two dimensions"):
        await expect(reveal).to_contain_text(said)
    await expect(reveal).to_contain_text("1 of 2 answered right. First with the right answer: Ann.")
    await expect(reveal.locator(".bars li", has_text="(3, 2)")).to_contain_text("1 · 50%")
    await expect(reveal.get_by_role("link", name="in reply to the question")).to_have_count(1)


async def test_a_round_closes_by_time_and_practice_follows_by_keyboard_alone(team: Team) -> None:
    async with team.open() as windows:
        ann = await (await windows.open(width=360, height=740)).join("Ann")
        await team.post("the-shape")
        await ann.said("What is tuple(torch.ones(2, 3).sum(0).shape)?")
        keys = ann.page.keyboard
        await walk_to(ann, "Answer")
        await keys.press("Enter")
        await ann.said("A Python literal", private=True)
        await keys.press("Tab")
        await keys.type("(3, 1)")
        await keys.press("Enter")
        await ann.said("You answered:", private=True)
        await ann.focuses("Your answer is recorded")
        await ann.shoot("phone-answered", whole=False)

        team.clock.advance(hours=8, minutes=1)
        await team.settle()
        await card(ann, "The answer").wait_for()
        await expect(card(ann, "The answer")).to_contain_text("0 of 1 answered right")
        assert await ann.audit() == []
        await ann.shoot("phone-reveal", whole=False)

        await team.only("two-lines")
        await walk_to(ann, "/quiz practice")
        await keys.press("Enter")
        await card(ann, "Practice").wait_for()
        await ann.focuses("Practice")
        await ann.shoot("phone-practice-asked", whole=False)
        await ann.page.get_by_role("textbox", name="Your answer").focus()
        await keys.type("1\n2")
        await keys.press("Tab")
        await keys.press("Enter")
        await ann.said("Each call prints a line.", private=True)
        await ann.shoot("phone-practice", whole=False)


async def walk_to(window: Window, label: str) -> None:
    """Presses Tab until that button has the focus."""
    button = window.page.get_by_role("button", name=label, exact=True).last
    for _ in range(60):
        if await button.evaluate("(button) => button === document.activeElement"):
            return
        await window.page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {label}")


@pytest.mark.sandbox
async def test_code_is_tried_submitted_judged_and_corrected(
    settings: Settings, clock: Clock, tmp_path: Path, sandbox: SandboxClient
) -> None:
    async with (
        a_team(settings, clock, sandbox) as team,
        team.open() as windows,
    ):
        ann = await (await windows.open(width=1200)).join("Ann")
        await team.post("add-one")
        await ann.page.get_by_role("button", name="Answer", exact=True).click()
        area = ann.page.get_by_role("textbox", name="Your code")
        await area.fill("def add_one(x: int) -> int:\n    return x + 2\n")
        await ann.page.get_by_role("button", name="Run the examples").click()
        await card(ann, "Examples: 0 of 2 passed").wait_for()
        await ann.shoot("code-light")

        await ann.page.get_by_role("button", name="Submit").click()
        await ann.said("Your code is being judged", private=True)
        await team.settle()
        await card(ann, "Your code: wrong").wait_for()
        assert await ann.audit() == []

        await area.fill("def add_one(x: int) -> int:\n    return x + 1\n")
        # The card of the first answer, which says that it is judged, may still be there.
        async with ann.page.expect_response(lambda response: "x+%2B+1" in (response.request.post_data or "")):
            await area.press("Control+Enter")
        await team.settle()
        await card(ann, "Your code: accepted").wait_for()
        rows = card(ann, "Your code: accepted").locator("tbody tr")
        assert await rows.count() >= 5
        await ann.shoot("verdict-light")

        await ann.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        await ann.page.reload()
        await card(ann, "Your code: accepted").wait_for()
        await expect(area).to_have_value("def add_one(x: int) -> int:\n    return x + 1\n")
        assert await ann.audit() == []
        await ann.shoot("verdict-dark")


async def test_without_scripts_an_answer_is_given_and_outlives_a_restart(team: Team) -> None:
    async with team.open() as windows:
        ann = await (await windows.open(scripts=False)).join("Ann")
        await team.post("two-right")
        await ann.page.get_by_role("link", name="Check for new messages").click()
        await ann.page.get_by_role("button", name="Answer", exact=True).click()
        for option in ("x[1:]", "x.t()"):
            await ann.page.get_by_role("checkbox", name=option).check()
        await ann.page.locator(".message.private").get_by_role("button", name="Answer").click()
        await ann.said("Your answer is recorded", private=True)
        port = int(windows.address.rpartition(":")[2])
        before = await ann.page.locator(".message h2").all_inner_texts()

    async with team.open(port):
        await ann.page.reload()
        assert await ann.page.locator(".message h2").all_inner_texts() == before
        await ann.types("/quiz-admin close-now")
        await card(ann, "Closed").wait_for()
        await team.settle()
        await ann.page.get_by_role("link", name="Check for new messages").click()
        await expect(card(ann, "The answer")).to_contain_text("1 of 1 answered right")


TABLE = "Aufgabe;W1;W2;Richtig;License\nWas ist 1 + 1;eins;zwei;B;MIT\nWas ist 2 + 2;vier;fünf;A;MIT\n"


async def test_a_recipe_is_previewed_and_its_import_follows(team: Team, tmp_path: Path) -> None:
    file = tmp_path / "rechnen.csv"
    file.write_text(TABLE, "utf-8")
    async with team.open() as windows:
        ann = await (await windows.open()).join("Ann")
        await imports_with_a_recipe(ann, file, again=False)
        phone = await windows.open(scheme="dark", width=390, scripts=False)
        await phone.context.add_cookies(await ann.context.cookies())  # type: ignore[arg-type]
        await phone.page.goto(ann.page.url)
        await imports_with_a_recipe(phone, file, again=True)


async def imports_with_a_recipe(window: Window, file: Path, again: bool) -> None:
    page = window.page
    await window.types("/quiz-admin bank import")
    form = page.locator("form[enctype]").last
    await form.get_by_label("Or a file instead of the text").set_input_files(file)
    await form.get_by_label("How it is written (recipe)").fill("prompt: Aufgaben\noptions: W1, W2\nkey: Richtig")
    await form.get_by_role("button", name="Preview").click()
    await expect(card(window, "Preview of the import")).to_contain_text("did you mean `Aufgabe`?")
    assert await window.audit() == []

    form = page.locator("form[enctype]").last
    assert await form.get_by_label("Name of the document").input_value() == "rechnen.csv"
    assert (await form.get_by_label("The document", exact=True).input_value()).startswith("Aufgabe;")
    await form.get_by_label("How it is written (recipe)").fill("prompt: Aufgabe\noptions: W1, W2\nkey: Richtig")
    await form.get_by_role("button", name="Preview").click()
    preview = card(window, "Preview of the import")
    await expect(preview).to_contain_text("2 questions by the recipe prompt from `Aufgabe`")
    await expect(preview).to_contain_text("line 2, choice: Was ist 1 + 1 (answer: zwei; license: MIT)")
    assert await page.locator("form[enctype]").count() == 1
    assert await window.audit() == []
    await window.shoot("import-preview-dark-phone" if again else "import-preview-light")
    await page.get_by_role("button", name="Import now").click()
    await expect(card(window, "Imported")).to_contain_text("2 unchanged" if again else "2 added")
