"""The queue's worker survives a database that goes away, and receives jobs at once when it is back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sandbox.wire import Priority
from service.rounds.jobs import Jobs, Work, make_jobs
from service.store.session import libpq_url

PATIENCE_S = 60


class Judged:
    """Collects the judged answers and waits for them."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[int] = asyncio.Queue()

    async def judge(self, answer_id: int, last: bool, priority: Priority) -> None:
        self.answers.put_nowait(answer_id)

    async def next(self) -> int:
        return await asyncio.wait_for(self.answers.get(), PATIENCE_S)


async def nothing(*given: object) -> None:
    """Does nothing."""


@pytest.fixture
async def judged() -> Judged:
    return Judged()


@pytest.fixture
async def jobs(database_url: str, judged: Judged) -> AsyncIterator[Jobs]:
    jobs = make_jobs(database_url, Work(judged.judge, nothing, nothing, nothing, nothing, nothing))
    async with jobs.app.open_async(), jobs.run_worker():
        yield jobs


@contextlib.asynccontextmanager
async def away(database_url: str) -> AsyncIterator[None]:
    """Ends every connection to the database and rejects new ones until the block exits."""
    name = str(conninfo_to_dict(libpq_url(database_url))["dbname"])
    beside = make_conninfo(libpq_url(database_url), dbname="postgres")
    allow = sql.SQL("alter database {} allow_connections {}")
    async with await psycopg.AsyncConnection.connect(beside, autocommit=True) as server:
        await server.execute(allow.format(sql.Identifier(name), sql.SQL("false")))
        await server.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (name,))
        try:
            yield
        finally:
            await server.execute(allow.format(sql.Identifier(name), sql.SQL("true")))


async def listening(database_url: str) -> int:
    """Waits for the connection on which a worker listens for new jobs."""
    query = "select pid from pg_stat_activity where datname = current_database() and query ilike 'listen%%'"
    async with await psycopg.AsyncConnection.connect(libpq_url(database_url), autocommit=True) as connection:
        async with asyncio.timeout(PATIENCE_S):
            while not (found := await (await connection.execute(query)).fetchone()):
                await connection.execute("select pg_sleep(0.05)")
    return int(found[0])


@pytest.mark.slow
async def test_a_worker_whose_database_went_away_works_and_listens_again(
    database_url: str, jobs: Jobs, judged: Judged
) -> None:
    await jobs.judge_answer.defer_async(answer_id=1)
    assert await judged.next() == 1
    before = await listening(database_url)
    async with away(database_url):
        async with asyncio.timeout(PATIENCE_S):
            await jobs.connector.failed.wait()
    assert await listening(database_url) != before
    await jobs.judge_answer.defer_async(answer_id=2)
    assert await judged.next() == 2


async def test_a_job_lost_by_its_worker_is_picked_up(database_url: str, jobs: Jobs, judged: Judged) -> None:
    """For example a job whose start was recorded as the connection broke, so that its worker never received it."""
    await listening(database_url)
    lost = """
        with job as (
            insert into procrastinate_jobs (queue_name, task_name, priority, args, status, worker_id)
            select 'judging', 'judge_answer', 0, '{"answer_id": 7}', 'doing', id from procrastinate_workers
            returning worker_id
        )
        select worker_id from job
    """
    (row,) = await jobs.connector.execute_query_all_async(lost)
    assert await jobs.retry_stalled() == 0, "its worker lives"
    async with away(database_url):
        async with asyncio.timeout(PATIENCE_S):
            await jobs.connector.failed.wait()
    gone = "select 1 as one from procrastinate_workers where id = %(worker)s"
    async with asyncio.timeout(PATIENCE_S):
        while await jobs.connector.execute_query_all_async(gone, worker=row["worker_id"]):
            await jobs.connector.execute_query_async("select pg_sleep(0.05)")
    assert await jobs.retry_stalled() == 1
    assert await judged.next() == 7
