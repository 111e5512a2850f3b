"""The one clock of all processes, the database's: independent of their machines' clocks. And intervals by it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from service.process import Clock

NO_SKEW = timedelta()


def uptime() -> float:
    """Returns the seconds since the machine was started, with those it slept. Setting its clock changes nothing."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ReferenceClock:
    """Tells the time of another clock, from its latest reading and the machine's uptime.

    Tells the machine's own time until the first reading. `uptime` only ever grows, in seconds.
    """

    def __init__(self, machine: Clock, uptime: Callable[[], float] = uptime) -> None:
        self.machine = machine
        self.uptime = uptime
        self._started: datetime | None = None

    def __call__(self) -> datetime:
        return self.machine() if self._started is None else self._started + timedelta(seconds=self.uptime())

    @property
    def skew(self) -> timedelta:
        """By how much the machine's clock is ahead."""
        return self.machine() - self()

    async def measure(self, read: Callable[[], Awaitable[datetime]]) -> None:
        """Reads the other clock."""
        before = self.uptime()
        self.observe(await read(), before)

    def observe(self, theirs: datetime, before: float) -> None:
        """Notes what the other clock said at some time since `before`.

        Changes nothing if that is possible by what is known. The faster the reply, the closer the estimate.
        """
        earliest, latest = theirs - timedelta(seconds=self.uptime()), theirs - timedelta(seconds=before)
        self._started = min(max(self._started or earliest, earliest), latest)


def skew_of(clock: Clock) -> timedelta:
    """Returns by how much the machine's clock differs from the one that is used."""
    return clock.skew if isinstance(clock, ReferenceClock) else NO_SKEW


class Interval:
    """The interval between two checks of this process, by the shared clock."""

    def __init__(self, length: timedelta) -> None:
        self._length = length
        self._last: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        """Returns whether the interval has passed since this last returned True, or the clock was set back."""
        if self._last is not None and timedelta() <= now - self._last < self._length:
            return False
        self._last = now
        return True
