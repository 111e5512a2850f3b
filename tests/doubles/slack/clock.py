"""The clock of the double: real time for deadlines of people, and accelerated time for limits, lifetimes and
retries."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field


@dataclass
class Clock:
    """A clock on which `factor` Slack seconds pass per real second. Three-second deadlines use real time."""

    factor: float = 1.0
    began: float = field(default_factory=time.monotonic)

    def real(self) -> float:
        """Returns real seconds since the start."""
        return time.monotonic() - self.began

    def slack(self) -> float:
        """Returns Slack seconds since the start."""
        return self.real() * self.factor

    def stamp(self) -> float:
        """Returns the time of day, for message timestamps."""
        return time.time()

    async def pass_slack(self, seconds: float) -> None:
        """Advances Slack's time."""
        await asyncio.sleep(seconds / self.factor)
