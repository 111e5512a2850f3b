"""Benchmark: import of 20,000 questions, and the next question to practice from them, new or of 10,000 due cards."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from pydantic import SecretStr
from sqlalchemy import text

from service.app import build
from service.banks.imports import ImportOptions, import_path
from service.config import Settings
from service.process import now
from service.rounds import practice
from service.store.members import resolve_caller
from service.wire import Where, Who
from tests.bench.rounds import database
from tests.faults.backend import many_questions

QUESTIONS, CARDS, PICKS = 20_000, 10_000, 10
CARD_ROWS = """
    insert into card (member_id, question_id, state, due)
    select :member, id, '{}', now() - interval '1 day' from question order by id limit :cards
"""


async def measure(url: str, folder: Path) -> None:
    """Prints the table."""
    (folder / "many.md").write_text(many_questions(QUESTIONS))
    service = build(Settings(database_url=url, service_token=SecretStr("t" * 40)), now)
    async with service.running():
        began, cpu = perf_counter(), process_time()
        await import_path(service.sessions, folder, now(), True, ImportOptions("none", limit=None), "")
        row = f"{process_time() - cpu:.1f} s of CPU, {perf_counter() - began:.1f} s"
        print(f"| import of {QUESTIONS:,} questions | {row} | 20 s of CPU |")
        async with service.sessions.begin() as session:
            who = Who(platform="web", workspace="bench", member="ada", name="Ada")
            caller = await resolve_caller(session, who, Where(channel="daily", name="#daily"), now())
            await session.execute(text("analyze"))

        async def pick() -> str:
            times, cpus = [], []
            for _ in range(PICKS):
                began, cpu = perf_counter(), process_time()
                async with service.sessions.begin() as session:
                    assert await practice.pick_next(session, caller, now()) is not None
                times.append(1000 * (perf_counter() - began))
                cpus.append(1000 * (process_time() - cpu))
            return f"p50 {median(times):.1f} ms, {median(cpus):.1f} ms of CPU"

        print(f"| practice, a new one of {QUESTIONS:,} questions | {await pick()} | 20 ms |")
        async with service.sessions.begin() as session:
            await session.execute(text(CARD_ROWS), {"member": caller.member_id, "cards": CARDS})
            await session.execute(text("analyze"))
        print(f"| practice, one of {CARDS:,} due cards | {await pick()} | 20 ms |")


def main() -> None:
    """Runs the benchmark."""
    print("| What | Measured | Limit |\n|---|---|---|")
    with database() as url, TemporaryDirectory() as folder:
        asyncio.run(measure(url, Path(folder)))


if __name__ == "__main__":
    main()
