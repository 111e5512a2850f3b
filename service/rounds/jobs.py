"""The durable jobs: procrastinate's tasks, each of which only calls a use case. Deferred with the row they serve."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString

import structlog
from procrastinate import App, JobContext, PsycopgConnector, RetryDecision
from procrastinate.connector import Notify
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy
from procrastinate.tasks import Task
from sqlalchemy.ext.asyncio import AsyncSession

from questions.families import InvalidVariant
from sandbox.wire import Priority
from service.errors import Busy
from service.store import outbox
from service.store.session import driver_connection, libpq_url
from service.tracing import following

log = structlog.get_logger(__name__)
MAX_ATTEMPTS = 8
"""How often an answer is put to the sandbox before its member is told that it could not be judged."""
MAX_REGRADE_ATTEMPTS = 40
"""How often a round is put to the sandbox again, some hours long: nobody waits for it."""
MAX_RETRY_SECONDS = 300
BUSY_RETRY_SECONDS = 1
"""When an answer whose turn has not come is put to the sandbox again; other members' answers go meanwhile."""
STALLED_SECONDS = 30
"""A worker silent for so long is gone, and its jobs are taken up by others."""
CONCURRENCY = 16
"""More than the sandboxes have places, so that answers wait there, where first ones go before the rest, not here."""
RESTART_SECONDS = 1.0
"""How long after its end a worker is followed by another."""
_FIRST_ANSWER_PRIORITY = 1
"""The jobs' priority of first answers of open rounds, before all others."""
DRAW_TASK = "draw_family"
"""The name of the task that draws a family's questions."""
REGRADE_TASK = "regrade_code"
"""The name of the task that judges a corrected code question's closed rounds again."""
Judge = Callable[[int, bool, Priority], Awaitable[None]]
"""Judges the answer of that id; the flag says that no further attempt will follow. Raises Busy, to be called later."""
Draw = Callable[[int], Awaitable[None]]
"""Draws questions from the family of that version's id."""
Regrade = Callable[[int, bool], Awaitable[None]]
"""Judges closed rounds by the version of that id; the flag says that no further attempt will follow."""


@dataclass(frozen=True)
class Jobs:
    """The queue and its tasks."""

    app: App
    connector: MonitoredConnector
    judge_answer: Task[..., Any, Any]
    draw_family: Task[..., Any, Any]

    async def defer_judging(
        self, session: AsyncSession, answer_id: int, *, first: bool = False, event_id: str = ""
    ) -> int:
        """Have the answer judged once the session's transaction is committed, and never if it is not.

        Returns how many are judged before it. `first` is for a member's first answer to an open round: those go before
        all others. `event_id` is followed in the log.
        """
        task = self.judge_answer.configure(
            connection=await driver_connection(session), priority=_FIRST_ANSWER_PRIORITY if first else 0
        )
        job = await task.defer_async(answer_id=answer_id, event_id=event_id)
        return await outbox.count_jobs_ahead(session, job)

    async def defer_drawing(self, session: AsyncSession, version_id: int) -> None:
        """Have the family's questions drawn; while a job about it is waiting this one is none."""
        connection = await driver_connection(session)
        task = self.draw_family.configure(connection=connection, queueing_lock=f"{DRAW_TASK} {version_id}")
        with suppress(AlreadyEnqueued):
            await task.defer_async(version_id=version_id)

    async def run_pending(self) -> None:
        """Do what is due now and return."""
        await self._work(wait=False)

    @asynccontextmanager
    async def run_worker(self) -> AsyncIterator[None]:
        """Work in the background until the block ends; jobs in hand are finished first."""
        task = asyncio.create_task(run_worker_forever(self.connector, lambda: self._work(wait=True)), name="worker")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def retry_stalled(self) -> int:
        """Put back the jobs of workers that died in the middle; returns how many there were."""
        manager = self.app.job_manager
        stalled = list(await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS))
        for job in stalled:
            await manager.retry_job(job)
        return len(stalled)

    async def _work(self, *, wait: bool) -> None:
        await self.app.run_worker_async(
            wait=wait,
            concurrency=CONCURRENCY,
            install_signal_handlers=False,
            delete_jobs="successful",
            shutdown_graceful_timeout=20,
            listen_notify=wait,
        )


