"""Benchmark: pictures, the journal of events, the first byte of the web chat's pages, and how long health checks wait
while boards are looked at."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx

from bot.core.charts import FormulaDrawing
from bot.core.events import Press
from bot.core.journal import Journal
from bot.pictures.drawing_process import DrawingProcess
from service.client import ServiceClient
from service.rounds import rounds
from service.store.session import Sessions
from service.wire import Period, Where, Who
from tests.bench.rounds import database
from tests.bot.pictures.fullest import FULLEST
from tests.faults.backend import TOKEN, TOKEN_KEY, Bots, backend_running, boss_of
from tests.service.rounds.test_rounds_scale import answer_all
from tests.service.scenes import Stage, question

PAGES = ("", "today", "board", "ladder", "me", "practice", "archive", "sprint")
LIMIT_MS, LOOKERS = 50, 4
LOOKING_MEMBERS = 50
"""Members who look at boards in turn, so that none is refused for calling too often."""
MEMBERS = 10_000
PERIODS: Sequence[Period] = ("day", "week", "month", "all")
DAILY, BOSS = Where(channel="daily", name="#daily"), boss_of("web", "bench", "ada")
LOOKING = [
    Who(platform="web", workspace="bench", member=f"looker{n}", name=f"Looker {n}") for n in range(LOOKING_MEMBERS)
]


def told(times: list[float]) -> str:
    """Returns the median and the 99th percentile."""
    # Inclusive: otherwise, of few times, the 99th percentile would be a guess that is longer than the longest.
    cuts = quantiles([1000 * time for time in times], n=100, method="inclusive")
    return f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms"


async def first_byte(http: httpx.AsyncClient, path: str) -> tuple[float, int]:
    """Returns the seconds until the response began, and the page's size."""
    began = perf_counter()
    async with http.stream("GET", path) as response:
        took = perf_counter() - began
        assert response.status_code == 200, f"{path}: {response.status_code}"
        return took, len(await response.aread())


async def show_pages(address: str, each: int) -> None:
    """Prints a row for each page. Each is loaded by another member, because nobody may call as often as all of them."""
    for page in PAGES:
        async with httpx.AsyncClient(base_url=address, follow_redirects=True) as http:
            entry = (await http.get("/")).text
            token = re.search(r'name="token" value="([^"]*)"', entry)
            assert token, entry
            joined = await http.post("/join", data={"token": token[1], "name": f"Member of {page or 'home'}"})
            home = f"/m/{joined.url.path.split('/')[2]}/"
            found = [await first_byte(http, home + page) for _ in range(each)]
            size = f"{found[-1][1] / 1000:.0f} KB"
            print(
                f"| first byte of /{page} | {told([time for time, _ in found])}, {size} | {LIMIT_MS} ms |", flush=True
            )


async def show_health(client: ServiceClient, address: str, each: int) -> None:
    """Prints how long health checks wait, alone and while several members look at boards all the time."""
    looks, stop = 0, asyncio.Event()

    async def look() -> None:
        nonlocal looks
        while not stop.is_set():
            looks += 1
            await client.board(LOOKING[looks % LOOKING_MEMBERS], DAILY, period=PERIODS[looks % len(PERIODS)])

    async with httpx.AsyncClient(base_url=address) as http:

        async def check() -> list[float]:
            return [await timed(lambda: http.get("/healthz")) for _ in range(each)]

        for period in PERIODS:
            await client.board(BOSS, DAILY, period=period)
        for member in LOOKING:
            await client.join(member, DAILY)
        print(f"| /healthz, alone | {told(await check())} | {LIMIT_MS} ms |", flush=True)
        looking = [asyncio.create_task(look()) for _ in range(LOOKERS)]
        times = await check()
        stop.set()
        await asyncio.gather(*looking)
        what = f"/healthz while {LOOKERS} look at boards of {MEMBERS:,} members ({looks:,} looks)"
        print(f"| {what} | {told(times)} | {LIMIT_MS} ms |", flush=True)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Returns how many seconds it takes."""
    began = perf_counter()
    await work()
    return perf_counter() - began


def show_pictures(each: int) -> None:
    """Prints a row for the largest picture of each kind, drawn by the process that draws a bot's."""
    drawer = DrawingProcess(60)
    kinds = FULLEST | {"formula": FormulaDrawing((r"\frac{\partial L}{\partial w_{ij}} = \sum_n x_{ni} \delta_{nj}",))}
    try:
        for kind, drawing in sorted(kinds.items()):
            size = len(drawer.draw(drawing)) / 1000  # the first one also starts the process and reads the fonts
            times = []
            for _ in range(each):
                began = perf_counter()
                drawer.draw(drawing)
                times.append(perf_counter() - began)
            print(f"| picture: {kind} | {told(times)}, {size:.0f} KB | 300 ms, 100 KB |", flush=True)
    finally:
        drawer.close()


def show_journal(folder: Path, each: int) -> None:
    """Prints how long an event takes to be written down before it is acknowledged."""
    journal = Journal(folder / "journal.sqlite")
    times = []
    for number in range(each):
        event = Press(f"web:{number}", datetime.now(UTC), BOSS, DAILY, "o:r1:a")
        began = perf_counter()
        journal.record(event, {})
        times.append(perf_counter() - began)
    print(f"| an event in the journal | {told(times)} | 1 ms |", flush=True)


async def measure(url: str, folder: Path, each: int) -> None:
    """Prints the table."""
    async with backend_running(url) as near:
        bots = Bots(near, folder)
        try:
            service = await bots.start("serve", DATABASE_URL=url, DAILYGRAD_PORT="0", DAILYGRAD_TOKEN_KEY=TOKEN_KEY)
            address = f"http://{(await service.says(r'listens on ([0-9.:]+)'))[1]}"
            bots.backend = replace(near, url=address)
            await fill(near.service.sessions)
            async with ServiceClient.over_http(address, TOKEN) as client:
                await show_health(client, address, 10 * each)
            web = await bots.start("bot", "web", DAILYGRAD_WEB_PORT="0")
            await show_pages((await web.says(r"web chat is at (http://[^\s/]+)"))[1], each)
        finally:
            await bots.clear()


async def fill(sessions: Sessions) -> None:
    """Adds a closed round of many members, whose points are on the boards."""
    async with sessions.begin() as session:
        stage = Stage(session, datetime.now(UTC))
        await stage.bank(question("views"), question("strides"))
        schedule = await stage.schedule(await stage.caller("Ada", workspace="bench", where=DAILY))
        played = await stage.round(schedule, stage.now.date(), closed=False)
        await answer_all(stage, played, MEMBERS, workspace="bench")
        await rounds.close_round(session, played.id, stage.now)


def main() -> None:
    """Runs the benchmark."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--each", type=int, default=50, help="requests of each page")
    given = asked.parse_args()
    print(f"| What, at load {os.getloadavg()[0]:.1f} | Measured | Limit |\n|---|---|---|")
    show_pictures(given.each // 2)
    with database() as url, TemporaryDirectory() as folder:
        show_journal(Path(folder), 10 * given.each)
        asyncio.run(measure(url, Path(folder), given.each))


if __name__ == "__main__":
    main()
