"""The composition root of the service: builds every part from the settings and connects them. It does not serve."""

from __future__ import annotations

import asyncio
from asyncio import Event
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from sandbox.wire import Priority
from service import metrics
from service.competitions import duels, sprints, tournaments
from service.config import Settings
from service.credentials import TokenCipher
from service.deferred import load_module
from service.metrics import CountedRuns
from service.ops.deployment import MOST_SKEW
from service.ops.gauges import GaugeCollector
from service.process import Clock, in_background
from service.reference_clock import ReferenceClock
from service.rounds import delivery, grading, leaderboard, measuring, posting, regrading, rounds
from service.rounds.alerts import Alerts
from service.rounds.board_keys import drop_old_boards
from service.rounds.calibration import Calibrations, calibrate_workspace
from service.rounds.contestant import Contestant, ModelEndpoint, ask_model
from service.rounds.digests import Digests
from service.rounds.fast_path import FastPath
from service.rounds.grading import Examples
from service.rounds.jobs import DRAW_TASK, Jobs, Work, make_jobs
from service.rounds.notifications import Reminders
from service.rounds.retention import Retention
from service.rounds.sandbox_turns import FairSandbox, record_devices_periodically
from service.sandboxes import SandboxPort, own_sandboxes
from service.store import migrations, monitoring, variants
from service.store.change_signal import ChangeSignal
from service.store.contestants import AskedSlot
from service.store.session import (
    DirectPool,
    Sessions,
    close_engine,
    is_unreachable,
    make_direct_pool,
    make_engine,
    make_sessions,
)

if TYPE_CHECKING:
    from fastapi import FastAPI

    from service.workers import Workers

log = structlog.get_logger(__name__)

MEASURE_SECONDS = 5.0
"""Interval at which the database's clock is read."""


@dataclass(frozen=True)
class Service:
    """The question service with all of its parts, not yet connected to the database."""

    settings: Settings
    clock: Clock
    engine: AsyncEngine
    direct: DirectPool
    sessions: Sessions
    sandbox: FairSandbox | None
    examples: Examples
    changes: ChangeSignal
    alerts: Alerts
    reminders: Reminders
    digests: Digests
    retention: Retention
    gauges: GaugeCollector
    jobs: Jobs
    calibrations: Calibrations
    contestant: Contestant
    cipher: TokenCipher
    make_api: Callable[[], FastAPI]
    stopping: Event
    """Set this before stopping: calls that wait for new messages then return."""
    workers: Workers | None = None
    """The workers that relay to the sandbox; None if the sandbox is reached directly."""

    @cached_property
    def api(self) -> FastAPI:
        """The ASGI application. A worker answers no calls, so it does without its routes, 9 MB."""
        return self.make_api()

    @asynccontextmanager
    async def running(self, *, work: bool = False) -> AsyncIterator[Service]:
        """Connects and answers calls until the block exits.

        With `work`, also runs jobs, takes its share of the rounds, and ticks while this process is the leader.
        """
        async with AsyncExitStack() as stack:
            stack.push_async_callback(close_engine, self.engine)
            await stack.enter_async_context(self.direct)
            if isinstance(self.clock, ReferenceClock):
                await stack.enter_async_context(follow_database(self.clock, self.sessions))
            if self.workers is not None:
                stack.push_async_callback(self.workers.close)
            stack.push_async_callback(self.examples.close)
            stack.push_async_callback(self.changes.aclose)
            await stack.enter_async_context(self.jobs.app.open_async())
            if work:
                # A service never leads, and does without APScheduler.
                from service.leader import Leader, run_ticks

                await stack.enter_async_context(record_devices_periodically(self.sessions, self.sandbox, self.clock))
                await stack.enter_async_context(self.jobs.run_worker())
                leader = Leader(self.settings.database_url)
                await stack.enter_async_context(run_ticks(leader, self.lead, self.play_rounds))
            yield self

    async def tick(self) -> None:
        """Does everything that is due now. Several processes may do so at once."""
        await self.play_rounds()
        await self.lead()

    async def play_rounds(self) -> None:
        """Closes and posts everything due now. All workers share this work."""
        now = self.clock()
        # Reveal yesterday's answer before posting today's question.
        await rounds.close_due(self.sessions, now)
        await posting.post_due(self.sessions, now)

    async def lead(self) -> None:
        """Does what is due now and not shared. One worker is enough for it.

        Takes each step even if one before it failed: one workspace's rows must not keep all others waiting. Raises
        ExceptionGroup with what failed; without the database, raises at once.
        """
        now = self.clock()
        steps: tuple[Callable[[], Awaitable[object]], ...] = (
            # First, because it counts seconds.
            partial(sprints.advance_all, self.sessions, now),
            partial(duels.end_due, self.sessions, now),
            # After the rounds: a day is settled when they are closed.
            partial(tournaments.advance_all, self.sessions, now),
            partial(leaderboard.settle_seasons, self.sessions, now),
            partial(self._give_up_expired, now),
            partial(drop_old_boards, self.sessions, now),
            self.jobs.retry_stalled,
            self._draw_new_families,
            *(partial(one.check, now) for one in (self.reminders, self.digests, self.calibrations, self.contestant)),
            *(partial(one.check, now) for one in (self.alerts, self.retention)),
        )
        failed: list[Exception] = []
        for step in steps:
            try:
                await step()
            except Exception as error:
                if is_unreachable(error):
                    raise
                failed.append(error)
        if failed:
            raise ExceptionGroup("steps of a tick failed", failed)

    async def _give_up_expired(self, now: datetime) -> None:
        async with self.sessions.begin() as session:
            await delivery.give_up_expired(session, now)

    async def _draw_new_families(self) -> None:
        if self.sandbox is None:
            return
        async with self.sessions.begin() as session:
            for version_id in await variants.list_families_without_variants(session, DRAW_TASK):
                await self.jobs.defer_drawing(session, version_id)


