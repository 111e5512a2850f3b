"""Many rounds due in the same minute on a Slack that keeps its limits: posted once, how fast, and who waits.

`python -m tests.bench.bench_slack --rounds 10000 [--kill]`. The first round is made by the service; the others are
copies of its rows, for what is measured is the way from the outbox to the chat. Slack publishes a limit for a channel
and hints at one for a workspace; here that is five messages a second. With `--factor` Slack's clock runs faster.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import psutil
import psycopg
from pydantic import SecretStr

from bot.platforms.slack.manifest import app_manifest
from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import Installation, Where
from tests.bench.rounds import copied, database, more_channels, shared
from tests.doubles.slack import oracle
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.log import Entry, Log
from tests.doubles.slack.shown import Ephemeral, Message
from tests.doubles.slack.world import Channel, Team, User
from tests.faults.backend import LEASE_S, TOKEN, TOKEN_KEY, Backend, Bot, Bots, backend_running, boss_of
from tests.faults.slack_faults import free_port

_PARTS = (("half", 0.5), ("p99", 0.99), ("longest", 1.0))


@dataclass(frozen=True)
class Plan:
    """What is measured. After every so many posts a member opens the newest question and chooses."""

    rounds: int = 10_000
    teams: int = 8
    channels: int = 250
    """Of each workspace."""
    factor: float = 1.0
    kill: bool = False
    click_every: int = 10
    seconds: float = 1800.0


@dataclass
class Tally:
    """What the double's log says, read on and never twice."""

    read: int = 0
    made: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    newest: Entry | None = None
    by_channel: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def look(self, log: Log) -> int:
        """How many rounds were posted by now."""
        for entry in log.entries[self.read :]:
            if entry.kind == "posted" and entry["bot"] and entry["key"].startswith("round:"):
                self.made[entry["key"]] += 1
                self.times.append(entry.at)
                self.by_channel[entry["channel"]].append(int(entry["key"].split(":")[1]))
                self.newest = entry
        self.read = len(log.entries)
        return len(self.made)


@dataclass(frozen=True)
class Report:
    """What came of it."""

    rounds: int
    posted: int
    twice: int
    unordered: int
    """Channels whose rounds came in another order than they were due."""
    seconds: float
    away: float
    """The longest gap between two posts: that of the restart, where the bot was killed."""
    ideal: float
    """Seconds in which Slack would have taken them all."""
    limited: int
    """Answers of 429."""
    cpu: tuple[float, float]
    """Seconds of CPU that the bot (the last one where one was killed) and the service took."""
    acks: tuple[float, ...]
    """Seconds from each click to its acknowledgement, in order of size."""
    unanswered: int
    violations: int

    @property
    def share(self) -> float:
        """Of the rate that was allowed, while a bot was there."""
        return self.ideal / max(1e-9, self.seconds - self.away)

    def ack(self, part: float) -> float:
        return oracle.share_of(list(self.acks), part)

    def __str__(self) -> str:
        quiet = f", {self.away:.1f} s of them without a post" if self.away > 1 else ""
        clicks = ", ".join(f"{name} {self.ack(part) * 1000:.0f} ms" for name, part in _PARTS)
        return (
            f"{self.rounds} rounds: {self.posted} posted, {self.twice} twice, {self.rounds - self.posted} lost, "
            f"{self.unordered} channels out of order\n"
            f"{self.seconds:.1f} s{quiet}: {self.posted / max(0.001, self.seconds - self.away):.1f} a second, "
            f"{self.share:.1%} of the rate allowed, {self.limited} answers of 429; "
            f"{self.cpu[0]:.1f} s of CPU in the bot, {self.cpu[1]:.1f} s in the service\n"
            f"{len(self.acks)} clicks meanwhile, to the acknowledgement: {clicks}; {self.unanswered} not in time\n"
            f"rules broken: {self.violations}"
        )


