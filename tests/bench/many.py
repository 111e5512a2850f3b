"""What both benches of many rounds share: the plan, the run of it while people press, and what came of it as a line."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import psutil

from tests.bench import rounds
from tests.faults.backend import Backend, Bot

COLUMNS = (
    *("chat", "rounds", "posted once", "lost", "doubled", "seconds", "share of the rate", "click p50", "click p99"),
    *("refused", "kill -9", "load before → after"),
)


@dataclass(frozen=True)
class Plan:
    """What is measured. After every so many posts a member opens the newest question and chooses."""

    rounds: int = 10_000
    chats: int = 20
    """Servers, or workspaces."""
    channels: int = 100
    """Of each of them."""
    faster: float = 1.0
    """So many times faster runs the clock of the chat's limits; the bot paces itself by its own."""
    kill: bool = False
    """Whether the bot is killed when half is posted."""
    click_every: int = 10
    seconds: float = 1800.0

    @property
    def each(self) -> int:
        """Rounds in every channel."""
        each, more = divmod(self.rounds, self.chats * self.channels)
        assert each and not more, "as many rounds in every channel"
        return each


@dataclass
class Tally:
    """What a chat's own log says was posted."""

    made: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    by_channel: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: str, channel: str, number: int, at: float) -> None:
        """A round's question stands in a channel."""
        self.made[key] += 1
        self.times.append(at)
        self.by_channel[channel].append(number)


class Scene(Protocol):
    """A chat, prepared, with the service and a bot that may be started and killed."""

    name: str
    tally: Tally
    serving: int
    """The process the service is in."""

    @property
    def backend(self) -> Backend: ...

    async def start(self, again: bool) -> Bot:
        """Start a bot; `again` after one was killed."""
        ...

    async def until(self, reached: Callable[[], bool], seconds: float) -> None:
        """Wait; fails with AssertionError."""
        ...

    def look(self) -> int:
        """Read the chat's log on, and never twice; how many rounds were posted by now."""
        ...

    async def click(self) -> None:
        """Somebody new opens the newest question and chooses."""
        ...


@dataclass(frozen=True)
class Played:
    """What a run tells, whatever the chat."""

    seconds: float
    away: float
    """The longest gap between two posts: that of the restart, where the bot was killed."""
    cpu: tuple[float, float]
    """Seconds of CPU that the bot (the last one where one was killed, its start too) and the service took."""
    memory: tuple[float, ...]
    """MiB that were the last bot's alone, at every tenth of the rounds it posted."""
    load: tuple[float, float]
    """The machine's load average before and after."""


@dataclass(frozen=True)
class Report:
    """What came of it."""

    chat: str
    plan: Plan
    tally: Tally
    played: Played
    ideal: float
    """Seconds in which the chat would have taken them all."""
    refused: int
    """Answers of 429."""
    delays: tuple[float, ...]
    """Seconds from each click to its first response, sorted."""
    unanswered: int
    """Clicks not acknowledged in time."""
    broken: int
    """Rules of the chat's that were broken."""

    @property
    def posted(self) -> int:
        return len(self.tally.made)

    @property
    def doubled(self) -> int:
        return sum(count > 1 for count in self.tally.made.values())

    @property
    def lost(self) -> int:
        return self.plan.rounds - self.posted

    @property
    def unordered(self) -> int:
        """Channels whose rounds came in another order than they were due."""
        return sum(sorted(numbers) != numbers for numbers in self.tally.by_channel.values())

    @property
    def share(self) -> float:
        """Of the rate allowed, while a bot was there."""
        return self.ideal / max(1e-9, self.played.seconds - self.played.away)

    def delay(self, part: float) -> float:
        """The delay that this part of the clicks did not exceed."""
        return self.delays[min(len(self.delays) - 1, int(part * len(self.delays)))] if self.delays else 0.0

    @property
    def row(self) -> str:
        """A line of the table with COLUMNS."""
        half, most = (f"{self.delay(part) * 1000:.0f} ms" for part in (0.5, 0.99))
        once = self.posted - self.doubled
        cells = (
            *(self.chat, self.plan.rounds, once, self.lost, self.doubled, f"{self.played.seconds:.1f}"),
            *(f"{self.share:.1%}", half, most, self.refused, "yes" if self.plan.kill else "no"),
            " → ".join(f"{load:.1f}" for load in self.played.load),
        )
        return _line(cells)

    def __str__(self) -> str:
        played = self.played
        memory = ", ".join(f"{at:.1f}" for at in played.memory)
        return "\n".join(
            (
                _line(COLUMNS),
                _line(["---"] * len(COLUMNS)),
                self.row,
                f"{self.unordered} channels out of order, {self.broken} rules broken",
                f"{len(self.delays)} clicks, the longest {self.delay(1) * 1000:.0f} ms, {self.unanswered} not in time",
                f"{played.away:.1f} s of it without a post",
                f"seconds of CPU: the bot {played.cpu[0]:.1f}, the service {played.cpu[1]:.1f}",
                f"the bot's memory at every tenth, MiB: {memory}",
            )
        )


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


