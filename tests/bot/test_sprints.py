"""A sprint in the console: from the start to the podium, with the real service."""

from __future__ import annotations

from bot.console import ConsoleStore
from service.app import Service
from service.client import ServiceClient
from tests.bot.test_console import assert_told, import_bank, talk
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import DailyChannel

RETIRED = tuple(f"/quiz-admin bank retire {name}" for name in ("two-right", "the-shape"))


async def test_a_sprint_from_the_start_to_the_podium(client: ServiceClient, service: Service, clock: Clock) -> None:
    daily = DailyChannel(service, client)

    async def later(seconds: float = 1) -> None:
        clock.advance(seconds=seconds)
        await pass_time(daily, seconds)
        await service.tick()

    with ConsoleStore() as store:
        text = await talk(
            client, service, store,
            "/as Ann", lambda: import_bank(client), *RETIRED, "/quiz-admin sprint 1 15",
            later, lambda: later(15), later, later,
            "1", "A", "/as Bob", "1", "B", "C",
            lambda: later(15), "/quiz today", lambda: later(10), "/as Ann", "/quiz-admin sprint stop",
        )  # fmt: skip
    assert_told(
        text,
        "── (only you, Ann) ──\nSprint started\n\n1 question, 15 seconds each.",
        "── (#daily) ──\nSprint\n\n1 question, 15 seconds each. The first one comes in 15 seconds.",
        "── (#daily) ──\nSprint · question 1 of 1\n\nWhat does torch.zeros(2, 3).t().shape give?",
        "15 seconds left",
        "── (only you, Ann) ──\nYour answer",
        "Faster is more points.",
        "Your answer is recorded",
        "── (only you, Bob) ──\nYour answer",
        "Your answer is changed",
        "── (#daily) ──\nAnswer · question 1 of 1\n\nRight: (3, 2)",
        "1 of 2 answered right. Fastest: Ann in ",
        "Standings",
        "Sprint: the podium",
        "🥇 Ann: ",
        "2 members played.",
        "No sprint is running in this channel.",
    )