def make_jobs(database_url: str, judge: Judge, draw: Draw, regrade: Regrade) -> Jobs:
    """The queue over that database; nothing is connected yet."""
    connector = MonitoredConnector(conninfo=libpq_url(database_url), min_size=1, max_size=5)
    app = App(connector=connector)

    @app.task(name="judge_answer", queue="judging", retry=_Backoff(MAX_ATTEMPTS), pass_context=True)
    async def judge_answer(context: JobContext, answer_id: int, event_id: str = "") -> None:
        job = context.job
        try:
            with following(event_id):
                await judge(
                    answer_id,
                    job.attempts + 1 >= MAX_ATTEMPTS,
                    "round" if job.priority >= _FIRST_ANSWER_PRIORITY else "practice",
                )
        except Busy:
            # No failure, so no attempt: a job of its own, behind those of other members.
            later = judge_answer.configure(priority=job.priority, schedule_in={"seconds": BUSY_RETRY_SECONDS})
            await later.defer_async(answer_id=answer_id, event_id=event_id)

    # Answers first, and one drawing at a time: nobody waits for it.
    @app.task(name=DRAW_TASK, queue="drawing", retry=_RetryUnlessWrong(), priority=-1, lock=DRAW_TASK)
    async def draw_family(version_id: int) -> None:
        await draw(version_id)

    @app.task(name=REGRADE_TASK, queue="judging", retry=_Backoff(MAX_REGRADE_ATTEMPTS), priority=-1, pass_context=True)
    async def regrade_code(context: JobContext, version_id: int) -> None:
        await regrade(version_id, context.job.attempts + 1 >= MAX_REGRADE_ATTEMPTS)

    return Jobs(app, connector, judge_answer, draw_family)


async def defer_regrading(session: AsyncSession, version_id: int, question_id: int) -> None:
    """Have the closed rounds of a code question judged again by this version, once the transaction is committed.

    Jobs about one question are done one after the other, in the order they were left in.
    """
    # Never opened: the session's own connection writes, in whatever process a bank is imported.
    app = App(connector=PsycopgConnector())
    connection = await driver_connection(session)
    lock = f"{REGRADE_TASK} {question_id}"
    job = app.configure_task(REGRADE_TASK, queue="judging", priority=-1, lock=lock, connection=connection)
    await job.defer_async(version_id=version_id)


class _Backoff(BaseRetryStrategy):
    def __init__(self, attempts: int) -> None:
        self.attempts = attempts

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if job.attempts + 1 >= self.attempts:
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** (job.attempts + 1), MAX_RETRY_SECONDS)})


class _RetryUnlessWrong(BaseRetryStrategy):
    """The sandbox comes back one day; a family at fault stays a failed job, and is not tried again."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, InvalidVariant):
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** min(job.attempts + 1, 16), MAX_RETRY_SECONDS)})


class MonitoredConnector(PsycopgConnector):
    """procrastinate's connector, which notes that the database failed it."""

    def __init__(self, **pool: Any) -> None:
        super().__init__(**pool)
        self.failed = asyncio.Event()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except ConnectorException:
            self.failed.set()
            raise

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """As the connector says."""
        with self._noting():
            await super().execute_query_async(query, **arguments)

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """As the connector says."""
        with self._noting():
            row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
        return row

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """As the connector says."""
        with self._noting():
            rows: list[dict[str, Any]] = await super().execute_query_all_async(query, **arguments)
        return rows

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """As the connector says."""
        with self._noting():
            await super().listen_notify(on_notification, channels)


async def run_worker_forever(connector: MonitoredConnector, work: Callable[[], Awaitable[None]]) -> None:
    """Call `work` and, whenever it ends or the database failed it, once more; until this is cancelled.

    Cancelled, `work` finishes what it has in hand first.
    """
    while True:
        connector.failed.clear()
        await _run_worker_once(connector, work)
        log.warning("the database failed the queue's worker; another begins")
        await asyncio.sleep(RESTART_SECONDS)


async def _run_worker_once(connector: MonitoredConnector, work: Callable[[], Awaitable[None]]) -> None:
    working = asyncio.ensure_future(work())
    failing = asyncio.create_task(connector.failed.wait())
    try:
        await asyncio.wait({working, failing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        failing.cancel()
        working.cancel()
        await asyncio.wait({working})
    if not working.cancelled() and (error := working.exception()) is not None:
        log.warning("the queue's worker ended", exc_info=error)
