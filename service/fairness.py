"""Members take turns at the sandbox: one of their runs at work and one waiting. Where a run goes is `sandbox`'s."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol

from sandbox.challenge import Runs
from sandbox.client import Health
from sandbox.queueing import Queue, TurnedAway
from sandbox.turns import Turns
from sandbox.wire import Outcome, Priority, Run
from service.errors import Busy


class Sandbox(Runs, Protocol):
    """What the service needs of a sandbox, or of several behind one client."""

    async def health(self) -> Health:
        """How it is. Raises SandboxUnreachable where nobody answers."""
        ...


class FairSandbox:
    """A sandbox that knows who has something at work in it, over all its machines."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        # How much fits into a machine is its own to say: here only members are counted.
        self._turns = Turns(Queue(places=sys.maxsize, capacity=sys.maxsize), time.monotonic)

    async def run(self, run: Run) -> Outcome:
        """The Outcome of a run that nobody waits for."""
        return await self._sandbox.run(run)

    async def health(self) -> Health:
        """How the sandbox is. Raises SandboxUnreachable where nobody answers."""
        return await self._sandbox.health()

    @asynccontextmanager
    async def turn(self, member_id: int, priority: Priority) -> AsyncIterator[TurnOf]:
        """A member's time for one thing, however many runs it takes; begins when their last one is over.

        Raises Busy where another of theirs is waiting already, and after the block where a machine had no room.
        """
        owner = str(member_id)
        try:
            async with self._turns.turn(owner, priority):
                mine = TurnOf(self._sandbox, owner, priority)
                yield mine
                if mine.refused:
                    raise Busy(said=mine.refused)
        except TurnedAway as refusal:
            raise Busy(said=str(refusal)) from None


class TurnOf:
    """The sandbox as one member has it during their turn."""

    def __init__(self, sandbox: Runs, owner: str, priority: Priority) -> None:
        self._sandbox = sandbox
        self._owner = owner
        self._priority = priority
        self.refused = ""
        """What is to be said where a machine had no room for one of its runs."""

    async def run(self, run: Run) -> Outcome:
        """The Outcome of one of its runs."""
        # What makes the cases and what the answer is compared with are ours, and come in the answer's time.
        ours = run.id.endswith(("/cases", "/reference"))
        outcome = await self._sandbox.run(replace(run, owner="" if ours else self._owner, priority=self._priority))
        # That a machine has no GPU is nothing that waiting mends.
        if outcome.refused in ("member", "full"):
            self.refused = outcome.detail
        return outcome
