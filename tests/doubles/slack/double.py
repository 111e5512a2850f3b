"""A test double of Slack, which an unmodified app uses through `SLACK_API_URL`.

async with slack_double() as slack:
    team = slack.team("acme"); ann = slack.user(team, "Ann"); daily = slack.channel(team, "daily", ann)
    environment = slack.environment()      # for the bot's process
    await slack.connected()
    sent = await slack.slash(ann, daily, "/quiz", "board week")
    assert sent.acked
    board = await slack.sees(ann, "Board")
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from tests.doubles.slack import oracle
from tests.doubles.slack.clock import Clock
from tests.doubles.slack.delivery import Delivery, Post
from tests.doubles.slack.faults import Fault, Faults, How
from tests.doubles.slack.limits import Limits
from tests.doubles.slack.log import PATIENCE_S, Entry, Log
from tests.doubles.slack.people import People
from tests.doubles.slack.server import Server
from tests.doubles.slack.signed_http import SignedHttp
from tests.doubles.slack.sockets import Sockets
from tests.doubles.slack.surfaces import Body
from tests.doubles.slack.world import App, Channel, Team, User, World

T = TypeVar("T")


@dataclass
class SlackDouble(People):
    """The complete double: people's actions and views are its methods; its parts are attributes."""

    faults: Faults
    limits: Limits
    sockets: Sockets
    signed_http: SignedHttp

    @property
    def log(self) -> Log:
        return self.world.log

    @property
    def app(self) -> App:
        return self.world.app

    @property
    def api_url(self) -> str:
        return f"{self.server.base}/api/"

    # Setup

    def team(self, name: str = "acme", install: bool = True) -> Team:
        """Adds a workspace, with the app installed unless OAuth is to install it."""
        team = self.world.add_team(name)
        if install:
            self.world.issue(team, self.app.scopes)
        return team

    def user(self, team: Team, name: str, admin: bool = False) -> User:
        """Adds a person to a workspace."""
        user = User(self.world.new_id("U"), team.id, name, admin)
        team.users[user.id] = user
        return user

    def guest(self, team: Team, name: str) -> User:
        """Adds a person of another workspace, who shares a channel with this one through Slack Connect."""
        user = self.user(team, name)
        user.home = self.world.new_id("T")
        return user

    def channel(self, team: Team, name: str, *members: User, private: bool = False, bot: bool = True) -> Channel:
        """Adds a channel with these people, and with the app unless it is not invited."""
        ids = {user.id for user in members} | ({team.bot.id} if bot else set())
        channel = Channel(self.world.new_id("C"), team.id, name, private, members=ids)
        team.channels[channel.id] = channel
        return channel

    def bot_token(self, team: Team) -> str:
        """Returns the token of a workspace's installation."""
        return next(one.value for one in self.world.tokens.values() if one.team == team.id and not one.revoked)

    def environment(self, team: Team | None = None) -> dict[str, str]:
        """Returns the bot's environment: Socket Mode, or signed HTTP once the app has a request URL.

        Without a `team`, the app is installed by OAuth.
        """
        settings = {"SLACK_API_URL": self.api_url}
        if team is not None:
            settings["SLACK_BOT_TOKEN"] = self.bot_token(team)
        else:
            settings |= {"SLACK_CLIENT_ID": self.app.client_id, "SLACK_CLIENT_SECRET": self.app.client_secret}
        if self.app.request_url:
            return settings | {"SLACK_SIGNING_SECRET": self.app.signing_secret}
        return settings | {"SLACK_APP_TOKEN": self.app.app_token}

    def by_http(self, address: str) -> None:
        """Turns Socket Mode off: deliveries are signed requests to this address."""
        self.app.request_url = f"{address}/slack/events"
        self.app.redirect_url = f"{address}/slack/oauth_redirect"
        self.post.transport = self.signed_http

    # Faults

    def fail(self, method: str, how: How, times: int = 1, seconds: float = 1.0, code: str = "internal_error") -> Fault:
        """Makes the next calls of a method fail (`*` for any, `response_url` for replies by URL)."""
        return self.faults.add(Fault(method, how, times, seconds, code))

    # Waiting

    async def until(self, found: Callable[[], T], timeout: float = PATIENCE_S, what: str = "") -> T:
        """Waits until `found` returns something."""
        return await self.log.until(found, timeout, what)

    async def connected(self, sockets: int = 1, timeout: float = PATIENCE_S) -> None:
        """Waits until this many sockets are open."""
        await self.until(lambda: len(self.sockets.open) >= sockets, timeout, f"{sockets} sockets")

    async def handed(self, event_id: str, timeout: float = PATIENCE_S) -> Entry:
        """Waits until an event is acknowledged; returns the log entry."""
        assert event_id, "the app does not listen to such events"
        return await self.until(lambda: next(self.log.of("acked", event=event_id), None), timeout) or _never()

    def deliveries(self, event_id: str) -> list[Delivery]:
        """Returns all deliveries of an event."""
        return [one for one in self.post.made if one.event_id == event_id]

    def must_be_well(self) -> None:
        """Asserts that the app sent nothing invalid and posted nothing twice."""
        wrong = [(entry["what"], entry["error"], entry["reasons"]) for entry in oracle.violations(self.log)]
        assert not wrong, wrong
        assert oracle.twice(self.log) == {}


def _never() -> Entry:
    raise AssertionError("until returns only what is there")


@asynccontextmanager
async def slack_double(
    *,
    factor: float = 1.0,
    seed: int = 1,
    limits: bool = True,
    manifest: Body | None = None,
    deadline_s: float = 3.0,
) -> AsyncIterator[SlackDouble]:
    """Runs a Slack. Limits, lifetimes and retries pass `factor` times faster than real time.

    Deliveries are acknowledged, and triggers used, within `deadline_s` seconds.
    """
    clock = Clock(factor)
    log = Log(clock)
    world, faults = World(App(), clock, log, deadline_s=deadline_s), Faults()
    if manifest is not None:
        world.app.read_manifest(manifest)
    sockets = Sockets(world, random.Random(seed))
    server = Server(world, Limits(clock, limits), faults, sockets)
    signed_http, post = SignedHttp(world), Post(world, faults, sockets)
    double = SlackDouble(world, post, server, faults, server.limits, sockets, signed_http)
    await server.start()
    try:
        yield double
    finally:
        await post.close()
        await server.stop()
        await signed_http.close()
