"""Keeps our own requests below Discord's global limit, so that it never has to refuse one. It knows no requests."""

from __future__ import annotations

import asyncio
from typing import Final

PER_SECOND: Final = 49.0
"""Discord allows a bot 50 requests a second in all, interactions aside: docs, topics/rate-limits."""


class Pace:
    """Lets so many through in a second, evenly, in the order they came. For one event loop."""

    def __init__(self, per_second: float = PER_SECOND) -> None:
        self._gap = 1 / per_second
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for one's turn."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._next)
        self._next = at + self._gap
        if at > now:
            await asyncio.sleep(at - now)
