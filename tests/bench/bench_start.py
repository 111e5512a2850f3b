"""Benchmark: CPU time of `dailygrad --help`, and the memory of idle processes.

Memory is private to a process, without what it shares with others; what its children share counts once.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from sandbox.client import SandboxClient
from tests.bench.rounds import database
from tests.faults.backend import TOKEN_KEY, Bot, Bots, backend_running
from tests.faults.discord_faults import team_ready
from tests.faults.slack_faults import slack_scene

SETTLE_S = 3.0
"""Time that a process is idle before it is looked at."""
LIMIT_MB, SANDBOX_LIMIT_MB = 100, 350


def cpu_of(words: Sequence[str]) -> float:
    """Returns the CPU seconds of a command, the best of three."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "dailygrad", *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


async def show(name: str, bot: Bot, ready: str = "", limit: int = LIMIT_MB) -> None:
    """Prints the row of a process once it has printed `ready` and settled."""
    if ready:
        await bot.says(ready)
    await asyncio.sleep(SETTLE_S)
    assert bot.process.poll() is None, bot.said
    process = psutil.Process(bot.process.pid)
    whole = [process.memory_full_info().uss, *(one.memory_full_info().pss for one in process.children(recursive=True))]
    used = sum(whole) / 1e6
    print(f"| {name}, idle | {used:.0f} MB | {limit} MB |", flush=True)


async def measure(url: str, folder: Path) -> None:
    """Prints a row for each kind of process. Each is started afresh: a fork would share memory with its parent."""
    async with backend_running(url) as near:
        bots = Bots(near, folder, make_process=subprocess.Popen)
        try:
            settings = {"DATABASE_URL": url, "DAILYGRAD_PORT": "0", "DAILYGRAD_TOKEN_KEY": TOKEN_KEY}
            service = await bots.start("serve", **settings)
            address = await service.says(r"listens on ([0-9.:]+)")
            bots.backend = replace(near, url=f"http://{address[1]}")
            await show("service", service)
            await show("worker", await bots.start("work", **settings), "ready")
            await show("web", await bots.start("bot", "web", data="web", DAILYGRAD_WEB_PORT="0"), "web chat is at")
            async with team_ready(bots.backend, bots) as team:
                await show("Discord bot", await team.starts(data="discord"))
            async with slack_scene(bots.backend, bots) as scene:
                await show("Slack bot", await scene.start(data="slack"))
            sandbox = await bots.start("sandbox", "serve", "--socket", str(folder / "sandbox.sock"))
            await SandboxClient(folder / "sandbox.sock").until_ready()
            await show("sandbox", sandbox, limit=SANDBOX_LIMIT_MB)
        finally:
            await bots.clear()


def main() -> None:
    """Prints the table."""
    print("| What | Measured | Limit |\n|---|---|---|")
    print(f"| `dailygrad --help` | {cpu_of(['--help']):.2f} s of CPU | 0.5 s |", flush=True)
    with database() as url, TemporaryDirectory() as folder:
        asyncio.run(measure(url, Path(folder)))


if __name__ == "__main__":
    main()
