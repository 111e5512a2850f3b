"""Two Slack apps behind a load balancer: the commands of one person are answered in order by either of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, closing
from datetime import time
from pathlib import Path

from bot.core.journal import Journal
from bot.slack.app import build, http_routes, serve_http
from bot.slack.auth import single_installation
from bot.slack.web_api import SlackWeb
from service.app import Service
from service.client import ServiceClient
from service.wire import ScheduleSpec, ScheduleView, Where, Who
from tests.bot.conftest import BANK
from tests.bot.slack.conftest import fresh, settings_of
from tests.conftest import TOKEN, Clock
from tests.doubles.slack.double import SlackDouble


class Watched(ServiceClient):
    """Holds a pause of a schedule back until the test lets it go on, and tells when a command must wait."""

    paused: asyncio.Event
    goes_on: asyncio.Event
    waits: asyncio.Event

    async def schedule_pause(self, who: Who, event_id: str, schedule: int, paused: bool) -> ScheduleView:
        if paused:
            self.paused.set()
            await self.goes_on.wait()
        return await super().schedule_pause(who, event_id, schedule, paused)

    async def event_turn(self, platform: str, event: str) -> bool:
        turn = await super().event_turn(platform, event)
        if not turn:
            self.waits.set()
        return turn


async def apps(
    slack: SlackDouble, service: Service, clock: Clock, folder: Path
) -> AsyncGenerator[tuple[Watched, str], None]:
    """Starts apps of one workspace, each with a journal and a port of its own; yields client and address."""
    team = next(iter(slack.world.teams.values()))
    slack.by_http("http://127.0.0.1")
    settings = settings_of(slack.environment(team), folder)
    assert settings.bot_token is not None
    async with AsyncExitStack() as stack:
        for number in range(2):
            web = await stack.enter_async_context(SlackWeb(settings.api_url))
            only = await single_installation(web, settings.bot_token)
            client = await stack.enter_async_context(Watched.inside(service.api, TOKEN))
            client.application = only.bot_id
            client.paused, client.goes_on, client.waits = asyncio.Event(), asyncio.Event(), asyncio.Event()
            journal = stack.enter_context(closing(Journal(folder / str(number))))
            app = build(settings, client, clock, web, journal, only)
            pages = http_routes(app.receiver.app, None, app.health)
            port = await stack.enter_async_context(serve_http(pages, "127.0.0.1", 0))
            stack.push_async_callback(app.handler.drain, 15.0)
            yield client, f"http://127.0.0.1:{port}"


async def test_who_pauses_with_one_app_and_resumes_with_the_other_has_a_running_schedule(
    slack: SlackDouble, client: ServiceClient, service: Service, clock: Clock, tmp_path: Path
) -> None:
    team = slack.team()
    boss = slack.user(team, "Boss", admin=True)
    daily = slack.channel(team, "daily", boss)
    who = Who(platform="slack", workspace=team.id, member=boss.id, name="Boss", admin=True)
    await client.bank_import(who, fresh(), BANK.name, BANK.read_text(encoding="utf-8"), True)
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=60)
    plan = await client.schedule_add(who, fresh(), Where(channel=daily.id, name="#daily"), spec)
    started = apps(slack, service, clock, tmp_path)
    one, first = await anext(started)
    two, second = await anext(started)
    slack.by_http(first)
    assert (await slack.slash(boss, daily, "/quiz-admin", f"schedule pause {plan.id}")).acked
    await one.paused.wait()
    slack.by_http(second)
    assert (await slack.slash(boss, daily, "/quiz-admin", f"schedule resume {plan.id}")).acked
    resumed, waits = asyncio.create_task(slack.sees(boss, "Schedule resumed")), asyncio.create_task(two.waits.wait())
    await asyncio.wait({resumed, waits}, return_when=asyncio.FIRST_COMPLETED)
    assert not resumed.done()
    one.goes_on.set()
    await asyncio.gather(resumed, waits)
    (left,) = await client.schedule_list(who)
    assert not left.paused
    await started.aclose()
