"""Durable jobs: procrastinate tasks that call use cases, deferred in the transaction of the row they serve.

procrastinate's worker ends for good if the database is away for half a minute, misses notifications once its listener
is lost, and does not retry a job whose start or end it could not record. So a worker is replaced whenever the database
fails it; the new one picks up what the old one lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
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
from service.store.contestants import AskedSlot
from service.store.session import driver_connection, libpq_url
from service.tracing import correlate, span

log = structlog.get_logger(__name__)
MAX_ATTEMPTS = 8
"""Attempts to judge an answer before its author is notified of the failure."""
MAX_REGRADE_ATTEMPTS = 40
"""Attempts to regrade a round, over several hours: nobody waits for it."""
MAX_RETRY_SECONDS = 300
"""Longest wait before a job is tried again."""
BUSY_RETRY_SECONDS = 1
"""Delay before a busy answer is tried again, seconds. Other members' answers go meanwhile."""
STALLED_SECONDS = 30
"""Heartbeat age after which a worker's jobs go to others, seconds."""
CONCURRENCY = 16
"""Concurrent jobs. More than the sandboxes' places, so that answers wait in the sandbox queue, which puts first
answers first."""
RESTART_SECONDS = 1.0
"""Delay before an ended worker is replaced, seconds."""
_FIRST_ANSWER_PRIORITY = 1
"""Job priority of first answers to open rounds."""
DRAW_TASK = "draw_family"
"""Name of the task that generates a family's variants."""
CALIBRATE_TASK = "calibrate"
"""Name of the task that calibrates a workspace."""
ASK_TASK = "ask_contestant"
"""Name of the task that asks the model that takes part."""
ASKED_AT_ONCE = 4
"""Questions that a model is asked at once, so that a slow one leaves most of the worker's places to answers."""
MEASURE_TASK = "measure_round"
"""Name of the task that measures the code of a round."""
REGRADE_TASK = "regrade_code"
"""Name of the task that regrades the closed rounds of a corrected code question."""
Judge = Callable[[int, bool, Priority], Awaitable[None]]
"""Judges the answer with that id. The flag marks the last attempt. Raises Busy to be called later."""
Draw = Callable[[int], Awaitable[None]]
"""Generates the variants of the family version with that id."""
Calibrate = Callable[[int], Awaitable[None]]
"""Calibrates the workspace with that id."""
Measure = Callable[[int, bool], Awaitable[None]]
"""Measures the code of the closed round with that id. The flag marks the last attempt."""
Ask = Callable[[AskedSlot], Awaitable[None]]
"""Asks the model about a slot."""
Regrade = Callable[[int, bool], Awaitable[None]]
"""Regrades closed rounds by the version with that id. The flag marks the last attempt."""


@dataclass(frozen=True)
class Jobs:
    """The queue and its tasks."""

    app: App
    connector: MonitoredConnector
    judge_answer: Task[..., Any, Any]
    draw_family: Task[..., Any, Any]
    calibrate: Task[..., Any, Any]
    ask_contestant: Task[..., Any, Any]

    async def defer_judging(
        self, session: AsyncSession, answer_id: int, *, first: bool = False, event_id: str = ""
    ) -> int:
        """Defers judging the answer until the session's transaction commits.

        Returns how many answers are judged before it. `first` marks a member's first answer to an open round, which
        goes before all others. `event_id` is followed in the log.
        """
        task = self.judge_answer.configure(
            connection=await driver_connection(session), priority=_FIRST_ANSWER_PRIORITY if first else 0
        )
        job = await task.defer_async(answer_id=answer_id, event_id=event_id)
        return await outbox.count_jobs_ahead(session, job)

    async def defer_drawing(self, session: AsyncSession, version_id: int) -> None:
        """Defers generating the family's variants. Does nothing if such a job is waiting."""
        connection = await driver_connection(session)
        task = self.draw_family.configure(connection=connection, queueing_lock=f"{DRAW_TASK} {version_id}")
        with suppress(AlreadyEnqueued):
            await task.defer_async(version_id=version_id)

    async def defer_calibrating(self, session: AsyncSession, workspace_id: int) -> None:
        """Defers a calibration. Does nothing if the workspace waits for one."""
        connection = await driver_connection(session)
        task = self.calibrate.configure(connection=connection, queueing_lock=f"{CALIBRATE_TASK} {workspace_id}")
        with suppress(AlreadyEnqueued):
            await task.defer_async(workspace_id=workspace_id)

    async def defer_asking(self, session: AsyncSession, asked: AskedSlot) -> None:
        """Defers asking the model about a slot."""
        lock = f"{ASK_TASK} {asked.schedule_id % ASKED_AT_ONCE}"
        task = self.ask_contestant.configure(connection=await driver_connection(session), lock=lock)
        await task.defer_async(schedule_id=asked.schedule_id, day=asked.day.isoformat(), version_id=asked.version_id)

    async def run_pending(self) -> None:
        """Runs all jobs that are due and returns."""
        await self._work(wait=False)

    @asynccontextmanager
    async def run_worker(self) -> AsyncIterator[None]:
        """Runs a worker in the background until the block exits; finishes running jobs first."""
        task = asyncio.create_task(run_worker_forever(self.connector, lambda: self._work(wait=True)), name="worker")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def retry_stalled(self) -> int:
        """Returns the jobs of dead workers to the queue. Returns how many there were."""
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