@dataclass
class Hosted:
    """A hosted bot, its service as a process of its own, and the workspaces that installed it."""

    slack: SlackDouble
    backend: Backend
    bots: Bots
    port: int
    serving: int
    """The process the service is in."""
    rooms: dict[str, tuple[Team, Channel]] = field(default_factory=dict)

    async def start(self) -> Bot:
        settings = self.slack.environment() | {"DAILYGRAD_SLACK_PORT": str(self.port)}
        bot = await self.bots.start("bot", "slack", **settings)
        await bot.says("taken at port")
        return bot


async def prepare(hosted: Hosted, plan: Plan, client: ServiceClient) -> None:
    """Install the app everywhere and leave the rounds in the outbox, all due at the same instant."""
    teams = [hosted.slack.team(f"team-{number}") for number in range(plan.teams)]
    each, more = divmod(plan.rounds, plan.teams * plan.channels)
    assert not more, "as many rounds in every channel"
    url = libpq_url(hosted.backend.database_url)
    for team in teams:
        rooms = [hosted.slack.channel(team, f"room-{number}") for number in range(plan.channels)]
        hosted.rooms |= {room.id: (team, room) for room in rooms}
        await client.installation_keep(_installation(hosted.slack, team))
        boss = boss_of("slack", team.id, hosted.slack.user(team, "Boss", admin=True).id)
        await client.join(boss, Where(channel=rooms[0].id, name="room"))
        if team is teams[0]:
            await hosted.backend.import_bank(boss, "one-right")
            await hosted.backend.posts_now(boss, Where(channel=rooms[0].id, name="room"))
        async with await psycopg.AsyncConnection.connect(url) as rows:
            await shared(rows, rooms[0].id)
            await more_channels(rows, team.id, [room.id for room in rooms[1:]])
    async with await psycopg.AsyncConnection.connect(url) as rows:
        await copied(rows, each)


def _installation(slack: SlackDouble, team: Team) -> Installation:
    token = SecretStr(slack.bot_token(team))
    return Installation(platform="slack", team=team.id, token=token, bot_id=team.bot_id, bot_user=team.bot.id)


