"""A real browser against a real server, for tests: Debian's chromium, what it complains about, what it shows."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect
from starlette.types import ASGIApp

CHROMIUM = shutil.which("chromium") or ""
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)  # five seconds by default, which a busy machine exceeds

needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="Debian's chromium is not installed (apt install chromium)")

AUDIT = r"""
() => {
  const found = [];
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const named = (element) => element.tagName + (element.id ? "#" + element.id : "") + " " +
    element.textContent.trim().slice(0, 40);
  const only = (selector) => [...document.querySelectorAll(selector)];
  if (only("h1").length !== 1) found.push(`${only("h1").length} h1`);
  if (!document.documentElement.lang) found.push("no language");
  if (only("main").length !== 1) found.push("not one main");
  const ids = only("[id]").map((element) => element.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) found.push("twice: " + id);
  for (const input of only("input:not([type=hidden]), textarea, select"))
    if (![...(input.labels ?? [])].some((label) => label.textContent.trim())) found.push("no label: " + named(input));
  for (const element of only("button, a[href]"))
    if (!element.textContent.trim()) found.push("no words: " + element.outerHTML);
  for (const name of ["aria-labelledby", "aria-describedby"])
    for (const element of only(`[${name}]`))
      if (!document.getElementById(element.getAttribute(name))) found.push(`${name} of nothing: ` + named(element));
  for (const link of only("a.thread"))
    if (!link.hash) found.push("thread of nothing: " + named(link));
  for (const box of only("pre, .scroll, .table-scroll"))
    if (shown(box) && box.scrollWidth > box.clientWidth && box.tabIndex !== 0 && !box.ariaHidden)
      found.push("cannot be scrolled by keyboard: " + named(box));
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = only("body *").filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
    found.push(`wider than the window: ${wide.map((element) => element.className || element.tagName).slice(0, 5)}`);
  }
  for (const text of only("main p"))
    if (innerWidth < 600 && shown(text) && text.textContent.trim().length > 40 && !text.closest(".scroll, table") &&
        text.getBoundingClientRect().width < 0.4 * innerWidth)
      found.push("squeezed: " + named(text));
  for (const target of only("button, a.button, input:not([type=hidden]), textarea")) {
    const box = (target.closest("label") ?? target).getBoundingClientRect();
    if (shown(target) && box.width && (box.width < 24 || box.height < 24)) found.push("too small: " + named(target));
  }

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const numbers = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      known.set(color, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(color);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a] = numbers(getComputedStyle(at).backgroundColor);
      if (a === 255) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || !shown(element)) continue;
    if (element.closest("textarea, .hidden, .skip, noscript, script, style, datalist")) continue;
    seen.add(element);
    const tones = [light(numbers(getComputedStyle(element).color).slice(0, 3)), light(ground(element))];
    const contrast = (Math.max(...tones) + 0.05) / (Math.min(...tones) + 0.05);
    if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(1)}: ` + named(element));
  }
  return found;
}
"""


AXE = """
async (rules) => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 120)}`));
}
"""
COLOR_RULES = ("color-contrast", "link-in-text-block")
"""The rules of axe whose findings differ between light and dark."""


@cache
def axe_script() -> str | None:
    """Returns the source of axe-core, or None where the package that brings it is not installed."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        return None
    return (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")


needs_axe = pytest.mark.skipif(axe_script() is None, reason="axe-playwright-python is not installed (make install)")


class Window:
    """One browser window of its own: a member's cookies, and everything the browser complained about."""

    def __init__(self, context: BrowserContext, page: Page, address: str, *, scripts: bool = True) -> None:
        self.context = context
        self.page = page
        self.address = address
        self.scripts = scripts
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    async def join(self, name: str, *, heading: str = "#daily") -> Window:
        """Joins under a name; returns when the first page, which has this heading, is there."""
        await self.page.goto(self.address)
        await self.page.get_by_label("Your name").fill(name)
        await self.page.get_by_role("button", name="Join").click()
        await self.page.get_by_role("heading", name=heading).wait_for()
        # The page is there before its script is, and works without: what is typed by then takes the long way.
        await self.page.wait_for_load_state("domcontentloaded")
        return self

    @property
    def member(self) -> str:
        """The id in the address of the present page."""
        return self.page.url.split("/m/")[1].split("/")[0]

    async def types(self, text: str) -> None:
        """Types into the message box and sends it: by Enter, or where scripts are off, by the button."""
        await self.page.get_by_label("Message or command").fill(text)
        if self.scripts:
            await self.page.keyboard.press("Enter")
        else:
            await self.page.get_by_role("button", name="Send").click()

    async def said(self, text: str, *, private: bool | None = None) -> None:
        """Waits until a message contains the text."""
        kind = {None: ".message", True: ".message.private", False: ".message:not(.private)"}[private]
        await self.page.locator(kind, has_text=text).first.wait_for()

    async def focuses(self, title: str) -> None:
        """Waits until the message with that title has the focus: the response gives it, and the event stream may bring
        the message before."""
        title_of = "document.activeElement.closest('.message')?.querySelector('h2')?.textContent.trim()"
        await self.page.wait_for_function(f"(title) => {title_of} === title", arg=title)

    async def drawn(self) -> None:
        """Waits until the page has been drawn again, and with it what a response before may have changed."""
        drawn_twice = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        await self.page.evaluate(drawn_twice)

    async def audit(self) -> list[str]:
        """Returns accessibility problems of the current page, in light and in dark."""
        await self.page.wait_for_load_state()
        found: list[str] = []
        for scheme in SCHEMES:
            await self.page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}: {problem}" for problem in await self.page.evaluate(AUDIT)]
        return found

    async def axe(self) -> list[str]:
        """Returns what axe finds on the current page, in light and in dark. Needs the package that brings axe."""
        script = axe_script()
        assert script is not None, "axe-playwright-python is not installed (make install)"
        await self.page.wait_for_load_state()
        await self.page.evaluate(script)
        found: list[str] = []
        for scheme, rules in zip(SCHEMES, (None, COLOR_RULES), strict=True):
            await self.page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}: {problem}" for problem in await self.page.evaluate(AXE, rules)]
        return found

    async def shoot(self, name: str, *, whole: bool = True) -> None:
        """Takes screenshots in light and in dark if DAILYGRAD_SCREENSHOTS names a folder."""
        if folder := os.environ.get("DAILYGRAD_SCREENSHOTS"):
            await self.page.evaluate("() => document.activeElement?.blur()")
            for scheme in SCHEMES:
                await self.page.emulate_media(color_scheme=scheme)
                await self.page.screenshot(path=Path(folder) / f"{name}-{scheme}.png", full_page=whole)


