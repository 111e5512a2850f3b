"""The web chat in a real browser: what a screen reader, a keyboard, a phone and a broken connection meet."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from itertools import count
from urllib.parse import parse_qs

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from bot.core.cards import Card, Code, Form, Reply
from bot.core.command_parser import suggest
from bot.core.dispatcher import Target
from bot.core.events import Submit
from bot.core.text import outbox_card
from bot.web.app import build
from bot.web.chat import CHANNEL, WebChat
from bot.web.store import ChatStore
from service.app import build as build_service
from service.client import ServiceClient
from service.config import Settings
from service.store.web_messages import PRIVATE_KEPT
from tests.bot.samples import GALLERY, QUESTION_POST, REVEAL
from tests.bot.web.chromium import Window, Windows, needs_chromium, opened_chromium, served
from tests.bot.web.conftest import AT
from tests.bot.web.http_browser import Desk
from tests.bot.web.writers import posted, says
from tests.conftest import TOKEN, Clock

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.asyncio(loop_scope="module")]

QUESTION = outbox_card(QUESTION_POST)
EDITOR, BOARD = GALLERY["ask code"], GALLERY["board"]
HERE = Target("local", CHANNEL)
LONG = "def add_one(x):\n" + "".join(f"    y{n} = 'a line, number {n}' + \"{'x' * 2 * n}\"  # é ∂\n" for n in range(60))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests; its windows share nothing."""
    async with opened_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def client(settings: Settings, clock: Clock) -> AsyncIterator[ServiceClient]:
    """Calls a service that runs in the event loop of the browser, as the server that calls it does."""
    async with (
        build_service(settings, clock).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
    ):
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def windows(chat: WebChat, desk: Desk, browser: Browser) -> AsyncIterator[Windows]:
    async with served(build(chat, desk.answer, suggest), chat.close) as address:
        windows = Windows(browser, address)
        yield windows
        await windows.close()
    assert windows.complaints() == []


async def shown(windows: Windows, chat: WebChat, *said: Card | Form, **window: object) -> Window:
    """Opens Ann's channel with these private messages."""
    ann = await (await windows.open(**window)).join("Ann")  # type: ignore[arg-type]
    for one in said:
        await posted(chat, one, member=ann.member)
    await ann.page.reload()
    return ann


async def editing(windows: Windows, chat: WebChat, **window: object) -> Window:
    """Opens an editor as Ann."""
    ann = await shown(windows, chat, EDITOR, **window)
    await ann.page.get_by_role("link", name="Open the editor").click()
    await ann.page.locator(".editor.painted").wait_for()
    return ann


# Looks and words


@pytest.mark.slow
async def test_every_card_there_is_passes_the_audit(windows: Windows, chat: WebChat) -> None:
    await chat.post(HERE, QUESTION, "k")
    await says(chat, "Bob", "w" * 300 + " https://example.org/" + "x" * 200, "e")
    cards, audited = list(GALLERY.values()), 0
    # One member keeps only so many private messages.
    for number, start in enumerate(range(0, len(cards), PRIVATE_KEPT)):
        ann = await (await windows.open()).join(f"Ann {number}")
        channel, member = ann.page.url, ann.member
        await ann.page.goto("about:blank")  # a page that is open would redraw itself for each message
        for card in cards[start : start + PRIVATE_KEPT]:
            await posted(chat, card, member=member)
        await ann.page.goto(channel)
        audited += await audit_pages(ann, f"gallery-{number}")
    assert audited == len(cards)


async def audit_pages(ann: Window, name: str) -> int:
    """Audits the channel's pages, on a phone and on a desktop, and returns how many private messages they show."""
    seen, earlier = 0, ann.page.get_by_role("link", name="Earlier messages")
    for page in count():
        for width in (360, 1200):
            await ann.page.set_viewport_size({"width": width, "height": 800})
            assert await ann.audit() == [], ann.page.url
            await ann.shoot(f"{name}-{page}-{width}")
        seen += await ann.page.locator(".message.private").count()
        if not await earlier.count():
            break
        await ann.page.goto(str(await earlier.evaluate("link => link.href")))
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1200])
async def test_the_editor_passes_the_audit(windows: Windows, chat: WebChat, width: int) -> None:
    ann = await editing(windows, chat, width=width)
    await ann.page.get_by_role("textbox").fill(LONG)
    await ann.page.locator(".editor code .k").first.wait_for()

    assert await ann.audit() == []
    await ann.shoot(f"editor-{width}")


