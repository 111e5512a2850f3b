"""Makes the README's pictures of the web: `make pictures`.

An animation of a round: `dailygrad run` on a temporary folder, played by four members in Debian's chromium. And pages
of the team of `dailygrad demo`, as its lead sees them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

ROOT = Path(__file__).parents[2]
BANK = Path(__file__).parent / "pictures.md"
IMAGES = ROOT / "docs" / "images"
ANIMATION = IMAGES / "round.webp"
WIDTH, HEIGHT = 760, 820
ANSWERS = {"Grace": "It raises", "Alan": "It returns", "Zoë": "It raises"}
SECONDS = {"question": 2.5, "answer": 2.5, "reveal": 4.0, "board": 3.0}
"""Time that each scene is shown in the animation."""
PAGES: dict[str, tuple[str, Literal["light", "dark"]]] = {
    "board": ("board?period=season", "light"),
    "me": ("me", "dark"),
    "tournament": ("tournament", "dark"),
    "schedule": ("admin/schedules/1", "light"),
}
"""Pages of the demo, and the scheme each is shown in."""
PAGE_SIZE = 1000, 720


@contextlib.contextmanager
def running(words: Sequence[str]) -> Iterator[str]:
    """Yields the URL that a command of Dailygrad prints: of its web chat, or for signing in to the demo."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAILYGRAD_", "DATABASE_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "dailygrad", *words, "--port", "8899"],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "COLUMNS": "200", "TZ": "UTC"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    try:
        yield next(found[0] for line in process.stdout if (found := re.search(r"http://[\w.:/-]+", line)))
    finally:
        process.terminate()
        process.wait(60)


def join(browser: Browser, address: str, name: str) -> Page:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce", locale="en-US")
    page.goto(address)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()
    page.get_by_role("link", name="#daily").click()
    page.get_by_role("heading", name="#daily").wait_for()
    return page


def answer(page: Page, option: str) -> None:
    """Opens the form and presses the button of an option."""
    page.get_by_role("button", name="Answer", exact=True).first.click()
    row = page.locator(".message.private .options li", has_text=option).last
    letter = row.locator(".letter").inner_text().strip()
    page.locator(".message.private").last.get_by_role("button", name=letter).click()


def say(page: Page, text: str) -> None:
    page.get_by_label("Message or command").fill(text)
    page.keyboard.press("Enter")


def take(page: Page, message: Locator) -> Image.Image:
    """Returns a screenshot that shows a message from its start."""
    # Below the header, which stays in place.
    message.evaluate("element => { element.style.scrollMarginTop = '80px'; element.scrollIntoView({block: 'start'}) }")
    page.evaluate("() => document.activeElement?.blur()")
    page.wait_for_timeout(1000)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def play(browser: Browser, address: str) -> dict[str, Image.Image]:
    """Plays a round: the question, an answer, the reveal and the board."""
    ada = join(browser, address, "Ada")
    others = {name: join(browser, address, name) for name in ANSWERS}
    messages = ada.locator(".message")
    # The bank has one question, and the notice about that is in the way.
    messages.nth(1).wait_for()
    messages.nth(1).evaluate("element => element.remove()")
    shown = {"question": take(ada, messages.last)}
    answer(ada, "It raises")
    ada.wait_for_timeout(5000)
    shown["answer"] = take(ada, ada.locator(".message.private").last)
    for name, page in others.items():
        answer(page, ANSWERS[name])
        page.wait_for_timeout(3000)
    say(ada, "/quiz-admin close-now")
    ada.wait_for_timeout(10_000)
    shown["reveal"] = take(ada, messages.filter(has=ada.get_by_role("button", name="More on tensors")))
    say(ada, "/quiz board")
    ada.wait_for_timeout(5000)
    shown["board"] = take(ada, messages.last)
    return shown


def save_pages(browser: Browser, address: str) -> None:
    """Saves pictures of the demo's pages; `address` signs its lead in."""
    width, height = PAGE_SIZE
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", locale="en-US")
    page.goto(address)
    page.get_by_role("button", name="Continue as").click()
    page.get_by_role("heading", name="Question of the day").wait_for()
    today = page.url
    for name, (path, scheme) in PAGES.items():
        page.emulate_media(color_scheme=scheme)
        page.goto(today.replace("today", path), wait_until="networkidle")
        Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(IMAGES / f"web-{name}.webp", quality=85, method=6)


def main() -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with running(["run", "--bank", str(BANK), "--data", f"{folder}/round"]) as address:
            shown = play(browser, address)
        with running(["demo", "--data", f"{folder}/demo"]) as address:
            save_pages(browser, address)
        browser.close()
    first, *rest = shown.values()
    durations = [int(SECONDS[name] * 1000) for name in shown]
    first.save(ANIMATION, save_all=True, append_images=rest, duration=durations, loop=0, quality=85, method=6)


if __name__ == "__main__":
    main()
