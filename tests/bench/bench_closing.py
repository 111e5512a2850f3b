"""Benchmark: closing a round of many answers and absent members, and regrading a round after its key was corrected.

`python -m tests.bench.bench_closing [--answers N] [--absent N] [--regraded N]`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter, process_time

import psutil
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service.process import short_collections
from service.rounds import rounds
from service.rounds.regrading import regrade_question
from service.store.session import Sessions, make_engine, make_sessions
from service.store.statements import batches
from tests.bench.rounds import database
from tests.service.rounds.test_rounds_scale import SWAPPED, answer_all, two_rounds
from tests.service.scenes import Stage, question
from tests.service.statements import counted

CLOSE_LIMIT_S, REGRADE_LIMIT_S = 2, 60
PREPARED_TOGETHER = 100_000
"""Answers that are inserted by one statement before the measurement, within the time that a statement may take."""


async def show(session: AsyncSession, what: str, limit: str, work: Awaitable[object]) -> None:
    """Prints the row of a use case, with the CPU time of this process and of its connection's server process."""
    server = psutil.Process(int((await session.execute(text("select pg_backend_pid()"))).scalar_one()))
    began, ours, theirs = perf_counter(), process_time(), sum(server.cpu_times()[:2])
    with counted() as sent:
        await work
    cpu = f"CPU {process_time() - ours:.1f} s here and {sum(server.cpu_times()[:2]) - theirs:.1f} s in PostgreSQL"
    print(f"| {what} | {perf_counter() - began:.1f} s, {cpu}, {len(sent)} statements | {limit} |", flush=True)


async def close(sessions: Sessions, answers: int, absent: int) -> None:
    """Closes a round; the absent members answered the round before."""
    async with sessions() as session:
        stage = Stage(session)
        yesterday, today = await two_rounds(stage)
        for part in batches(range(absent), PREPARED_TOGETHER):
            await answer_all(stage, yesterday, len(part))
        for part in batches(range(answers), PREPARED_TOGETHER):
            await answer_all(stage, today, len(part))
        # As members do. A change of rows that the same transaction has inserted checks their foreign keys again.
        await session.commit()
        limit = "set-based" if absent else f"{CLOSE_LIMIT_S} s"
        what = f"close of a round with {answers:,} answers and {absent:,} absent members"
        await show(session, what, limit, rounds.close_round(session, today.id, stage.now))
        await session.rollback()


async def regrade(sessions: Sessions, answers: int) -> None:
    """Closes a round, corrects its key, and regrades it."""
    async with sessions.begin() as session:
        stage = Stage(session)
        _, today = await two_rounds(stage)
        await answer_all(stage, today, answers)
        await rounds.close_round(session, today.id, stage.now)
        # As autovacuum does: after the close above was rolled back, the statistics say that there are no verdicts.
        await session.execute(text("analyze verdict, ledger"))
        await stage.bank(question("views"), question("strides", options=SWAPPED, answer="That"))
        version = await stage.version("strides")
        work = regrade_question(session, version.id, stage.now)
        await show(session, f"regrade of {answers:,} answers", f"{REGRADE_LIMIT_S} s", work)
        await session.rollback()


async def measure(url: str, use_case: Callable[[Sessions], Awaitable[None]]) -> None:
    """Prints the row of a use case."""
    engine = make_engine(url)
    await use_case(make_sessions(engine))
    await engine.dispose()


def main() -> None:
    """Runs the benchmark."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--answers", type=int, default=10_000)
    asked.add_argument("--absent", type=int, default=0)
    asked.add_argument("--regraded", type=int, default=100_000)
    given = asked.parse_args()
    print(f"| What, at load {os.getloadavg()[0]:.1f} | Measured | Limit |\n|---|---|---|")
    use_cases: list[Callable[[Sessions], Awaitable[None]]] = [
        partial(close, answers=given.answers, absent=given.absent)
    ]
    if given.regraded:
        use_cases.append(partial(regrade, answers=given.regraded))
    for use_case in use_cases:
        # As in a worker: a full collection of garbage does not look at everything that was imported.
        with database() as url, short_collections():
            asyncio.run(measure(url, use_case))


if __name__ == "__main__":
    main()