@pytest.mark.slow
async def test_the_door_passes_the_audit(windows: Windows) -> None:
    window = await windows.open(width=360)
    await window.page.goto(window.address)
    assert await window.audit() == []

    await window.join("Ann")
    await window.page.goto(window.address)
    await window.page.get_by_label("Your name").fill("ann")
    await window.page.keyboard.press("Enter")
    await expect(window.page.get_by_role("alert")).to_contain_text("already called ann")
    assert await window.audit() == []
    # The browser itself notes that the page came with status 422.
    assert [text for text in window.complaints if "422" not in text] == []
    window.complaints.clear()


# News


@pytest.mark.slow
async def test_news_come_by_themselves_and_leave_the_focus_where_it_is(windows: Windows, chat: WebChat) -> None:
    ann, bob = await (await windows.open()).join("Ann"), await (await windows.open()).join("Bob")
    await ann.page.get_by_label("Message or command").fill("half a thou")

    await bob.types("hello <b>Ann</b>")

    await ann.said("hello <b>Ann</b>", private=False)
    await expect(ann.page.locator("#announcement")).to_have_text("Bob: hello <b>Ann</b>")
    await expect(ann.page.get_by_label("Message or command")).to_be_focused()
    await expect(ann.page.get_by_label("Message or command")).to_have_value("half a thou")
    await expect(bob.page.get_by_label("Message or command")).to_have_value("")
    await expect(bob.page.locator("#announcement")).to_have_text("")


@pytest.mark.slow
async def test_a_reveal_opens_at_its_beginning(windows: Windows, chat: WebChat) -> None:
    ann = await (await windows.open(width=360)).join("Ann")
    for number in range(6):
        await says(chat, "Bob", f"message {number}", f"e{number}")
    await ann.said("message 5", private=False)
    await chat.post(HERE, outbox_card(REVEAL), "k")
    title = ann.page.get_by_role("heading", name=outbox_card(REVEAL).title)
    for arrived in ("while the page is open", "before the page was opened"):
        await expect(title, arrived).to_be_in_viewport()
        await ann.page.reload()


@pytest.mark.slow
async def test_a_typed_command_is_announced_once_and_leaves_the_focus_in_the_box(
    windows: Windows, chat: WebChat, desk: Desk
) -> None:
    assert isinstance(BOARD, Card)
    desk.reply = Reply(BOARD)
    ann = await (await windows.open()).join("Ann")

    await ann.types("/quiz board")

    await ann.said(BOARD.title, private=True)
    await expect(ann.page.get_by_label("Message or command")).to_be_focused()
    await expect(ann.page.locator("#announcement")).to_have_text(f"Dailygrad: {BOARD.summary}")
    assert await ann.page.locator(".message").count() == 1


@pytest.mark.slow
async def test_a_press_that_replaces_keeps_the_focus_on_the_card(windows: Windows, chat: WebChat, desk: Desk) -> None:
    desk.reply = Reply(GALLERY["recorded"], replaces=True)
    ann = await shown(windows, chat, GALLERY["ask choice"])
    await ann.page.get_by_role("button", name="B", exact=True).focus()

    await ann.page.keyboard.press("Enter")

    await ann.said(GALLERY["recorded"].title, private=True)
    await ann.focuses(GALLERY["recorded"].title)
    assert await ann.page.locator(".message").count() == 1
    await ann.page.keyboard.press("Tab")
    await expect(ann.page.locator(".message button").first).to_be_focused()


