"""Fair queue for runs: who starts next, and who is refused.

`FairQueue` is the pure rule and knows no clock; `AsyncQueue` adds waiting. The supervisor queues runs with it, and the
service limits each member across all sandboxes with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sandbox.wire import Priority

_RANK: dict[Priority, int] = {name: rank for rank, name in enumerate(get_args(Priority))}
_OLDEST_EVERY = 8
"""One start in this many goes to the longest-waiting run, so that no class starves and the first class loses little."""
_STARVING_SECONDS = 10.0
"""Waiting time from which a run can get such a start, seconds."""
MAX_WAIT: Mapping[Priority, float] = {"round": 60.0, "practice": 60.0, "free": 20.0, "background": 60.0}
"""Maximum waiting time, seconds. Somebody is watching a free run; the senders of the others retry."""
_FIRST_ESTIMATE = 0.05
"""Estimated duration of a run before one has finished, seconds."""
_MAX_ESTIMATE = 5.0
"""Maximum duration that counts towards the estimate, seconds: drawing a family takes far longer than members' runs."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A run that waits or runs."""

    number: int
    owner: str
    priority: Priority
    arrived: float
    """Time of arrival, or the end of the member's previous run if that was later."""


class RunRefused(Exception):
    """The run was not queued. The message is for operators; `why` is the fact for the sender."""

    def __init__(self, why: Literal["member", "full"], message: str) -> None:
        super().__init__(message)
        self.why: Literal["member", "full"] = why


class FairQueue:
    """Waiting and running tickets. Times are seconds of one monotonic clock.

    Each priority class goes before the next. Within a class, tickets start in order of arrival, and a member's ticket
    counts as arriving no earlier than the end of their previous run, so that sending many runs delays nobody else.
    Each member may have one running and one waiting; the service's own runs, with owner "", have no such limit.
    """

    def __init__(self, concurrency: int, max_waiting: int, max_wait: Mapping[Priority, float] = MAX_WAIT) -> None:
        self.concurrency = concurrency
        """Number of runs at once."""
        self.max_waiting = max_waiting
        """Number of runs that may wait. Each class leaves an eighth of the places to each class before it."""
        self.max_wait = max_wait
        """Maximum waiting time per class, seconds. A run expected to wait longer is refused on arrival."""
        self.waiting: dict[int, Ticket] = {}
        self.running: dict[int, Ticket] = {}
        self._started: dict[int, float] = {}
        self._starts = 0
        self._last_number = 0
        self._mean_seconds = _FIRST_ESTIMATE

    def enter(self, owner: str, priority: Priority, now: float) -> Ticket:
        """Adds a waiting ticket. Raises RunRefused."""
        if owner and self._has(self.waiting, owner):
            raise RunRefused("member", "another run of this owner is waiting already")
        ticket = Ticket(self._last_number + 1, owner, priority, now)
        wait = self.expected_wait(self.ahead_of(ticket))
        free_places = self.max_waiting - _RANK[priority] * self.max_waiting // 8
        if len(self.waiting) >= free_places or wait > self.max_wait[priority]:
            raise RunRefused(
                "full",
                f"{len(self.waiting)} runs are waiting already, and this one would wait about {max(1, round(wait))} s",
            )
        self._last_number = ticket.number
        self.waiting[ticket.number] = ticket
        return ticket

    def start(self, now: float) -> Ticket | None:
        """Moves the next ticket from waiting to running and returns it, or None if none may start."""
        if len(self.running) >= self.concurrency:
            return None
        ready = [ticket for ticket in self.waiting.values() if not self._is_running(ticket.owner)]
        if not ready:
            return None
        self._starts += 1
        chosen = min(ready, key=self._order)
        oldest = min(ready, key=lambda ticket: ticket.arrived)
        if self._starts % _OLDEST_EVERY == 0 and now - oldest.arrived >= _STARVING_SECONDS:
            chosen = oldest
        self.running[chosen.number] = self.waiting.pop(chosen.number)
        self._started[chosen.number] = now
        return chosen

    def leave(self, ticket: Ticket, now: float) -> None:
        """Removes a ticket that has finished or was given up. Safe to call twice."""
        self.waiting.pop(ticket.number, None)
        if self.running.pop(ticket.number, None) is None:
            return
        duration = now - self._started.pop(ticket.number)
        self._mean_seconds += 0.1 * (min(duration, _MAX_ESTIMATE) - self._mean_seconds)
        for other in [other for other in self.waiting.values() if ticket.owner and other.owner == ticket.owner]:
            self.waiting[other.number] = replace(other, arrived=now)

    def ahead_of(self, ticket: Ticket) -> int:
        """Returns how many tickets run or wait before this one if no more arrive; 0 if it can start at once."""
        position = self._order(ticket)
        ahead = sum(self._order(other) < position for other in self.waiting.values()) + len(self.running)
        return ahead if ahead >= self.concurrency or self._is_running(ticket.owner) else 0

    def expected_wait(self, ahead: int) -> float:
        """Returns the expected seconds until a run with `ahead` others before it starts."""
        return max(0, ahead - self.concurrency + 1) * self._mean_seconds / self.concurrency

    @staticmethod
    def _order(ticket: Ticket) -> tuple[int, float, int]:
        return _RANK[ticket.priority], ticket.arrived, ticket.number

    def _is_running(self, owner: str) -> bool:
        return bool(owner) and self._has(self.running, owner)

    @staticmethod
    def _has(tickets: dict[int, Ticket], owner: str) -> bool:
        return any(ticket.owner == owner for ticket in tickets.values())


class AsyncQueue:
    """A FairQueue that coroutines wait in."""

    def __init__(self, state: FairQueue, clock: Callable[[], float]) -> None:
        self.state = state
        self._clock = clock
        self._starting: dict[int, asyncio.Future[None]] = {}

    @asynccontextmanager
    async def admit(self, owner: str, priority: Priority) -> AsyncIterator[int]:
        """Waits until a run may start, and counts it as running until the block exits. Yields how many were ahead.

        Raises RunRefused on arrival or after the maximum waiting time. Cancellation leaves the queue.
        """
        ticket = self.state.enter(owner, priority, self._clock())
        ahead = self.state.ahead_of(ticket)
        self._starting[ticket.number] = asyncio.get_running_loop().create_future()
        try:
            self._start_next()
            if not self._starting[ticket.number].done():
                await self._wait(ticket, self.state.max_wait[priority])
            yield ahead
        finally:
            del self._starting[ticket.number]
            self.state.leave(ticket, self._clock())
            self._start_next()

    async def _wait(self, ticket: Ticket, seconds: float) -> None:
        try:
            # Not wait_for: it loses a cancellation that arrives together with the result.
            async with asyncio.timeout(seconds):
                await self._starting[ticket.number]
        except TimeoutError:
            message = f"the run did not start within {seconds:.0f} s"
            raise RunRefused("full", message) from None

    def _start_next(self) -> None:
        while (ticket := self.state.start(self._clock())) is not None:
            starting = self._starting[ticket.number]
            if not starting.done():  # otherwise the sender was cancelled and is about to leave the queue
                starting.set_result(None)
