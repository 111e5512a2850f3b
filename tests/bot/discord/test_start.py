"""What a bot does when it starts: it registers its commands, or says that they may be out of date."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.discord.client import serve
from bot.discord.settings import DiscordSettings
from tests.bot.discord.simulated import Simulated
from tests.doubles.discord.faults import Cut

PUT = "PUT /applications/{application_id}/commands"
LOG = "bot.discord.client"


@asynccontextmanager
async def started(sim: Simulated, folder: Path) -> AsyncIterator[None]:
    """Runs a bot like `dailygrad bot discord` from its start until it is connected, and then until the block ends."""
    await sim.stops_bot()
    environment = {"DISCORD_TOKEN": sim.double.world.token, "DISCORD_API_URL": sim.double.url, "DAILYGRAD_DATA": folder}
    ready, stop = len(sim.double.log.of("ready")), asyncio.Event()
    bot = asyncio.create_task(serve(DiscordSettings.model_validate(environment), sim.client, sim.moving, stop))
    try:
        await sim.double.until(lambda: len(sim.double.log.of("ready")) > ready, "ready")
        yield
    finally:
        stop.set()
        await bot


async def test_commands_are_registered_at_the_start(
    sim: Simulated, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOG)
    sim.double.world.commands[0] = [one for one in sim.double.world.commands[0] if one["name"] != "quiz"]
    async with started(sim, tmp_path):
        assert {one["name"] for one in sim.double.world.commands[0]} == {"quiz", "quiz-admin", "Answer with this"}
    assert [one.getMessage() for one in caplog.records if "commands:" in one.getMessage()] == ["commands: added /quiz"]


async def test_commands_that_are_the_same_are_not_registered_again(sim: Simulated, tmp_path: Path) -> None:
    before = len(sim.double.log.of("commands"))
    async with started(sim, tmp_path):
        assert len(sim.double.log.of("commands")) == before


async def test_a_bot_whose_commands_are_out_of_date_says_so_and_works(
    sim: Simulated, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sim.double.world.commands[0] = []
    # aiohttp repeats a PUT once.
    sim.double.faults.next(PUT, Cut(), 2)
    async with started(sim, tmp_path):
        assert sim.double.world.commands[0] == []
    (line,) = [one.getMessage() for one in caplog.records if "out of date" in one.getMessage()]
    assert line.startswith("the commands may be out of date, because Discord did not take the new ones (")
    assert line.endswith("): run `dailygrad bot discord-sync`")