@asynccontextmanager
async def follow_database(clock: ReferenceClock, sessions: Sessions) -> AsyncIterator[None]:
    """Keeps the clock at the database's time until the block exits. The first reading is taken at once."""

    async def measure() -> None:
        async with sessions() as session:
            # Connect first: the wait for a connection is not the wait for an answer.
            await session.connection()
            await clock.measure(lambda: monitoring.server_time(session))

    async def measure_forever() -> None:
        while True:
            await asyncio.sleep(MEASURE_SECONDS)
            try:
                await measure()
            except (SQLAlchemyError, OSError) as error:
                log.debug("the database's clock was not read", error=type(error).__name__)

    await measure()
    if abs(clock.skew) > MOST_SKEW:
        log.warning(
            "this machine's clock is wrong", ahead_s=round(clock.skew.total_seconds(), 1), used="the database's"
        )
    async with in_background(measure_forever()):
        yield


def build(settings: Settings, clock: Clock, sandbox: SandboxPort | None = None) -> Service:
    """Builds the service from its settings. `clock` returns the current time, timezone-aware and in UTC.

    A `ReferenceClock` is kept at the database's time while the service runs.

    Without `sandbox`, uses the workers or sockets in the settings; if there are none, code questions wait.
    """
    workers = _make_workers(settings)
    if sandbox is None:
        sandbox = own_sandboxes(settings)
    # Workers count the runs they relay.
    counted = CountedRuns(sandbox) if sandbox is not None else workers
    fair = FairSandbox(counted, prepare_ahead=True) if counted is not None else None
    endpoint = _make_endpoint(settings)
    engine = make_engine(settings.database_url)
    direct = make_direct_pool(settings.database_url)
    sessions = make_sessions(engine)

    jobs = make_jobs(settings.database_url, _make_work(sessions, fair, endpoint, clock))
    cipher = TokenCipher(settings.token_keys)
    metrics.record_build(migrations.newest())
    examples = Examples(fair)
    changes = ChangeSignal(settings.database_url)
    gauges = GaugeCollector(sessions, fair, clock)
    stopping = Event()

    def open_api() -> FastAPI:
        from service.api import make_api
        from service.api.http import ServiceParts
        from service.api.rate_limit import CallLimiter

        parts = ServiceParts(
            sessions=sessions,
            changes=changes,
            clock=clock,
            tokens=settings.tokens,
            bots=settings.bots,
            fast_path=FastPath(direct, sessions),
            sandbox=fair,
            examples=examples,
            jobs=jobs,
            gauges=gauges,
            newest_revision=migrations.newest(),
            cipher=cipher,
            stopping=stopping,
            limiter=CallLimiter(monotonic),
        )
        return make_api(parts, settings.limit_concurrency)

    return Service(
        settings=settings,
        clock=clock,
        engine=engine,
        direct=direct,
        sessions=sessions,
        sandbox=fair,
        examples=examples,
        changes=changes,
        alerts=Alerts(sessions, fair),
        reminders=Reminders(sessions),
        digests=Digests(sessions),
        retention=Retention(sessions, settings.retention_days),
        gauges=gauges,
        jobs=jobs,
        calibrations=Calibrations(sessions, jobs),
        contestant=Contestant(sessions, jobs, endpoint),
        cipher=cipher,
        make_api=open_api,
        stopping=stopping,
        workers=workers,
    )


def _make_workers(settings: Settings) -> Workers | None:
    if not settings.worker_urls:
        return None
    from service.workers import Workers

    return Workers(settings.worker_urls, settings.tokens)


def _make_work(sessions: Sessions, fair: FairSandbox | None, endpoint: ModelEndpoint | None, clock: Clock) -> Work:
    """Connects the jobs to the use cases that they run."""

    async def judge(answer_id: int, last: bool, priority: Priority) -> None:
        await grading.judge_answer(sessions, fair, answer_id, clock, last=last, priority=priority)

    async def draw(version_id: int) -> None:
        # Proving imports most of `questions`, which a process that draws no family does without.
        await load_module("service.banks.proving")
        from service.banks import proving

        await proving.store_variants(sessions, fair, version_id, clock())

    async def regrade(version_id: int, last: bool) -> None:
        await regrading.regrade_code(sessions, fair, version_id, clock, last=last)

    async def calibrate(workspace_id: int) -> None:
        await calibrate_workspace(sessions, workspace_id, clock())

    async def ask(asked: AskedSlot) -> None:
        await load_module("httpx")  # few schedules ask a model
        await ask_model(sessions, endpoint, fair, asked, clock)

    async def measure(round_id: int, last: bool) -> None:
        await measuring.measure_round(sessions, fair, round_id, clock, last=last)

    return Work(judge, draw, regrade, calibrate, ask, measure)


def _make_endpoint(settings: Settings) -> ModelEndpoint | None:
    if not settings.contestant_url:
        return None
    return ModelEndpoint(
        settings.contestant_url, settings.contestant_model, settings.contestant_secret, settings.contestant_timeout_s
    )
