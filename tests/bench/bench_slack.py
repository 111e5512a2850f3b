"""Benchmark: many rounds due in the same minute on a Slack that enforces its rate limits.

`python -m tests.bench.bench_slack --rounds 10000 [--kill]`. Measures whether each is posted once, how fast, and the
delay of clicks. The service creates the first round; the others are copies of its rows, because the path from the
outbox to the chat is measured. Slack publishes a limit per channel and only hints at one per workspace, which here is
five messages a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
from pydantic import SecretStr

from bot.slack.manifest import app_manifest
from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import Installation, Where
from tests.bench import many
from tests.bench.many import Plan, Report, Tally
from tests.bench.rounds import copied, more_channels, shared
from tests.doubles.slack import oracle
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.log import Entry
from tests.doubles.slack.surfaces import Shown
from tests.doubles.slack.world import Channel, Team, User
from tests.faults.backend import LEASE_S, TOKEN, TOKEN_KEY, Backend, Bot, Bots, backend_running, boss_of
from tests.machine import free_port


@dataclass
class OnSlack:
    """The Slack scene: a hosted bot and the workspaces that installed it. Reads only new entries of the double's
    log."""

    slack: SlackDouble
    backend: Backend
    bots: Bots
    port: int
    serving: int
    name: str = "Slack"
    rooms: dict[str, tuple[Team, Channel]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    read: int = 0
    newest: Entry | None = None

    async def start(self, again: bool) -> Bot:
        if again:
            # If this process runs the service, advance its clock so that the dead bot's leases end at once; otherwise
            # they expire meanwhile.
            self.backend.clock.advance(seconds=LEASE_S)
        settings = self.slack.environment() | {"DAILYGRAD_SLACK_PORT": str(self.port)}
        bot = await self.bots.start("bot", "slack", **settings)
        await bot.says("requests on port")
        return bot

    async def until(self, reached: Callable[[], bool], seconds: float) -> None:
        await self.slack.log.until(reached, seconds)

    def look(self) -> int:
        entries = self.slack.log.entries
        for entry in entries[self.read :]:
            if entry.kind == "posted" and entry["bot"] and entry["key"].startswith("round:"):
                self.tally.add(entry["key"], entry["channel"], int(entry["key"].split(":")[1]), entry.at)
                self.newest = entry
        self.read = len(entries)
        return len(self.tally.made)

    async def click(self) -> None:
        assert self.newest is not None, "something was posted"
        team, room = self.rooms[self.newest["channel"]]
        user = self.slack.user(team, "Somebody")
        room.members.add(user.id)
        if (await self.slack.click(user, room.messages[self.newest["ts"]], "Answer")).acked:
            with contextlib.suppress(AssertionError):
                card = await self.slack.log.until(lambda: self._card(user), many.GIVEN_UP_S)
                assert card is not None
                await self.slack.click(user, card, "A")

    def _card(self, user: User) -> Shown | None:
        """Returns the card with the options that a member was just shown: in a view if the reply took a while."""
        private = (one for one in reversed(self.slack.world.ephemerals[-200:]) if one.user == user.id)
        return next((one for one in (*private, *self.slack.world.stack(user)) if "A" in one.labels), None)


async def prepare(scene: OnSlack, plan: Plan, client: ServiceClient) -> None:
    """Installs the app everywhere and prepares the rounds in the outbox, all due at the same instant."""
    teams = [scene.slack.team(f"team-{number}") for number in range(plan.chats)]
    url = libpq_url(scene.backend.database_url)
    for team in teams:
        rooms = [scene.slack.channel(team, f"room-{number}") for number in range(plan.channels)]
        scene.rooms |= {room.id: (team, room) for room in rooms}
        await client.installation_keep(_installation(scene.slack, team))
        boss = boss_of("slack", team.id, scene.slack.user(team, "Boss", admin=True).id)
        await client.join(boss, Where(channel=rooms[0].id, name="room"))
        if team is teams[0]:
            await scene.backend.import_bank(boss, "one-right")
            await scene.backend.posts_now(boss, Where(channel=rooms[0].id, name="room"))
        async with await psycopg.AsyncConnection.connect(url) as rows:
            await shared(rows, rooms[0].id)
            await more_channels(rows, team.id, [room.id for room in rooms[1:]])
    async with await psycopg.AsyncConnection.connect(url) as rows:
        await copied(rows, plan.each)


def _installation(slack: SlackDouble, team: Team) -> Installation:
    token = SecretStr(slack.bot_token(team))
    return Installation(platform="slack", team=team.id, token=token, bot_id=team.bot_id, bot_user=team.bot.id)


async def measure(scene: OnSlack, plan: Plan) -> Report:
    """Runs the benchmark."""
    played = await many.play(scene, plan)
    log, limits = scene.slack.log, scene.slack.limits
    return Report(
        chat=scene.name,
        plan=plan,
        tally=scene.tally,
        played=played,
        ideal=(plan.rounds / plan.chats - limits.team_burst) / (limits.team_rate * plan.faster),
        refused=log.count("limited", method="chat.postMessage"),
        delays=tuple(sorted(oracle.ack_times(log, "interactive"))),
        unanswered=len(oracle.unanswered(log)),
        # On a slow machine a trigger may expire; the clicks' own figures show it.
        broken=sum(entry["error"] != "expired_trigger_id" for entry in oracle.violations(log)),
    )


async def run(url: str, plan: Plan, *, apart: bool = True) -> Report:
    """Runs the benchmark with the service as a separate process, or with only the bot separate."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-bench-") as folder:
        async with (
            backend_running(url) as near,
            slack_double(factor=plan.faster, manifest=app_manifest("https://quiz.example.org")) as slack,
        ):
            slack.world.check_every = 10 if plan.rounds < 200 else 25
            bots, port = Bots(near, Path(folder)), free_port()
            slack.by_http(f"http://127.0.0.1:{port}")
            try:
                bots.backend = replace(near, url=await _service(bots, url)) if apart else near
                serving = bots.started[0].process.pid if apart else os.getpid()
                scene = OnSlack(slack, bots.backend, bots, port, serving)
                async with ServiceClient.over_http(bots.backend.url, TOKEN) as client:
                    await prepare(scene, plan, client)
                return await measure(scene, plan)
            finally:
                await bots.clear()


async def _service(bots: Bots, url: str) -> str:
    """Starts a service and yields its URL."""
    settings = {"DATABASE_URL": url, "DAILYGRAD_PORT": "0", "DAILYGRAD_TOKEN_KEY": TOKEN_KEY}
    served = await bots.start("serve", DAILYGRAD_SERVICE_TOKEN=TOKEN, **settings)
    return f"http://{(await served.says(r'listens on ([0-9.:]+)'))[1]}"


def main() -> None:
    """Runs the command."""
    about = "Many rounds due in the same minute on a Slack that keeps its limits."
    many.main(about, "teams", Plan(chats=8, channels=250), lambda url, plan: asyncio.run(run(url, plan)))


if __name__ == "__main__":
    main()
