"""Puts the service together; nothing else constructs anything. How it is served is the front door's business."""

from __future__ import annotations

from asyncio import Event
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI
from prometheus_client.metrics_core import Metric
from sqlalchemy.ext.asyncio import AsyncEngine

from sandbox.load_balancer import SandboxPool
from sandbox.wire import Priority
from service import metrics
from service.api import make_api
from service.api.http import Clock, ServiceParts
from service.banks import proving
from service.config import Settings
from service.credentials import TokenCipher
from service.leader import Leader, run_ticks
from service.ops.metrics_collect import CountedRuns, State
from service.rounds import delivery, grading, regrading, rounds
from service.rounds.alerts import Alerts
from service.rounds.jobs import DRAW_TASK, Jobs, make_jobs
from service.rounds.sandbox_turns import FairSandbox, record_devices_periodically
from service.sandboxes import SandboxPort, Workers
from service.store import migrations, variants
from service.store.session import Sessions, make_engine, make_sessions


@dataclass(frozen=True)
class Service:
    """The whole question service, put together and not yet connected."""

    settings: Settings
    clock: Clock
    engine: AsyncEngine
    sessions: Sessions
    sandbox: FairSandbox | None
    alerts: Alerts
    jobs: Jobs
    api: FastAPI
    stopping: Event
    """Set it before the end: calls that wait for something to come then return."""
    workers: Workers | None = None
    """Those through which the sandbox is reached, if it is."""

    @asynccontextmanager
    async def running(self, *, work: bool = False) -> AsyncIterator[Service]:
        """Ready to answer calls until the block ends. With `work` it also ticks, where it leads, and does jobs."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.engine.dispose)
            if self.workers is not None:
                stack.push_async_callback(self.workers.close)
            await stack.enter_async_context(self.jobs.app.open_async())
            if work:
                await stack.enter_async_context(record_devices_periodically(self.sessions, self.sandbox, self.clock))
                await stack.enter_async_context(self.jobs.run_worker())
                await stack.enter_async_context(run_ticks(Leader(self.settings.database_url), self.tick))
            yield self

    async def gather(self) -> Iterable[Metric]:
        """What the page of metrics tells beside what was counted."""
        state: State = self.api.state.metrics
        return await state.gather()

    async def tick(self) -> None:
        """Close, post and give up whatever is due now. Any number of processes may do so at once."""
        now = self.clock()
        # Yesterday's answer comes before today's question.
        await rounds.close_due(self.sessions, now)
        await rounds.post_due(self.sessions, now)
        async with self.sessions.begin() as session:
            await delivery.give_up_expired(session, now)
        await self.jobs.retry_stalled()
        if self.sandbox is not None:
            await self._draw_new_families()
        await self.alerts.check(now)

    async def _draw_new_families(self) -> None:
        async with self.sessions.begin() as session:
            for version_id in await variants.list_families_without_variants(session, DRAW_TASK):
                await self.jobs.defer_drawing(session, version_id)


def build(settings: Settings, clock: Clock, sandbox: SandboxPort | None = None) -> Service:
    """The service by `settings`. `clock` gives the present instant, aware and UTC; without `sandbox`, one is
    reached through the settings' workers or at their sockets, or there is none."""
    tokens = settings.tokens
    workers = Workers(settings.worker_urls, tokens) if settings.worker_urls else None
    if sandbox is None and settings.sandbox_places:
        sandbox = SandboxPool(settings.sandbox_places)
    # What goes through a worker is counted there.
    counted = CountedRuns(sandbox) if sandbox is not None else workers
    fair = FairSandbox(counted) if counted is not None else None
    engine = make_engine(settings.database_url)
    sessions = make_sessions(engine)

    async def judge(answer_id: int, last: bool, priority: Priority) -> None:
        await grading.judge_answer(sessions, fair, answer_id, clock, last=last, priority=priority)

    async def draw(version_id: int) -> None:
        await proving.draw_family(sessions, fair, version_id, clock())

    async def regrade(version_id: int, last: bool) -> None:
        await regrading.regrade_code(sessions, fair, version_id, clock, last=last)

    jobs = make_jobs(settings.database_url, judge, draw, regrade)
    vault = TokenCipher(settings.token_keys)
    metrics.built(migrations.newest())
    parts = ServiceParts(
        sessions, settings.database_url, clock, tokens, fair, jobs, migrations.newest(), vault, Event()
    )
    alerts = Alerts(sessions, fair)
    return Service(settings, clock, engine, sessions, fair, alerts, jobs, make_api(parts), parts.stopping, workers)
