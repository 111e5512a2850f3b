"""Benchmark: many rounds due in the same minute on a Discord that enforces its rate limits.

`python -m tests.bench.bench_discord --rounds 10000 [--kill]`. Measures whether each is posted once, how fast, and the
delay of clicks. The service creates the first round; the others are copies of its rows, because the path from the
outbox to the chat is measured.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg

from service.store.session import libpq_url
from tests.bench import many, rounds
from tests.bench.many import Plan, Report, Tally
from tests.doubles.discord.limits import GLOBAL_PER_S
from tests.doubles.discord.log import Entry
from tests.doubles.discord.world import Member
from tests.faults.backend import LEASE_S, TOKEN, Backend, Bot, Bots, backend_running, boss_of
from tests.faults.discord_faults import Team, option, team_ready

LOGIN = "GET /users/@me"


@dataclass
class OnDiscord:
    """The Discord scene. Reads only new entries of the double's log."""

    team: Team
    serving: int = field(default_factory=os.getpid)
    name: str = "Discord"
    tally: Tally = field(default_factory=Tally)
    delays: list[float] = field(default_factory=list)
    refused: int = 0
    unanswered: int = 0
    read: int = 0
    newest: Entry | None = None

    @property
    def backend(self) -> Backend:
        return self.team.backend

    async def start(self, again: bool) -> Bot:
        if again:
            starting = asyncio.create_task(self.team.starts())
            before = self._logins()
            await self.until(lambda: self._logins() > before, 60)
            # If this process runs the service, advance its clock so that the dead bot's leases end at once; otherwise
            # they expire meanwhile.
            self.backend.clock.advance(seconds=LEASE_S)
            return await starting
        return await self.team.starts()

    def _logins(self) -> int:
        return len(self.team.double.log.of("request", route=LOGIN))

    async def until(self, reached: Callable[[], bool], seconds: float) -> None:
        await self.team.until(reached, "what was waited for", seconds)

    def look(self) -> int:
        entries = self.team.double.log.entries
        for entry in entries[self.read :]:
            if entry.kind == "message" and entry["viewer"] is None:
                self._count(entry)
            elif entry.kind == "request" and entry["status"] == 429:
                self.refused += 1
        self.read = len(entries)
        return len(self.tally.made)

    def _count(self, entry: Entry) -> None:
        for name in entry["custom_ids"]:
            if name.startswith(("a:r", "d:r")):
                self.tally.add(name, str(entry["channel"]), int(name[3:]), entry.at)
                self.newest = entry

    async def click(self) -> None:
        """Clicks. A click lost with a killed bot is repeated, as people do."""
        double = self.team.double
        assert self.newest is not None, "something was posted"
        channel, number = map(int, self.newest["ref"].split("/"))
        found = double.world.channel(channel)
        assert found, "it was just posted"
        question, member = found.messages[number], Member("Somebody")
        opened = await double.press(member, question, question.buttons["Answer"])
        try:
            async with asyncio.timeout(many.GIVEN_UP_S):
                await double.settled(opened)
                chosen = await double.answered(await double.press(member, *option(opened)))
        except (AssertionError, TimeoutError):
            self.unanswered += 1
            return
        self.delays += [opened.delay, chosen.delay]


async def prepare(team: Team, plan: Plan) -> None:
    """Prepares the rounds in the outbox, all due at the same instant."""
    guilds = [team.double.world.guild(f"Team {number}") for number in range(plan.chats)]
    await team.leaves(team.daily)
    async with await psycopg.AsyncConnection.connect(libpq_url(team.backend.database_url)) as rows:
        for guild in guilds:
            made = [guild.channel(f"room-{number}") for number in range(plan.channels)]
            chief = guild.member("Boss", admin=True)
            await team.backend.client.join(boss_of("discord", str(guild.id), str(chief.id)), team.where(made[0]))
            await rounds.shared(rows, str(made[0].id))
            await rounds.more_channels(rows, str(guild.id), [str(channel.id) for channel in made[1:]])
        await rounds.copied(rows, plan.each)


async def measure(scene: OnDiscord, plan: Plan) -> Report:
    """Runs the benchmark."""
    played = await many.play(scene, plan)
    limits = scene.team.double.limits
    return Report(
        chat=scene.name,
        plan=plan,
        tally=scene.tally,
        played=played,
        ideal=(len(scene.tally.made) - 1) / (GLOBAL_PER_S * limits.pace),
        refused=scene.refused,
        delays=tuple(sorted(scene.delays)),
        unanswered=scene.unanswered,
        broken=len(scene.team.double.violations),
    )


async def run(url: str, plan: Plan) -> Report:
    """Runs the benchmark with the service as a separate process."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-bench-") as folder:
        async with backend_running(url) as near:
            bots = Bots(near, Path(folder))
            served = await bots.start("serve", DATABASE_URL=url, DAILYGRAD_PORT="0", DAILYGRAD_SERVICE_TOKEN=TOKEN)
            backend = replace(near, url=f"http://{(await served.says(r'listens on ([0-9.:]+)'))[1]}")
            bots.backend = backend
            async with team_ready(backend, bots, many=40, pace=plan.faster, check_every=25) as team:
                await prepare(team, plan)
                return await measure(OnDiscord(team, served.process.pid), plan)


def main() -> None:
    """Runs the command."""
    about = "Many rounds due in the same minute on a Discord that keeps its limits."
    many.main(about, "guilds", Plan(), lambda url, plan: asyncio.run(run(url, plan)))


if __name__ == "__main__":
    main()