@dataclass(frozen=True, slots=True)
class Work:
    """What the tasks call."""

    judge: Judge
    draw: Draw
    regrade: Regrade
    calibrate: Calibrate
    ask: Ask
    measure: Measure


def make_jobs(database_url: str, work: Work) -> Jobs:
    """Creates the queue over that database. Does not connect yet."""
    connector = MonitoredConnector(conninfo=libpq_url(database_url), min_size=1, max_size=5)
    app = App(connector=connector)

    @app.task(name="judge_answer", queue="judging", retry=_Backoff(MAX_ATTEMPTS), pass_context=True)
    async def judge_answer(context: JobContext, answer_id: int, event_id: str = "") -> None:
        job = context.job
        try:
            with correlate(event_id), span("judge", attempt=job.attempts + 1):
                await work.judge(
                    answer_id,
                    job.attempts + 1 >= MAX_ATTEMPTS,
                    "round" if job.priority >= _FIRST_ANSWER_PRIORITY else "practice",
                )
        except Busy:
            # Not a failure, so not an attempt: a new job, behind those of other members.
            later = judge_answer.configure(priority=job.priority, schedule_in={"seconds": BUSY_RETRY_SECONDS})
            await later.defer_async(answer_id=answer_id, event_id=event_id)

    # Answers go first, and one family at a time: nobody waits for it.
    @app.task(name=DRAW_TASK, queue="drawing", retry=_RetryUnlessWrong(), priority=-1, lock=DRAW_TASK)
    async def draw_family(version_id: int) -> None:
        await work.draw(version_id)

    @app.task(name=REGRADE_TASK, queue="judging", retry=_Backoff(MAX_REGRADE_ATTEMPTS), priority=-1, pass_context=True)
    async def regrade_code(context: JobContext, version_id: int) -> None:
        await work.regrade(version_id, context.job.attempts + 1 >= MAX_REGRADE_ATTEMPTS)

    # One at a time, so that no two are measured at once.
    @app.task(name=MEASURE_TASK, queue="measuring", retry=_Backoff(MAX_ATTEMPTS), priority=-3, pass_context=True)
    async def measure_round(context: JobContext, round_id: int) -> None:
        await work.measure(round_id, context.job.attempts + 1 >= MAX_ATTEMPTS)

    # One at a time: each takes a core for up to seconds.
    @app.task(name=CALIBRATE_TASK, queue="calibrating", retry=_Backoff(MAX_ATTEMPTS), priority=-2, lock=CALIBRATE_TASK)
    async def calibrate_workspace(workspace_id: int) -> None:
        await work.calibrate(workspace_id)

    @app.task(name=ASK_TASK, queue="asking", retry=_Backoff(MAX_ATTEMPTS), priority=-1)
    async def ask_contestant(schedule_id: int, day: str, version_id: int) -> None:
        await work.ask(AskedSlot(schedule_id, date.fromisoformat(day), version_id))

    return Jobs(app, connector, judge_answer, draw_family, calibrate_workspace, ask_contestant)


async def defer_regrading(session: AsyncSession, version_id: int, question_id: int) -> None:
    """Defers regrading the closed rounds of a code question until the transaction commits.

    Jobs of one question run one after another, in the order they were deferred.
    """
    # Never opened: the job is written through the session's own connection, in any process that imports a bank.
    app = App(connector=PsycopgConnector())
    connection = await driver_connection(session)
    lock = f"{REGRADE_TASK} {question_id}"
    job = app.configure_task(REGRADE_TASK, queue="judging", priority=-1, lock=lock, connection=connection)
    await job.defer_async(version_id=version_id)


async def defer_measuring(session: AsyncSession, round_id: int) -> None:
    """Defers measuring the code of a round until the transaction commits. One round is measured after another."""
    app = App(connector=PsycopgConnector())  # never opened, as in `defer_regrading`
    connection = await driver_connection(session)
    job = app.configure_task(MEASURE_TASK, queue="measuring", priority=-3, lock=MEASURE_TASK, connection=connection)
    await job.defer_async(round_id=round_id)


class _Backoff(BaseRetryStrategy):
    def __init__(self, attempts: int) -> None:
        self.attempts = attempts

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if job.attempts + 1 >= self.attempts:
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** (job.attempts + 1), MAX_RETRY_SECONDS)})


class _RetryUnlessWrong(BaseRetryStrategy):
    """Retries until the sandbox returns. A faulty family stays a failed job and is not retried."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, InvalidVariant):
            return None
        return RetryDecision(retry_in={"seconds": min(2 ** min(job.attempts + 1, 16), MAX_RETRY_SECONDS)})


class MonitoredConnector(PsycopgConnector):
    """procrastinate's connector, with a flag that the database failed it."""

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
        """See the base class."""
        with self._noting():
            await super().execute_query_async(query, **arguments)

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """See the base class."""
        with self._noting():
            row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
        return row

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """See the base class."""
        with self._noting():
            rows: list[dict[str, Any]] = await super().execute_query_all_async(query, **arguments)
        return rows

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """See the base class."""
        with self._noting():
            await super().listen_notify(on_notification, channels)


async def run_worker_forever(connector: MonitoredConnector, work: Callable[[], Awaitable[None]]) -> None:
    """Calls `work` again whenever it ends or the database fails it, until cancelled.

    When cancelled, `work` finishes its running jobs first.
    """
    while True:
        connector.failed.clear()
        await _run_worker_once(connector, work)
        log.warning("worker restarted after a database failure")
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
        log.warning("worker ended", exc_info=error)
