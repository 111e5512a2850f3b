"""HTTP of the Slack bot: `/healthz`, and nothing else in Socket Mode."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from bot.slack.app import http_routes, serve_http
from tests.bot.slack.conftest import Workspace
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
