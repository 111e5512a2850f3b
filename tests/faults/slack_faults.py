"""A workspace in the Slack double with the real service and bot processes, for fault tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bot.slack.manifest import app_manifest
from service.wire import Where, Who
from tests.databases import tables_locked
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.surfaces import Message, Shown
from tests.doubles.slack.world import Channel, Team, User
from tests.faults.backend import Backend, Bot, Bots, boss_of
from tests.machine import free_port

QUICK_PING = {"DAILYGRAD_SLACK_PING_S": "0.25"}
_MEMBERS_TABLES = ("workspace", "chat", "member", "identity", "round", "answer", "inbox")


@dataclass
class SlackScene:
    """A workspace with an admin, a member and a channel. No bot runs before `start`."""

    slack: SlackDouble
    backend: Backend
    bots: Bots
    team: Team
    ann: User
    bob: User
    daily: Channel

    @property
    def boss(self) -> Who:
        return boss_of("slack", self.team.id, self.ann.id)

    async def start(self, data: str = "data", **settings: str) -> Bot:
        """Starts a bot in Socket Mode and waits until it is connected."""
        before = len(self.slack.sockets.open)
        bot = await self.launch(data, **settings)

        def there() -> bool:
            return len(self.slack.sockets.open) > before or bot.process.poll() is not None

        await self.slack.until(there, what="a socket")
        assert bot.process.poll() is None, bot.said
        return bot

    async def launch(self, data: str = "data", **settings: str) -> Bot:
        """Starts a bot without waiting."""
        return await self.bots.start("bot", "slack", data=data, **self.slack.environment(self.team), **settings)

    async def start_http(self, data: str = "data", **settings: str) -> Bot:
        """Starts a bot that receives signed HTTP requests."""
        bot = await self.launch(data, DAILYGRAD_SLACK_PORT=str(self.speaks_http()), **settings)
        await bot.says(r"requests on port")
        return bot

    def speaks_http(self) -> int:
        """Turns Socket Mode off; returns the port the bot must listen on."""
        port = free_port()
        self.slack.by_http(f"http://127.0.0.1:{port}")
        return port

    def place(self, channel: Channel | None = None) -> Where:
        """Returns a channel as the service knows it."""
        channel = channel or self.daily
        return Where(channel=channel.id, name=channel.name)

    async def asks(self, question: str = "one-right") -> Shown:
        """Posts a question in the channel and waits for it."""
        await self.backend.import_bank(self.boss, question)
        await self.backend.posts_now(self.boss, self.place())
        return await self.slack.sees(self.bob, "Question for ")

    def questions(self, channel: Channel | None = None) -> list[Message]:
        """Returns the questions in the channel."""
        return [one for one in self.slack.world.messages(channel or self.daily) if "Question for " in one.words]

    def locked(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Locks the members' tables until the block exits."""
        return tables_locked(self.backend.database_url, *_MEMBERS_TABLES)


@contextlib.asynccontextmanager
async def slack_scene(
    backend: Backend, bots: Bots, *, factor: float = 1.0, limits: bool = True
) -> AsyncIterator[SlackScene]:
    """Yields a scene whose Slack clock runs `factor` times faster."""
    async with slack_double(factor=factor, limits=limits, manifest=app_manifest()) as slack:
        team = slack.team()
        ann, bob = slack.user(team, "Ann", admin=True), slack.user(team, "Bob")
        yield SlackScene(slack, backend, bots, team, ann, bob, slack.channel(team, "daily", ann, bob))
        await bots.clear()


@pytest.fixture
async def scene(backend: Backend, bots: Bots) -> AsyncIterator[SlackScene]:
    """A scene at real speed."""
    async with slack_scene(backend, bots) as scene:
        yield scene
