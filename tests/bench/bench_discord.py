"""Many rounds due in the same minute on a Discord that keeps its limits: posted once, how fast, and who waits.

`python -m tests.bench.bench_discord --rounds 10000 [--kill]`. The first round is made by the service; the others are
copies of its rows, for what is measured is the way from the outbox to the chat. With `--pace` the clock of Discord's
limits runs so many times faster than ours; the bot paces itself by its own, so more than 1 only finds its ceiling.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import psutil
import psycopg

from service.store.session import libpq_url
from tests.bench import rounds
from tests.doubles.discord.limits import GLOBAL_PER_S
from tests.doubles.discord.log import Entry
from tests.doubles.discord.world import Member, Message
from tests.faults.backend import LEASE_S, TOKEN, Bots, backend_running, boss_of
from tests.faults.discord_faults import Team, megabytes, option, team_ready


@dataclass(frozen=True)
class Plan:
    """What is measured. Every so-manieth post a member opens the question and chooses."""

    rounds: int = 10_000
    guilds: int = 20
    channels: int = 100
    """Of each server."""
    kill: bool = False
    click_every: int = 10
    seconds: float = 900.0


@dataclass
class Tally:
    """An oracle of its own: it reads the double's log alone, and only what is new in it."""

    read: int = 0
    made: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    by_channel: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    refused: int = 0

    def look(self, entries: list[Entry]) -> int:
        """Read on; how many rounds were posted."""
        for entry in entries[self.read :]:
            if entry.kind == "message" and entry["viewer"] is None:
                self._count(entry)
            elif entry.kind == "request" and entry["status"] == 429:
                self.refused += 1
        self.read = len(entries)
        return len(self.made)

    def _count(self, entry: Entry) -> None:
        for name in entry["custom_ids"]:
            if name.startswith("a:r"):
                self.made[name] += 1
                self.times.append(entry.at)
                self.by_channel[entry["channel"]].append(int(name.removeprefix("a:r")))


