"""Benchmark: thousands of schedules are due at the same minute, and several workers make their rounds.

`python -m tests.bench.bench_wave [--schedules 10000] [--workers 2] [--kill]`. Every schedule is of a workspace of its
own with the shipped banks. With `--kill`, the worker that leads is killed (kill -9) when half of the rounds are made.
Prints how long it took until each slot had its round and its message, and fails if one was made twice or not at all.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import psycopg
from pydantic import SecretStr

from service.app import build
from service.banks.imports import ImportOptions, import_path
from service.config import Settings
from service.process import now
from service.store.session import libpq_url
from service.wire import ScheduleSpec
from tests.bench.rounds import database, worker_running

BANKS = Path("questions/banks")
EVERY_DAY = tuple(range(7))
TEAMS = """
    with made as (
        insert into workspace (name, created_at) select 'team ' || n, now() from generate_series(1, %(teams)s) n
        returning id
    ), chats as (
        insert into chat (workspace_id, platform, external_id, created_at)
        select id, 'discord', 'g' || id, now() from made returning id, workspace_id
    )
    insert into channel (workspace_id, chat_id, external_id, name)
    select workspace_id, id, 'c' || id, 'daily' from chats
"""
SCHEDULES = """
    insert into schedule (workspace_id, channel_id, spec, since)
    select workspace_id, id, %(spec)s::jsonb, %(since)s from channel
"""
MADE = "select count(*) from round"
CHECKS = {
    "schedules without exactly one round": """
        select count(*) from schedule s where (select count(*) from round r where r.schedule_id = s.id) <> 1""",
    "rounds without a question": "select count(*) from round where version_id is null",
    "rounds without exactly one message": """
        select count(*) from round r
        where (select count(*) from outbox o where o.round_id = r.id and o.kind = 'question') <> 1""",
}


@dataclass(frozen=True)
class Wave:
    """What was measured."""

    schedules: int
    workers: int
    killed: bool
    seconds: float
    cpu: float
    """CPU time of the workers that lived to the end, seconds, from the instant the schedules were due."""
    wrong: dict[str, int]
    load: float

    def __str__(self) -> str:
        wrong = ", ".join(f"{count:,} {what}" for what, count in self.wrong.items() if count) or "each made once"
        return (
            f"| {self.schedules:,} | {self.workers}{', one killed' if self.killed else ''} | {self.seconds:.1f} s "
            f"| {self.schedules / self.seconds:,.0f}/s | {1000 * self.cpu / self.schedules:.1f} ms | {wrong} "
            f"| {self.load:.1f} |"
        )


HEADER = """| Schedules | Workers | Until all were made | Rate | CPU of workers a round | Result | Load |
|---|---|---|---|---|---|---|"""


async def prepare(url: str, schedules: int) -> None:
    """Imports the shipped banks and adds the workspaces, which have no schedules yet."""
    service = build(Settings(database_url=url, service_token=SecretStr("t" * 40)), now)
    async with service.running():
        await import_path(service.sessions, BANKS, now(), True, ImportOptions("none", limit=None), "")
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        await rows.execute(TEAMS, {"teams": schedules})
        await rows.execute("analyze")


async def play(url: str, schedules: int, workers: int, kill: bool) -> Wave:
    """Starts the workers, makes the schedules due, and waits until each has its round."""
    async with contextlib.AsyncExitStack() as stack:
        # The first leads.
        started = [
            await stack.enter_async_context(worker_running(url, DAILYGRAD_SERVICE_TOKEN="t" * 40))
            for _ in range(workers)
        ]
        rows = await stack.enter_async_context(await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True))
        at = datetime.now(UTC)
        spec = ScheduleSpec(weekdays=EVERY_DAY, at=at.time().replace(second=0, microsecond=0), zone="UTC")
        before = {one.pid: _cpu_s(one.pid) for one in started}
        began = time.perf_counter()
        due = {"spec": spec.model_dump_json(), "since": at - timedelta(minutes=5)}
        await rows.execute(SCHEDULES, due)
        if kill:
            await _made(rows, schedules // 2)
            victim = started.pop(0)
            victim.kill()
        await _made(rows, schedules)
        seconds = time.perf_counter() - began
        cpu = sum(_cpu_s(one.pid) - before[one.pid] for one in started)
        wrong = {}
        for what, check in CHECKS.items():
            row = await (await rows.execute(check.encode())).fetchone()
            wrong[what] = int(row[0]) if row else -1
        return Wave(schedules, workers, kill, seconds, cpu, wrong, os.getloadavg()[0])


async def _made(rows: psycopg.AsyncConnection, wanted: int, patience_s: float = 1800) -> None:
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        row = await (await rows.execute(MADE.encode())).fetchone()
        if row and row[0] >= wanted:
            return
        await asyncio.sleep(0.2)
    raise SystemExit(f"{wanted} rounds were not made within {patience_s:g} s")


def _cpu_s(pid: int) -> float:
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command and prints the table. Exit status 1 if a round was not made exactly once."""
    asked = argparse.ArgumentParser(description="Schedules that are all due at once.")
    asked.add_argument("--schedules", type=int, default=10_000)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--kill", action="store_true", help="kill -9 a worker halfway")
    given = asked.parse_args(words)
    with database() as url:
        asyncio.run(prepare(url, given.schedules))
        wave = asyncio.run(play(url, given.schedules, given.workers, given.kill))
    print(HEADER)
    print(wave)
    raise SystemExit(1 if any(wave.wrong.values()) else 0)


if __name__ == "__main__":
    main()
