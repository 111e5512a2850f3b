"""Bolt has nothing to warn of when the bot starts: a warning at every start is one that nobody reads."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from bot.slack.app import serve
from service.client import ServiceClient
from tests.bot.slack.conftest import settings_of
from tests.conftest import Clock
from tests.doubles.slack.double import SlackDouble


@pytest.mark.parametrize("way", ["socket", "one workspace by http", "many workspaces by http"])
async def test_the_libraries_of_slack_warn_of_nothing(
    slack: SlackDouble, client: ServiceClient, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    team = slack.team()
    if way != "socket":
        slack.by_http("http://127.0.0.1")
    settings = settings_of(
        slack.environment(None if way.startswith("many") else team), tmp_path, DAILYGRAD_SLACK_PORT=0
    )
    stop = asyncio.Event()
    with caplog.at_level(logging.INFO):
        running = asyncio.create_task(serve(settings, client, clock, stop))
        if way == "socket":
            await slack.connected()
        else:
            while not [record for record in caplog.records if "listening for Slack" in record.getMessage()]:
                await asyncio.sleep(0.01)
                assert not running.done(), running.result()
        stop.set()
        await running
    theirs = [record for record in caplog.records if record.name.startswith(("slack_bolt", "slack_sdk"))]
    assert theirs or way != "socket", "they are heard"
    assert [record.getMessage() for record in theirs if record.levelno >= logging.WARNING] == []
