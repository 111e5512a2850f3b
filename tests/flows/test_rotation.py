"""Token rotation while processes call one another: no call fails, and the old token stops working."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from service.client import ServiceClient, ServiceRefused
from service.credentials import TokenFile
from service.wire import CallRejected, Who
from tests.flows.test_processes import PATIENCE, ROOT, Browser, Parts, joined, parts

__all__ = ["parts"]

pytestmark = pytest.mark.slow

CALLERS = 3
STEPS = (("--rotate", True), ("--retire", False), ("--rotate", False), ("--rotate", False), ("--retire", False))
"""The operator's steps, and whether the first token is still valid after each."""


@dataclass
class Calls:
    """Callers that never pause. A failed call ends all of them and the test."""

    client: ServiceClient
    who: Who
    made: int = 0
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def on_and_on(self) -> None:
        while True:
            # Each call is of another member, and a thousand of another workspace: none may call so fast alone.
            asking = {"workspace": f"team {self.made // 1000}", "member": f"{self.who.member} {self.made}"}
            await self.client.rules(self.who.model_copy(update=asking))
            async with self.news:
                self.made += 1
                self.news.notify_all()

    async def more(self, number: int) -> None:
        """Waits for this many more successful calls."""
        enough = self.made + number
        async with asyncio.timeout(PATIENCE), self.news:
            await self.news.wait_for(lambda: self.made >= enough)


async def change(folder: Path, *step: str) -> str:
    """Runs the operator's command; returns its output."""
    words = [sys.executable, "-m", "service.keys", str(folder / "store"), "--service", str(folder / "service")]
    words += ["--bot", f"web={folder / 'web'}", *step]
    ended = await asyncio.to_thread(subprocess.run, words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 0, ended.stderr
    return str(ended.stdout)


async def asks_for_the_rules(browser: Browser, event: int) -> None:
    """Sends a command through the bot's process, which calls the service."""
    token = re.search(r'name="token" value="([^"]+)"', await browser.page())
    assert token
    said = {"token": token[1], "event": f"rules-{event}", "text": "/quiz rules"}
    answered = await browser.http.post(
        f"/m/{browser.ann.member}/say", data=said, headers={"Accept": "application/json"}
    )
    assert "A right answer earns" in answered.json()["html"]


async def test_a_token_is_changed_under_calls_and_none_fails(
    parts: Parts,
    database_url: str,
    tmp_path: Path,
) -> None:
    for part in ("store", "service", "web"):
        (tmp_path / part).mkdir()
    assert "service_token" in await change(tmp_path)
    web_token = tmp_path / "web" / "service_token"
    first = web_token.read_text()
    settings = {
        "DATABASE_URL": database_url,
        "DAILYGRAD_SERVICE_TOKEN_FILE": str(tmp_path / "service" / "service_token"),
        "DAILYGRAD_BOT_TOKENS_FILE": str(tmp_path / "service" / "bot_tokens"),
    }
    serving = parts.start("serve", DAILYGRAD_PORT="0", **settings)
    url = f"http://{serving.wait_for(r'listens on ([0-9.:]+)')[1]}"
    token = {"DAILYGRAD_SERVICE_TOKEN_FILE": str(web_token)}
    chat = {"DAILYGRAD_SERVICE_URL": url, "DAILYGRAD_DATA": str(tmp_path), "DAILYGRAD_WEB_PORT": "0"}
    address = parts.start("bot", "web", **chat, **token).wait_for(r"The web chat is at (\S+)")[1]

    shown = TokenFile(web_token)
    events = count()
    async with joined(address) as browser, ServiceClient.over_http(url, shown) as client:
        calls = Calls(client, browser.ann)
        async with asyncio.TaskGroup() as callers:
            tasks = [callers.create_task(calls.on_and_on()) for _ in range(CALLERS)]
            await asks_for_the_rules(browser, next(events))
            for step, good in STEPS:
                await calls.more(20)
                await change(tmp_path, step)
                await asks_for_the_rules(browser, next(events))
                assert await opens(url, first) is good
            await calls.more(20)
            for task in tasks:
                task.cancel()
    parts.stop()


async def opens(url: str, token: str) -> bool:
    """Returns whether the service accepts a token."""
    async with ServiceClient.over_http(url, token) as stranger:
        try:
            await stranger.rules(Who(platform="web", workspace="local", member="x", name="X"))
        except ServiceRefused as refused:
            assert isinstance(refused.refusal, CallRejected) and refused.refusal.code == "unauthorized"
            return False
    return True