async def play(scene: Scene, plan: Plan) -> Played:
    """Start a bot on what is prepared, and watch until everything stands there or time is up."""
    before, memory = (os.getloadavg()[0], _cpu_s(scene.serving)), list[float]()
    bot = await scene.start(again=False)
    async with _crowd(scene, plan):
        if plan.kill:
            await scene.until(lambda: scene.look() >= plan.rounds // 2, plan.seconds)
            await bot.kill()
            bot = await scene.start(again=True)
        async with _weighed(scene, plan, bot, memory):
            with contextlib.suppress(AssertionError):
                await scene.until(lambda: scene.look() >= plan.rounds, plan.seconds)
    await rounds.reported(scene.backend.database_url)
    scene.look()
    times = scene.tally.times
    return Played(
        seconds=times[-1] - times[0],
        away=max(later - earlier for earlier, later in pairwise(times)) if plan.kill else 0.0,
        cpu=(_cpu_s(bot.process.pid), _cpu_s(scene.serving) - before[1]),
        memory=tuple(memory),
        load=(before[0], os.getloadavg()[0]),
    )


def _cpu_s(pid: int) -> float:
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


@contextlib.asynccontextmanager
async def _crowd(scene: Scene, plan: Plan) -> AsyncIterator[None]:
    """People who press as questions come, until the block ends."""
    clicking: set[asyncio.Task[None]] = set()

    async def watch() -> None:
        for wanted in range(plan.click_every, plan.rounds, plan.click_every):
            await scene.until(lambda wanted=wanted: scene.look() >= wanted, plan.seconds)  # type: ignore[misc]
            task = asyncio.create_task(scene.click())
            clicking.add(task)
            task.add_done_callback(clicking.discard)

    watching = asyncio.create_task(watch())
    yield
    watching.cancel()
    await asyncio.wait([watching, *clicking], timeout=30)


@contextlib.asynccontextmanager
async def _weighed(scene: Scene, plan: Plan, bot: Bot, memory: list[float]) -> AsyncIterator[None]:
    """The bot's memory at every tenth of the rounds, until the block ends."""

    async def weigh() -> None:
        for tenth in range(1, 10):
            wanted = plan.rounds * tenth // 10
            if scene.look() < wanted:
                await scene.until(lambda wanted=wanted: scene.look() >= wanted, plan.seconds)  # type: ignore[misc]
                memory.append(psutil.Process(bot.process.pid).memory_full_info().uss / 2**20)

    weighing = asyncio.create_task(weigh())
    yield
    weighing.cancel()
    await asyncio.gather(weighing, return_exceptions=True)


def main(about: str, chats: str, plan: Plan, run: Callable[[str, Plan], Report]) -> None:
    """Run what is asked for and print what came of it; the exit says whether every round was posted once."""
    asked = argparse.ArgumentParser(description=about)
    asked.add_argument("--rounds", type=int, default=plan.rounds)
    asked.add_argument(f"--{chats}", type=int, default=plan.chats, dest="chats")
    asked.add_argument("--channels", type=int, default=plan.channels, help="of each of them")
    asked.add_argument("--faster", type=float, default=1.0, help="how much faster the clock of the chat's limits runs")
    asked.add_argument("--kill", action="store_true", help="kill -9 the bot in the middle")
    given = asked.parse_args()
    with rounds.database() as url:
        report = run(url, Plan(given.rounds, given.chats, given.channels, given.faster, given.kill))
    print(report)
    raise SystemExit(0 if not report.lost and not report.doubled else 1)