@dataclass(frozen=True)
class Report:
    """What came of it."""

    rounds: int
    posted: int
    twice: int
    lost: int
    unordered: int
    """Channels whose rounds came in another order than they were due."""
    seconds: float
    away: float
    """The longest gap between two posts: that of the restart, where the bot was killed."""
    allowed: float
    """Posts a second that Discord would have taken."""
    refused: int
    """Answers of 429."""
    cpu: float
    """Seconds of CPU that the bot took, the last one where one was killed."""
    memory: tuple[float, ...]
    """MiB that were the last bot's alone, at every tenth of the rounds it posted."""
    delays: tuple[float, ...]
    """Seconds from each click to its first response, sorted."""
    chosen: tuple[float, ...]
    """Of them the presses that can open no form, so that nothing is asked of the service before the response."""
    violations: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of the allowed rate, while a bot was there."""
        return (self.posted - 1) / max(1e-9, self.seconds - self.away) / self.allowed

    def delay(self, part: float) -> float:
        """The delay that this part of the clicks did not exceed."""
        return _at(self.delays, part)

    def __str__(self) -> str:
        quiet = f", {self.away:.1f} s of them without a post" if self.away > 1 else ""
        clicks, chosen = (
            ", ".join(f"{name} {_at(delays, part) * 1000:.0f} ms" for name, part in _PARTS)
            for delays in (self.delays, self.chosen)
        )
        return (
            f"{self.rounds} rounds: {self.posted} posted, {self.twice} twice, {self.lost} lost, "
            f"{self.unordered} channels out of order\n"
            f"{self.seconds:.1f} s{quiet}: {self.share:.1%} of the {self.allowed:g} a second allowed, "
            f"{self.refused} answers of 429; the bot took {self.cpu:.1f} s of CPU\n"
            f"its memory at every tenth, MiB: {', '.join(f'{each:.1f}' for each in self.memory)}\n"
            f"{len(self.delays)} clicks meanwhile, to the first response: {clicks}; of an option: {chosen}\n"
            f"rules broken: {len(self.violations)} {self.violations[:3]}"
        )


def _at(delays: tuple[float, ...], part: float) -> float:
    return delays[min(len(delays) - 1, int(part * len(delays)))] if delays else 0.0


_PARTS = (("half", 0.5), ("p99", 0.99), ("longest", 1.0))


async def prepare(team: Team, plan: Plan) -> None:
    """Leave the rounds in the outbox, all due at the same instant."""
    guilds = [team.double.world.guild(f"Team {number}") for number in range(plan.guilds)]
    await team.leaves(team.daily)
    each, more = divmod(plan.rounds, plan.guilds * plan.channels)
    assert not more, "as many rounds in every channel"
    async with await psycopg.AsyncConnection.connect(libpq_url(team.backend.database_url)) as rows:
        for guild in guilds:
            made = [guild.channel(f"room-{number}") for number in range(plan.channels)]
            chief = guild.member("Boss", admin=True)
            await team.backend.client.join(boss_of("discord", str(guild.id), str(chief.id)), team.where(made[0]))
            await rounds.shared(rows, str(made[0].id))
            await rounds.more_channels(rows, str(guild.id), [str(channel.id) for channel in made[1:]])
        await rounds.copied(rows, each)


async def measure(team: Team, plan: Plan) -> Report:
    """Start a bot on what `prepare` left, and watch until everything stands there or time is up."""
    tally, delays, memory = Tally(), list[float](), list[float]()
    entries = team.double.log.entries
    bot = await team.starts()
    async with _crowd(team, plan, tally, delays), _weighed(team, plan, tally, memory):
        if plan.kill:
            await team.until(lambda: tally.look(entries) >= plan.rounds // 2, "half of it", plan.seconds)
            await bot.kill()
            # Where the service's clock is ours, the dead bot's lease is over at once; else it runs out meanwhile.
            team.backend.clock.advance(seconds=LEASE_S)
            bot = await team.starts()
            memory.clear()
        with contextlib.suppress(AssertionError):
            await team.until(lambda: tally.look(entries) >= plan.rounds, "all of it", plan.seconds)
    await _reported(team, plan)
    tally.look(entries)
    took = psutil.Process(bot.process.pid).cpu_times()
    gaps = [later - earlier for earlier, later in pairwise(tally.times)]
    return Report(
        rounds=plan.rounds,
        posted=len(tally.made),
        twice=sum(count > 1 for count in tally.made.values()),
        lost=plan.rounds - len(tally.made),
        unordered=sum(sorted(numbers) != numbers for numbers in tally.by_channel.values()),
        seconds=tally.times[-1] - tally.times[0],
        away=max(gaps) if plan.kill else 0.0,
        allowed=GLOBAL_PER_S * team.double.limits.pace,
        refused=tally.refused,
        cpu=took.user + took.system,
        memory=tuple(memory),
        delays=tuple(sorted(delays)),
        chosen=tuple(sorted(delays[1::2])),
        violations=tuple(team.double.violations),
    )


@contextlib.asynccontextmanager
async def _crowd(team: Team, plan: Plan, tally: Tally, delays: list[float]) -> AsyncIterator[None]:
    """People who open questions as they come and choose an option, until the block ends."""
    clicking: set[asyncio.Task[None]] = set()

    async def watch() -> None:
        for wanted in range(plan.click_every, plan.rounds, plan.click_every):
            await team.until(partial(_reached, team, tally, wanted), "a post", plan.seconds)
            task = asyncio.create_task(_click(team, _newest(team, tally), delays))
            clicking.add(task)
            task.add_done_callback(clicking.discard)

    watching = asyncio.create_task(watch())
    yield
    watching.cancel()
    await asyncio.wait([watching, *clicking], timeout=30)


@contextlib.asynccontextmanager
async def _weighed(team: Team, plan: Plan, tally: Tally, memory: list[float]) -> AsyncIterator[None]:
    """The bot's memory at every tenth of the rounds, until the block ends."""

    async def weigh() -> None:
        for tenth in range(1, 10):
            await team.until(partial(_reached, team, tally, plan.rounds * tenth // 10), "a post", plan.seconds)
            with contextlib.suppress(psutil.NoSuchProcess):
                memory.append(megabytes(team.bots.started[-1]))

    weighing = asyncio.create_task(weigh())
    yield
    weighing.cancel()
    await asyncio.wait([weighing])


def _reached(team: Team, tally: Tally, wanted: int) -> bool:
    return tally.look(team.double.log.entries) >= wanted


def _newest(team: Team, tally: Tally) -> Message:
    """The question posted last."""
    for entry in reversed(team.double.log.entries[: tally.read]):
        if entry.kind == "message" and any(name.startswith("a:r") for name in entry["custom_ids"]):
            channel, number = map(int, entry["ref"].split("/"))
            found = team.double.world.channel(channel)
            assert found, "it was just posted"
            return found.messages[number]
    raise AssertionError("nothing was posted")


async def _click(team: Team, question: Message, delays: list[float]) -> None:
    """Somebody new opens the question and chooses; a click at a bot that was killed is made again, as people do."""
    member = Member("Somebody")
    opened = await team.double.press(member, question, question.buttons["Answer"])
    try:
        await team.double.settled(opened)
        chosen = await team.double.answered(await team.double.press(member, *option(opened)))
    except AssertionError:
        return
    delays += [opened.delay, chosen.delay]


async def _reported(team: Team, plan: Plan) -> None:
    """Wait until the service knows of every message."""
    with contextlib.suppress(AssertionError):
        await team.delivered(plan.rounds)


async def run(url: str, plan: Plan, pace: float) -> Report:
    """All of it with the service as a process of its own, as an operator runs it."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-bench-") as folder:
        async with backend_running(url) as near:
            bots = Bots(near, Path(folder))
            served = await bots.start("serve", DATABASE_URL=url, DAILYGRAD_PORT="0", DAILYGRAD_SERVICE_TOKEN=TOKEN)
            backend = replace(near, url=f"http://{(await served.says(r'listens on ([0-9.:]+)'))[1]}")
            bots.backend = backend
            async with team_ready(backend, bots, many=40, pace=pace, check_every=25) as team:
                await prepare(team, plan)
                return await measure(team, plan)


def main() -> None:
    """Print what came of it; the exit says whether every round was posted once."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--rounds", type=int, default=10_000)
    asked.add_argument("--guilds", type=int, default=20)
    asked.add_argument("--channels", type=int, default=100, help="of each server")
    asked.add_argument("--pace", type=float, default=1.0, help="how much faster the clock of Discord's limits runs")
    asked.add_argument("--kill", action="store_true", help="kill -9 the bot in the middle")
    given = asked.parse_args()
    plan = Plan(given.rounds, given.guilds, given.channels, given.kill)
    with rounds.database() as url:
        report = asyncio.run(run(url, plan, given.pace))
    print(report)
    raise SystemExit(0 if report.posted == plan.rounds and not report.twice else 1)


if __name__ == "__main__":
    main()
