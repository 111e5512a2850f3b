"""Metrics of running processes of every kind: they include everything that the dashboard and the alerts use."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import partial

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.chaos.processes import until_awaited
from tests.faults.backend import Backend, Bot, Bots, backend_running
from tests.faults.discord_faults import option, team_ready
from tests.faults.slack_faults import slack_scene
from tests.flows.test_processes import leader
from tests.service.ops.test_doctor import WELL, supervisor
from tests.service.promql import asked_by
from tests.service.test_monitoring import expressions

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0
Series = dict[tuple[str, ...], float]
"""The samples of a page, by name and label values."""


@pytest.fixture
async def backend(database_url: str) -> AsyncIterator[Backend]:
    async with backend_running(database_url) as running:
        yield running


@pytest.fixture
async def bots(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bots]:
    bots = Bots(backend, tmp_path_factory.mktemp("bots"), {"DAILYGRAD_METRICS_PORT": "0"})
    yield bots
    await bots.clear()


async def page(bot: Bot) -> str:
    """Returns a process's metrics page."""
    address = (await bot.says(r"Metrics are served at (\S+)"))[1]
    async with httpx.AsyncClient(timeout=60) as http:
        return (await http.get(address)).raise_for_status().text


def series(text: str) -> Series:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def names(text: str) -> set[str]:
    """Returns the names of all series of a page, including those without samples."""
    found = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        found |= {f"{name}{part}" for part in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return found


async def tells(bot: Bot, name: str) -> bool:
    return name in names(await page(bot))


async def test_the_processes_tell_what_is_asked(backend: Backend, bots: Bots, database_url: str) -> None:
    ours = {"DATABASE_URL": database_url, "DAILYGRAD_SANDBOX_SOCKET": str(bots.folder / "sandbox.sock")}
    started = {
        "service": await bots.start("serve", DAILYGRAD_PORT="0", **ours),
        "worker": await bots.start("work", **ours),
        "web": await bots.start("bot", "web", data="web", DAILYGRAD_WEB_PORT="0"),
    }
    async with supervisor(bots.folder, WELL), slack_scene(backend, bots) as scene:
        started["slack"] = await scene.start()
        await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")
        await scene.slack.sees(scene.bob, "/quiz today")
        await started["service"].says("listens on")
        await started["worker"].says("is ready")
        leader(database_url)
        # A new leader deletes old rows for the first time a moment after it leads.
        assert await until_awaited(partial(tells, started["worker"], "dailygrad_retention_age_seconds"), PATIENCE_S)
        pages = {name: await page(bot) for name, bot in started.items()}

    told = set[str]().union(*map(names, pages.values()))
    asked = {each.metric for expression in expressions() for each in asked_by(expression)}
    # PostgreSQL's own come from its exporter, and ages of backups once there are some.
    left = {metric for metric in asked - told if not metric.startswith("pg_")}
    assert left == {"up", "dailygrad_backup_age_seconds", "dailygrad_wal_archived_age_seconds"}
    assert "dailygrad_posts_overdue" in names(pages["service"]) & names(pages["worker"])
    assert "dailygrad_http_requests_total" in names(pages["service"])
    for bot in ("web", "slack"):
        assert "dailygrad_chat_acknowledged_seconds_bucket" in names(pages[bot])
        assert not {name for name in names(pages[bot]) if "database" in name}

    worker, slack = series(pages["worker"]), series(pages["slack"])
    assert (worker["dailygrad_leads",], worker["dailygrad_led",], worker["dailygrad_sandbox_ready",]) == (1, 1, 2)
    assert series(pages["service"])["dailygrad_leads",] == 0
    assert slack["dailygrad_chat_connections_total", "slack", "made"] >= 1
    assert slack["dailygrad_chat_events_total", "Command", "answered", "slack"] == 1
    assert slack["dailygrad_chat_acknowledged_seconds_count", "slack"] >= 1
    assert slack["dailygrad_chat_responses_total", "slack", "200"] >= 1
    for text in pages.values():
        for name in (scene.team.id, scene.bob.id, scene.daily.id, scene.bob.name):
            assert f'"{name}"' not in text


async def test_a_bot_on_discord_tells_of_clicks_and_posts(backend: Backend, bots: Bots) -> None:
    async with team_ready(backend, bots, "one-right") as team:
        bot = await team.starts()
        question = await team.asks()
        asked = await team.opens(team.ann, question)
        await team.double.settled(await team.double.press(team.ann, *option(asked)))
        await team.delivered()
        found = series(await page(bot))
    assert found["dailygrad_chat_acknowledged_seconds_count", "discord"] == 2
    assert found["dailygrad_chat_events_total", "Press", "answered", "discord"] == 2
    assert found["dailygrad_chat_posts_total", "question", "sent", "discord"] == 1
    assert found["dailygrad_chat_connections_total", "discord", "made"] >= 1
    assert found["dailygrad_chat_responses_total", "discord", "200"] >= 1
    assert ("dailygrad_chat_responses_total", "discord", "429") not in found
