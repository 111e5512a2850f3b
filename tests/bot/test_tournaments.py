"""A tournament in the console: planned by an admin, joined by button and command, played and looked up."""

from __future__ import annotations

from datetime import timedelta

from bot.console import ConsoleStore
from service.app import Service
from service.client import ServiceClient
from tests.bot.test_console import assert_told, import_bank, talk
from tests.conftest import MONDAY, Clock


async def test_a_tournament_from_the_plan_to_the_archive(client: ServiceClient, service: Service, clock: Clock) -> None:
    async def at(hours: float) -> None:
        clock.now = MONDAY + timedelta(hours=hours)
        for _ in range(2):
            await service.tick()

    with ConsoleStore() as store:
        text = await talk(
            client, service, store,
            "/as Ann", lambda: import_bank(client), "/quiz-admin schedule add 09:00 daily UTC open:8h",
            '/quiz-admin tournament new "Spring cup" first:2026-03-03 days:1', "/as Bob",
            "/quiz tournament join", "/as Ann", "/quiz tournament join", "/quiz tournament leave",
            "/quiz tournament join", "/quiz tournament pick Bob", lambda: at(16), lambda: at(25), "/quiz tournament",
            lambda: at(34), "/quiz board tournament", "/quiz board tournament Winter", "/quiz tournament leave",
        )  # fmt: skip
    assert_told(
        text,
        "Tournament planned\n\nSpring cup is announced in the channel",
        "── (#daily) ──\nTournament: Spring cup\n\nA tournament of 1 day starts",
        "── (only you, Bob) ──\nYou are in",
        "── (only you, Ann) ──\nYou are in",
        "You left the tournament",
        "Captains do not pick the teams in this tournament.",
        "── (#daily) ──\nTournament: Spring cup\n\nThe tournament starts with 2 teams and 2 members.",
        "0 days played, 1 to go.",
        "0 of 1 answered today",
        "── (#daily) ──\nTournament: Spring cup, the podium",
        "Tournament: Spring cup",
        "There is no tournament Winter here.",
        "No tournament is planned or running.",
    )
