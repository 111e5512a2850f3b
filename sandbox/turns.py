"""Waiting for one's turn by the rule of `queueing`: the asyncio around it, for the supervisor and for its callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sandbox.queueing import Queue, Ticket, TurnedAway
from sandbox.wire import Priority


class Turns:
    """A queue in which one can wait."""

    def __init__(self, queue: Queue, clock: Callable[[], float]) -> None:
        self.queue = queue
        self._clock = clock
        self._starting: dict[int, asyncio.Future[None]] = {}

    @asynccontextmanager
    async def turn(self, owner: str, priority: Priority) -> AsyncIterator[int]:
        """One run's time: begins when it is its turn, with how many were before it when it came.

        Raises TurnedAway, at once or after the longest wait. Whoever is cancelled leaves the queue.
        """
        ticket = self.queue.enter(owner, priority, self._clock())
        before = self.queue.before(ticket)
        self._starting[ticket.number] = asyncio.get_running_loop().create_future()
        try:
            self._advance()
            if not self._starting[ticket.number].done():
                await self._come(ticket, self.queue.longest[priority])
            yield before
        finally:
            del self._starting[ticket.number]
            self.queue.leave(ticket, self._clock())
            self._advance()

    async def _come(self, ticket: Ticket, longest: float) -> None:
        try:
            # Not wait_for: it forgets a cancellation that comes together with the turn.
            async with asyncio.timeout(longest):
                await self._starting[ticket.number]
        except TimeoutError:
            said = f"No turn came within {longest:.0f} s: the sandbox is busy. Try again in a minute."
            raise TurnedAway("full", said) from None

    def _advance(self) -> None:
        while (ticket := self.queue.start(self._clock())) is not None:
            starting = self._starting[ticket.number]
            if not starting.done():  # else its sender has gone, and is about to leave the queue
                starting.set_result(None)
