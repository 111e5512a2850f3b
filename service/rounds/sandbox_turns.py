"""Members take turns at the sandbox: one of their runs at work and one waiting. Where a run goes is `sandbox`'s."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError

from sandbox.client import Health, SandboxUnreachable
from sandbox.judging.challenge import Runs
from sandbox.queue import AsyncQueue, FairQueue, RunRefused
from sandbox.wire import Outcome, Priority, Run
from service.errors import Busy
from service.sandboxes import ReportsHealth, SandboxPort
from service.store import monitoring
from service.store.session import Sessions
from service.wire import AnswerResult

log = structlog.get_logger(__name__)
DEVICE_INTERVAL_SECONDS = 30
STARTUP_INTERVAL_SECONDS = 2
"""While nobody has answered yet: a sandbox needs some seconds to start."""
DEVICE_EXPIRY = timedelta(minutes=10)
"""A sandbox that is started again, on a new version or by its host, is back before that."""
RUNS_PER_JUDGEMENT = 3
"""Of one judgement: the cases, the reference, the answer."""
HEALTH_TIMEOUT_SECONDS = 1.0
"""Nobody's answer waits longer for this."""


class FairSandbox:
    """A sandbox that knows who has something at work in it, over all its machines."""

    def __init__(self, sandbox: SandboxPort) -> None:
        self._sandbox = sandbox
        # Each sandbox limits its own load. This queue only limits each member to one running and one waiting.
        self._queue = AsyncQueue(FairQueue(concurrency=sys.maxsize, max_waiting=sys.maxsize), time.monotonic)

    async def run(self, run: Run) -> Outcome:
        """The Outcome of a run that nobody waits for."""
        return await self._sandbox.run(run)

    async def health(self) -> Health:
        """How the sandbox is. Raises SandboxUnreachable where nobody answers."""
        return await self._sandbox.health()

    @asynccontextmanager
    async def turn(self, member_id: int, priority: Priority) -> AsyncIterator[MemberTurn]:
        """A member's time for one thing, however many runs it takes; begins when their last one is over.

        Raises Busy where another of theirs is waiting already, and after the block where a machine had no room.
        """
        owner = str(member_id)
        try:
            async with self._queue.admit(owner, priority):
                mine = MemberTurn(self._sandbox, owner, priority)
                yield mine
                if mine.refused:
                    raise Busy(said=mine.refused)
        except RunRefused as refusal:
            raise Busy(said=str(refusal)) from None


class MemberTurn:
    """The sandbox as one member has it during their turn."""

    def __init__(self, sandbox: Runs, owner: str, priority: Priority) -> None:
        self._sandbox = sandbox
        self._owner = owner
        self._priority = priority
        self.refused = ""
        """What is to be said where a machine had no room for one of its runs."""

    async def run(self, run: Run) -> Outcome:
        """The Outcome of one of its runs."""
        # The cases and the reference are the service's own runs, though they run within the member's turn.
        owner = "" if run.role in ("cases", "reference") else self._owner
        outcome = await self._sandbox.run(replace(run, owner=owner, priority=self._priority))
        # That a machine has no GPU is nothing that waiting mends.
        if outcome.refused in ("member", "full"):
            self.refused = outcome.detail
        return outcome


async def record_devices(sessions: Sessions, sandbox: FairSandbox, now: datetime) -> bool:
    """Write down what the sandboxes have; whether any answered."""
    try:
        found = (await sandbox.health()).devices
    except SandboxUnreachable:
        found = ()
    async with sessions.begin() as session:
        await monitoring.record_devices(session, found, now, now - DEVICE_EXPIRY)
    return bool(found)


@asynccontextmanager
async def record_devices_periodically(
    sessions: Sessions, sandbox: FairSandbox | None, clock: Callable[[], datetime]
) -> AsyncIterator[None]:
    """Do so every now and then until the block ends; nothing where there is no sandbox."""
    if sandbox is None:
        yield
        return
    task = asyncio.create_task(_record_forever(sessions, sandbox, clock), name="devices")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _record_forever(sessions: Sessions, sandbox: FairSandbox, clock: Callable[[], datetime]) -> None:
    while True:
        answered = False
        try:
            answered = await record_devices(sessions, sandbox, clock())
        except (SQLAlchemyError, OSError) as error:
            log.warning("devices not noted", error=str(error))
        await asyncio.sleep(DEVICE_INTERVAL_SECONDS if answered else STARTUP_INTERVAL_SECONDS)


def estimate_wait(before: int, health: Health) -> float | None:
    """How long so many judgements take, where those before them wait as well; None where a run starts at once."""
    if health.wait_s <= 0:
        return None
    # A run that comes now waits for all that wait, and until one of those at work is done.
    return before * RUNS_PER_JUDGEMENT * health.wait_s / (health.waiting + 1)


async def add_wait_estimate(receipt: AnswerResult, sandbox: ReportsHealth | None) -> AnswerResult:
    """The receipt as it is told: of an answer that is judged at once there is nothing to tell."""
    if not receipt.before or sandbox is None:
        return receipt
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_SECONDS):
            seconds = estimate_wait(receipt.before, await sandbox.health())
    except (SandboxUnreachable, TimeoutError):
        return receipt
    if seconds is None:
        return receipt.model_copy(update={"before": 0})
    return receipt.model_copy(update={"wait_s": seconds})
