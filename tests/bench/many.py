"""The benchmark of many rounds for any chat: the plan, the run with members who click meanwhile, and the report."""

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
GIVEN_UP_S = 10.0
"""Time after which a click that was lost with a killed bot is given up, seconds."""


@dataclass(frozen=True)
class Plan:
    """Parameters of a benchmark. After every `each` posts, a member opens the newest question and answers."""

    rounds: int = 10_000
    chats: int = 20
    """Number of servers or workspaces."""
    channels: int = 100
    """Channels per server or workspace."""
    faster: float = 1.0
    """Speed of the clock of the chat's limits; the bot uses its own clock."""
    kill: bool = False
    """Whether to kill the bot when half of the rounds are posted."""
    click_every: int = 10
    seconds: float = 1800.0

    @property
    def each(self) -> int:
        """Rounds per channel."""
        each, more = divmod(self.rounds, self.chats * self.channels)
        assert each and not more, "as many rounds in every channel"
        return each


@dataclass
class Tally:
    """Counts posts from the chat's log."""

    made: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    by_channel: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: str, channel: str, number: int, at: float) -> None:
        """Records a question posted in a channel."""
        self.made[key] += 1
        self.times.append(at)
        self.by_channel[channel].append(number)


class Scene(Protocol):
    """A prepared chat with the service and a bot that can be started and killed."""

    name: str
    tally: Tally
    serving: int
    """The service's process."""

    @property
    def backend(self) -> Backend: ...

    async def start(self, again: bool) -> Bot:
        """Starts a bot; `again` after a kill."""
        ...

    async def until(self, reached: Callable[[], bool], seconds: float) -> None:
        """Waits. Fails with AssertionError."""
        ...

    def look(self) -> int:
        """Reads new entries of the chat's log; returns how many rounds have been posted."""
        ...

    async def click(self) -> None:
        """Opens the newest question as a new member and answers it."""
        ...


@dataclass(frozen=True)
class Played:
    """Measurements of a run, for any chat."""

    seconds: float
    away: float
    """Longest gap between two posts: with a kill, that of the restart."""
    cpu: tuple[float, float]
    """CPU seconds of the bot (the last one, including its start) and of the service."""
    memory: tuple[float, ...]
    """Private memory of the last bot at every tenth of its rounds, MiB."""
    load: tuple[float, float]
    """The machine's load average before and after."""


@dataclass(frozen=True)
class Report:
    """Results of a run."""

    chat: str
    plan: Plan
    tally: Tally
    played: Played
    ideal: float
    """Seconds the chat's limits would allow for all posts."""
    refused: int
    """Responses with status 429."""
    delays: tuple[float, ...]
    """Seconds from each click to its first response, sorted."""
    unanswered: int
    """Clicks that were not acknowledged in time."""
    broken: int
    """Violations of the chat's rules."""

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
        """Channels whose rounds were posted out of order."""
        return sum(sorted(numbers) != numbers for numbers in self.tally.by_channel.values())

    @property
    def share(self) -> float:
        """Share of the allowed rate that was used while a bot ran."""
        return self.ideal / max(1e-9, self.played.seconds - self.played.away)

    def delay(self, part: float) -> float:
        """Returns this quantile of the clicks' delays."""
        return self.delays[min(len(self.delays) - 1, int(part * len(self.delays)))] if self.delays else 0.0

    @property
    def row(self) -> str:
        """Formats the report as a row with COLUMNS."""
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
    """Starts a bot and waits until all rounds are posted or time is up."""
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
    """Clicks as questions appear, until the block exits."""
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
    await asyncio.wait([watching, *clicking])


@contextlib.asynccontextmanager
async def _weighed(scene: Scene, plan: Plan, bot: Bot, memory: list[float]) -> AsyncIterator[None]:
    """Measures the bot's memory at every tenth of the rounds, until the block exits."""

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
    """Runs the command and prints the report. Exit status 1 if a round was not posted exactly once."""
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
