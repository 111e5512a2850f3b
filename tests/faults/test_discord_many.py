"""Many rounds on Discord, a small version of the benchmark: posted once while people click, also with a killed bot."""

from __future__ import annotations

import pytest

from tests.bench.bench_discord import OnDiscord, measure, prepare
from tests.bench.many import Plan
from tests.faults.backend import Backend, Bots
from tests.faults.discord_faults import team_ready

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kill", [False, True], ids=["alive", "killed in the middle"])
async def test_many_rounds_at_once_are_posted_once(backend: Backend, bots: Bots, kill: bool) -> None:
    """Once: two hundred rounds due in one minute, also with `kill -9` in the middle, are posted once and in order."""
    plan = Plan(rounds=200, chats=2, channels=50, kill=kill, click_every=20, seconds=90)
    async with team_ready(backend, bots, many=20, check_every=5) as team:
        await prepare(team, plan)
        report = await measure(OnDiscord(team), plan)
    assert (report.posted, report.doubled, report.lost, report.unordered) == (plan.rounds, 0, 0, 0), str(report)
    assert report.broken == 0, str(report)
    assert report.refused == 0, "the bot keeps its own pace below Discord's"
    assert report.delay(0.99) < 3, "every click that was heard was acknowledged in time"
