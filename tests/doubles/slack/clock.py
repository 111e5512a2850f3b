"""The double's time: real for what a person waits for, and faster by a factor for limits, lifetimes and retries."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field


@dataclass
class Clock:
    """`factor` seconds of Slack's own pass in a real one; deadlines of three seconds stay real."""

    factor: float = 1.0
    began: float = field(default_factory=time.monotonic)

    def real(self) -> float:
        """Real seconds since the double began."""
        return time.monotonic() - self.began

    def slack(self) -> float:
        """Slack's seconds since then."""
        return self.real() * self.factor

    def stamp(self) -> float:
        """The wall clock, as messages bear it."""
        return time.time()

    async def pass_slack(self, seconds: float) -> None:
        """Let so many of Slack's seconds pass."""
        await asyncio.sleep(seconds / self.factor)
