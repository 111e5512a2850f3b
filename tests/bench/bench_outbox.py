"""Benchmark: how long a claim of twenty messages takes while thousands wait, most of them not to be sent yet."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from statistics import median
from time import perf_counter

from pydantic import SecretStr
from sqlalchemy import text

from service.app import build
from service.config import Settings
from service.process import now
from service.store import outbox
from tests.bench.bench_wave import TEAMS
from tests.bench.rounds import database

SIZES, CLAIMS = (100, 10_000, 50_000), 10
WAITING = """
    insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before)
    select 'k' || n || '-' || id, workspace_id, chat_id, id, 'notice', '{}', now(), now()
    from channel, generate_series(1, :each) n
"""


async def measure(url: str) -> None:
    """Prints the table."""
    service = build(Settings(database_url=url, service_token=SecretStr("t" * 40)), now)
    async with service.running():
        for size in SIZES:
            async with service.sessions.begin() as session:
                await session.execute(text("truncate outbox cascade"))
                if size == SIZES[0]:
                    await session.execute(text(TEAMS.replace("%(teams)s", ":teams")), {"teams": 100})
                await session.execute(text(WAITING), {"each": size // 100})
                await session.execute(text("analyze"))
            times = []
            for _ in range(CLAIMS):
                began = perf_counter()
                async with service.sessions.begin() as session:
                    rows = await outbox.lock_claimable(session, "discord", "", now(), 20)
                    assert len(rows) == 20
                    for row in rows:
                        outbox.claim(row, now(), timedelta(minutes=1))
                times.append(1000 * (perf_counter() - began))
                async with service.sessions.begin() as session:
                    await session.execute(text("update outbox set state = 'due', claimed_until = null"))
            print(f"| {size:,} | {median(times):.1f} ms |")


def main() -> None:
    """Runs the benchmark."""
    print("| Messages that wait | A claim of 20, p50 |\n|---|---|")
    with database() as url:
        asyncio.run(measure(url))


if __name__ == "__main__":
    main()