class Windows:
    """Opens windows on one address."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser = browser
        self.address = address
        self.opened: list[Window] = []

    async def open(
        self,
        *,
        scheme: str = "light",
        width: int = 900,
        height: int = 900,
        scripts: bool = True,
        zone: str = "UTC",
        locale: str = "en-GB",
    ) -> Window:
        context = await self._browser.new_context(
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": width, "height": height},
            java_script_enabled=scripts,
            reduced_motion="reduce",
            locale=locale,
            timezone_id=zone,
        )
        self.opened.append(Window(context, await context.new_page(), self.address, scripts=scripts))
        return self.opened[-1]

    async def close(self) -> None:
        for window in self.opened:
            await window.context.close()

    def complaints(self) -> list[str]:
        return [text for window in self.opened for text in window.complaints]


@contextlib.asynccontextmanager
async def opened_chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, "--disable-sync"])
        try:
            yield browser
        finally:
            await browser.close()


class _Server(uvicorn.Server):
    """Leaves the signals to the test runner."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def served(app: ASGIApp, closing: Callable[[], None], port: int = 0) -> AsyncIterator[str]:
    """Serves the app during the block; `closing` ends open streams first."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        # A page that is opened before the server's first turn waits for it; without this, it would be refused.
        listener.listen(128)
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=5)
        server = _Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            closing()
            server.should_exit = True
            await task
