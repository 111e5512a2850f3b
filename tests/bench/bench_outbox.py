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
from service.store import claims, outbox
from tests.bench.bench_wave import TEAMS
from tests.bench.rounds import database

CHATS, CLAIMS = 100, 10
SIZES = ((1, 1), (1, 100), (1, 500), (100, 1), (100, 5))
"""Channels of each chat, and messages of each channel."""
CHANNELS = """
    insert into channel (workspace_id, chat_id, external_id, name)
    select workspace_id, id, 'c' || id || '-' || n, 'daily' from chat, generate_series(2, :channels) n
"""
WAITING = """
    insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before)
    select 'k' || n || '-' || id, workspace_id, chat_id, id, 'notice', '{}', now(), now()
    from channel, generate_series(1, :each) n
"""


async def measure(url: str) -> None:
    """Prints the table."""
    service = build(Settings(database_url=url, service_token=SecretStr("t" * 40)), now)
    async with service.running():
        known = 0
        for channels, each in SIZES:
            async with service.sessions.begin() as session:
                await session.execute(text("truncate outbox cascade"))
                if not known:
                    await session.execute(text(TEAMS.replace("%(teams)s", ":teams")), {"teams": CHATS})
                elif channels > known:
                    await session.execute(text(CHANNELS), {"channels": channels})
                known = channels
                await session.execute(text(WAITING), {"each": each})
                await session.execute(text("analyze"))
            times = []
            for _ in range(CLAIMS):
                began = perf_counter()
                async with service.sessions.begin() as session:
                    rows = await claims.lock_claimable(session, "discord", "", now(), 20)
                    assert len(rows) == 20
                    for row in rows:
                        outbox.claim(row, now(), timedelta(minutes=1))
                times.append(1000 * (perf_counter() - began))
                async with service.sessions.begin() as session:
                    await session.execute(
                        text("update outbox set state = 'due', claimed_until = null where state <> 'due'")
                    )
            print(f"| {CHATS * channels * each:,} | {CHATS * channels:,} | {median(times):.1f} ms |", flush=True)


def main() -> None:
    """Runs the benchmark."""
    print("| Messages that wait | Queues | A claim of 20, p50 |\n|---|---|---|")
    with database() as url:
        asyncio.run(measure(url))


if __name__ == "__main__":
    main()