async def measure(hosted: Hosted, plan: Plan) -> Report:
    """Start a bot on what `prepare` left, and watch until everything stands there or time is up."""
    tally, log = Tally(), hosted.slack.log
    bot = await hosted.start()
    async with _crowd(hosted, plan, tally):
        if plan.kill:
            await log.until(lambda: tally.look(log) >= plan.rounds // 2, plan.seconds)
            await bot.kill()
            # Where the service's clock is ours, the dead bot's lease is over at once; else it runs out meanwhile.
            hosted.backend.clock.advance(seconds=LEASE_S)
            bot = await hosted.start()
        with contextlib.suppress(AssertionError):
            await log.until(lambda: tally.look(log) >= plan.rounds, plan.seconds)
    await _reported(hosted, plan)
    tally.look(log)
    gaps = [later - earlier for earlier, later in pairwise(tally.times)]
    seconds, away = tally.times[-1] - tally.times[0], max(gaps) if plan.kill else 0.0
    limits = hosted.slack.limits
    used = [psutil.Process(pid).cpu_times() for pid in (bot.process.pid, hosted.serving)]
    return Report(
        rounds=plan.rounds,
        posted=len(tally.made),
        twice=len(oracle.twice(log)),
        unordered=sum(sorted(numbers) != numbers for numbers in tally.by_channel.values()),
        seconds=seconds,
        away=away,
        ideal=(plan.rounds / plan.teams - limits.team_burst) / (limits.team_rate * plan.factor),
        limited=log.count("limited", method="chat.postMessage"),
        cpu=(used[0].user + used[0].system, used[1].user + used[1].system),
        acks=tuple(sorted(oracle.ack_times(log, "interactive"))),
        unanswered=len(oracle.unanswered(log)),
        # A trigger expires where the machine is too slow; the clicks' own numbers tell of that.
        violations=sum(entry["error"] != "expired_trigger_id" for entry in oracle.violations(log)),
    )


@contextlib.asynccontextmanager
async def _crowd(hosted: Hosted, plan: Plan, tally: Tally) -> AsyncIterator[None]:
    """People who open questions as they come and choose an option, until the block ends."""
    clicking: set[asyncio.Task[None]] = set()
    log = hosted.slack.log

    async def watch() -> None:
        for wanted in range(plan.click_every, plan.rounds, plan.click_every):
            await log.until(lambda wanted=wanted: tally.look(log) >= wanted, plan.seconds)  # type: ignore[misc]
            assert tally.newest is not None
            team, room = hosted.rooms[tally.newest["channel"]]
            task = asyncio.create_task(_click(hosted, team, room, room.messages[tally.newest["ts"]]))
            clicking.add(task)
            task.add_done_callback(clicking.discard)

    watching = asyncio.create_task(watch())
    yield
    watching.cancel()
    await asyncio.wait([watching, *clicking], timeout=30)


async def _click(hosted: Hosted, team: Team, room: Channel, question: Message) -> None:
    """Somebody new opens the question and chooses the first option of it."""
    user = hosted.slack.user(team, "Somebody")
    room.members.add(user.id)
    if (await hosted.slack.click(user, question, "Answer")).acked:
        with contextlib.suppress(AssertionError):
            card = await hosted.slack.log.until(lambda: _card(hosted.slack, user), 30)
            assert card is not None
            await hosted.slack.click(user, card, "A")


def _card(slack: SlackDouble, user: User) -> Ephemeral | None:
    """The private card somebody was just shown."""
    return next((one for one in reversed(slack.world.ephemerals[-200:]) if one.user == user.id), None)


async def _reported(hosted: Hosted, plan: Plan) -> None:
    """Wait until the service knows of every message."""
    look = """do $$ begin
        for i in 1..1200 loop
            exit when not exists (select from outbox where kind = 'question' and state <> 'sent');
            perform pg_sleep(0.05);
        end loop;
    end $$"""
    url = libpq_url(hosted.backend.database_url)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as rows:
        await rows.execute(look.encode())


async def run(url: str, plan: Plan, *, apart: bool = True) -> Report:
    """All of it, with the service as a process of its own, as an operator runs it, or with all but the bot in here."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-bench-") as folder:
        async with (
            backend_running(url) as near,
            slack_double(factor=plan.factor, manifest=app_manifest("https://quiz.example.org")) as slack,
        ):
            slack.world.check_every = 10 if plan.rounds < 200 else 25
            bots, port = Bots(near, Path(folder)), free_port()
            slack.by_http(f"http://127.0.0.1:{port}")
            try:
                bots.backend = replace(near, url=await _service(bots, url)) if apart else near
                serving = bots.started[0].process.pid if apart else os.getpid()
                hosted = Hosted(slack, bots.backend, bots, port, serving)
                async with ServiceClient.over_http(bots.backend.url, TOKEN) as client:
                    await prepare(hosted, plan, client)
                return await measure(hosted, plan)
            finally:
                await bots.clear()


async def _service(bots: Bots, url: str) -> str:
    """The address of a service that is started for this."""
    settings = {"DATABASE_URL": url, "DAILYGRAD_PORT": "0", "DAILYGRAD_TOKEN_KEY": TOKEN_KEY}
    served = await bots.start("serve", DAILYGRAD_SERVICE_TOKEN=TOKEN, **settings)
    return f"http://{(await served.says(r'listens on ([0-9.:]+)'))[1]}"


def main() -> None:
    """Print what came of it; the exit says whether every round was posted once."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--rounds", type=int, default=10_000)
    asked.add_argument("--teams", type=int, default=8)
    asked.add_argument("--channels", type=int, default=250, help="of each workspace")
    asked.add_argument("--factor", type=float, default=1.0, help="how much faster Slack's clock runs")
    asked.add_argument("--kill", action="store_true", help="kill -9 the bot in the middle")
    given = asked.parse_args()
    plan = Plan(given.rounds, given.teams, given.channels, given.factor, given.kill)
    with database() as url:
        report = asyncio.run(run(url, plan))
    print(report)
    raise SystemExit(0 if report.posted == plan.rounds and not report.twice else 1)


if __name__ == "__main__":
    main()
