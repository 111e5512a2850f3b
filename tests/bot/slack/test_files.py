"""Files of members: the workspace's token is sent to Slack alone, whatever a message says about where its file is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.core.cards import Card
from bot.core.events import Sent
from bot.slack.auth import InstallationTokens
from bot.slack.people import MAX_FILE_BYTES, FileFetcher, is_slack_url
from bot.slack.route import FileRef, Route, write_files
from bot.slack.web_api import SlackWeb
from service.client import ServiceClient
from service.wire import Installation, Where, Who
from tests.conftest import TOKEN

NOW = datetime(2026, 3, 5, 8, 0, tzinfo=UTC)
ANN = Who(platform="slack", workspace="T1", member="U1", name="Ann")


@dataclass
class Host:
    """A web server that notes what it is sent."""

    url: str = ""
    tokens: list[str] = field(default_factory=list)
    answer: web.Response = field(default_factory=lambda: web.Response(text="def f(): pass"))


@asynccontextmanager
async def serving(host: Host) -> AsyncIterator[Host]:
    async def answer(request: web.Request) -> web.Response:
        host.tokens.append(request.headers.get("Authorization", ""))
        return host.answer

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield host
    finally:
        await runner.cleanup()


async def sends(api: Host, url: str) -> Sent | Card:
    """Sends a message with a file at that address."""
    only = Installation(platform="slack", team="T1", token=SecretStr("xoxb-hush"))
    async with (
        SlackWeb(f"{api.url}/api/") as slack,
        ServiceClient.over_http("http://127.0.0.1:9", TOKEN) as client,
    ):
        files = FileFetcher(slack, InstallationTokens(client, lambda: NOW, only))
        route = Route(team="T1", files=write_files([FileRef("answer.py", url, 12)]))
        read = await files.with_files(Sent("1", NOW, ANN, Where(channel="C1"), ""), route)
        assert isinstance(read, Sent | Card)
        return read


async def test_a_file_that_slack_has_is_read_with_the_token() -> None:
    async with serving(Host()) as slack:
        read = await sends(slack, f"{slack.url}/files/answer.py")
    assert isinstance(read, Sent) and read.files == (("answer.py", "def f(): pass"),)
    assert slack.tokens == ["Bearer xoxb-hush"]


async def test_a_file_that_is_elsewhere_is_not_read() -> None:
    async with serving(Host()) as slack, serving(Host()) as evil:
        assert isinstance(await sends(slack, f"{evil.url}/answer.py"), Card)
    assert evil.tokens == []


async def test_no_redirect_is_followed() -> None:
    async with serving(Host()) as evil:
        moved = web.Response(status=302, headers={"Location": f"{evil.url}/answer.py"})
        async with serving(Host(answer=moved)) as slack:
            refused = await sends(slack, f"{slack.url}/answer.py")
    assert evil.tokens == []
    # Slack leads an app that may not read a file to the page where people sign in.
    assert isinstance(refused, Card) and "files:read" in str(refused.blocks)


async def test_a_file_that_is_larger_than_it_says_is_not_read() -> None:
    async with serving(Host(answer=web.Response(text="#" * (MAX_FILE_BYTES + 1)))) as slack:
        assert isinstance(await sends(slack, f"{slack.url}/answer.py"), Card)


@pytest.mark.parametrize(
    ("url", "is_slacks"),
    [
        ("https://files.slack.com/files-pri/T1/answer.py", True),
        ("https://slack.com/answer.py", True),
        ("https://files.slack-gov.com/answer.py", True),
        ("http://files.slack.com/answer.py", False),
        ("https://slack.com.evil.example/answer.py", False),
        ("https://evilslack.com/answer.py", False),
        ("https://slack.com@evil.example/answer.py", False),
        ("https://ann:hush@files.slack.com/answer.py", False),
        ("https://evil.example\\@slack.com/answer.py", False),
        ("https://evil.example#@slack.com/answer.py", False),
        ("https://evil.example／.slack.com/answer.py", False),
        ("https://[::1/answer.py", False),
        ("//files.slack.com/answer.py", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_what_is_slacks(url: str, is_slacks: bool) -> None:
    assert is_slack_url(url, "https://slack.com/api/") is is_slacks