@pytest.mark.slow
async def test_a_late_response_takes_no_focus_from_a_reply_that_the_stream_brought(
    windows: Windows, chat: WebChat, desk: Desk
) -> None:
    desk.reply = Reply(GALLERY["recorded"], replaces=True)
    ann = await shown(windows, chat, GALLERY["ask choice"])
    released = asyncio.Event()

    async def late(route: Route) -> None:
        if route.request.method == "POST":
            response = await route.fetch()
            await released.wait()
            await route.fulfill(response=response)
        else:
            await route.continue_()

    await ann.page.route("**/*", late)
    await ann.page.get_by_role("button", name="B", exact=True).press("Enter")
    await ann.said(GALLERY["recorded"].title, private=True)
    await ann.page.keyboard.press("Tab")
    first = ann.page.locator(".message button").first
    await expect(first).to_be_focused()

    async with ann.page.expect_event("requestfinished", lambda request: request.method == "POST"):
        released.set()
    await ann.drawn()
    await expect(first).to_be_focused()


@pytest.mark.slow
async def test_what_is_written_while_a_request_is_pending_is_sent_after_it(
    windows: Windows, chat: WebChat, desk: Desk
) -> None:
    ann = await shown(windows, chat, GALLERY["board"])
    box, keys = ann.page.get_by_label("Message or command"), ann.page.keyboard
    released, sent = asyncio.Event(), list[str]()

    async def late(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(parse_qs(route.request.post_data or "")["text"][0])
            await released.wait()
        await route.continue_()

    await ann.page.route("**/*", late)
    await box.fill("first")
    for _ in range(3):
        await keys.press("Enter")  # once, however often
    await box.fill("second")
    await keys.press("Enter")
    await box.fill("not yet sent")
    await expect(ann.page.get_by_text("Sending…")).to_be_visible()
    assert sent == ["first"]

    released.set()
    said = ann.page.locator(".message .said")
    await expect(said).to_have_text(["first", "second"])
    await expect(ann.page.get_by_text("Sending…")).not_to_be_visible()
    assert sent == ["first", "second"]
    await expect(box).to_have_value("not yet sent")


@pytest.mark.slow
async def test_the_same_again_after_a_broken_connection_is_the_same_event(
    windows: Windows, chat: WebChat, desk: Desk
) -> None:
    ann = await shown(windows, chat, GALLERY["board"])
    box, keys = ann.page.get_by_label("Message or command"), ann.page.keyboard
    breaking, events = True, list[tuple[str, str]]()

    async def broken(route: Route) -> None:
        if route.request.method == "POST":
            fields = parse_qs(route.request.post_data or "")
            events.append((fields["text"][0], fields["event"][0]))
        if route.request.method == "POST" and breaking:
            await route.fetch()  # the server has it, but its response is lost
            await route.abort("connectionreset")
        else:
            await route.continue_()

    await ann.page.route("**/*", broken)
    await box.fill("hello")
    await keys.press("Enter")
    await expect(ann.page.locator("#live")).to_contain_text("Not sent")
    await expect(box).to_have_value("hello")
    breaking = False
    await keys.press("Enter")
    await expect(box).to_have_value("")
    await keys.press("ArrowUp")
    await expect(box).to_have_value("hello")
    await box.fill("another")
    await keys.press("Enter")
    await expect(ann.page.locator(".message .said")).to_have_text(["hello", "another"])
    assert [text for text, _ in events] == ["hello", "hello", "another"]
    assert events[0] == events[1]
    assert events[1][1] != events[2][1]
    # The browser says that the connection was reset, as it should.
    assert [text for text in ann.complaints if "ERR_CONNECTION_RESET" not in text] == []
    ann.complaints.clear()


@pytest.mark.slow
async def test_what_was_missed_comes_after_a_restart(client: ServiceClient, desk: Desk, browser: Browser) -> None:
    first = WebChat(ChatStore(client), lambda: AT)
    async with served(build(first, desk.answer, suggest), first.close) as address:
        windows = Windows(browser, address)
        ann = await (await windows.open()).join("Ann")
        await ann.types("before")
        await ann.said("before")
    await expect(ann.page.locator("#live")).to_contain_text("Not connected")
    await ann.page.get_by_role("button", name="/quiz help").click()
    await expect(ann.page.locator("#live")).to_have_text("Not sent: the quiz cannot be reached. Try again.")
    await says(first, "Bob", "while you were away", "e")

    again = WebChat(ChatStore(client), lambda: AT)
    async with served(build(again, desk.answer, suggest), again.close, int(address.rpartition(":")[2])):
        await ann.said("while you were away")
        await expect(ann.page.locator("#live")).to_have_text("")
        await ann.page.get_by_role("button", name="/quiz help").click()
        await ann.said("Noted", private=True)
        assert await ann.page.locator(".message").count() == 3
        assert len(desk.asked) == 1
        await windows.close()


@pytest.mark.slow
async def test_a_deadline_is_shown_in_the_readers_zone(windows: Windows, chat: WebChat) -> None:
    away = await shown(windows, chat, QUESTION, zone="Asia/Tokyo")
    deadline = away.page.locator(".message time[data-local=dated]").first
    await expect(deadline).to_have_attribute("datetime", "2026-03-05T16:00:00Z")
    await expect(deadline).to_have_text("Friday 6 March, 01:00")
    # In English, as the sentence is, with the clock of the reader.
    for name, locale, text in (
        ("Carol", "en-US", re.compile(r"^Friday 6 March, 1:00.AM$")),
        ("Dora", "de-DE", "Friday 6 March, 01:00"),
    ):
        reader = await (await windows.open(zone="Asia/Tokyo", locale=locale)).join(name)
        await posted(chat, QUESTION, member=reader.member)
        await reader.page.reload()
        await expect(reader.page.locator(".message time[data-local=dated]").first).to_have_text(text)
    without = await (await windows.open(zone="Asia/Tokyo", scripts=False)).join("Bob")
    await posted(chat, QUESTION, member=without.member)
    await without.page.reload()
    await expect(without.page.locator(".message time[data-local=dated]").first).to_contain_text("17:00 (Europe/Berlin)")


@pytest.mark.slow
async def test_a_hidden_page_disconnects_and_catches_up(windows: Windows, chat: WebChat) -> None:
    ann = await (await windows.open()).join("Ann")
    turn = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    await ann.page.evaluate(turn, True)
    await says(chat, "Bob", "are you there?", "e1")
    await ann.types("hello")
    await ann.said("hello")
    assert await ann.page.locator(".message").count() == 1

    await ann.page.evaluate(turn, False)

    await ann.said("are you there?")
    assert await ann.page.locator(".message .said").all_inner_texts() == ["are you there?", "hello"]


# The editor


@pytest.mark.slow
async def test_highlighted_code_aligns_with_the_text_area(windows: Windows, chat: WebChat) -> None:
    ann = await editing(windows, chat)
    area = ann.page.get_by_role("textbox")
    await area.fill(LONG)
    await ann.page.locator(".editor code .s1").first.wait_for()

    measured = await ann.page.evaluate(
        """() => {
          const area = document.querySelector("textarea[data-code]");
          const pre = area.parentElement.querySelector("pre");
          const of = (element) => {
            const style = getComputedStyle(element);
            const names = ["fontFamily", "fontSize", "lineHeight", "letterSpacing", "tabSize", "whiteSpace",
              "paddingTop", "paddingLeft", "borderTopWidth", "borderLeftWidth"];
            const box = element.getBoundingClientRect();
            return JSON.stringify([names.map((name) => style[name]), box.x, box.y, box.height]);
          };
          area.scrollTo(120, 333);
          return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
            const code = pre.querySelector("code");
            const spans = [...code.querySelectorAll("span")].map((span) => getComputedStyle(span));
            resolve({
              same: of(area) === of(pre),
              text: code.textContent === area.value + "\\n",
              wide: area.scrollWidth - code.offsetWidth === parseFloat(getComputedStyle(area).paddingLeft),
              moved: code.style.transform,
              even: spans.every((style) => style.fontWeight === spans[0].fontWeight && style.fontStyle === "normal"),
            });
          })));
        }"""
    )

    assert measured == {
        "same": True,
        "text": True,
        "wide": True,
        "moved": "translate(-120px, -333px)",
        "even": True,
    }


@pytest.mark.slow
async def test_the_editor_opens_ready_to_type_with_numbered_lines(windows: Windows, chat: WebChat) -> None:
    ann = await editing(windows, chat, width=1200)
    area, numbers = ann.page.get_by_role("textbox"), ann.page.locator(".line-numbers")
    await expect(area).to_be_focused()
    before = await area.input_value()
    tall = await area.evaluate("area => area.offsetHeight / innerHeight")
    assert tall >= 0.5, "it is tall on a large screen"
    await ann.page.keyboard.type("# the last line")
    await expect(area).to_have_value(before + "# the last line")

    await area.fill("\n".join(["x = 1"] * 60))
    await expect(numbers).to_have_text("\n".join(map(str, range(1, 61))), use_inner_text=False)
    await area.evaluate("area => area.scrollTo(0, 300)")
    # The numbers follow in some later frame.
    await ann.page.wait_for_function(
        """() => {
          const area = document.querySelector("textarea[data-code]");
          const [gutter, code] = [area.nextElementSibling, area.parentElement.querySelector("code")];
          const [numbers, text] = [gutter.firstChild.getBoundingClientRect(), code.getBoundingClientRect()];
          const padding = parseFloat(getComputedStyle(gutter.firstChild).paddingTop);
          const level = Math.abs(numbers.top + padding - text.top) < 1;
          const height = Math.abs(gutter.offsetHeight - area.clientHeight) < 1;
          return area.scrollTop > 0 && level && height && numbers.right <= text.left;
        }"""
    )


@pytest.mark.slow
async def test_the_keyboard_indents_breaks_lines_undoes_and_leaves(windows: Windows, chat: WebChat) -> None:
    ann = await editing(windows, chat)
    area, keys = ann.page.get_by_role("textbox"), ann.page.keyboard
    await area.fill("")
    await keys.type("def f(x):")
    await keys.press("Enter")
    await keys.type("return x")
    await keys.press("Enter")
    await keys.press("Shift+Tab")
    await expect(area).to_have_value("def f(x):\n    return x\n")
    await keys.press("Control+a")
    await keys.press("Tab")
    await expect(area).to_have_value("    def f(x):\n        return x\n")
    await keys.press("Shift+Tab")
    await expect(area).to_have_value("def f(x):\n    return x\n")
    await keys.press("Control+z")
    await expect(area).to_have_value("    def f(x):\n        return x\n")
    await expect(ann.page.locator(".editor code")).to_have_text(
        "    def f(x):\n        return x\n\n", use_inner_text=False
    )

    await keys.press("Escape")
    await keys.press("Tab")
    await expect(ann.page.get_by_role("button", name="Submit")).to_be_focused()
    await keys.press("Shift+Tab")
    await expect(area).to_be_focused()


@pytest.mark.slow
async def test_examples_and_submissions_show_their_result_below(windows: Windows, chat: WebChat, desk: Desk) -> None:
    ann = await editing(windows, chat)
    await ann.page.get_by_role("textbox").fill("def add_one(x): return x")
    desk.reply = Reply(GALLERY["tried"], replaces=True)
    await ann.page.get_by_role("button", name="Run the examples").click()
    await ann.said(GALLERY["tried"].title, private=True)
    await expect(ann.page.locator(".message")).to_be_focused()

    desk.reply = Reply(GALLERY["judging"], replaces=True)
    await ann.page.get_by_role("textbox").press("Control+Enter")
    await ann.said(GALLERY["judging"].title, private=True)
    assert await ann.page.locator(".message").count() == 1

    verdict = GALLERY["verdict wrong"]
    assert isinstance(verdict, Card)
    await chat.post(Target("local", "daily", member=ann.member), verdict, "k")
    await ann.said(verdict.title, private=True)
    assert await ann.page.locator(".message h2").all_inner_texts() == [verdict.title, GALLERY["judging"].title]
    assert [event.action for event in desk.asked if isinstance(event, Submit)] == ["x:r13", "f:r13"]
    assert await ann.audit() == []


@pytest.mark.slow
async def test_going_back_to_the_question_keeps_the_input(windows: Windows, chat: WebChat, desk: Desk) -> None:
    ann = await editing(windows, chat)
    area = ann.page.get_by_role("textbox")
    await area.fill("def add_one(x): return 7")
    desk.reply = Reply(GALLERY["tried"], replaces=True)
    await ann.page.get_by_role("button", name="Run the examples").click()
    await ann.said(GALLERY["tried"].title)

    desk.reply = Reply(EDITOR)
    await ann.page.get_by_role("button", name="Back to the question").click()

    await expect(area).to_be_focused()
    await expect(area).to_have_value("def add_one(x): return 7")
    await ann.page.reload()
    await expect(area).to_have_value("def add_one(x): return 7")


@pytest.mark.slow
async def test_what_was_not_yet_sent_survives_a_reload(windows: Windows, chat: WebChat) -> None:
    ann = await editing(windows, chat)
    area = ann.page.get_by_role("textbox")
    await area.fill("def add_one(x): return x + 1")

    await ann.page.reload()

    await expect(area).to_have_value("def add_one(x): return x + 1")
    await expect(ann.page.locator("#live")).to_have_text("Your draft was restored.")
    await expect(ann.page.locator(".editor code")).to_contain_text("return x + 1")


@pytest.mark.slow
async def test_what_was_not_sent_comes_back_by_the_arrow_keys(windows: Windows, chat: WebChat) -> None:
    ann = await shown(windows, chat, GALLERY["board"])
    box, keys = ann.page.get_by_label("Message or command"), ann.page.keyboard
    released = asyncio.Event()

    async def refused(route: Route) -> None:
        await released.wait()
        await route.fulfill(status=503, body="<main><p>The quiz cannot be reached.</p></main>")

    await ann.page.route(re.compile("/say$"), refused)
    for text in ("first", "second"):
        await box.fill(text)
        await keys.press("Enter")
    await box.fill("third")
    released.set()
    await expect(ann.page.locator("#live")).to_have_text("Not sent: The quiz cannot be reached. Try again.")
    await expect(box).to_have_value("third")
    for text in ("second", "first"):
        await keys.press("ArrowUp")
        await expect(box).to_have_value(text)
    # The browser says that the server refused it, as it should.
    assert [text for text in ann.complaints if "503" not in text] == []
    ann.complaints.clear()


# Without scripts


@pytest.mark.slow
async def test_a_flood_of_output_leaves_the_rest_in_reach(windows: Windows, chat: WebChat) -> None:
    ann = await shown(windows, chat, Card("Finished", "", (Code("x\n" * 1000, ""),)))
    output = ann.page.get_by_role("group", name="Output")
    box = await output.bounding_box()
    assert box is not None
    assert box["height"] <= 22 * 16 + 2
    await output.focus()
    await ann.page.keyboard.press("End")
    await expect(output).to_have_js_property(
        "scrollTop", await output.evaluate("at => at.scrollHeight - at.clientHeight")
    )
    assert await ann.audit() == []


@pytest.mark.slow
async def test_everything_works_without_scripts(windows: Windows, chat: WebChat, desk: Desk) -> None:
    desk.reply = Reply(EDITOR)
    await chat.post(HERE, QUESTION, "k")
    ann = await (await windows.open(scripts=False)).join("Ann")
    await ann.page.get_by_label("Message or command").fill("hello")
    await ann.page.get_by_role("button", name="Send").click()
    await ann.said("hello", private=False)

    await ann.page.get_by_role("button", name="Answer").click()
    area = ann.page.get_by_role("textbox")
    await area.fill("def add_one(x):\n    return 7")
    desk.reply = Reply(GALLERY["tried"], replaces=True)
    await ann.page.get_by_role("button", name="Run the examples").click()
    await ann.said(GALLERY["tried"].title, private=True)
    await expect(area).to_have_value("def add_one(x):\n    return 7")

    await ann.page.get_by_role("link", name="Check for the verdict").click()
    await ann.page.get_by_role("link", name="back to #daily").click()
    await ann.page.get_by_role("link", name="Check for new messages").click()
    await expect(ann.page.get_by_role("heading", name="#daily")).to_be_visible()
