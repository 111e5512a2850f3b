"""Gauges that are looked up when the metrics page is asked for: the database, its pool of connections, the sandbox.

Kept for a second, so that however often the page is asked for, the database is not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from sandbox.client import Health, SandboxUnreachable
from service.process import Clock
from service.rounds.posting import count_owed
from service.rounds.sandbox_turns import FairSandbox
from service.store.monitoring import LEADER_LOCK, Measures, collect_measures
from service.store.retention import BACKUP, RETENTION
from service.store.session import Sessions

GRACE = timedelta(minutes=1)
"""Delay up to which a post counts as on time."""
KEPT_S = 1.0
"""Time for which gauges are kept, seconds."""
TIMEOUT_SECONDS = 8.0
"""Time limit, seconds; shorter than Prometheus's scrape timeout."""


class GaugeCollector:
    """Looks gauges up. `clock` returns the current instant, `seconds` a monotonic time."""

    def __init__(
        self,
        sessions: Sessions,
        sandbox: FairSandbox | None,
        clock: Clock,
        seconds: Callable[[], float] = time.monotonic,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._sessions = sessions
        self._sandbox = sandbox
        self._clock = clock
        self._seconds = seconds
        self._timeout_seconds = timeout_seconds
        self._lock = asyncio.Lock()
        self._kept: tuple[Metric, ...] = ()
        self._until = float("-inf")

    async def gather(self) -> Iterable[Metric]:
        """Returns all gauges, at most a second old. A part that does not answer in time is reported as down."""
        async with self._lock:
            if self._seconds() >= self._until:
                found, health = await asyncio.gather(self._measured(), self._health())
                now = self._clock()
                self._kept = (*of_database(found, now), *of_pool(self._sessions.kw["bind"]), *self._of_sandbox(health))
                self._until = self._seconds() + KEPT_S
            return self._kept

    async def _measured(self) -> tuple[Measures, int] | None:
        """Returns the database's measures, and the number of schedules with overdue slots."""
        now = self._clock()
        try:
            async with asyncio.timeout(self._timeout_seconds), self._sessions() as session:
                return await collect_measures(session, now, GRACE, LEADER_LOCK), await count_owed(session, now - GRACE)
        except (SQLAlchemyError, OSError):  # a TimeoutError is one
            return None

    async def _health(self) -> Health | None:
        if self._sandbox is None:
            return None
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._sandbox.health()
        except (SandboxUnreachable, TimeoutError):
            return None

    def _of_sandbox(self, health: Health | None) -> Iterator[Metric]:
        return of_sandbox(health) if self._sandbox is not None else iter(())


def of_database(looked_up: tuple[Measures, int] | None, now: datetime) -> Iterator[Metric]:
    """Yields the database's gauges. None stands for a database that does not answer."""
    yield _gauge("database_up", "Whether the database answers.", looked_up is not None)
    if looked_up is None:
        return
    found, slots_owed = looked_up
    yield _gauge("slots_owed", "Schedules whose slot is a minute due, and not even begun.", slots_owed)
    outbox = {queue.name: queue for queue in found.outbox}
    yield _by("outbox_waiting", "Messages that wait to be posted.", "platform", {n: q.count for n, q in outbox.items()})
    yield _by(
        "outbox_oldest_seconds",
        "Since when the oldest of them waits.",
        "platform",
        {name: _age(queue.oldest, now) for name, queue in outbox.items()},
    )
    yield _gauge("posts_overdue", "Questions a minute late or more, and not posted yet.", found.overdue.count)
    yield _gauge("posts_overdue_seconds", "How late the latest of them is.", _age(found.overdue.oldest, now))
    yield _gauge("answers_waiting", "Code answers that wait for their verdict.", found.answers.count)
    yield _gauge("answers_waiting_seconds", "Since when the oldest of them waits.", _age(found.answers.oldest, now))
    jobs = GaugeMetricFamily("dailygrad_jobs", "Jobs by task and state.", labels=["task", "status"])
    oldest = GaugeMetricFamily("dailygrad_jobs_oldest_seconds", "Age of the oldest of them.", labels=["task", "status"])
    for job in found.jobs:
        jobs.add_metric([job.task, job.status], job.count)
        oldest.add_metric([job.task, job.status], _age(job.oldest, now))
    yield from (jobs, oldest)
    yield _gauge("schedules", "Schedules there are.", found.schedules)
    yield _gauge("rounds_open", "Rounds that take answers.", found.open_rounds)
    yield _gauge("rounds_unclosed", "Rounds whose time is up and whose reveal was not made.", found.unclosed)
    yield _gauge("led", "Whether any worker leads.", found.led)
    yield _by("troubles", "Problems that admins were notified of.", "what", dict(found.troubles))
    if (backup := found.maintained.get(BACKUP)) is not None:
        yield _gauge("backup_age_seconds", "Since the last `dailygrad backup`.", _age(backup, now))
    if (retention := found.maintained.get(RETENTION)) is not None:
        yield _gauge("retention_age_seconds", "Since old rows were last deleted.", _age(retention, now))
    if found.archived is not None:
        yield _gauge("wal_archived_age_seconds", "Since WAL was last archived.", _age(found.archived, now))


def of_pool(engine: AsyncEngine) -> Iterator[Metric]:
    """Yields the gauges of this process's connection pool."""
    pool = engine.pool
    if isinstance(pool, QueuePool):
        states = {"in_use": pool.checkedout(), "idle": pool.checkedin()}
        yield _by("database_connections", "Connections to the database.", "state", states)


def of_sandbox(health: Health | None) -> Iterator[Metric]:
    """Yields the gauges of the sandboxes, summed."""
    yield _gauge("sandbox_up", "Whether a sandbox answers.", health is not None)
    if health is None:
        return
    yield _gauge("sandbox_ready", "Children ready for a run.", health.ready)
    yield _gauge("sandbox_running", "Runs at work.", health.running)
    yield _gauge("sandbox_waiting", "Runs that wait for their turn.", health.waiting)
    yield _gauge("sandbox_wait_seconds", "How long a run that comes now can expect to wait.", health.wait_s)
    yield _gauge("sandbox_trouble", "Whether a sandbox says that something is wrong.", bool(health.trouble))
    yield _gauge("sandbox_isolated", "Whether every layer of isolation is in place.", health.isolation == "full")
    yield _by("sandbox_devices", "Where a run can compute.", "device", {str(device): 1 for device in health.devices})


def _gauge(name: str, help: str, value: float) -> Metric:
    return GaugeMetricFamily(f"dailygrad_{name}", help, value=float(value))


def _by(name: str, help: str, label: str, values: dict[str, float] | dict[str, int]) -> Metric:
    family = GaugeMetricFamily(f"dailygrad_{name}", help, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _age(since: datetime | None, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if since is not None else 0.0
