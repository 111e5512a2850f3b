"""Whose run starts next, and who is turned away: a pure rule over tickets. Knows no clock, no process and no socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sandbox.wire import Priority

_RANK: dict[Priority, int] = {name: rank for rank, name in enumerate(get_args(Priority))}
_TURN_OF_THE_OLDEST = 8
"""One start in so many goes to whoever has waited longest, so that no class starves and the first loses little."""
_PATIENCE = 10.0
"""Seconds of waiting that earn such a start."""
LONGEST: Mapping[Priority, float] = {"round": 60.0, "practice": 60.0, "free": 20.0, "background": 60.0}
"""Seconds that one may wait: in front of a free run somebody sits, the rest is sent again by whoever sent it."""
_FIRST_GUESS = 0.05
"""Seconds a run is taken to last before one has been seen."""
_MOST_EXPECTED = 5.0
"""Seconds a run is taken to last at most: one that draws a family's questions says nothing about those of members."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A run in the queue or at work."""

    number: int
    owner: str
    priority: Priority
    came: float
    """When it entered, or when its member's last run ended, if that was later."""


class TurnedAway(Exception):
    """The run was not queued; the message is for the one who sent it."""

    def __init__(self, why: Literal["member", "full"], said: str) -> None:
        super().__init__(said)
        self.why: Literal["member", "full"] = why


class Queue:
    """Tickets that wait and tickets that run. Instants are seconds of one clock that never goes back.

    A class goes before the next; within a class who came first, where a member's run counts as having come no sooner
    than their last one ended. So one who sends many delays nobody. Our own runs, of owner "", have no such bound.
    """

    def __init__(self, places: int, capacity: int, longest: Mapping[Priority, float] = LONGEST) -> None:
        self.places = places
        """Runs at once."""
        self.capacity = capacity
        """Runs that may wait; the later classes leave an eighth each to those before them."""
        self.longest = longest
        """Seconds that a run of each class may wait; one that would wait longer is turned away when it comes."""
        self.waiting: dict[int, Ticket] = {}
        self.running: dict[int, Ticket] = {}
        self._began: dict[int, float] = {}
        self._starts = 0
        self._number = 0
        self._mean = _FIRST_GUESS

    def enter(self, owner: str, priority: Priority, now: float) -> Ticket:
        """A ticket that waits. Raises TurnedAway."""
        if owner and self._has(self.waiting, owner):
            raise TurnedAway(
                "member",
                "One of your runs is waiting for its turn already. Send this one again when that has begun; "
                "nothing was changed.",
            )
        ticket = Ticket(self._number + 1, owner, priority, now)
        wait = self.wait(self.before(ticket))
        if len(self.waiting) >= self.capacity - _RANK[priority] * self.capacity // 8 or wait > self.longest[priority]:
            raise TurnedAway(
                "full",
                f"The sandbox is busy: {len(self.waiting)} runs are waiting already, and this one would wait about "
                f"{max(1, round(wait))} s. Try again in a minute; nothing was changed.",
            )
        self._number = ticket.number
        self.waiting[ticket.number] = ticket
        return ticket

    def start(self, now: float) -> Ticket | None:
        """The ticket that runs from now on; None where no place is free or none may start."""
        if len(self.running) >= self.places:
            return None
        ready = [ticket for ticket in self.waiting.values() if not self._is_running(ticket.owner)]
        if not ready:
            return None
        self._starts += 1
        chosen = min(ready, key=self._order)
        oldest = min(ready, key=lambda ticket: ticket.came)
        if self._starts % _TURN_OF_THE_OLDEST == 0 and now - oldest.came >= _PATIENCE:
            chosen = oldest
        self.running[chosen.number] = self.waiting.pop(chosen.number)
        self._began[chosen.number] = now
        return chosen

    def leave(self, ticket: Ticket, now: float) -> None:
        """It is done, or its sender has gone; harmless when it has left."""
        self.waiting.pop(ticket.number, None)
        if self.running.pop(ticket.number, None) is None:
            return
        lasted = now - self._began.pop(ticket.number)
        self._mean += 0.1 * (min(lasted, _MOST_EXPECTED) - self._mean)
        for other in [other for other in self.waiting.values() if ticket.owner and other.owner == ticket.owner]:
            self.waiting[other.number] = replace(other, came=now)

    def before(self, ticket: Ticket) -> int:
        """How many run or wait before this one, were nobody else to come; 0 where it starts at once."""
        mine = self._order(ticket)
        ahead = sum(self._order(other) < mine for other in self.waiting.values()) + len(self.running)
        return ahead if ahead >= self.places or self._is_running(ticket.owner) else 0

    def wait(self, before: int) -> float:
        """Seconds until a run with so many before it starts, if they last as long as those of late."""
        return max(0, before - self.places + 1) * self._mean / self.places

    @staticmethod
    def _order(ticket: Ticket) -> tuple[int, float, int]:
        return _RANK[ticket.priority], ticket.came, ticket.number

    def _is_running(self, owner: str) -> bool:
        return bool(owner) and self._has(self.running, owner)

    @staticmethod
    def _has(tickets: dict[int, Ticket], owner: str) -> bool:
        return any(ticket.owner == owner for ticket in tickets.values())


# Waiting for one's turn by the rule of `queueing`: the asyncio around it, for the supervisor and for its callers.


class AsyncQueue:
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
