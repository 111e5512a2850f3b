"""HTTP of the Slack bot: `/healthz`, and nothing else in Socket Mode."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.core.dispatcher import Dispatcher
from bot.core.journal import Journal
from bot.slack.app import build, http_routes, serve_http
from bot.slack.web_api import SlackWeb
from service.client import ServiceClient
from tests.bot.conftest import Wall
from tests.bot.slack.conftest import Workspace, settings_of
from tests.conftest import Clock
from tests.machine import free_port


@pytest.mark.parametrize(("well", "status"), [(True, 200), (False, 503)])
async def test_healthz_reports_the_state(well: bool, status: int) -> None:
    async def health() -> tuple[bool, dict[str, Any]]:
        return well, {"quiet_s": 1.5}

    async with (
        serve_http(http_routes(None, None, health), "127.0.0.1", 0) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as browser,
    ):
        async with browser.get("/healthz") as answer:
            assert answer.status == status
            assert await answer.json() == {"ok": well, "quiet_s": 1.5}
        for path in ("/slack/events", "/slack/install"):
            async with browser.post(path, data="payload=%7B%7D") as answer:
                assert answer.status == 404


async def test_health_follows_the_socket(workspace: Workspace) -> None:
    await workspace.end()
    port = free_port()
    workspace.settings = workspace.settings.model_copy(update={"port": port})
    await workspace.start()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as browser:

        async def health() -> tuple[int, dict[str, Any]]:
            async with browser.get("/healthz") as answer:
                return answer.status, await answer.json()

        await workspace.types(workspace.ann, "/quiz help", "/quiz practice")
        status, said = await health()
        assert (status, said["mode"], said["connected"]) == (200, "socket", True)
        assert said["last_event"] is not None
        workspace.slack.sockets.refusing = True
        workspace.slack.sockets.drop()
        await workspace.slack.until(lambda: workspace.slack.log.count("socket", what="refused"))
        status, said = await health()
        assert (status, said["connected"]) == (503, False)
        workspace.slack.sockets.refusing = False
        await workspace.slack.connected()


async def test_health_turns_red_after_two_minutes_without_the_outbox(clock: Clock, tmp_path: Path) -> None:
    """By HTTP, where no socket says whether the bot works."""
    now = [0.0]
    seen: list[tuple[float, tuple[bool, dict[str, Any]]]] = []

    async def pause(seconds: float) -> None:
        seen.append((now[0], await app.health()))
        now[0] += 119.9 if now[0] == 0 else 0.1
        if len(seen) == 3:
            raise asyncio.CancelledError

    environment = {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_SIGNING_SECRET": "secret",
        "SLACK_API_URL": "http://127.0.0.1:1/api/",
    }
    settings = settings_of(environment, tmp_path)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with ServiceClient.over_http(nowhere, "token") as client, SlackWeb(settings.api_url) as web:
            with contextlib.closing(Journal(tmp_path / "slack.sqlite")) as journal:
                app = build(settings, client, clock, web, journal, None)
                app.dispatcher = Dispatcher(client, Wall("slack"), pause=pause, steady=lambda: now[0])
                assert (await app.health())[0]
                with pytest.raises(asyncio.CancelledError):
                    await app.dispatcher.run()
    assert [(at, well, said["outbox_failing_s"]) for at, (well, said) in seen] == [
        (0.0, True, 0.0),
        (119.9, True, 119.9),
        (120.0, False, 120.0),
    ]
