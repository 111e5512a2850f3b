"""The simulated server as a fixture."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.app import Service
from service.client import ServiceClient
from tests.bot.discord.simulated import Simulated, simulation
from tests.conftest import Clock


@pytest.fixture(autouse=True)
def patient_discord(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the double and the bot wait longer than Discord's three seconds, so that a slow machine breaks no test."""
    monkeypatch.setattr("tests.doubles.discord.interactions.FIRST_S", 600.0)
    monkeypatch.setattr("bot.discord.handler.TOO_LATE_S", 600.0)


@pytest.fixture
async def sim(service: Service, client: ServiceClient, clock: Clock, tmp_path: Path) -> AsyncIterator[Simulated]:
    """The server with a bank of one question of every kind, and nothing posted."""
    async with simulation(service, client, clock, tmp_path) as made:
        await made.imports()
        yield made
