"""Fair access to the sandbox: each member has one job running and one waiting. Also records which devices it has.

Scheduling of runs is the sandbox's own.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError

from sandbox.client import Health, SandboxUnreachable
from sandbox.judging.challenge import Runs
from sandbox.judging.reference_cache import JudgementsAhead, ReferenceCache
from sandbox.queue import AsyncQueue, FairQueue, RunRefused
from sandbox.wire import Outcome, Priority, Run
from service import tracing
from service.errors import Busy
from service.process import Clock, in_background
from service.sandboxes import ReportsHealth, SandboxPort
from service.store import monitoring
from service.store.session import Sessions
from service.wire import AnswerResult, BusyCause

log = structlog.get_logger(__name__)
DEVICE_INTERVAL_SECONDS = 30
"""Interval at which the sandbox's devices are looked up."""
STARTUP_INTERVAL_SECONDS = 2
"""Interval until the first sandbox answers, seconds. A sandbox needs some seconds to start."""
DEVICE_EXPIRY = timedelta(minutes=10)
"""Time after which an unseen device is forgotten. A restarted sandbox is back before that."""
RUNS_PER_JUDGEMENT = 3
"""Runs of one judgment: the cases, the reference, the answer."""
HEALTH_TIMEOUT_SECONDS = 1.0
"""Time a sandbox has to report its health before a reply goes out without an estimate, seconds."""


class FairSandbox:
    """A sandbox shared fairly by members, over all its machines."""

    def __init__(self, sandbox: SandboxPort, *, prepare_ahead: bool = False) -> None:
        self._sandbox = sandbox
        self.references = ReferenceCache()
        """What references returned in the latest judgements."""
        self.ahead = JudgementsAhead(self, self.references) if prepare_ahead else None
        """The next judgements of the questions that are being answered."""
        # Each sandbox limits its own load. This queue only limits each member to one running and one waiting.
        self._queue = AsyncQueue(FairQueue(concurrency=sys.maxsize, max_waiting=sys.maxsize), time.monotonic)

    async def run(self, run: Run) -> Outcome:
        """Returns the outcome of a run that nobody waits for."""
        return await self._sandbox.run(run)

    async def health(self) -> Health:
        """Returns the sandbox's health. Raises SandboxUnreachable if nothing answers."""
        return await self._sandbox.health()

    @asynccontextmanager
    async def turn(self, member_id: int, priority: Priority) -> AsyncIterator[MemberTurn]:
        """Waits for the member's turn and yields the sandbox for one job of any number of runs.

        Raises Busy if another job of theirs is waiting already, and after the block if a machine had no room.
        """
        owner = str(member_id)
        try:
            async with self._queue.admit(owner, priority):
                mine = MemberTurn(self._sandbox, owner, priority)
                yield mine
                if mine.refused:
                    raise Busy(mine.refused)
        except RunRefused as refusal:
            raise Busy(refusal.why) from None


class MemberTurn:
    """The sandbox during a member's turn."""

    def __init__(self, sandbox: Runs, owner: str, priority: Priority) -> None:
        self._sandbox = sandbox
        self._owner = owner
        self._priority = priority
        self.refused: BusyCause | None = None
        """Why a machine did not take one of the runs."""

    async def run(self, run: Run) -> Outcome:
        """Returns the outcome of one run."""
        # The cases and the reference are the service's own runs, though they run within the member's turn.
        owner = "" if run.role in ("cases", "reference") else self._owner
        with tracing.span("run", role=run.role, device=run.device) as noted:
            outcome = await self._sandbox.run(replace(run, owner=owner, priority=self._priority))
            noted["status"] = outcome.status
            # The sandbox has no network. It says how long each part took.
            tracing.record("sandbox queue", outcome.queue_ms / 1000, ago=outcome.wall_ms / 1000)
            tracing.record("sandbox run", outcome.wall_ms / 1000)
        # Waiting does not help if a machine has no GPU.
        if outcome.refused in ("member", "full"):
            self.refused = outcome.refused
        return outcome


async def record_devices(sessions: Sessions, sandbox: FairSandbox, now: datetime) -> bool:
    """Records the devices of the sandboxes. Returns whether any sandbox answered."""
    try:
        found = (await sandbox.health()).devices
    except SandboxUnreachable:
        found = ()
    async with sessions.begin() as session:
        await monitoring.record_devices(session, found, now, now - DEVICE_EXPIRY)
    return bool(found)


@asynccontextmanager
async def record_devices_periodically(
    sessions: Sessions, sandbox: FairSandbox | None, clock: Clock
) -> AsyncIterator[None]:
    """Records devices periodically until the block exits. Does nothing without a sandbox."""
    if sandbox is None:
        yield
        return
    async with in_background(_record_forever(sessions, sandbox, clock)):
        yield


async def _record_forever(sessions: Sessions, sandbox: FairSandbox, clock: Clock) -> None:
    while True:
        answered = False
        try:
            answered = await record_devices(sessions, sandbox, clock())
        except (SQLAlchemyError, OSError) as error:
            log.warning("devices not noted", error=str(error))
        await asyncio.sleep(DEVICE_INTERVAL_SECONDS if answered else STARTUP_INTERVAL_SECONDS)


def estimate_wait(before: int, health: Health) -> float | None:
    """Returns how long this many judgments take with what waits before them, seconds. Returns None if a run starts
    at once."""
    if health.wait_s <= 0:
        return None
    # A new run waits for everything in the queue, and for one of the running ones to end.
    return before * RUNS_PER_JUDGEMENT * health.wait_s / (health.waiting + 1)


async def add_wait_estimate(receipt: AnswerResult, sandbox: ReportsHealth) -> AnswerResult:
    """Adds the waiting time to the receipt of an answer that is judged after others."""
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_SECONDS):
            seconds = estimate_wait(receipt.before, await sandbox.health())
    except (SandboxUnreachable, TimeoutError):
        return receipt
    if seconds is None:
        return receipt.model_copy(update={"before": 0})
    return receipt.model_copy(update={"wait_s": seconds})
